"""A tar that was made to do harm is refused soon, and takes little memory."""

import io
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.reading.tree import Tree, TreeLimits, open_tree

BLOCK = tarfile.BLOCKSIZE
END = bytes(2 * BLOCK)


def header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE, linked: str = "") -> bytes:
    """Return the header of one entry."""
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, linked
    return info.tobuf(tarfile.GNU_FORMAT)


def padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % BLOCK)


def file(name: str, content: bytes) -> bytes:
    return header(name, len(content)) + padded(content)


def facts(kind: bytes = tarfile.XHDTYPE, **members: object) -> bytes:
    """Return a header with facts of the next entry, or of all that follow."""
    lines = b""
    for name, value in members.items():
        rest = f" {name.replace('__', '.')}={value}\n".encode()
        length = len(rest) + 1
        while length != (whole := len(str(length)) + len(rest)):
            length = whole
        lines += str(length).encode() + rest
    return header("facts", len(lines), kind) + padded(lines)


def listed(tmp_path: Path, content: bytes, limits: TreeLimits | None = None) -> Tree:
    path = tmp_path / "export.tar"
    path.write_bytes(content)
    return open_tree(path, limits)


def reasons(tree: Tree) -> dict[str, str]:
    return {skip.example: skip.reason for skip in tree.refused}


@pytest.mark.parametrize(
    "content",
    [
        facts(size=-3 * BLOCK) + header("a.txt"),
        facts(size=-3 * BLOCK) + header("a", kind=b"Z"),
        facts(size=-1) + header("a.txt"),
        facts(GNU__sparse__size=5) + header("a.txt", -3 * BLOCK),
        header("a", -BLOCK, tarfile.XHDTYPE) + header("a.txt"),
    ],
    ids=["file", "unknown", "one byte", "hidden by another size", "facts"],
)
def test_a_size_below_nothing_leads_nowhere(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DamagedFile):
        listed(tmp_path, file("first.txt", b"") + content + END)


@pytest.mark.parametrize("repeated", [facts(comment="x"), header("l", 2, b"L") + padded(b"n\0")])
def test_headers_before_one_entry_are_bounded_in_number(tmp_path: Path, repeated: bytes) -> None:
    with pytest.raises(DamagedFile):
        listed(tmp_path, repeated * 3_000 + file("a.txt", b"words") + END)


def test_a_header_is_bounded_in_length(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match="headers are too long"):
        listed(tmp_path, facts(comment="x" * (2 << 20)) + file("a.txt", b"words") + END)


def test_what_holds_for_all_entries_is_not_kept_for_each(tmp_path: Path) -> None:
    common = facts(tarfile.XGLTYPE, **{f"k{n}": "v" for n in range(2_000)})
    content = b"".join(facts(comment="x") + file(f"{n}.txt", b"words") for n in range(500))
    tracemalloc.start()
    try:
        assert len(listed(tmp_path, common + content + END).entries) == 500
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 * len(content)


def test_entries_are_bounded_in_number_whatever_they_are(tmp_path: Path) -> None:
    few = TreeLimits(entries=10)
    for one in (header("d/", kind=tarfile.DIRTYPE), header("l", kind=tarfile.SYMTYPE, linked="/")):
        with pytest.raises(ImportRefused, match="lists more than 10 entries"):
            listed(tmp_path, one * 11 + END, few)


def test_a_file_with_holes_is_refused_and_the_others_stay(tmp_path: Path) -> None:
    holes = facts(GNU__sparse__map="0,1", GNU__sparse__size=200 << 30)
    tree = listed(tmp_path, holes + file("big.txt", b"x") + file("a.txt", b"words") + END)
    assert [entry.name for entry in tree.entries] == ["a.txt"]
    assert reasons(tree)["big.txt"].startswith("a file with holes")


def test_what_is_no_file_is_refused_one_by_one(tmp_path: Path) -> None:
    tree = listed(
        tmp_path,
        header("symbolic", kind=tarfile.SYMTYPE, linked="/etc/passwd")
        + header("hard", kind=tarfile.LNKTYPE, linked="/etc/passwd")
        + header("device", kind=tarfile.CHRTYPE)
        + header("pipe", kind=tarfile.FIFOTYPE)
        + facts(path="../../up.txt") + file("up.txt", b"words")
        + facts(path="/top.txt") + file("top.txt", b"words")
        + facts(path="x" * 5_000) + file("long.txt", b"words")
        + file("a.txt", b"words") + END,
    )  # fmt: skip
    assert [entry.name for entry in tree.entries] == ["a.txt"]
    told = reasons(tree)
    assert told["symbolic"] == told["hard"] == "a link to another place"
    assert told["device"] == told["pipe"] == "neither a file nor a folder"
    assert told["../../up.txt"] == told["/top.txt"] == "a name that leads outside the archive"


def test_of_a_name_used_twice_the_last_is_read(tmp_path: Path) -> None:
    tree = listed(tmp_path, file("a.txt", b"old") + file("./a.txt", b"new") + END)
    (entry,) = tree.entries
    with entry.open() as stream:
        assert stream.read() == b"new"
    assert reasons(tree) == {"a.txt": "a name used twice"}


def test_a_time_with_a_fraction_is_read_as_any_other(tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_bytes(b"words")
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        archive.add(note, "note.txt")
    assert b"mtime=" in target.getvalue()
    (entry,) = listed(tmp_path, target.getvalue()).entries
    with entry.open() as stream:
        assert stream.read() == b"words"
    assert entry.stamp.endswith("-5")


# An end that is missing, or too early

THREE = [file(f"{name}.md", b"# A rope\n") for name in "abc"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"".join(THREE), "no mark is there"),
        (b"".join(THREE) + header("d.md")[:200], "in the middle of a header"),
        (b"".join(THREE) + b"x" * BLOCK + THREE[0] + END, "at byte 3,072 there is no header"),
        (b"".join(THREE) + bytes(BLOCK) + THREE[0] + END, "more behind it"),
        (b"".join(THREE) + END + THREE[0] + END, "more behind it"),
    ],
    ids=["no end", "header cut", "header damaged", "header gone", "another tar"],
)
def test_a_tar_that_does_not_end_where_it_should_is_not_whole(
    content: bytes, what: str, tmp_path: Path
) -> None:
    tree = listed(tmp_path, content)
    assert [entry.name for entry in tree.entries] == ["a.md", "b.md", "c.md"]
    [lost] = tree.refused
    assert lost.cut
    assert lost.reason == "the rest of an archive that is damaged"
    assert what in lost.example


@pytest.mark.parametrize("end", [END, bytes(BLOCK), bytes(10_240), bytes(20 * BLOCK + 7)])
def test_a_tar_may_be_filled_up_with_nothing(end: bytes, tmp_path: Path) -> None:
    tree = listed(tmp_path, b"".join(THREE) + end)
    assert len(tree.entries) == 3
    assert not tree.refused
