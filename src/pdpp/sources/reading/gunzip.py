"""Files that are packed one by one with gzip, read as what is in them."""

import zlib
from dataclasses import replace
from typing import BinaryIO, cast

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.forward import ForwardStream
from pdpp.sources.reading.tree import FileEntry, TreeLimits

_MARK = b"\x1f\x8b"
_GZIP = 31
"""A window of 15 bits with the head of gzip (16) before it."""
_CHUNK = 1 << 16


def unpacked(entry: FileEntry, limits: TreeLimits | None = None) -> FileEntry:
    """Return a file as it is without its packing; one that is not packed as it is."""
    try:
        if entry.suffix != ".gz" or entry.head(len(_MARK)) != _MARK:
            return entry
    except DamagedFile:
        return entry
    limits = limits or TreeLimits()
    most = max(limits.ratio_from_bytes, limits.whole_ratio * entry.size)
    return replace(
        entry,
        opener=lambda: cast(BinaryIO, Gunzipped(entry.open(), most)),
        packed=True,
        on_disk=False,
    )


class Gunzipped(ForwardStream):
    """A packed stream that gives no more than it may: a few kilobytes can unpack to gigabytes.

    Of one that is cut off it gives what is there, and then fails.
    """

    def __init__(self, packed: BinaryIO, most: int) -> None:
        self._packed = packed
        self._unpacker = zlib.decompressobj(_GZIP)
        self._left = most

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read some bytes."""
        while True:
            rest = self._packed_bytes()
            if not rest and not self._unpacker.eof:
                raise EOFError("it is cut off")
            piece = self._unpacker.decompress(rest, len(buffer)) if rest else b""
            if piece or not rest:
                break
        self._left -= len(piece)
        if self._left < 0:
            raise EOFError("it unpacks to far more than its own size")
        buffer[: len(piece)] = piece
        return len(piece)

    def _packed_bytes(self) -> bytes:
        """Return the next packed bytes; behind the end of a piece another one may begin."""
        if not self._unpacker.eof:
            return self._unpacker.unconsumed_tail or self._packed.read(_CHUNK)
        rest = self._unpacker.unused_data or self._packed.read(_CHUNK)
        # Tapes, and programs that write whole blocks, fill up the last one with nothing.
        while rest and not rest.strip(b"\0"):
            rest = self._packed.read(_CHUNK)
        self._unpacker = zlib.decompressobj(_GZIP) if rest else self._unpacker
        return rest.lstrip(b"\0")

    def close(self) -> None:
        """Close the packed stream."""
        self._packed.close()
        super().close()
