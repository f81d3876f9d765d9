"""JavaScript files that hold one JSON document behind an assignment, as X writes them."""

import io
import re
from typing import BinaryIO, cast

from pdpp.sources.reading.tree import FileEntry

_PREFIX = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:window\.|var\s+(?=user_details\b)|(?=Grailbird\.))([\w.]+)\s*=\s*"
)
"""The last two are how Twitter wrote until 2018."""


def assigned_name(entry: FileEntry) -> str | None:
    """Return the name that a file assigns its document to; None where it does no such thing."""
    if entry.suffix != ".js":
        return None
    match = _PREFIX.match(entry.head(1_024))
    return match[1].decode() if match else None


def without_prefix(entry: FileEntry) -> FileEntry:
    """Return the file as if it held the document alone."""
    match = _PREFIX.match(entry.head(1_024))
    skip = match.end() if match else 0

    def opener() -> BinaryIO:
        return cast(BinaryIO, _Shifted(entry.opener(), skip))

    def wide_opener() -> BinaryIO:
        inner = entry.opened()
        inner.seek(skip)
        return inner

    if entry.is_wide:  # Text in UTF-16 can only be gone through forward.
        return FileEntry(entry.name, entry.size, entry.stamp, wide_opener, entry.meter, packed=True)
    return FileEntry(entry.name, entry.size - skip, entry.stamp, opener, entry.meter)


class _Shifted(io.RawIOBase):
    """A file whose first bytes nobody sees."""

    def __init__(self, inner: BinaryIO, skip: int) -> None:
        self._inner = inner
        self._skip = skip

    def read(self, size: int = -1) -> bytes:
        """Read on."""
        return self._inner.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to an offset of what can be seen."""
        if whence:
            raise io.UnsupportedOperation("only from the start")
        return self._inner.seek(offset + self._skip) - self._skip

    def close(self) -> None:
        """Close the file."""
        self._inner.close()
        super().close()
