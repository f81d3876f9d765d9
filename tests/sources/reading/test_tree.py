"""Trees: files, folders and zips as bounded entries."""

import os
import socket
from fnmatch import fnmatchcase
from io import BytesIO
from pathlib import Path

import pytest
from tests.sources.kit import zipped

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.reading.nested import expand
from pdpp.sources.reading.tree import FileEntry, ReadMeter, Tree, TreeLimits, open_tree


def folder(path: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        place = path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return path


def names(tree: Tree) -> list[str]:
    return [entry.name for entry in tree.entries]


def refused(tree: Tree) -> dict[str, str]:
    return {skipped.example: skipped.reason for skipped in tree.refused}


FILES = {"b/two.json": b"22", "a.txt": b"1", "b/c/three.TXT": b"333"}


def test_a_file_is_a_tree_of_one_entry(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_bytes(b"hello world")
    tree = open_tree(path)
    [entry] = tree.entries
    assert (tree.kind, entry.name, entry.size) == ("file", "one.txt", 11)
    assert entry.head(5) == b"hello"
    with entry.open(6) as stream:
        assert stream.read() == b"world"
    assert tree.sight() == "a file of 11 bytes"


def test_a_file_that_goes_while_its_folder_is_listed_keeps_none_of_the_others_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, listed = folder(tmp_path / "f", FILES), os.scandir

    def scandir(path: Path) -> list[os.DirEntry[str]]:
        found = list(listed(path))
        (place / "a.txt").unlink(missing_ok=True)
        return found

    monkeypatch.setattr(os, "scandir", scandir)
    assert names(open_tree(place)) == ["b/c/three.TXT", "b/two.json"]


def test_the_folder_of_a_file_has_one_name_however_it_comes(tmp_path: Path) -> None:
    folder(tmp_path / "Trip", {"a.jpg": b"1"})
    folder(tmp_path / ".files", {"a.jpg": b"1"})
    packed = zipped(tmp_path / "Trip (2).zip", {"a.jpg": b"1"})
    paths = (tmp_path / "Trip", tmp_path / "Trip" / "a.jpg", packed)
    for path in paths:
        tree = open_tree(path)
        assert tree.folder_of(tree.entries[0]) == "Trip"
    expanded = expand(open_tree(tmp_path), TreeLimits())
    found = {entry.name: expanded.folder_of(entry) for entry in expanded.entries}
    assert found["Trip/a.jpg"] == found["Trip (2).zip/a.jpg"] == "Trip"
    hidden = open_tree(tmp_path / ".files")
    assert hidden.folder_of(hidden.entries[0]) is None


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("nora@lind.example", "nora@lind.example"),
        ("Vault 2.0", "Vault 2.0"),
        ("Vault 2.0.zip", "Vault 2.0"),
        ("Vault 2.0 (1).ZIP", "Vault 2.0"),
        ("Vault 2.0.tar.gz", "Vault 2.0"),
        ("a.b.mbox", "a.b"),
    ],
)
def test_a_dot_in_the_name_of_a_folder_begins_no_ending(name: str, called: str) -> None:
    kind = "zip" if name.startswith("Vault 2.0.") else "folder"
    assert Tree(Path(name), "file" if name == "a.b.mbox" else kind, ()).called == called


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_folder_and_a_zip_of_it_hold_the_same_entries(kind: str, tmp_path: Path) -> None:
    if kind == "folder":
        tree = open_tree(folder(tmp_path / "f", FILES))
    else:
        tree = open_tree(zipped(tmp_path / "f.zip", FILES))
    assert tree.kind == kind
    assert names(tree) == sorted(FILES)
    for entry in tree.entries:
        with entry.open(1) as stream:
            assert stream.read() == FILES[entry.name][1:]
    assert tree.sight() == f"a {kind} of 3 files (2 .txt, 1 .json)"


def test_entries_are_found_by_their_last_name_nearest_the_top_first(tmp_path: Path) -> None:
    tree = open_tree(folder(tmp_path, {"x/y/u.json": b"", "u.json": b"", "a/u.json": b""}))
    assert [entry.name for entry in tree.named("u.*")] == ["u.json", "a/u.json", "x/y/u.json"]
    assert tree.named("v.json") == []


@pytest.mark.parametrize(
    "patterns",
    [
        *(("notes.md",), ("*.md",), ("no?es.md", "a.json"), ("[ab].json", "*.MD"), ("*",), ()),
        *(("a.json", "*.json"), ("*.md", "*.json"), ("[", "b[1].json"), ("missing.md",)),
    ],
)
def test_the_last_names_that_are_found_fit_a_pattern_as_the_shell_has_it(
    patterns: tuple[str, ...], tmp_path: Path
) -> None:
    names = ["notes.md", "x/notes.md", "x/y/a.json", "b.json", "b1.json", "b[1].json", "[", "c.MD"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = [entry.name for entry in open_tree(tmp_path).named(*patterns)]
    assert sorted(found) == sorted(
        name for name in names if any(fnmatchcase(Path(name).name, one) for one in patterns)
    )
    assert [name.count("/") for name in found] == sorted(name.count("/") for name in found)


def test_a_plain_name_is_looked_up_and_compared_with_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.json").touch()
    tree = open_tree(tmp_path)
    assert [entry.name for entry in tree.named("*.json")] == ["a.json"]
    monkeypatch.setattr(FileEntry, "base", property(lambda _: pytest.fail("compared")))
    assert [entry.name for entry in tree.named("a.json", "b.json")] == ["a.json"]


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        *(("a.JSON", ".json"), ("a.tar.gz", ".gz"), (".hidden", ""), (".hidden.md", ".md")),
        *(("a", ""), ("a.", ""), ("a..b", ".b"), ("x.y/a", ""), ("..", "")),
    ],
)
def test_the_ending_of_a_name_begins_with_its_last_dot(name: str, suffix: str) -> None:
    entry = FileEntry(name, 0, "", lambda: BytesIO(), ReadMeter())
    assert entry.suffix == suffix


@pytest.mark.parametrize("name", ["people.vcf.txt", "walk.gpx.xml", "a (1).ics.txt"])
def test_what_a_browser_puts_behind_a_name_hides_no_file(name: str, tmp_path: Path) -> None:
    first = name[:-4]
    tree = open_tree(folder(tmp_path, {name: b"1", "b/notes.txt": b"2", "b/x.y.txt": b"3"}))
    ending = f".{first.rpartition('.')[2]}"
    assert [entry.name for entry in tree.named(f"*{ending}")] == [name]
    assert [entry.suffix for entry in tree.named("*")] == [ending, ".txt", ".txt"]
    assert len(tree.named("*")) == 3


def test_a_relative_name_is_looked_up_beside_an_entry_and_never_outside(tmp_path: Path) -> None:
    tree = open_tree(folder(tmp_path, {"a/note.md": b"", "a/img/p.png": b"", "top.png": b""}))
    note = tree.get("a/note.md")
    assert note is not None
    for name, found in {
        "img/p.png": "a/img/p.png",
        "./img//p.png": "a/img/p.png",
        "img\\p.png": "a/img/p.png",
        "../top.png": "top.png",
    }.items():
        entry = tree.beside(note, name)
        assert entry is not None
        assert entry.name == found
    for name in ("../../top.png", "missing.png", "", "../.."):
        assert tree.beside(note, name) is None


def test_a_stamp_changes_with_the_content(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    before = open_tree(path).entries[0].stamp
    assert open_tree(path).entries[0].stamp == before
    path.write_bytes(b"12")
    assert open_tree(path).entries[0].stamp != before


def test_what_is_read_is_counted(tmp_path: Path) -> None:
    tree = open_tree(folder(tmp_path, {"a": b"12345", "b": b"678"}))
    for entry in tree.entries:
        entry.head()
    assert tree.meter.bytes_read == 8


def test_links_pipes_and_sockets_in_a_folder_are_refused_one_by_one(tmp_path: Path) -> None:
    inside = folder(tmp_path / "inside", {"good.txt": b"x"})
    (tmp_path / "secret").write_bytes(b"secret")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "folder-link").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(inside / "sock"))
        tree = open_tree(inside)
    assert names(tree) == ["good.txt"]
    assert refused(tree) == {
        "link": "a link to another place",
        "folder-link": "a link to another place",
        "pipe": "neither a file nor a folder",
        "sock": "neither a file nor a folder",
    }


def test_a_link_that_takes_the_place_of_a_file_later_is_not_followed(tmp_path: Path) -> None:
    inside = folder(tmp_path / "inside", {"a.txt": b"x", "b.txt": b"y"})
    (tmp_path / "secret").write_bytes(b"secret")
    tree = open_tree(inside)
    (inside / "a.txt").unlink()
    (inside / "a.txt").symlink_to(tmp_path / "secret")
    (inside / "b.txt").unlink()
    os.mkfifo(inside / "b.txt")
    with pytest.raises(DamagedFile, match=r"a\.txt cannot be read"):
        tree.entries[0].open()
    with pytest.raises(DamagedFile, match=r"b\.txt is no longer a file"):
        tree.entries[1].open()


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    tree = open_tree(folder(tmp_path, {"a.txt": b"x"}))
    (tmp_path / "a.txt").unlink()
    with pytest.raises(DamagedFile, match=r"a\.txt cannot be read: No such file"):
        tree.entries[0].head()


def test_a_device_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ImportRefused, match="neither a file nor a folder"):
        open_tree(tmp_path / "pipe")


def test_a_path_that_is_not_there_is_told_by_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_tree(tmp_path / "nothing")


def test_a_folder_is_bounded_in_files_depth_and_size(tmp_path: Path) -> None:
    deep = folder(tmp_path, {"a": b"123", "x/y/z/w": b"1", "x/b": b"1"})
    with pytest.raises(ImportRefused, match="more than 2 files"):
        open_tree(deep, TreeLimits(entries=2))
    tree = open_tree(deep, TreeLimits(depth=2, entry_bytes=2))
    assert names(tree) == ["x/b"]
    assert refused(tree) == {
        "a": "a file too large",
        "x/y/": "a folder too deep inside others",
    }


def test_a_folder_that_cannot_be_opened_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path, {"a": b"1", "locked/b": b"2"})
    scan = os.scandir

    def locked(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", locked)
    tree = open_tree(tmp_path)
    assert names(tree) == ["a"]
    assert refused(tree) == {"locked/": "a folder that cannot be read"}


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff.txt")).write_bytes(b"x")
    tree = open_tree(tmp_path)
    assert tree.entries == ()
    assert [skipped.reason for skipped in tree.refused] == ["a name that is not UTF-8"]


def test_an_empty_folder_has_nothing_to_show(tmp_path: Path) -> None:
    assert open_tree(tmp_path).sight() == "a folder of 0 files ()"
