"""Messages that Outlook saves by themselves (``.msg``): properties in a compound file.

A message is put together as mail is written, so that everything behind reads it like any other. The
layout is [MS-OXMSG], the numbers of properties are those of [MS-OXPROPS].
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.encoders import encode_base64
from email.message import Message
from email.mime.base import MIMEBase
from email.mime.text import MIMEText

from pdpp.sources.formats.mail.body import LEFT_OUT
from pdpp.sources.formats.mail.charset import guessed
from pdpp.sources.formats.mail.parts import parts_of
from pdpp.sources.reading.compoundfile import SIGNATURE, CompoundFile
from pdpp.sources.reading.tree import FileEntry, Tree

_PROPERTIES = "__properties_version1.0"
_HEAD_BYTES = {"": 32, "__attach": 8, "__recip": 8}
_INSIDE = 24
"""How long the head of a list of properties is in a message inside a message."""
_CLASS, _SUBJECT, _HEADERS, _TEXT, _PAGE, _RICH = 0x001A, 0x0037, 0x007D, 0x1000, 0x1013, 0x1009
_SENT, _DELIVERED, _MADE = 0x0039, 0x0E06, 0x3007
_MESSAGE_ID, _REFERENCES, _IN_REPLY_TO = 0x1035, 0x1039, 0x1042
_SENDER, _SENDER_ADDRESSES = 0x0C1A, (0x5D01, 0x5D02, 0x0C1F, 0x0065)
_NAME, _ADDRESSES, _RECIPIENT_KIND = 0x3001, (0x39FE, 0x3003), 0x0C15
_FILE, _FILE_NAMES, _FILE_TYPE, _CONTENT_ID = 0x3701, (0x3707, 0x3704, 0x3001), 0x370E, 0x3712
_CODE_PAGES = (0x3FFD, 0x3FDE)
_MESSAGE_INSIDE = "__substg1.0_3701000D/"
_RECIPIENTS = {1: "To", 2: "Cc", 3: "Bcc"}
_MAIL = ("ipm.note", "ipm.schedule", "ipm.post", "report.")
_HEADER = re.compile(r"(?m)^([\w-]+):")
_OF_BODY = re.compile(
    r"(?im)^(?:content-[\w-]+:|mime-version:|microsoft mail internet headers).*\n(?:[ \t].*\n)*"
)
"""Headers of the text as it was sent, and the line that older versions write above all others."""
_BREAKS = re.compile(r"[\r\n\0]+")
_KIND = re.compile(r"([\w.+-]+)/([\w.+-]+)", re.ASCII)
_DEEPEST = 10
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)


def outlook_entries(tree: Tree) -> list[FileEntry]:
    """Return the messages that Outlook saved, each a file of its own."""
    named = tree.entries if tree.kind == "file" else tree.named("*.msg")
    return [
        entry
        for entry in named
        if entry.suffix == ".msg" and entry.head(len(SIGNATURE)).startswith(SIGNATURE)
    ]


class OutlookMessage:
    """A message in a compound file, or one that is attached to such a message."""

    def __init__(self, file: CompoundFile, place: str = "", depth: int = 0) -> None:
        """Take the message at a place in a file; ``depth`` is how many are around it."""
        self._file = file
        self._place = place
        self._depth = depth
        pages = (self._whole_number(place, number) for number in _CODE_PAGES)
        self._charset = _charset(next((page for page in pages if page), 0))

    @property
    def is_mail(self) -> bool:
        """Tell a message from appointments, contacts and tasks, which Outlook saves alike."""
        kind = self._text(self._place, _CLASS).casefold()
        return not kind or kind.startswith(_MAIL)

    @property
    def lacks_text(self) -> bool:
        """Tell whether the text is there in Outlook's packed form alone."""
        texts = (self._bytes(self._place, number) for number in (_TEXT, _PAGE))
        return not any(texts) and bool(self._bytes(self._place, _RICH))

    def as_mail(self) -> bytes:
        """Return the message as mail is written."""
        return self._head() + self._body().as_bytes()

    def _head(self) -> bytes:
        """Return the headers that carried the message, and from its properties those that miss."""
        carried = self._text(self._place, _HEADERS).replace("\r\n", "\n").strip("\n") + "\n"
        carried = _OF_BODY.sub("", carried) if carried.strip() else ""
        named = {
            "Message-ID": self._text(self._place, _MESSAGE_ID),
            "In-Reply-To": self._text(self._place, _IN_REPLY_TO),
            "References": self._text(self._place, _REFERENCES),
            "Date": self._sent(),
            "Subject": self._text(self._place, _SUBJECT),
            "From": self._person(self._place, _SENDER, _SENDER_ADDRESSES),
            **self._recipients(),
        }
        carried_names = {name.casefold() for name in _HEADER.findall(carried)}
        lines = [
            f"{name}: {_BREAKS.sub(' ', text)}\n"
            for name, text in named.items()
            if text and name.casefold() not in carried_names
        ]
        return "".join([carried, *lines]).encode("utf-8", "replace")

    def _sent(self) -> str:
        times = (self._number(self._place, number) for number in (_SENT, _DELIVERED, _MADE))
        ticks = next((time for time in times if time), 0)
        moment = _EPOCH + timedelta(microseconds=ticks // 10)
        return f"{moment.replace(tzinfo=None).isoformat()}Z" if ticks else ""

    def _recipients(self) -> dict[str, str]:
        people_of: dict[str, list[str]] = {}
        for place in self._storages("__recip"):
            kind = _RECIPIENTS.get(self._whole_number(place, _RECIPIENT_KIND) & 3)
            if kind is not None and (person := self._person(place, _NAME, _ADDRESSES)):
                people_of.setdefault(kind, []).append(person)
        return {kind: ", ".join(people) for kind, people in people_of.items()}

    def _person(self, place: str, name: int, addresses: tuple[int, ...]) -> str:
        """Return a name and an address; inside a company Outlook may have a path instead of it."""
        called = self._text(place, name).strip().replace('"', "'")
        texts = (self._text(place, number).strip() for number in addresses)
        address = next((text for text in texts if "@" in text), "")
        if not address:
            return f'"{called}"' if called else ""
        return f'"{called}" <{address}>' if called not in ("", address) else address

    def _body(self) -> Message:
        whole, texts = parts_of("mixed"), parts_of("alternative")
        if text := self._text(self._place, _TEXT):
            texts.attach(MIMEText(text, "plain", "utf-8"))
        if page := self._bytes(self._place, _PAGE):
            texts.attach(MIMEText(guessed(page, self._charset), "html", "utf-8"))
        whole.attach(texts)
        for place in self._storages("__attach"):
            whole.attach(self._attached(place))
        return whole

    def _attached(self, place: str) -> Message:
        names = (_BREAKS.sub(" ", self._text(place, number)).strip() for number in _FILE_NAMES)
        name = next(filter(None, names), "file")
        inner = f"{place}{_MESSAGE_INSIDE}"
        content = self._bytes(place, _FILE)
        kind = _KIND.fullmatch(self._text(place, _FILE_TYPE))
        holds_message = any(stream.startswith(inner) for stream in self._file.streams)
        if holds_message and self._depth < _DEEPEST:
            content = OutlookMessage(self._file, inner, self._depth + 1).as_mail()
            name, kind = f"{name.removesuffix('.msg')}.eml", None
        if kind is None or kind[1].lower() in ("message", "multipart"):
            part = MIMEBase("application", "octet-stream")
        else:
            part = MIMEBase(kind[1], kind[2])
        part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
        if number := _BREAKS.sub("", self._text(place, _CONTENT_ID)).strip("<> "):
            part["Content-ID"] = f"<{number}>"
        if f"{place}__substg1.0_37010102" not in self._file.streams and not content:
            part[LEFT_OUT] = "0"
        else:
            part.set_payload(content)
            encode_base64(part)
        return part

    def _storages(self, kind: str) -> Iterator[str]:
        """Yield the places of recipients or files, in the order of their numbers."""
        start = len(self._place)
        inside = (name[start:] for name in self._file.streams if name.startswith(self._place))
        tops = {name.partition("/")[0] for name in inside if name.startswith(kind) and "/" in name}
        yield from (f"{self._place}{top}/" for top in sorted(tops))

    def _bytes(self, place: str, number: int) -> bytes:
        return self._file.read(f"{place}__substg1.0_{number:04X}0102")

    def _text(self, place: str, number: int) -> str:
        wide = self._file.read(f"{place}__substg1.0_{number:04X}001F")
        if wide:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._file.read(f"{place}__substg1.0_{number:04X}001E")
        return guessed(narrow.rstrip(b"\0"), self._charset) if narrow else ""

    def _number(self, place: str, number: int) -> int:
        """Return a property that is a number or a time; these stand in a list."""
        listed = self._file.read(f"{place}{_PROPERTIES}")
        last = place.rstrip("/").rpartition("/")[2]
        head = next(
            (size for kind, size in _HEAD_BYTES.items() if kind and last.startswith(kind)), 0
        )
        head = head or (_INSIDE if place else _HEAD_BYTES[""])
        for at in range(head, len(listed) - 15, 16):
            if int.from_bytes(listed[at + 2 : at + 4], "little") == number:
                return int.from_bytes(listed[at + 8 : at + 16], "little")
        return 0

    def _whole_number(self, place: str, number: int) -> int:
        return self._number(place, number) & 0xFFFFFFFF


def _charset(code_page: int) -> str:
    return {0: "", 65001: "utf-8", 1200: "utf-16-le"}.get(code_page, f"cp{code_page}")
