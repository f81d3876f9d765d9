"""Files that Firefox packs: eight bytes of mark, the size, and one block of LZ4."""

import io
from typing import BinaryIO

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.tree import FileEntry

MARK = b"mozLz40\0"
_HEAD = len(MARK) + 4
_LARGEST = 64 << 20
_SHORTEST_COPY = 4
_MORE = 15
"""What a length of four bits is where further bytes are added to it, up to one below 255."""


def is_packed(entry: FileEntry) -> bool:
    """Tell whether a file begins as Firefox packs it."""
    return entry.head(len(MARK)) == MARK


def unpacked(entry: FileEntry) -> FileEntry:
    """Return a packed file as what is in it."""
    with entry.open() as stream:
        head = stream.read(_HEAD)
        size = int.from_bytes(head[len(MARK) :], "little")
        if not head.startswith(MARK) or len(head) < _HEAD or size > _LARGEST:
            raise DamagedFile(f"{entry.name} is not packed as Firefox does it")
        packed = stream.read(_LARGEST)

    def opener() -> BinaryIO:
        return io.BytesIO(unpack_block(packed, size))

    return FileEntry(entry.name, size, entry.stamp, opener, entry.meter)


def unpack_block(packed: bytes, size: int) -> bytes:
    """Return what a block of LZ4 holds, which must be so many bytes.

    It is a list of runs: bytes as they are, then how far back and how much to copy of what came
    before. The last run has nothing to copy.
    """
    plain = bytearray()
    at = 0
    try:
        while at < len(packed):
            token = packed[at]
            length, at = _length(packed, at + 1, token >> 4)
            plain += packed[at : at + length]
            at += length
            if at >= len(packed):
                break
            distance = packed[at] | packed[at + 1] << 8
            length, at = _length(packed, at + 2, token & _MORE)
            _copy(plain, distance, length + _SHORTEST_COPY, size)
    except IndexError:
        raise DamagedFile("it ends in the middle") from None
    if len(plain) != size:
        raise DamagedFile("it does not unpack to the size that it says")
    return bytes(plain)


def _length(packed: bytes, at: int, length: int) -> tuple[int, int]:
    """Return a length, and the place behind its bytes."""
    if length == _MORE:
        while packed[at] == 0xFF:
            length += 0xFF
            at += 1
        length += packed[at]
        at += 1
    return length, at


def _copy(plain: bytearray, distance: int, length: int, size: int) -> None:
    """Add a copy of what stands so far back; it may reach into itself, and then repeats."""
    start = len(plain) - distance
    if not distance or start < 0 or len(plain) + length > size:
        raise DamagedFile("it copies what is not there")
    piece = bytes(plain[start : start + length])
    plain += (piece * (length // len(piece) + 1))[:length]
