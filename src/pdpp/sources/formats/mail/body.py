"""Bodies: what a message says, as text, and the files that came with it."""

import binascii
import mimetypes
import re
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

from pdpp.sources.formats.mail.charset import guessed
from pdpp.sources.formats.mail.encoded import decoded
from pdpp.sources.formats.mail.message import MailMessage, header, raw_headers
from pdpp.sources.formats.mail.plain import rejoined, taken_out
from pdpp.sources.formats.mail.tnef import unwrapped
from pdpp.sources.reading.html import html_text

Apart = Callable[[str], bytes | None]
MOST_PARTS = 1_000
LEFT_OUT = "X-Apple-Content-Length"
"""Apple Mail writes it where it took a file out of a message."""
_WRAPPINGS = ("application/ms-tnef", "application/vnd.ms-tnef")
_TEXTS = ("text/plain", "text/html")
_ENCODING = re.compile(r"[\w-]+")
_META = re.compile(rb"<meta[^>]{1,200}charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_META_BYTES = 4_096
_SHORT = 400
_FEW = 4
"""A text that is shorter, and than the page beside it so many times, only points to the page."""


class MessageFile(NamedTuple):
    """Something attached to a message; ``content`` is None where it was left out."""

    name: str
    media_type: str
    content: bytes | None


class MessageBody(NamedTuple):
    """What a message says, as text; the HTML it was made from, where there was no text.

    ``left_out`` counts the parts beyond those that are read. ``lacks_text`` says that the mail
    program knew of a text and did not have it.
    """

    text: str
    html: bytes | None
    files: tuple[MessageFile, ...]
    left_out: int = 0
    lacks_text: bool = False


@dataclass(frozen=True)
class _Leaf:
    """A part that holds something, its number among all of them, and its place in the tree."""

    part: MailMessage
    number: int
    place: str

    @property
    def is_page(self) -> bool:
        return _kind(self.part) == "text/html"

    @cached_property
    def text(self) -> str:
        """Return the words of the part; to read those of a page takes long."""
        return html_text(_text(self.part)) if self.is_page else _text(self.part)


class _Shown(NamedTuple):
    """What a part shows to a reader: leaves of text, and leaves that are files."""

    texts: list[_Leaf]
    files: list[_Leaf]

    @property
    def is_page(self) -> bool:
        return any(leaf.is_page for leaf in self.texts)

    @property
    def text(self) -> str:
        """Return the words of all leaves; a page that repeats a text adds nothing to it."""
        pieces: list[str] = []
        for leaf in self.texts:
            if not (leaf.is_page and pieces and _words(leaf.text) in _words("\n".join(pieces))):
                pieces.append(leaf.text)
        return ("\n\n" if self.is_page else "\n").join(pieces).strip()


def _words(text: str) -> str:
    return " ".join(text.split())


def body(message: MailMessage, apart: Apart = lambda _: None) -> MessageBody:
    """Return the text of a message and what is attached to it.

    ``apart`` returns what lies apart from the message, by the place of its part.
    """
    numbers: list[int] = []
    shown = _shown(message, numbers)
    pages = [leaf.part for leaf in shown.texts if leaf.is_page]
    text, inside = taken_out(shown.text)
    files = [_file(leaf, apart) for leaf in shown.files]
    for wrapping in [file for file in files if file.media_type in _WRAPPINGS and file.content]:
        inner = unwrapped(wrapping.content or b"")
        text = text or inner.text or html_text(inner.page)
        inside += inner.files
    return MessageBody(
        text,
        b"\n".join(_bytes(page) for page in pages) if pages else None,
        (*files, *(_named(*file) for file in inside)),
        max(0, len(numbers) - MOST_PARTS),
        any(_is_left_out(leaf.part) for leaf in shown.texts),
    )


def _shown(part: MailMessage, numbers: list[int], place: str = "") -> _Shown:
    """Return what a part shows; of forms of the same text it shows one, and the files of all."""
    if part.get_content_maintype() == "multipart" and part.is_multipart():
        children = [
            _shown(child, numbers, f"{place}.{number}".lstrip("."))
            for number, child in enumerate(_children(part), 1)
        ]
        chosen = children
        if _kind(part) == "multipart/alternative":
            chosen = _chosen([child for child in children if child.texts])
        return _Shown(
            [leaf for child in chosen for leaf in child.texts],
            [leaf for child in children for leaf in child.files],
        )
    if place and part.defects:
        part.take_headers_from_text()
    numbers.append(len(numbers) + 1)
    if len(numbers) > MOST_PARTS:
        return _Shown([], [])
    leaf = _Leaf(part, len(numbers), place or "1")
    # Without parts, though it says that it has some, it is text in some form.
    kind = "text/plain" if part.get_content_maintype() == "multipart" else _kind(part)
    named = bool(place) and bool(_file_name(part))
    attached = part.get_content_disposition() == "attachment" or named
    return _Shown([], [leaf]) if attached or kind not in _TEXTS else _Shown([leaf], [])


def _chosen(forms: list[_Shown]) -> list[_Shown]:
    """Return the form of a text to read: plain text, unless it only says where to look."""
    plain = next((form for form in forms if not form.is_page), None)
    page = next((form for form in reversed(forms) if form.is_page), None)
    if plain is None or page is None:
        return forms[:1]
    text = plain.text
    told = len(text) >= _SHORT or (text and len(page.text) < _FEW * len(text))
    return [plain] if told else [page]


def _kind(part: MailMessage) -> str:
    """Return the kind of a part; some programs leave the mark out that ends it."""
    return part.get_content_type().split()[0]


def _file(leaf: _Leaf, apart: Apart) -> MessageFile:
    part, kind = leaf.part, _kind(leaf.part)
    name = _file_name(part)
    if not name and kind == "message/rfc822":
        inner = next((child for child in part.walk() if child is not part), None)
        subject = header(inner, "Subject") if inner is not None else ""
        name = f"{subject[:190]}.eml" if subject else ""
    content = apart(leaf.place) if _is_left_out(part) else _bytes(part)
    return MessageFile(name or f"part {leaf.number}", kind, content)


def _is_left_out(part: MailMessage) -> bool:
    return part.get(LEFT_OUT) is not None and not _bytes(part)


def _named(name: str, content: bytes) -> MessageFile:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return MessageFile(decoded(name), kind, content)


def _file_name(part: MailMessage) -> str:
    try:
        name = part.get_filename()
    except (TypeError, ValueError):
        return ""
    if name and "\ufffd" in str(name):
        # The library gives up on raw bytes, in which many programs write names.
        probe = Message()
        for wanted in ("Content-Disposition", "Content-Type"):
            for value in raw_headers(part, wanted):
                probe[wanted] = value
        name = probe.get_filename()
    return decoded(str(name))[:200] if name else _place_name(part)


def _place_name(part: MailMessage) -> str:
    """Return the name of a file that has only a place, such as a picture of a web page."""
    place = header(part, "Content-Location").partition("?")[0].partition("#")[0]
    name = unquote(place.rpartition("/")[2]).strip()
    return name[:200] if "." in name.strip(".") else ""


def _bytes(part: MailMessage) -> bytes:
    encoding = _ENCODING.search(header(part, "Content-Transfer-Encoding"))
    if part.is_multipart():
        content = b"\n".join(_source(child) for child in _children(part))
        return _unpacked(content) if encoding and encoding[0].lower() == "base64" else content
    if encoding is not None:
        # The library knows an encoding only where nothing else stands beside it.
        part.replace_header("Content-Transfer-Encoding", encoding[0].lower())
    decoded_content = part.get_payload(decode=True)
    return decoded_content if isinstance(decoded_content, bytes) else b""


def _children(part: MailMessage) -> list[MailMessage]:
    inner = part.get_payload() if part.is_multipart() else []
    return [child for child in inner if isinstance(child, MailMessage)]


def _source(message: MailMessage) -> bytes:
    """Return a message as it was written; the library fails where a header is malformed."""
    head = "".join(f"{name}: {value}\n" for name, value in message.raw_items())
    children = [_source(child) for child in _children(message)]
    # The library returns this text decoded, or not at all where the charset is malformed.
    text = "" if children else str(message._payload or "")  # type: ignore[attr-defined]
    content = f"{head}\n{text}".encode("utf-8", "surrogateescape")
    if message.get_content_maintype() != "multipart" or not children:
        return content + b"\n".join(children)
    edge = f"--{message.get_boundary()}".encode("utf-8", "surrogateescape")
    return content + b"".join(b"%b\n%b\n" % (edge, child) for child in children) + edge + b"--\n"


def _unpacked(content: bytes) -> bytes:
    """Return a message that was encoded whole, which no message inside another may be."""
    try:
        return binascii.a2b_base64(content)
    except binascii.Error:
        return content


def _is_flowed(part: MailMessage) -> bool:
    """Tell whether lines are broken only for the way; most headers do not even name that."""
    named = any("format" in value.lower() for value in raw_headers(part, "Content-Type"))
    return named and str(part.get_param("format", "")).lower() == "flowed"


def _text(part: MailMessage) -> str:
    content = _bytes(part)
    charset = part.get_content_charset() or ""
    # Many programs say ASCII where they do not know.
    if charset in ("", "us-ascii") and _kind(part) == "text/html":
        meta = _META.search(content[:_META_BYTES])
        charset = meta.group(1).decode("ascii") if meta else charset
    text = guessed(content, charset).replace("\r\n", "\n")
    if not _is_flowed(part):
        return text
    return rejoined(text, drops_space=str(part.get_param("delsp", "")).lower() == "yes")
