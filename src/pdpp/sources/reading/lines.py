"""Lines: a stream split at line feeds, each line bounded, with the place where it ends."""

import io
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, cast

LONGEST = 16 << 20

_MARK = b"\xef\xbb\xbf"
_CHUNK = 1 << 20


class ByteLine(NamedTuple):
    """One line without its end; of one that is ``too_long`` only the beginning is there.

    ``end`` is the offset after the line; ``whole`` tells whether a line feed closed it.
    """

    number: int
    text: bytes
    end: int
    whole: bool
    too_long: bool


def lines(stream: BinaryIO, longest: int = LONGEST, *, offset: int = 0) -> Iterator[ByteLine]:
    """Yield every line of a stream that stands at an offset, however long the stream is."""
    number, begins = 0, offset == 0
    stream = _with_line_feeds(stream)
    # One byte for the line feed and one to see that there is more than may be.
    while text := stream.readline(longest + 2):
        number += 1
        offset += len(text)
        whole = text.endswith(b"\n")
        too_long = len(text) > longest + 1 and not whole
        if too_long:
            skipped, whole = _skip(stream)
            offset += skipped
        if number == 1 and begins:
            text = text.removeprefix(_MARK)
        yield ByteLine(number, text.removesuffix(b"\n"), offset, whole, too_long)


def _with_line_feeds(stream: BinaryIO) -> BinaryIO:
    """Return a stream whose lines end with line feeds; old programs write only returns."""
    peek = getattr(stream, "peek", None)
    head = peek(_CHUNK) if peek is not None else b""
    if b"\r" in head and b"\n" not in head:
        return cast(BinaryIO, io.BufferedReader(_Returns(stream)))
    return stream


class _Returns(io.RawIOBase):
    """A stream in which returns are read as line feeds."""

    def __init__(self, inner: BinaryIO) -> None:
        self._inner = inner

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read some bytes."""
        chunk = self._inner.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _skip(stream: BinaryIO) -> tuple[int, bool]:
    """Go to the end of a line; return how far that was and whether there was one."""
    skipped = 0
    while rest := stream.readline(_CHUNK):
        skipped += len(rest)
        if rest.endswith(b"\n"):
            return skipped, True
    return skipped, False
