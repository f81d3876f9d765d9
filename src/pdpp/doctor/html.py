"""Pages: what the server shows its owner in a browser, as far as the doctor needs to read it."""

from enum import Enum
from html.parser import HTMLParser
from typing import NamedTuple

from pdpp.doctor.wire import TimedReply


class PageKind(Enum):
    """What a stranger meets."""

    LOGIN = "login"
    SETUP = "setup"
    OTHER = "other"


class Input(NamedTuple):
    """One field of a form."""

    name: str
    value: str


class _Inputs(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Input] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of a field."""
        attributes = dict(attrs)
        if tag == "input" and attributes.get("name"):
            self.inputs.append(Input(attributes["name"] or "", attributes.get("value") or ""))


def inputs(reply: TimedReply) -> list[Input]:
    """Return the fields of the forms of a page, in order."""
    parser = _Inputs()
    parser.feed(reply.body.decode("utf-8", "replace"))
    return parser.inputs


def value_of(fields: list[Input], name: str) -> str:
    """Return the first value of a field, empty where there is none."""
    return next((field.value for field in fields if field.name == name), "")


def page_kind(reply: TimedReply) -> PageKind:
    """Tell what kind of login page this is."""
    names = {field.name for field in inputs(reply)} if reply.is_html else set()
    if "passphrase" in names:
        return PageKind.SETUP if "code" in names else PageKind.LOGIN
    return PageKind.SETUP if b"pdpp owner init" in reply.body else PageKind.OTHER
