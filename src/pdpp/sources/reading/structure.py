"""Structure: which members a JSON document has and where, found by streaming its keys.

Recognition must not depend on what happens to stand in the first kilobytes: a large account begins
with megabytes of contacts, and a long conversation names its members after its messages.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import BinaryIO

import ijson

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.nesting import Nesting
from pdpp.sources.reading.tree import FileEntry, Tree

_MARK = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"
_FEW_ELEMENTS = 5
_MOST_BYTES = 256 << 20
_CHUNK = 1 << 16
_MOST_CANDIDATES = 2_000


class _Bounded:
    """The first part of a stream, without the byte order mark before it.

    It ends where the document goes deeper than any export does.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = _MOST_BYTES
        self._first = True
        self._nesting = Nesting()

    def read(self, size: int = _CHUNK) -> bytes:
        """Read on; what comes after the bound is never seen."""
        chunk = self._stream.read(min(size, self._left))
        if self._nesting.is_too_deep(chunk):
            self._left, chunk = 0, b""
        self._left -= len(chunk)
        if self._first and chunk:  # A parser may ask for nothing first, to see what it gets.
            self._first = False
            return chunk.removeprefix(_MARK) or self.read(size)
        return chunk


def opening(entry: FileEntry) -> bytes:
    """Return the first byte of a file that is no space: ``{`` or ``[`` where it may be JSON."""
    return entry.head(4_096).removeprefix(_MARK).lstrip(_SPACE)[:1]


def json_paths(entry: FileEntry, wanted: Collection[str]) -> frozenset[str]:
    """Return which of the wanted paths a JSON document has.

    Paths are written as for ``elements``: ``item.mapping`` is a member of the elements of an
    array. The document is read until every path is met or a few elements of a top-level array have
    passed. What is broken further on does not matter here.
    """
    if opening(entry) not in (b"{", b"["):
        return frozenset()
    missing = set(wanted)
    with suppress(DamagedFile, ijson.JSONError), entry.open() as stream:
        for path in _paths(stream):
            missing.discard(path)
            if not missing:
                break
    return frozenset(set(wanted) - missing)


def _paths(stream: BinaryIO) -> Iterator[str]:
    """Yield the path of every value until a few elements of a top-level array have ended."""
    elements = 0
    for prefix, event, _ in ijson.parse(_Bounded(stream), use_float=True):
        if event == "map_key":
            continue
        yield prefix
        elements += prefix == "item" and event in ("end_map", "end_array")
        if elements >= _FEW_ELEMENTS:
            return


def candidates(tree: Tree, *patterns: str) -> list[FileEntry]:
    """Return the files that may be what is looked for, those of the first patterns first.

    A browser renames a file that is there already, and people rename as they like: the patterns
    only say where to look first, and a single file is looked at whatever it is called.
    """
    ordered: dict[str, FileEntry] = {}
    for pattern in patterns:
        ordered.update((entry.name, entry) for entry in tree.named(pattern))
    if tree.kind == "file":
        ordered.update((entry.name, entry) for entry in tree.entries)
    return list(ordered.values())[:_MOST_CANDIDATES]
