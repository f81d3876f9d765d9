"""Zips, also those made to do harm."""

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from tests.sources.kit import hostile_zips, zipped

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.reading.nested import expand
from pdpp.sources.reading.tree import Tree, TreeLimits, open_tree

FILES = {"conversations.json": b'{"a": "' + bytes(range(97, 123)) * 400 + b'"}', "user.json": b"{}"}


def reasons(tree: Tree) -> list[str]:
    return [skipped.reason for skipped in tree.refused]


def test_names_that_lead_outside_are_refused_and_the_others_stay(tmp_path: Path) -> None:
    for name, path in hostile_zips(tmp_path, FILES):
        if name in ("traversal", "absolute", "drive", "backslashes"):
            tree = open_tree(path)
            assert [entry.name for entry in tree.entries] == sorted(FILES)
            assert reasons(tree) == ["a name that leads outside the archive"]


def test_links_and_devices_are_refused(tmp_path: Path) -> None:
    found = dict(hostile_zips(tmp_path, FILES))
    assert reasons(open_tree(found["link"])) == ["a link to another place"]
    assert reasons(open_tree(found["device"])) == ["neither a file nor a folder"]


def test_a_zip_inside_a_zip_stays_a_file(tmp_path: Path) -> None:
    tree = open_tree(dict(hostile_zips(tmp_path, FILES))["nested zip"])
    inner = tree.get("inner.zip")
    assert inner is not None
    assert inner.head(4) == b"PK\x03\x04"


def test_an_entry_that_says_less_than_it_holds_is_damaged(tmp_path: Path) -> None:
    tree = open_tree(dict(hostile_zips(tmp_path, FILES))["lying size"])
    entry = tree.get("conversations.json")
    assert entry is not None
    with pytest.raises(DamagedFile), entry.open() as stream:
        stream.read()


@pytest.mark.parametrize("name", ["cut", "no end"])
def test_a_zip_that_was_not_downloaded_whole_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match=r"whose end is missing|damaged zip"):
        open_tree(dict(hostile_zips(tmp_path, FILES))[name])


def test_noise_inside_an_entry_is_told_when_it_is_read(tmp_path: Path) -> None:
    tree = open_tree(dict(hostile_zips(tmp_path, FILES))["noise"])
    entry = tree.get("conversations.json")
    assert entry is not None
    with pytest.raises(DamagedFile, match=r"conversations\.json cannot be read"), entry.open() as s:
        s.read()


def test_an_entry_that_unpacks_to_a_thousand_times_its_size_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "bomb.zip", {"zeros": bytes(2 << 20), "good": b"x"})
    tree = open_tree(path, TreeLimits(ratio_from_bytes=1 << 20))
    assert [entry.name for entry in tree.entries] == ["good"]
    assert reasons(tree) == ["unpacks to more than 250 times its size"]
    assert len(open_tree(path).entries) == 2


def test_an_archive_is_bounded_in_entries_in_size_and_in_total(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {f"{number}": b"12345" for number in range(5)})
    with pytest.raises(ImportRefused, match="lists 5 entries, more than 4"):
        open_tree(path, TreeLimits(entries=4))
    with pytest.raises(
        ImportRefused, match="unpacks to 25 bytes, more than 20; unpack it yourself"
    ):
        open_tree(path, TreeLimits(total_bytes=20))
    assert reasons(open_tree(path, TreeLimits(entry_bytes=4))) == ["a file too large"] * 5


def test_the_list_of_entries_is_bounded_before_it_is_loaded(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"a": b"1"})
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x05\x06")
    struct.pack_into("<H", content, at + 10, 60_000)
    path.write_bytes(content)
    with pytest.raises(ImportRefused, match="lists 60,000 entries"):
        open_tree(path, TreeLimits(entries=50_000))


def lying(content: bytes, count: int = 1, size: int | None = None) -> bytes:
    """Return a zip whose end says that it has other entries than it has."""
    changed = bytearray(content)
    at = changed.rindex(b"PK\x05\x06")
    struct.pack_into("<HH", changed, at + 8, count, count)
    if size is not None:
        struct.pack_into("<L", changed, at + 12, size)
    return bytes(changed)


def test_entries_are_counted_where_an_archive_may_lie_about_their_number(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {f"{n}.txt": b"1" for n in range(9)})
    content, few = path.read_bytes(), TreeLimits(entries=8)
    lies = [lying(content), lying(big_end(content, 1)), lying(big_end(content, 1), 1, 50)]
    for lie in lies:
        path.write_bytes(lie)
        with pytest.raises(ImportRefused, match="lists 9 entries, more than 8"):
            open_tree(path, few)
        assert len(open_tree(path).entries) == 9
    path.write_bytes(lies[-1])
    with pytest.raises(ImportRefused, match="a list of entries of"):
        open_tree(path, TreeLimits(directory_bytes=400))


def test_entries_of_an_archive_inside_another_are_counted_before_they_are_loaded(
    tmp_path: Path,
) -> None:
    inner = zipped(tmp_path / "inner.zip", {f"{n}.txt": b"1" for n in range(9)})
    path = zipped(tmp_path / "x.zip", {"inner.zip": lying(inner.read_bytes()), "a.txt": b"1"})
    tree = expand(open_tree(path), TreeLimits(entries=8))
    assert [entry.name for entry in tree.entries] == ["a.txt", "inner.zip"]
    (refused,) = tree.refused
    assert "lists 9 entries, more than 8" in refused.example


def big_end(content: bytes, entries: int) -> bytes:
    """Return a zip whose end is written in the form for very many entries."""
    at = content.rindex(b"PK\x05\x06")
    _, _, _, _, _, size, offset, _ = struct.unpack_from("<4s4H2LH", content, at)
    big = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, size, offset)
    place = struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return content[:at] + big + place + end


def test_a_zip_of_the_large_form_is_read_and_bounded_too(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"a": b"1"})
    content = path.read_bytes()
    path.write_bytes(big_end(content, 1))
    assert [entry.head() for entry in open_tree(path).entries] == [b"1"]
    path.write_bytes(big_end(content, 10**12))
    with pytest.raises(ImportRefused, match="lists 1,000,000,000,000 entries"):
        open_tree(path)


def test_a_large_form_that_leads_nowhere_is_damaged(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"a": b"1"})
    path.write_bytes(big_end(path.read_bytes(), 1).replace(b"PK\x06\x06", b"PK\x09\x09"))
    with pytest.raises(DamagedFile, match="not where it says"):
        open_tree(path)


def test_an_end_that_hides_its_numbers_without_the_large_form_has_no_entries(
    tmp_path: Path,
) -> None:
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0, 0, 0)
    for content in (end, b"PK\x03\x04" + bytes(200) + end):
        (tmp_path / "x.zip").write_bytes(content)
        assert open_tree(tmp_path / "x.zip").entries == ()


def test_a_list_of_entries_that_is_noise_is_damaged(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"a": b"1"})
    path.write_bytes(path.read_bytes().replace(b"PK\x01\x02", b"PK\x09\x09"))
    with pytest.raises(DamagedFile, match="is a damaged zip"):
        open_tree(path)


def test_an_entry_whose_own_name_is_noise_is_damaged(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"tide.txt": b"ebb"})
    content = bytearray(path.read_bytes())
    # Its flags say that the name is UTF-8.
    content[7] |= 0x08
    content[30] = 0xFF
    path.write_bytes(bytes(content))
    (entry,) = open_tree(path).entries
    with pytest.raises(DamagedFile, match=r"tide\.txt cannot be read"):
        entry.open()


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"a": b"1"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    assert reasons(open_tree(path)) == ["encrypted"]


def test_a_way_of_compressing_that_is_not_known_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a", b"1" * 100)
    assert reasons(open_tree(path)) == ["compressed in a way that is not known"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_used_twice_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", b"first")
        archive.writestr("a", b"second")
        archive.mkdir("folder")
    tree = open_tree(path)
    assert [entry.head() for entry in tree.entries] == [b"first"]
    assert reasons(tree) == ["a name used twice"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a" * 2_000, "a name too long or empty"),
        ("x/" * 100 + "a", "a name too long or empty"),
        ("tab\tname", "a name that holds control characters"),
    ],
)
def test_odd_names_are_refused(name: str, reason: str, tmp_path: Path) -> None:
    assert reasons(open_tree(zipped(tmp_path / "x.zip", {name: b"1"}))) == [reason]


def test_an_empty_zip_is_a_tree_without_entries(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    held = io.BytesIO()
    zipfile.ZipFile(held, "w").close()
    path.write_bytes(held.getvalue())
    assert open_tree(path).entries == ()


def test_an_ordinary_mode_is_no_reason_to_refuse(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("a")
        info.external_attr = (stat.S_IFREG | 0o600) << 16
        archive.writestr(info, b"1")
    assert len(open_tree(path).entries) == 1
