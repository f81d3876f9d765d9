"""Mail messages: the headers of one message as a person reads them, whatever program wrote it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email import policy
from email.errors import CloseBoundaryNotFoundDefect, MissingHeaderBodySeparatorDefect
from email.message import Message
from email.parser import BytesParser
from email.utils import getaddresses
from functools import cached_property
from typing import Any, cast

from pdpp.sources.formats.mail.charset import guessed
from pdpp.sources.formats.mail.dates import first_moment
from pdpp.sources.formats.mail.encoded import LONGEST, decoded

_BAD_BYTES = re.compile("[\udc80-\udcff]")
_IDS = re.compile(r"<[^<>\s]+>")
# Every repeat is bounded, so that the time a header takes grows with its length alone.
_TOKEN = re.compile(
    r'(?P<quoted>"(?:[^"\\]|\\.){0,300}+")|(?P<comment>\([^()]{0,300}+\))'
    r"|<{1,3}+(?P<address>[^<>]{0,300}+)>{1,3}+|(?P<end>[,;])|[^\W_]++|.",
    re.DOTALL,
)
_ADDRESS = re.compile(r"[^\s,;()@]{1,100}@[^\s,;()@]{1,300}")
_GROUP = re.compile(r"\A[^\"<@:]*:")
_HEAD = re.compile(rb"\A(?:[^\r\n]++\r?\n)*+")
_HEADER = re.compile(rb"[!-9;-~]++:|[ \t]")
_OF_PARTS = re.compile(r"(?:Content|X)-[\w-]+:", re.IGNORECASE)
_SENDER = re.compile(rb"from:", re.IGNORECASE)
_DAY = re.compile(r" \d{1,2} [A-Z][a-z]{2} \d{4} ")
_MOST_AHEAD = timedelta(days=2)
"""Clocks and zones are wrong by a day, and not by more."""


class MailMessage(Message):
    """A message, or a part of one, that has its headers by name: some are asked for many times.

    The library looks through all of them each time. They are all there before one is asked for.
    """

    @cached_property
    def headers(self) -> Mapping[str, Sequence[str]]:
        """Return the headers as they stand, by their names in small letters."""
        named: defaultdict[str, list[str]] = defaultdict(list)
        for name, value in self.raw_items():
            named[name.lower()].append(value)
        return dict(named)

    @cached_property
    def read_headers(self) -> dict[str, str]:
        """Return the headers that were asked for, as a person reads them."""
        return {}

    @cached_property
    def read_people(self) -> dict[str, list[str]]:
        """Return the people of the headers that were asked for."""
        return {}

    @cached_property
    def written_moment(self) -> datetime | None:
        """Return what the message itself says of when it was sent, where that can be read."""
        return first_moment((header(self, "Date"),))

    @cached_property
    def content_type(self) -> str:
        """Return the kind of the message or part as the library reads it."""
        return super().get_content_type()

    def get_content_type(self) -> str:
        """Return the kind, which is read once."""
        return self.content_type

    def get(self, name: str, failobj: Any = None) -> Any:
        """Return the first header of a name as the library reads it."""
        named = self.headers.get(name.lower())
        return self.policy.header_fetch_parse(name, named[0]) if named else failobj

    def replace_header(self, _name: str, _value: str) -> None:
        """Replace the first header of a name."""
        super().replace_header(_name, _value)
        self._forget()

    def take_headers_from_text(self) -> None:
        """Take the headers that the library left in the text, behind a line that is none.

        Some programs break a long header and do not move the next line in: ``name="tide.zip"``.
        """
        text = self.get_payload()
        if not isinstance(text, str):
            return
        head, empty, rest = text.replace("\r\n", "\n").partition("\n\n")
        lines = head.split("\n")[1:]
        if empty and lines and all(map(_OF_PARTS.match, lines)):
            for name, _, value in (line.partition(":") for line in lines):
                self[name] = value.strip()
            self.set_payload(rest)
            self._forget()

    def _forget(self) -> None:
        """Forget what was read of the headers."""
        for name in ("headers", "content_type", "written_moment"):
            self.__dict__.pop(name, None)
        self.read_headers.clear()
        self.read_people.clear()


def parse(content: bytes) -> MailMessage:
    """Return a message; mail is so often malformed that nothing about its headers is checked."""
    message = _parsed(content)
    if any(isinstance(defect, MissingHeaderBodySeparatorDefect) for defect in message.defects):
        return message if "from" in message.headers else _parsed(_without_odd_lines(content))
    return message


def _parsed(content: bytes) -> MailMessage:
    parser = BytesParser(MailMessage, policy=policy.compat32)
    return cast(MailMessage, parser.parsebytes(content))


def _without_odd_lines(content: bytes) -> bytes:
    """Return a message without the lines among its headers that are none, such as ``>From ana``.

    The library takes the first of them for the beginning of the text, and the sender and all
    that stands behind it for words. Where no sender does, it is the text, without an empty line.
    """
    head = _HEAD.match(content)
    lines = head[0].splitlines(keepends=True) if head else []
    if not any(map(_SENDER.match, lines)):
        return content
    kept = [line for number, line in enumerate(lines) if not number or _HEADER.match(line)]
    return b"".join(kept) + content[sum(map(len, lines)) :]


def lacks_end(message: MailMessage) -> bool:
    """Tell whether the mark at the end of a message is missing, as of one that was cut off."""
    return any(isinstance(defect, CloseBoundaryNotFoundDefect) for defect in message.defects)


def header(message: MailMessage, name: str) -> str:
    """Return a header as a person reads it, on one line."""
    known = message.read_headers
    if name not in known:
        known[name] = decoded(next(raw_headers(message, name), ""))
    return known[name]


def raw_headers(message: MailMessage, name: str) -> Iterator[str]:
    """Yield the headers of a name as they stand, with raw bytes read as letters."""
    for value in message.headers.get(name.lower(), ()):
        yield _mended(str(value), message)


def people(message: MailMessage, name: str) -> list[str]:
    """Return the people of a header, each as ``Name <address>``."""
    known = message.read_people
    if name not in known:
        known[name] = list(_people(message, name))
    return known[name]


def _people(message: MailMessage, name: str) -> Iterator[str]:
    for value in raw_headers(message, name):
        for label, address in _addresses(value[:LONGEST]):
            called = decoded(label)
            if called and address and called.casefold() != address.casefold():
                yield f"{called} <{address}>"
            elif called or address:
                yield address or called


def address_of(person: str) -> str:
    """Return the address of one of ``people`` in small letters, nothing where only a name is."""
    address = person.rpartition("<")[2].removesuffix(">").strip().lower()
    return address if "@" in address else ""


def _addresses(value: str) -> Iterator[tuple[str, str]]:
    """Yield the names and addresses of a header.

    The library takes marks that stand in a name without quotes, as in ``Nora @ Home <nora@…>``,
    for an address of its own: it reads only what has no brackets.
    """
    if "<" not in value:
        bare = decoded(value) if "=?" in value else value
        yield from _addresses(bare) if "<" in bare else _without_brackets(bare)
        return
    label, address = "", ""
    for token in _TOKEN.finditer(_GROUP.sub("", value) if value.rstrip().endswith(";") else value):
        if address and (token["address"] is not None or token[0].isalnum() or token["quoted"]):
            yield _label_and_address(label, address)
            label, address = "", ""
        if token["address"] is not None:
            address = token["address"].strip()
        elif token["end"] and (address or "@" in label):
            yield _label_and_address(label, address)
            label, address = "", ""
        elif token[0] != '"' and (token["comment"] is None or not address):
            quoted = token["quoted"]
            label += re.sub(r"\\(.)", r"\1", quoted[1:-1]) if quoted else token[0]
    if label.strip() or address:
        yield _label_and_address(label, address)


def _label_and_address(label: str, address: str) -> tuple[str, str]:
    """Return a name and an address where brackets may not have been closed, or not been there."""
    name, _, rest = label.partition("<") if not address else (label, "", "")
    if address or rest:
        return name.strip(), address or rest.strip()
    return next(_without_brackets(label), ("", label.strip()))


def _without_brackets(value: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses of a text, as ``nora@… (Nora)`` or alone; or the text, if it has none."""
    if "@" not in value and ":" not in value:
        yield value.strip(' \t\r\n"'), ""
        return
    found = getaddresses([value])
    broken = sum(address.count("@") for _, address in found) < value.count("@")
    yield from (("", address) for address in _ADDRESS.findall(value)) if broken else found


def references(message: MailMessage) -> list[str]:
    """Return the ids of the messages that came before, the oldest first."""
    headers = [*raw_headers(message, "References"), *raw_headers(message, "In-Reply-To")]
    return _IDS.findall(" ".join(headers))


def sent(message: MailMessage, envelope: str) -> datetime | None:
    """Return when a message was sent, by its own word, else by those who carried it.

    Nobody carries a message before it is sent: one that says so would be the newest for years.
    """
    stored = envelope.partition(" ")[2].partition(" ")[2]
    written, told = header(message, "Date"), message.written_moment
    if told is None:
        return first_moment((*_carried(message), stored))
    newest = next(_carried(message), "")
    day = _DAY.search(newest)
    # Nearly all arrive on the day they are sent, which takes less time to see than to count.
    if (day and day[0] in f" {written}") or not _is_ahead(told, newest):
        return told
    moments = list(_carried(message))
    return first_moment(moments) if all(_is_ahead(told, text) for text in moments) else told


def _carried(message: MailMessage) -> Iterator[str]:
    """Yield when each of those who carried a message had it, the last one first."""
    return (value.rpartition(";")[2] for value in raw_headers(message, "Received"))


def _is_ahead(told: datetime, carried: str) -> bool:
    """Tell whether a date lies so far behind another that it cannot be true."""
    moment = first_moment((carried,)) if carried else None
    if moment is None:
        return False
    if moment.tzinfo is None or told.tzinfo is None:
        moment, told = moment.replace(tzinfo=UTC), told.replace(tzinfo=UTC)
    return told - moment > _MOST_AHEAD


def _mended(text: str, message: MailMessage) -> str:
    """Return text whose raw bytes, kept aside by the parser, are read as letters.

    Programs that write them do so in the charset of the text below.
    """
    if text.isascii() or not _BAD_BYTES.search(text):
        return text
    raw = text.encode("utf-8", "surrogateescape")
    try:
        return raw.decode()
    except ValueError:
        charsets = (part.get_content_charset() for part in message.walk())
        return guessed(raw, next(filter(None, charsets), ""))
