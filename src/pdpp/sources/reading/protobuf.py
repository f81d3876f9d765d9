"""Messages of numbered fields, as programs keep what has no column: read without a schema."""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

from pdpp.model.errors import DamagedFile

LONGEST = 16 << 20
_GZIP = 31
_LENGTH_DELIMITED = 2
_FIXED = {1: 8, 5: 4}
_COMPRESSED = b"\x1f\x8b"


class Message:
    """The fields of a message; those of one number are in order, and a broken tail is left out."""

    def __init__(self, content: bytes) -> None:
        self._fields: dict[int, list[bytes | int]] = {}
        for number, value in _fields(content):
            self._fields.setdefault(number, []).append(value)

    def texts(self, number: int) -> list[str]:
        """Return fields as text."""
        return [content.decode("utf-8", "replace") for content in self.contents(number)]

    def text(self, number: int) -> str | None:
        """Return the first field of a number as text."""
        texts = self.texts(number)
        return texts[0] if texts else None

    def number(self, number: int) -> int | None:
        """Return the first field of a number that is a number."""
        values = self._fields.get(number, ())
        return next((value for value in values if isinstance(value, int)), None)

    def contents(self, number: int) -> list[bytes]:
        """Return fields as bytes."""
        return [value for value in self._fields.get(number, ()) if isinstance(value, bytes)]

    def messages(self, number: int) -> list["Message"]:
        """Return fields as messages."""
        return [Message(content) for content in self.contents(number)]

    def message(self, *way: int) -> "Message":
        """Return the message that numbers lead to; an empty one where they lead nowhere."""
        inner = self
        for number in way:
            contents = inner.contents(number)
            inner = Message(contents[0] if contents else b"")
        return inner


class _Varint(NamedTuple):
    value: int
    end: int


def unpacked(content: bytes) -> bytes | None:
    """Return what was compressed, at most so much as a note may be; None where it was not."""
    if not content.startswith(_COMPRESSED):
        return None
    try:
        # Bounded: a few kilobytes could unfold to gigabytes.
        return zlib.decompressobj(_GZIP).decompress(content, LONGEST)
    except zlib.error:
        return None


def _fields(content: bytes) -> Iterator[tuple[int, bytes | int]]:
    at = 0
    try:
        while at < len(content):
            tag, at = _varint(content, at)
            # A tag is the number of a field, shifted by three bits, and the kind of its value: 0 a
            # number of variable length, 1 and 5 eight and four bytes, 2 a length with so many
            # bytes.
            kind = tag & 7
            if kind == _LENGTH_DELIMITED:
                length, at = _varint(content, at)
                if at + length > len(content):
                    return
                yield tag >> 3, content[at : at + length]
                at += length
            elif kind == 0:
                value, at = _varint(content, at)
                yield tag >> 3, value
            elif kind in _FIXED:
                at += _FIXED[kind]
            else:
                return
    except DamagedFile:
        return


def _varint(content: bytes, at: int) -> _Varint:
    """Return a number of seven bits a byte and where it ends."""
    value = 0
    for shift in range(0, 64, 7):
        if at >= len(content):
            break
        byte = content[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return _Varint(value, at)
    raise DamagedFile("a number that does not end")
