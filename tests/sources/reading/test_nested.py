"""Archives inside archives take little memory, whatever they unpack to."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.reading import nested
from pdpp.sources.reading.tree import FileEntry, TreeLimits, open_tree

MIB = 1 << 20


def tar_of(content: bytes) -> bytes:
    """Return a compressed tar with one file."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        info = tarfile.TarInfo("notes.txt")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return target.getvalue()


@pytest.mark.parametrize("size", [0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB + 7])
def test_a_compressed_tar_is_read_to_its_last_byte(tmp_path: Path, size: int) -> None:
    content = bytes(at * 7919 % 251 for at in range(size % MIB)) + b"x" * (size - size % MIB)
    path = tmp_path / "export.tgz"
    path.write_bytes(tar_of(content))
    (entry,) = nested.open_tar(path, TreeLimits()).entries
    with entry.open() as stream:
        assert stream.read() == content


def test_what_unpacks_to_much_is_never_held_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.tgz"
    path.write_bytes(gzip.compress(bytes(300 * MIB), 9))
    pieces: list[int] = []
    unpack = nested._gunzipped

    def counted(stream: BinaryIO, entry: FileEntry) -> Iterator[bytes]:
        for piece in unpack(stream, entry):
            pieces.append(len(piece))
            yield piece

    monkeypatch.setattr(nested, "_gunzipped", counted)
    with pytest.raises(ImportRefused, match="times its size"):
        nested.open_tar(path, TreeLimits())
    assert max(pieces) <= MIB


def test_archives_are_opened_two_deep_and_no_deeper(tmp_path: Path) -> None:
    content = b"the last"
    for name in ("inmost.txt", "third.zip", "second.zip", "first.zip"):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(name, content)
        content = packed.getvalue()
    path = tmp_path / "all.zip"
    path.write_bytes(content)
    expanded = nested.expand(open_tree(path), TreeLimits())
    opened = "first.zip/second.zip"
    assert [entry.name for entry in expanded.entries] == [
        "first.zip",
        opened,
        f"{opened}/third.zip",
    ]


def test_many_archives_in_one_share_the_memory_they_may_take(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("a.txt", b"x" * (15 * MIB))
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(7):
            archive.writestr(f"part-{number}.zip", inner.getvalue())
    tree = open_tree(path)
    expanded = nested.expand(tree, TreeLimits())
    assert sum(entry.name.endswith("/a.txt") for entry in expanded.entries) == 7
    assert 15 * MIB <= tree.meter.bytes_held < 80 * MIB
    for entry in expanded.entries:
        if entry.name.endswith("/a.txt"):
            with entry.open() as stream:
                assert len(stream.read()) == 15 * MIB


def test_a_tar_that_was_packed_in_pieces_is_read_to_its_end(tmp_path: Path) -> None:
    content = bytes(at * 7919 % 251 for at in range(3 * MIB))
    whole = gzip.decompress(tar_of(content))
    path = tmp_path / "export.tgz"
    path.write_bytes(gzip.compress(whole[:MIB]) + gzip.compress(whole[MIB:]) + bytes(100))
    (entry,) = nested.open_tar(path, TreeLimits()).entries
    with entry.open() as stream:
        assert stream.read() == content


def test_a_packed_tar_without_its_last_bytes_is_told(tmp_path: Path) -> None:
    path = tmp_path / "export.tgz"
    path.write_bytes(tar_of(b"rope")[:-5])
    with pytest.raises(DamagedFile, match="cut off"):
        nested.open_tar(path, TreeLimits())


@pytest.mark.parametrize(("name", "packed"), [("export.tar.gz", False), ("export.tar", True)])
def test_whether_a_tar_is_packed_is_seen_in_it(name: str, packed: bool, tmp_path: Path) -> None:
    content = tar_of(b"rope")
    path = tmp_path / name
    path.write_bytes(content if packed else gzip.decompress(content))
    (entry,) = nested.open_tar(path, TreeLimits()).entries
    with entry.open() as stream:
        assert stream.read() == b"rope"


def test_the_end_that_a_tar_in_an_archive_lacks_is_told_with_that_archive(tmp_path: Path) -> None:
    cut = gzip.decompress(tar_of(b"# A rope"))[:1024]
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.tar", cut)
    limits = TreeLimits()
    [lost] = nested.expand(open_tree(path, limits), limits).refused
    assert lost.cut
    assert lost.example.startswith("notes.tar")
