"""Text files: which encoding a file of text is in, and its lines as text."""

import codecs
import io
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, cast

from pdpp.sources.reading.eastern import eastern_encoding
from pdpp.sources.reading.heads import HEAD_BYTES
from pdpp.sources.reading.lines import lines
from pdpp.sources.reading.recoded import Recoded
from pdpp.sources.reading.tree import FileEntry

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = "cp1252"
_WIDE = "utf-16"
_LOOKED_AT = 32
"""So many bytes tell whether every second one is zero, as it is in UTF-16 without a mark."""


class DecodedLine(NamedTuple):
    """One line without its end; of one that is ``too_long`` only the beginning is there.

    ``whole`` tells whether a line feed closed it.
    """

    number: int
    text: str
    too_long: bool
    whole: bool


def encoding_of(head: bytes) -> str:
    """Return the encoding that the beginning of a file is in; what shows no other is Western."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if wide := _unmarked(head):
        return wide
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return eastern_encoding(head) or WESTERN
    return "utf-8"


def decoded(content: bytes) -> str:
    """Return a whole text with line feeds alone and without a byte order mark."""
    text = content.decode(encoding_of(content[:HEAD_BYTES]), "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def _unmarked(head: bytes) -> str | None:
    """Return the byte order of UTF-16 without a mark, which begins with letters of ASCII."""
    first, second = head[:_LOOKED_AT:2], head[1:_LOOKED_AT:2]
    if len(head) < _LOOKED_AT:
        return None
    if not any(second) and all(first) and first.isascii():
        return f"{_WIDE}-le"
    return f"{_WIDE}-be" if not any(first) and all(second) and second.isascii() else None


def plain_head(entry: FileEntry, size: int = 4_096) -> bytes:
    """Return the beginning of a text file with line feeds alone and without a byte order mark.

    What is written in UTF-16 is given in UTF-8.
    """
    with open_narrow(entry) as stream:
        head = stream.read(size).removeprefix(codecs.BOM_UTF8)
    return head.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def open_narrow(entry: FileEntry, encoding: str | None = None) -> BinaryIO:
    """Open a text file so that a line feed is one byte: UTF-16 is read as UTF-8."""
    encoding = encoding or encoding_of(entry.head(_LOOKED_AT))
    stream = entry.open()
    if not encoding.startswith(_WIDE):
        return stream
    return cast(BinaryIO, io.BufferedReader(Recoded(stream, encoding)))


def text_lines(entry: FileEntry, encoding: str | None = None) -> Iterator[DecodedLine]:
    """Yield the lines of a file as text; what cannot be decoded becomes U+FFFD."""
    encoding = encoding or encoding_of(entry.head())
    narrow = "utf-8" if encoding == "utf-8-sig" or encoding.startswith(_WIDE) else encoding
    with open_narrow(entry, encoding) as stream:
        for line in lines(stream):
            text = line.text.removesuffix(b"\r").decode(narrow, "replace")
            if "\x00" in text:
                # A program that reserves room for a file, or a machine that goes off, leaves zeros.
                if not text.strip("\x00"):
                    continue
                text = text.replace("\x00", "\ufffd")
            yield DecodedLine(line.number, text, line.too_long, line.whole)
