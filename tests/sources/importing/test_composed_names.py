"""Names of files with accents: a Mac writes them in another way than what refers to them."""

import io
import tarfile
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import orjson
from tests.sources.kit import Home, zipped

from pdpp.sources.reading.tree import Tree, open_tree

CHAT = "13/01/2026, 14:05 - Zoë: Hi\n13/01/2026, 14:06 - Nora: Möwe.jpg (file attached)\n"
WHATSAPP = {"WhatsApp Chat mit Zoë.txt": CHAT.encode(), "Möwe.jpg": b"\xff\xd8gull"}
SLACK = {
    "users.json": orjson.dumps([{"id": "U1", "name": "nora", "team_id": "T1"}]),
    "channels.json": orjson.dumps([{"id": "C1", "name": "möwen", "created": 1, "members": []}]),
    "möwen/2026-01-13.json": orjson.dumps(
        [{"type": "message", "user": "U1", "text": "Hi", "ts": "1768290000.000100"}]
    ),
}


def apart(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files as a Mac calls them, with each accent as a sign of its own."""
    return {unicodedata.normalize("NFD", name): content for name, content in files.items()}


def put(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def names(tree: Tree) -> list[str]:
    return [entry.name for entry in tree.entries]


def test_a_name_is_one_name_in_folders_zips_and_tars(tmp_path: Path) -> None:
    files = apart({"Größe/Möwe.md": b"x"})
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    (tmp_path / "a.tar").write_bytes(packed.getvalue())
    places = [put(tmp_path / "a", files), zipped(tmp_path / "a.zip", files), tmp_path / "a.tar"]
    for place in places:
        tree = open_tree(place)
        assert names(tree) == ["Größe/Möwe.md"]
        entry = tree.get(unicodedata.normalize("NFD", "Größe/Möwe.md"))
        assert entry is not None
        with entry.open() as stream:
            assert stream.read() == b"x"


def test_both_ways_beside_each_other_are_two_files(tmp_path: Path) -> None:
    one = {"Möwe.md": b"one"}
    tree = open_tree(put(tmp_path / "a", {**one, **apart({"Möwe.md": b"two"})}))
    contents = {entry.head() for entry in tree.entries}
    assert (len(set(names(tree))), contents) == (2, {b"one", b"two"})


def test_a_chat_and_its_pictures_are_the_same_on_a_mac(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(zipped(tmp_path / "a.zip", WHATSAPP))
    before = home.records()
    assert sorted(stream for stream, _ in before) == ["chats", "media", "messages", "messages"]
    for place in (
        put(tmp_path / "chat", apart(WHATSAPP)),
        put(tmp_path / "down", apart({"Zoë.zip": (tmp_path / "a.zip").read_bytes()})),
        zipped(tmp_path / unicodedata.normalize("NFD", "Zoë.zip"), apart(WHATSAPP)),
    ):
        assert home.run(place, "--yes").code == 0
        assert home.records() == before


def test_a_channel_of_slack_is_the_same_on_a_mac(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(zipped(tmp_path / "a.zip", SLACK))
    before = home.records()
    assert home.bring(put(tmp_path / "slack", apart(SLACK)))["counts"]["new"] == 0
    assert home.records() == before


def test_notes_that_went_to_a_mac_and_back_are_one_account(tmp_path: Path) -> None:
    vault = {".obsidian/app.json": b"{}", "a.md": b"# A\n", "b.md": b"B\n"}
    home = Home(tmp_path / "home")
    first = put(tmp_path / "Bücher", vault)
    home.bring(first)
    first.rename(tmp_path / "away")
    more = {**vault, "a.md": b"# A, and more\n", "c.md": b"C\n"}
    home.bring(put(tmp_path / unicodedata.normalize("NFD", "Bücher"), more))
    assert home.accounts() == ["Notes (Bücher)"]
    assert len(home.records()) == 3


def test_folders_of_both_ways_beside_each_other_are_two_accounts(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for name in ("Bücher", unicodedata.normalize("NFD", "Bücher")):
        home.bring(put(tmp_path / name, {".obsidian/app.json": b"{}", "a.md": name.encode()}))
    assert sorted(home.accounts()) == ["Notes (Bücher)", "Notes (Bücher) 2"]
