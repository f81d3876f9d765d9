"""Files that are packed one by one."""

import gzip
from pathlib import Path

import pytest

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.gunzip import unpacked
from pdpp.sources.reading.tree import FileEntry, TreeLimits, open_tree

TEXT = b"".join(b"%d lines of rope\n" % number for number in range(20_000))


def entry(path: Path, content: bytes) -> FileEntry:
    path.write_bytes(content)
    return open_tree(path).entries[0]


def test_a_packed_file_is_read_whole_and_from_any_place(tmp_path: Path) -> None:
    file = unpacked(entry(tmp_path / "a.gz", gzip.compress(TEXT)))
    with file.open() as stream:
        assert stream.read() == TEXT
    with file.open(200_000) as stream:
        assert stream.read() == TEXT[200_000:]


def test_a_file_that_packing_made_larger_is_whole(tmp_path: Path) -> None:
    file = unpacked(entry(tmp_path / "a.gz", gzip.compress(b"rope")))
    with file.open() as stream:
        assert stream.read() == file.head() == b"rope"


def test_pieces_that_were_packed_one_after_the_other_are_one(tmp_path: Path) -> None:
    content = gzip.compress(TEXT) + gzip.compress(b"the end")
    with unpacked(entry(tmp_path / "a.gz", content)).open() as stream:
        assert stream.read() == TEXT + b"the end"


def test_what_is_not_packed_is_read_as_it_is(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.gz", TEXT)
    assert unpacked(file) is file


def test_one_that_is_cut_gives_what_is_there_and_then_fails(tmp_path: Path) -> None:
    file = unpacked(entry(tmp_path / "a.gz", gzip.compress(TEXT)[:-5_000]))
    assert file.head(1_000) == TEXT[:1_000]
    with file.open() as stream, pytest.raises(DamagedFile, match="cut off"):
        stream.read()


def test_one_that_unpacks_to_too_much_is_not_read_on(tmp_path: Path) -> None:
    limits = TreeLimits(ratio_from_bytes=1_000, whole_ratio=1)
    file = unpacked(entry(tmp_path / "a.gz", gzip.compress(TEXT)), limits)
    with file.open() as stream, pytest.raises(DamagedFile, match="far more"):
        stream.read()
