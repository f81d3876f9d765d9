"""Notes as Markdown files: vaults of Obsidian and plain folders."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_hostile_text,
    check_hostile_zip,
    check_overlap,
    check_twice,
    golden,
    look,
    read,
    told,
    zipped,
)
from tests.sources.samples.sample import json_bytes

from pdpp.sources.formats.markdown.frontmatter import split_front
from pdpp.sources.formats.markdown.source import Markdown
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import Confidence, ExportRefusal, OwnerChoices, Recognition

SOURCE = Markdown()
PHOTO = b"\x89PNG the mole"

TIDES = """---
title: The tide table
tags: [harbour, sea/tides]
aliases: Tide almanac
created: 2026-01-31T10:15:00+01:00
updated: 2026-02-01
rating: 5
near: .inf
---
# Not the title

The old mole is under water at #springtide. See [[Moon|the moon]] and [[Moon#Phases]].

![[mole.png]] and ![a chart](charts/my%20chart.pdf "chart") and ![far](https://x.example/a.png)
![[Moon]]

```
#nottag [[Not a link]]
```
"""
MOON = "# Moon\n\nSpring tides follow the moon by a day or two.\r\n"
DAILY = "Rain all day. `#code` #1 #rain\n"
BROKEN = "---\ntitle: [unclosed\n---\nStill a note\n"


def vault(folder: Path, **more: str) -> Path:
    files = {
        "harbour/Tides.md": TIDES.encode(),
        "Moon.md": MOON.encode(),
        "daily/2026-02-03.md": DAILY.encode(),
        "attachments/mole.png": PHOTO,
        "harbour/charts/my chart.pdf": b"%PDF",
        ".obsidian/app.json": b"{}",
        ".trash/Old.md": b"gone",
        **{f"{name}.md": text.encode() for name, text in more.items()},
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def test_a_vault_is_recognised_by_its_settings(tmp_path: Path) -> None:
    seen = look(SOURCE, vault(tmp_path / "Nora's vault"))
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.account) == (Confidence.CERTAIN, "Notes (Nora's vault)")
    assert (seen.version, seen.records) == ("an Obsidian vault, 3 notes", 3)
    assert seen.notes == ("of 2 other files the notes bring in those that they refer to",)


def test_a_folder_and_a_single_note_are_likely(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A")
    for path in (tmp_path, tmp_path / "a.md"):
        seen = look(SOURCE, path)
        assert isinstance(seen, Recognition)
        assert seen.confidence is Confidence.LIKELY
        assert seen.notes == ()


def test_other_folders_are_not_taken(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\x00\x01")
    assert look(SOURCE, tmp_path) is None
    assert look(SOURCE, zipped(tmp_path / "x.zip", {"a.txt": b"x"})) is None


def test_a_vault_gives_these_records(tmp_path: Path) -> None:
    path = vault(tmp_path / "v", Broken=BROKEN, Empty="")
    golden("markdown", read(SOURCE, path))
    assert [found.reason for found in told(SOURCE, path)] == [
        "properties that are not plain YAML; they stay in the text"
    ]


def test_pictures_become_blobs(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(vault(tmp_path / "v"))
    files = [data for (stream, _), data in home.records().items() if stream == "attachments"]
    assert sorted((data["name"], data["file"]["size_bytes"]) for data in files) == [
        ("mole.png", len(PHOTO)),
        ("my chart.pdf", 4),
    ]


REFERENCES = """| a | b |
|---|---|
| ![[mole.png\\|300]] | [[Moon\\|the moon]] |

![x](<attachments/my map.png>) ![y](attachments/p(1).png) <img width=9 src="attachments/lamp.png">
[deed](attachments/deed.pdf) [[log.pdf]] [moon](Moon.md#Phases) [[Talk: tides]] [far](https://x.example/a.pdf)
"""


def test_files_are_found_however_a_note_of_a_vault_writes_them(tmp_path: Path) -> None:
    folder = vault(tmp_path / "vault")
    (folder / "harbour/Tides.md").write_text(REFERENCES)
    for name in ("my map.png", "p(1).png", "lamp.png", "deed.pdf", "log.pdf", "unseen.png"):
        (folder / "attachments" / name).write_bytes(b"%PDF " + name.encode())
    records = read(SOURCE, folder)
    names = [data["name"] for (stream, _), data in records.items() if stream == "attachments"]
    assert sorted(names) == [
        "deed.pdf",
        "lamp.png",
        "log.pdf",
        "mole.png",
        "my map.png",
        "p(1).png",
    ]
    [note] = [data for data in records.values() if data.get("path") == "harbour/Tides.md"]
    assert note["links"] == ["Moon", "log.pdf", "Talk: tides", "attachments/deed.pdf", "Moon.md"]
    assert not told(SOURCE, folder)


def test_a_canvas_is_a_note_with_its_cards(tmp_path: Path) -> None:
    cards = [
        {"type": "text", "text": "Then the #neap tide", "x": 0, "y": 90},
        {"type": "file", "file": "attachments/mole.png", "x": 50, "y": 0},
        {"type": "text", "text": "First the spring tide", "x": 0, "y": 0},
        {"type": "file", "file": "Moon.md", "x": 0, "y": 95},
        {"type": "link", "url": "https://tides.example/", "x": 0, "y": 99},
    ]
    folder = vault(tmp_path / "vault", Board="![[Plan.canvas]]")
    (folder / "Plan.canvas").write_bytes(json_bytes({"nodes": cards, "edges": []}))
    (folder / "Torn.canvas").write_text('{"nodes": [')
    records = read(SOURCE, folder)
    [note] = [data for data in records.values() if data.get("path") == "Plan.canvas"]
    assert note["body"].split("\n\n") == [
        "First the spring tide",
        "![[attachments/mole.png]]",
        "Then the #neap tide",
        "[[Moon.md]]",
        "https://tides.example/",
    ]
    assert (note["title"], note["tags"], note["links"]) == ("Plan", ["neap"], ["Moon.md"])
    files = [data["note_id"] for (stream, _), data in records.items() if stream == "attachments"]
    assert note["id"] in files
    assert [finding.reason for finding in told(SOURCE, folder)] == ["a canvas that cannot be read"]


def test_a_document_that_a_note_outside_a_vault_names_is_left_to_documents(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("See [the deed](deed.pdf)")
    (tmp_path / "deed.pdf").write_bytes(b"%PDF")
    assert [stream for stream, _ in read(SOURCE, tmp_path)] == ["notes"]


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = vault(tmp_path / "v", Lost="![[../../../etc/passwd.txt]] ![](gone.png)")
    assert [found.reason for found in told(SOURCE, path)] == [
        "a file that a note shows and the folder lacks"
    ] * 2


def test_a_note_too_large_is_told(tmp_path: Path) -> None:
    path = vault(tmp_path / "v", Big="x" * (8 << 20) + "y")
    assert [found.reason for found in told(SOURCE, path)] == ["a note too large"]


def test_times_float_unless_the_owner_names_a_zone(tmp_path: Path) -> None:
    path = vault(tmp_path / "v", Bad="---\ncreated: soon\n---\nx")
    (daily,) = [data for data in read(SOURCE, path).values() if data.get("folder") == "daily"]
    assert (daily["created_at"], daily["floating"]) == ("2026-02-03T00:00:00", True)
    placed = read(SOURCE, path, time_zone="Europe/Lisbon").values()
    (daily,) = [data for data in placed if data.get("folder") == "daily"]
    assert (daily["created_at"], daily["floating"]) == ("2026-02-03T00:00:00Z", False)


def test_properties_with_references_or_tags_of_yaml_are_not_read() -> None:
    for bomb in (
        "a: &x [1]\nb: *x",
        "a: !!python/object:os.system x",
        "just words",
        "x: " + "y" * 70_000,
    ):
        front = split_front(f"---\n{bomb}\n---\ntext")
        assert front.values == {}
        assert not front.readable
        assert front.rest.startswith("---")
    deep = "a: " + "[" * 40 + "]" * 40
    assert split_front(f"---\n{deep}\n---\ntext").readable
    assert split_front("no front").rest == "no front"


def test_the_same_vault_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(vault(tmp_path / "v"), tmp_path)


def test_a_vault_and_then_a_larger_one_are_the_larger_one(tmp_path: Path) -> None:
    check_overlap(vault(tmp_path / "a" / "v"), vault(tmp_path / "b" / "v", New="More"), tmp_path)


def test_hostile_notes_are_survived(tmp_path: Path) -> None:
    def place(content: bytes) -> Path:
        path = tmp_path / "note.md"
        path.write_bytes(content)
        return path

    check_hostile_text(SOURCE, TIDES.encode(), place)
    folder = tmp_path / "inner"
    folder.mkdir()
    check_hostile_zip(SOURCE, {"v/Tides.md": TIDES.encode(), "v/mole.png": PHOTO}, folder)


@given(st.text(max_size=200))
def test_any_text_is_a_note_with_the_same_key(text: str) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "n.md"
        path.write_bytes(text.replace("\x00", "").encode("utf-8", "replace"))
        keys = [key for stream, key in read(SOURCE, path) if stream == "notes"]
        path.write_bytes(b"other")
        assert keys == [key for stream, key in read(SOURCE, path) if stream == "notes"]


def test_an_agent_finds_a_sentence_in_a_note(tmp_path: Path) -> None:
    path = vault(tmp_path / "v")
    report = bring_and_ask(path, tmp_path, "under water", "The old mole is under water at")
    assert report["counts"]["new"] == 5


def test_front_matter_is_not_read_to_see_that_a_note_shows_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tides.md").write_text(TIDES.partition("![[")[0])
    (tmp_path / "mole.md").write_text('---\ntitle: Mole\n---\nSee <IMG src="mole.png">')
    (tmp_path / "mole.png").write_bytes(PHOTO)
    seen: list[str] = []

    def load(text: str) -> dict[str, str]:
        seen.append(text)
        return {}

    monkeypatch.setattr("pdpp.sources.formats.markdown.frontmatter._load", load)
    tree = open_tree(tmp_path)
    recognition = SOURCE.recognise(tree, OwnerChoices())
    assert isinstance(recognition, Recognition)
    assert list(SOURCE.belongings(tree, recognition)) == ["mole.png"]
    assert seen == ["title: Mole\n"]


def test_exports_of_joplin_that_tell_less_are_told_with_the_one_to_choose(tmp_path: Path) -> None:
    name = "0e1fe57d81ff26afea38c1d2e3f40000.md"
    item = "Tide table\n\nHigh at six\n\nid: 0e1fe57d\ncreated_time: 2024-01-02\ntype_: 1"
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / name).write_text(item)
    recognition = look(SOURCE, tmp_path / "raw")
    assert isinstance(recognition, Recognition)
    assert "Markdown + Front Matter" in recognition.notes[0]
    (tmp_path / "notes.jex").write_bytes(b"a tar archive")
    refusal = look(SOURCE, tmp_path / "notes.jex")
    assert isinstance(refusal, ExportRefusal)
    assert "Markdown + Front Matter" in refusal.message


def test_a_text_bundle_has_its_name_and_the_times_that_bear_writes(tmp_path: Path) -> None:
    times = {
        "creationDate": "2024-01-02T03:04:05Z",
        "modificationDate": "2024-02-02T03:04:05Z",
    }
    files = {
        "Trip.textbundle/text.markdown": b"To the mole ![](assets/mole.png)",
        "Trip.textbundle/info.json": json_bytes({"version": 2, "net.shinyfrog.bear": times}),
        "Trip.textbundle/assets/mole.png": PHOTO,
        "Bare.textbundle/text.md": b"Nothing more",
        "Odd.textbundle/text.md": b"Broken",
        "Odd.textbundle/info.json": b"{",
    }
    for name, content in files.items():
        place = tmp_path / "bear" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    report = Home(tmp_path / "home").bring(tmp_path / "bear")
    assert report["files"]["kept"] == 1
    assert report["files"]["unknown"] == []
    notes = {
        data["title"]: data for data in read(SOURCE, tmp_path / "bear").values() if "body" in data
    }
    assert notes.keys() == {"Trip", "Bare", "Odd"}
    assert notes["Trip"]["created_at"] == "2024-01-02T03:04:05Z"
    assert notes["Trip"]["updated_at"] == "2024-02-02T03:04:05Z"
    assert not notes["Trip"]["floating"]
    assert "created_at" not in notes["Bare"]
    bundle = read(SOURCE, tmp_path / "bear" / "Trip.textbundle")
    [alone] = [data for (stream, _), data in bundle.items() if stream == "notes"]
    assert (alone["title"], alone["created_at"]) == ("Trip", "2024-01-02T03:04:05Z")


@pytest.mark.parametrize("name_of_id", ["uniqueIdentifier", "bear-note-unique-identifier"])
def test_a_note_of_bear_stays_the_same_under_another_title(tmp_path: Path, name_of_id: str) -> None:
    def backup(name: str, titles: dict[str, str]) -> Path:
        files = {}
        for number, bundle in titles.items():
            told_of_it = {"net.shinyfrog.bear": {name_of_id: number}}
            files[f"Bear/{bundle}.textbundle/text.md"] = f"Note {number} ![](assets/a.png)".encode()
            files[f"Bear/{bundle}.textbundle/info.json"] = json_bytes(told_of_it)
            files[f"Bear/{bundle}.textbundle/assets/a.png"] = PHOTO
        return zipped(tmp_path / name, files)

    home = Home(tmp_path / "home")
    home.bring(backup("May.bear2bk", {"1": "Mole", "2": "Mole 2", "3": "Gulls"}), "--account", "me")
    home.bring(backup("June.bear2bk", {"1": "Pier", "2": "Mole", "3": "Gulls"}), "--account", "me")
    records = home.records().values()
    paths = {data["body"][:6]: data["folder"] for data in records if "body" in data}
    assert paths == {
        "Note 1": "Pier.textbundle",
        "Note 2": "Mole.textbundle",
        "Note 3": "Gulls.textbundle",
    }
    assert len(records) == 6


def test_names_of_properties_may_begin_with_a_capital_letter(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "---\nTitle: Ebb\nCreated: 2026-01-31 10:15\nUpdated: 2026-02-01 08:00:00Z\n"
        "Tags:\n  - sea\nCompleted?: false\n---\n\nLow water\n"
    )
    [note] = read(SOURCE, tmp_path).values()
    assert (note["title"], note["tags"]) == ("Ebb", ["sea"])
    assert (note["created_at"], note["floating"]) == ("2026-01-31T10:15:00", True)
    assert note["updated_at"] == "2026-02-01T08:00:00Z"
    assert note["properties"]["Completed?"] is False


def test_older_texts_that_logseq_keeps_are_no_notes_and_its_journals_have_their_day(
    tmp_path: Path,
) -> None:
    older = ("bak/pages/Mole/2025-01-01T00_00_00.md", "version-files/base/Mole.md", "config.edn")
    files = ("journals/2026_01_31.md", "pages/Mole.md", *(f"logseq/{name}" for name in older))
    for name in files:
        place = tmp_path / "graph" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("- The lamp is lit")
    report = Home(tmp_path / "home").bring(tmp_path / "graph")
    assert (report["counts"]["new"], report["files"]["unknown"]) == (2, [])
    days = {data.get("created_at") for data in read(SOURCE, tmp_path / "graph").values()}
    assert days == {"2026-01-31T00:00:00", None}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_notes_are_read_in_the_encoding_and_with_the_line_ends_they_have(
    tmp_path: Path, encoding: str
) -> None:
    text = "---\ntitle: Über Fähren\n---\nZwölf Möwen\n".replace("\n", "\r")
    (tmp_path / "a.md").write_bytes(text.encode(encoding))
    [note] = read(SOURCE, tmp_path).values()
    assert (note["title"], note["body"]) == ("Über Fähren", "Zwölf Möwen")


def test_a_backup_of_bear_lies_among_other_files_without_what_was_thrown_away(
    tmp_path: Path,
) -> None:
    files = {}
    for name, in_trash in (("Mole", 0), ("Gone", 1)):
        told_of_it = {"net.shinyfrog.bear": {"trashed": in_trash}}
        files[f"Bear/{name}.textbundle/text.markdown"] = f"All of {name}".encode()
        files[f"Bear/{name}.textbundle/info.json"] = json_bytes(told_of_it)
    zipped(tmp_path / "things" / "Bear Notes.bear2bk", files)
    (tmp_path / "things" / "odd.bin").write_bytes(b"\x00")
    report = Home(tmp_path / "home").bring(tmp_path / "things")
    assert report["counts"]["new"] == 1
    assert [skipped["reason"] for skipped in report["skipped"]] == ["a note that was thrown away"]


def test_a_note_that_was_lost_to_zeros_costs_no_other_and_replaces_no_text(tmp_path: Path) -> None:
    vault, home = tmp_path / "vault", Home(tmp_path / "home")
    (vault / ".obsidian").mkdir(parents=True)
    for name in ("anchor", "buoy"):
        (vault / f"{name}.md").write_text(f"# The {name}\n")
    home.bring(vault)
    (vault / "anchor.md").write_bytes(bytes(3_000))
    (vault / "chain.md").write_text("# A chain\0\n")
    report = home.bring(vault)
    assert report["status"] == "incomplete"
    assert [case["reason"] for case in report["skipped"]] == ["a note of nothing but zeros"]
    bodies = {data["title"]: data["body"] for data in home.records().values()}
    assert bodies["The anchor"].strip() == "# The anchor"
    assert len(bodies) == 3
