"""SMS Backup & Restore: text messages and calls of an Android phone, as XML."""

import binascii
import io
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import BinaryIO, cast

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals, RecordKey, digest_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.named_days import day_in
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.reading.xmlstream import XmlElement, xml_elements, xml_root
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    roots_of_namesakes,
)

_ROOTS = frozenset({"smses", "calls"})
_UNITS = ("sms", "mms", "call")
_DIRECTIONS = MappingProxyType(
    {"1": "received", "2": "sent", "3": "draft", "4": "sending", "5": "failed", "6": "queued"}
)
_CALLS = MappingProxyType(
    {"1": "incoming", "2": "outgoing", "3": "missed", "4": "voicemail", "5": "rejected"}
    | {"6": "blocked", "7": "answered elsewhere"}
)
_WITHHELD = frozenset({"-1", "-2", "-3"})
"""What stands for a number that is unknown, private, or of a public telephone."""
_FROM = "137"
_OWN_NUMBER = "insert-address-token"
_LAYOUT = "application/smil"
_PLAIN = "text/plain"
_FILLING = re.compile(r"[\s()\-./]")
_LETTER = re.compile(r"[^\W\d_]")
_LARGEST = 128 << 20
"""A message with its files in Base64: what a network sends is far smaller."""


class SmsBackup(Source):
    """``sms-….xml`` and ``calls-….xml`` as the app writes them."""

    connector_key = "sms_backup"
    lies_among_others = True
    files_stand_alone = True
    files_may_differ = True
    label = "SMS Backup & Restore"
    passed_over = MappingProxyType({"*.xsl": "the looks of a page"})

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return folders with backups by themselves: each may be of another phone."""
        return roots_of_namesakes(_backups(tree))

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for documents whose root is a list of messages or calls."""
        names = _backups(tree)
        if not names:
            return None
        return Recognition(
            Confidence.CERTAIN,
            f"{len(names)} files" if len(names) > 1 else "a file",
            account="SMS and calls",
            owner_known=False,
            detail={"files": names},
        )

    def made_on(self, tree: Tree) -> str:
        """Return the day that the name of an archive tells."""
        return max((day_in(entry.base) for entry in tree.entries), default="")

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each document."""
        for entry in tree.these(recognition.detail["files"]):
            yield ExportPart(entry, partial(_read, entry))


def _backups(tree: Tree) -> list[str]:
    return [entry.name for entry in tree.entries if _is_backup(entry, tree.kind == "file")]


def _is_backup(entry: FileEntry, single: bool) -> bool:
    if entry.suffix != ".xml" and not single:
        return False
    root = xml_root(entry)
    return root is not None and root.name in _ROOTS


def _read(entry: FileEntry) -> Iterator[Finding]:
    ordinals = Ordinals()
    with entry.open() as stream:
        for element in xml_elements(stream, *_UNITS, longest=_LARGEST):
            if isinstance(element, Skipped):
                yield element
            elif isinstance(element, XmlElement):
                where = f"{entry.name} {element.name} {element.number}"
                yield from account(
                    _READERS[element.name](element, ordinals, where), where, element.name
                )


def _given(attributes: Mapping[str, str], name: str) -> str:
    """Return an attribute; what the phone did not know is written as the word null."""
    value = attributes.get(name, "").strip()
    return "" if value in ("null", "(Unknown)") else value


def _numbers(attributes: Mapping[str, str]) -> list[str]:
    """Return the numbers of a conversation, without what people write between digits."""
    return sorted(map(_plain, _parties(attributes)))


def _plain(number: str) -> str:
    """Return a number without its filling; names and addresses of mail stay as they are."""
    return number if _LETTER.search(number) else _FILLING.sub("", number) or number


def _parties(attributes: Mapping[str, str]) -> list[str]:
    """Return the numbers as they are written, in the order of the names."""
    given = _given(attributes, "address") or _given(attributes, "number")
    return [number for number in given.split("~") if number and number not in _WITHHELD]


def _moment(attributes: Mapping[str, str]) -> str | None:
    stamp = _given(attributes, "date")
    return epoch_text(int(stamp) / 1000) if stamp.lstrip("-").isdecimal() else None


def _sms(element: XmlElement, ordinals: Ordinals, where: str) -> Iterator[Finding]:
    attributes = element.attributes
    sent, numbers = _moment(attributes), _numbers(attributes)
    text = attributes.get("body", "")
    if sent is None:
        yield Unknown("a message without a time", where)
        return
    if not text.strip() or text == "null":
        yield Skipped("an empty message", where)
        return
    direction = _DIRECTIONS.get(attributes.get("type", ""), "unknown")
    key = ordinals.key(attributes["date"], "sms", *numbers, direction, text)
    contact = _given(attributes, "contact_name") or ", ".join(numbers) or "unknown"
    data = _message_data(key, numbers, contact, direction, sent)
    sender = contact if direction == "received" else "me"
    more = {
        "sender": sender,
        "text": text,
        "kind": "SMS",
        "subject": _given(attributes, "subject") or None,
    }
    yield Item("messages", key, present({**data, **more}))


def _message_data(
    key: RecordKey, numbers: list[str], contact: str, direction: str, sent: str
) -> dict[str, object]:
    return {
        "id": key,
        "chat_id": digest_key("chat", *numbers),
        "contact": contact,
        "number": ", ".join(numbers) or "unknown",
        "direction": direction,
        "sent_at": sent,
    }


def _mms(element: XmlElement, ordinals: Ordinals, where: str) -> Iterator[Finding]:
    attributes = element.attributes
    sent, numbers = _moment(attributes), _numbers(attributes)
    if sent is None:
        yield Unknown("a message without a time", where)
        return
    parts = [part.attributes for group in element.each("parts") for part in group.each("part")]
    texts = [*map(_text_of, parts)]
    # A contact or an appointment is a text by its kind, and comes as a file.
    wordless = [
        part
        for part, text in zip(parts, texts, strict=True)
        if not text and part.get("ct") not in (_LAYOUT, _PLAIN)
    ]
    files = [part for part in wordless if _given(part, "data")]
    text = "\n".join(filter(None, texts))
    subject = _given(attributes, "sub")
    if not text and not wordless and not subject:
        yield Skipped("an empty message", where)
        return
    direction = _DIRECTIONS.get(attributes.get("msg_box", ""), "unknown")
    # By its kinds of files and not by these: a backup may be made without them.
    kinds = sorted(part.get("ct", "") for part in wordless)
    key = ordinals.key(attributes["date"], "mms", *numbers, direction, text, *kinds)
    contact = _given(attributes, "contact_name") or ", ".join(numbers) or "unknown"
    data = _message_data(key, numbers, contact, direction, sent)
    sender = _sender(element) or contact if direction == "received" else "me"
    sender = _names(attributes).get(_plain(sender), sender)
    more = {
        "sender": sender,
        "text": text or subject or f"[{counted(len(wordless), 'file')}]",
        "kind": "MMS",
        "subject": subject or None,
        "files": len(files) or None,
    }
    keeps = "" if files else "files"
    yield Item("messages", key, present({**data, **more}), keeps=keeps)
    for number, part in enumerate(files, 1):
        yield _file(part, number, key, sent, f"{where} file {number}")
    for _ in range(len(wordless) - len(files)):
        yield Skipped("a file that is not in the export", where)


def _names(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return the names of those who take part, by their numbers."""
    parties, names = _parties(attributes), _given(attributes, "contact_name").split(", ")
    if len(parties) != len(names):
        return {}
    named = zip(parties, names, strict=True)
    return {_plain(number): name for number, name in named if name != "(Unknown)"}


def _text_of(part: Mapping[str, str]) -> str:
    return _given(part, "text") if part.get("ct", "").startswith("text/") else ""


def _sender(element: XmlElement) -> str:
    addresses = [
        address.attributes for group in element.each("addrs") for address in group.each("addr")
    ]
    senders = [_given(party, "address") for party in addresses if party.get("type") == _FROM]
    return next((number for number in senders if number != _OWN_NUMBER), "")


def _file(
    part: Mapping[str, str], number: int, message: RecordKey, sent: str, where: str
) -> Finding:
    try:
        content = b64decode(part["data"], validate=False)
    except (binascii.Error, ValueError):
        return Skipped("a file that is not Base64", where)
    media_type = _given(part, "ct") or "application/octet-stream"
    names = (_given(part, name) for name in ("cl", "name", "fn"))
    name = next(filter(None, names), f"file {number}")
    key = digest_key("file", message, str(number))
    data = {
        "id": key,
        "message_id": message,
        "name": name,
        "media_type": media_type,
        "sent_at": sent,
    }
    return Item(
        "attachments", key, data, (Attachment("file", partial(_opened, content), media_type),)
    )


def _opened(content: bytes) -> BinaryIO:
    if not content:
        raise DamagedFile("it is empty")
    return cast(BinaryIO, io.BytesIO(content))


def _call(element: XmlElement, ordinals: Ordinals, where: str) -> Iterator[Finding]:
    attributes = element.attributes
    called, numbers = _moment(attributes), _numbers(attributes)
    if called is None:
        yield Unknown("a call without a time", where)
        return
    number = ", ".join(numbers) or "unknown"
    seconds = attributes.get("duration", "0")
    key = ordinals.key(attributes["date"], "call", number, attributes.get("type", ""))
    data = {
        "id": key,
        "contact": _given(attributes, "contact_name") or number,
        "number": number,
        "direction": _CALLS.get(attributes.get("type", ""), "other"),
        "seconds": int(seconds) if seconds.isdecimal() else 0,
        "called_at": called,
    }
    yield Item("calls", key, data)


_READERS = MappingProxyType({"sms": _sms, "mms": _mms, "call": _call})
