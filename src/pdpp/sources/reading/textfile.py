"""Text files: which encoding a file of text is in, and its lines as text."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from pdpp.sources.reading.lines import lines
from pdpp.sources.reading.tree import FileEntry

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = "cp1252"
_CHUNK = 1 << 16


class DecodedLine(NamedTuple):
    """One line without its end; of one that is ``too_long`` only the beginning is there.

    ``whole`` tells whether a line feed closed it.
    """

    number: int
    text: str
    too_long: bool
    whole: bool


def encoding_of(head: bytes) -> str:
    """Return the encoding that the beginning of a file is in; what is not UTF-8 is Western."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return WESTERN
    return "utf-8"


def plain_head(entry: FileEntry, size: int = 4_096) -> bytes:
    """Return the beginning of a text file with line feeds alone and without a byte order mark."""
    head = entry.head(size).removeprefix(codecs.BOM_UTF8)
    return head.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def text_lines(entry: FileEntry, encoding: str | None = None) -> Iterator[DecodedLine]:
    """Yield the lines of a file as text; what cannot be decoded becomes U+FFFD."""
    encoding = encoding or encoding_of(entry.head())
    with entry.open() as stream:
        source = _Recoded(stream, encoding) if encoding == "utf-16" else stream
        narrow = "utf-8" if encoding in ("utf-8-sig", "utf-16") else encoding
        for line in lines(source):  # type: ignore[arg-type]
            text = line.text.removesuffix(b"\r").decode(narrow, "replace")
            yield DecodedLine(
                line.number, text.replace("\x00", "\ufffd"), line.too_long, line.whole
            )


class _Recoded:
    """A stream of another encoding, read line by line as UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._buffer = b""

    def readline(self, size: int) -> bytes:
        """Return up to the next line feed, and no more than some bytes."""
        while b"\n" not in self._buffer and len(self._buffer) < size:
            chunk = self._stream.read(_CHUNK)
            self._buffer += self._decoder.decode(chunk, final=not chunk).encode()
            if not chunk:
                break
        end = self._buffer.find(b"\n", 0, size) + 1 or min(size, len(self._buffer))
        line, self._buffer = self._buffer[:end], self._buffer[end:]
        return line
