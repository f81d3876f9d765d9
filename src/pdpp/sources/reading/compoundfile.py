"""Compound files: files inside a file, as Microsoft's programs of the nineties keep them.

A file is cut into sectors. A table names for each sector the one that follows it, and small streams
lie together in one large stream, whose sectors have a table of their own. The layout is [MS-CFB].
"""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENTRY_BYTES = 128
_FIRST_TABLES = range(76, 512, 4)
_LAST_SECTOR = 0xFFFFFFF9
"""Numbers above this are marks, such as that a stream ends."""
_NOBODY = 0xFFFFFFFF
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_MOST_ENTRIES = 100_000


class _Entry(NamedTuple):
    name: str
    kind: int
    beside: tuple[int, int]
    child: int
    start: int
    size: int


class CompoundFile:
    """The streams in a compound file, by their names with those of the storages around them.

    Whatever is broken is passed over, or raises ``ValueError``.
    """

    def __init__(self, content: bytes) -> None:
        """Read the tables and the names; streams are read when they are asked for."""
        if not content.startswith(SIGNATURE):
            raise ValueError("no compound file")
        self._content = content
        self._sector_bytes = 1 << min(self._number(30, 2), 16)
        self._small_bytes = 1 << min(self._number(32, 2), 16)
        self._cutoff = self._number(56)
        self._next = self._sector_table()
        directory = self._chain(self._number(48))
        self._entries = [
            _entry(directory[at : at + _ENTRY_BYTES])
            for at in range(0, min(len(directory), _MOST_ENTRIES * _ENTRY_BYTES), _ENTRY_BYTES)
        ]
        if not self._entries or self._entries[0].kind != _ROOT:
            raise ValueError("a compound file without a root")
        self.streams = dict(self._walk())

    def read(self, name: str) -> bytes:
        """Return the bytes of a stream; nothing where there is none of that name."""
        entry = self.streams.get(name)
        if entry is None:
            return b""
        if entry.size >= self._cutoff:
            return self._chain(entry.start)[: entry.size]
        return b"".join(self._small_sectors(entry.start))[: entry.size]

    def _number(self, at: int, length: int = 4) -> int:
        return int.from_bytes(self._content[at : at + length], "little")

    def _sector(self, number: int) -> bytes:
        at = (number + 1) * self._sector_bytes
        return self._content[at : at + self._sector_bytes]

    def _sector_table(self) -> list[int]:
        """Return which sector follows each; where the table lies stands in the head and behind."""
        places = [self._number(at) for at in _FIRST_TABLES]
        more, seen = self._number(68), set[int]()
        while more <= _LAST_SECTOR and more not in seen:
            seen.add(more)
            *further, more = _numbers(self._sector(more)) or [_NOBODY]
            places += further
        return [
            number
            for place in dict.fromkeys(places)
            if place <= _LAST_SECTOR
            for number in _numbers(self._sector(place))
        ]

    def _chain(self, start: int) -> bytes:
        return b"".join(self._sector(number) for number in _followed(start, self._next))

    @cached_property
    def _small(self) -> tuple[bytes, list[int]]:
        """Return the stream in which the small ones lie, and the table of its sectors."""
        return self._chain(self._entries[0].start), _numbers(self._chain(self._number(60)))

    def _small_sectors(self, start: int) -> Iterator[bytes]:
        content, following = self._small
        for number in _followed(start, following):
            at = number * self._small_bytes
            yield content[at : at + self._small_bytes]

    def _walk(self) -> Iterator[tuple[str, _Entry]]:
        """Yield the streams; entries of one storage are a tree, and so are the storages."""
        left, seen = [(self._entries[0].child, "")], set[int]()
        while left:
            number, around = left.pop()
            if number >= len(self._entries) or number in seen:
                continue
            seen.add(number)
            entry = self._entries[number]
            left += [(beside, around) for beside in entry.beside]
            if entry.kind == _STREAM:
                yield f"{around}{entry.name}", entry
            elif entry.kind == _STORAGE:
                left.append((entry.child, f"{around}{entry.name}/"))


def _entry(raw: bytes) -> _Entry:
    def number(at: int, length: int = 4) -> int:
        return int.from_bytes(raw[at : at + length], "little")

    name = raw[: max(0, min(number(64, 2), 64) - 2)].decode("utf-16-le", "replace")
    beside = (number(68), number(72))
    return _Entry(name, number(66, 1), beside, number(76), number(116), number(120))


def _followed(start: int, following: list[int]) -> Iterator[int]:
    """Yield a sector and those that follow it, each once."""
    seen: set[int] = set()
    while start < len(following) and start not in seen:
        seen.add(start)
        yield start
        start = following[start]


def _numbers(raw: bytes) -> list[int]:
    return [int.from_bytes(raw[at : at + 4], "little") for at in range(0, len(raw) - 3, 4)]
