"""Seekable readers: content that is read from any position, wherever its bytes are."""

import io
import os


class SeekableReader(io.RawIOBase):
    """Content of a known size; whoever derives from it reads into buffers at ``_position``."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def seekable(self) -> bool:
        """Say that any position can be read."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a position, counted from the start, from here or from the end."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def tell(self) -> int:
        """Return the position of the next read."""
        return self._position
