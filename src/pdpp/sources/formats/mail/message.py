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
_LOST = "\ufffd"
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
    said: list[str] = []
    pages: list[Message] = []
    files: list[MessageFile] = []
    for number, part in enumerate(_leaves(message), 1):
        if not _is_said(part):
            files.append(MessageFile(_name(part, number), part.get_content_type(), _bytes(part)))
        elif part.get_content_type() == "text/html":
            pages.append(part)
            said.append(f"{html_text(_text(part)).strip()}\n")
        else:
            said.append(_text(part))
    html = b"\n".join(_bytes(page) for page in pages) if pages else None
    return MessageBody("\n".join(said).strip(), html, tuple(files))


def _leaves(message: Message) -> Iterator[Message]:
    """Yield the parts that hold something; a message inside a message is one file.

    Of forms of one text, plain words and a page, the words count where there are any.
    """
    waiting, count = [(message, False)], 0
    while waiting and count < _MOST_PARTS:
        part, worded = waiting.pop(0)
        count += 1
        inner = part.get_payload()
        if part.get_content_maintype() == "multipart" and isinstance(inner, list):
            children = [child for child in inner if isinstance(child, Message)]
            worded = worded or (part.get_content_subtype() == "alternative" and _has_words(part))
            waiting[:0] = [(child, worded) for child in children]
        elif not (worded and _is_said(part) and part.get_content_type() == "text/html"):
            yield part


def _has_words(message: Message) -> bool:
    return any(
        part.get_content_type() == "text/plain" and _is_said(part) and bool(_text(part).strip())
        for part in message.walk()
    )


def _is_said(part: Message) -> bool:
    """Tell whether a part is words of the message itself, and no file."""
    attached = part.get_content_disposition() == "attachment" or _file_name(part)
    return not attached and part.get_content_type() in ("text/plain", "text/html")


def _name(part: Message, number: int) -> str:
    """Return the name of a file; a message that is attached is called as its subject."""
    inner = part.get_payload()
    if part.get_content_type() == "message/rfc822" and isinstance(inner, list) and inner:
        subject = header(inner[0], "Subject") if isinstance(inner[0], Message) else ""
        return _file_name(part) or (f"{subject[:190]}.eml" if subject else f"part {number}")
    return _file_name(part) or f"part {number}"


def _file_name(part: Message) -> str:
    name = part.get_filename()
    if name and _LOST in name:
        name = _with_letters(part).get_filename()
    return decoded(str(name))[:200] if name else ""


def _with_letters(part: Message) -> Message:
    """Return the headers that name a file with their raw bytes read as letters."""
    plain = Message()
    for name in ("Content-Disposition", "Content-Type"):
        for value in _raw(part, name):
            plain[name] = value
    return plain


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
