"""Heads: the beginning of a file is read once, however many sources look at it."""

import gzip
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from pdpp.sources.reading.gunzip import unpacked
from pdpp.sources.reading.heads import HEAD_BYTES, HeadCache
from pdpp.sources.reading.tree import FileEntry, ReadMeter, open_tree

TIDES = b"low tide, high tide, " * 20


class CountedFile:
    """A file that counts how often it is opened, and how much of it is read."""

    def __init__(self, content: bytes, meter: ReadMeter) -> None:
        self.content = content
        self.openings = 0
        self.entry = FileEntry("tides.json", len(content), "1", self.open, meter)

    def open(self) -> BinaryIO:
        self.openings += 1
        return BytesIO(self.content)


def test_a_head_is_read_once_until_the_meter_begins_anew() -> None:
    meter = ReadMeter()
    file = CountedFile(b"0123456789" * 20_000, meter)
    assert file.entry.head(4) == b"0123"
    assert file.entry.head() == file.content[:HEAD_BYTES]
    assert (file.openings, meter.bytes_read) == (1, HEAD_BYTES)
    file.content = b"9" * len(file.content)
    meter.reset()
    assert not meter.opened
    assert file.entry.head(4) == b"9999"
    assert (file.openings, meter.opened) == (2, {"tides.json"})


def test_more_than_a_head_is_read_as_it_is_wanted() -> None:
    file = CountedFile(b"0123456789" * 20_000, ReadMeter())
    assert file.entry.head(100_000) == file.entry.head(100_000) == file.content[:100_000]
    assert file.openings == 2


def test_what_finds_no_room_is_read_each_time_and_no_more_of_it_than_is_wanted() -> None:
    meter = ReadMeter(heads=HeadCache(HEAD_BYTES))
    first, second = CountedFile(b"a" * HEAD_BYTES, meter), CountedFile(b"b" * HEAD_BYTES, meter)
    for _ in range(3):
        assert (first.entry.head(2), second.entry.head(2)) == (b"aa", b"bb")
    assert (first.openings, second.openings) == (1, 3)
    assert meter.bytes_read == HEAD_BYTES + 6


def test_a_packed_file_and_what_is_in_it_have_heads_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "tides.json.gz"
    path.write_bytes(gzip.compress(TIDES))
    [entry] = open_tree(path).entries
    assert entry.head(2) == b"\x1f\x8b"
    assert unpacked(entry).head() == TIDES
    assert entry.head(2) == b"\x1f\x8b"
