"""Mail messages: split one message into headers, text and files, whatever program wrote it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email import policy
from email.message import Message
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from typing import NamedTuple

from pdpp.sources.formats.mail.encoded import LONGEST, decoded, guessed
from pdpp.sources.reading.html import html_text

_MOST_PARTS = 1_000
_BAD_BYTES = re.compile("[\udc80-\udcff]")
_IS_UTC = re.compile(r"-0000\s*(?:\([^()]*\))?\s*\Z")
_IDS = re.compile(r"<[^<>\s]+>")


class MessageFile(NamedTuple):
    """Something attached to a message."""

    name: str
    media_type: str
    content: bytes


class MessageBody(NamedTuple):
    """What a message says, as text; the HTML it was made from, where there was no text."""

    text: str
    html: bytes | None
    files: tuple[MessageFile, ...]


def parse(content: bytes) -> Message:
    """Return a message; mail is so often malformed that nothing about its headers is checked."""
    return BytesParser(policy=policy.compat32).parsebytes(content)


def header(message: Message, name: str) -> str:
    """Return a header as a person reads it, on one line."""
    return decoded(next(_raw(message, name), ""))


def _raw(message: Message, name: str) -> Iterator[str]:
    """Yield the headers of a name as they stand, with raw bytes read as letters."""
    wanted = name.lower()
    for header, value in message.raw_items():
        if header.lower() == wanted:
            yield _mended(str(value))


def people(message: Message, name: str) -> list[str]:
    """Return the people of a header, each as ``Name <address>``."""
    addresses = []
    for label, address in getaddresses([value[:LONGEST] for value in _raw(message, name)]):
        known = decoded(label)
        if known and address and known != address:
            addresses.append(f"{known} <{address}>")
        elif known or address:
            addresses.append(address or known)
    return addresses


def references(message: Message) -> list[str]:
    """Return the ids of the messages that came before, the oldest first."""
    headers = [*_raw(message, "References"), *_raw(message, "In-Reply-To")]
    return _IDS.findall(" ".join(headers))


def sent(message: Message, envelope: str) -> datetime | None:
    """Return when a message was sent, by its own word, else by those who carried it."""
    carried = [value.rpartition(";")[2] for value in _raw(message, "Received")]
    for text in (
        str(message.get("Date", "")),
        *carried,
        envelope.partition(" ")[2].partition(" ")[2],
    ):
        try:
            moment = parsedate_to_datetime(text.strip())
            # RFC 5322: "-0000" is UTC of a machine that does not tell its zone; the library reads
            # it as a local time.
            return moment.replace(tzinfo=UTC) if _IS_UTC.search(text) else moment
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def body(message: Message) -> MessageBody:
    """Return the text of a message and what is attached to it."""
    plain: list[str] = []
    pages: list[Message] = []
    files: list[MessageFile] = []
    for number, part in enumerate(_leaves(message), 1):
        name = _file_name(part)
        kind = part.get_content_type()
        attached = part.get_content_disposition() == "attachment" or name
        if not attached and kind == "text/plain":
            plain.append(_text(part))
        elif not attached and kind == "text/html":
            pages.append(part)
        else:
            files.append(MessageFile(name or f"part {number}", kind, _bytes(part)))
    if any(text.strip() for text in plain) or not pages:
        return MessageBody("\n".join(plain).strip(), None, tuple(files))
    text = "\n\n".join(html_text(_text(page)) for page in pages)
    return MessageBody(text, b"\n".join(_bytes(page) for page in pages), tuple(files))


def _leaves(message: Message) -> Iterator[Message]:
    """Yield the parts that hold something; a message inside a message is one file."""
    waiting, count = [message], 0
    while waiting and count < _MOST_PARTS:
        part = waiting.pop(0)
        count += 1
        inner = part.get_payload()
        if part.get_content_maintype() == "multipart" and isinstance(inner, list):
            waiting[:0] = [child for child in inner if isinstance(child, Message)]
        else:
            yield part


def _file_name(part: Message) -> str:
    name = part.get_filename()
    return decoded(str(name))[:200] if name else ""


def _bytes(part: Message) -> bytes:
    inner = part.get_payload()
    if isinstance(inner, list):
        return b"\n".join(child.as_bytes() for child in inner if isinstance(child, Message))
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _text(part: Message) -> str:
    return guessed(_bytes(part), part.get_content_charset() or "utf-8").replace("\r\n", "\n")


def _mended(text: str) -> str:
    """Return text whose raw bytes, kept aside by the parser, are read as UTF-8 or Windows'."""
    if not _BAD_BYTES.search(text):
        return text
    return guessed(text.encode("utf-8", "surrogateescape"), "utf-8")
