"""Files of the disk that many entries read, while only a few of them are open at a time.

A folder of downloads may hold thousands of archives, and a process may open about a thousand files.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import BinaryIO

from pdpp.seekable import SeekableReader

MOST_OPEN = 32


class _RecentFiles:
    """The files that were read last; the one that was not read for longest closes first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[int, BinaryIO] = OrderedDict()

    def read_into(
        self, reader: int, opener: Callable[[], BinaryIO], place: int, buffer: memoryview
    ) -> int:
        with self._lock:
            file = self._open.pop(reader, None) or opener()
            self._open[reader] = file
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)[1].close()
            file.seek(place)
            data = file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self, reader: int) -> None:
        with self._lock:
            file = self._open.pop(reader, None)
        if file is not None:
            file.close()


_RECENT = _RecentFiles()


class ReopenedFile(SeekableReader):
    """A file that can be read anywhere, and is opened again when it was closed meanwhile."""

    name = None

    def __init__(self, opener: Callable[[], BinaryIO], size: int) -> None:
        super().__init__(size)
        self._opener = opener

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with the bytes at the present position."""
        count = _RECENT.read_into(id(self), self._opener, self._position, memoryview(buffer))
        self._position += count
        return count

    def close(self) -> None:
        """Close the file if it is open."""
        _RECENT.close(id(self))
        super().close()
