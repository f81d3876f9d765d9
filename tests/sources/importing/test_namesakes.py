"""Notes without an id are told apart, and known again, by where they lie and what they say."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.sources.kit import Home, counts
from tests.sources.samples import evernote

MADE = "20240501T080000Z"
PAINT = "Two coats of red paint before the boat goes back into the water"
FLOUR = "Flour, salt and a little honey; let it rest for a night in the cellar"
ROOF = "Ask the carpenter about the tiles over the kitchen window"
Notebooks = Mapping[str, list[str]]


def note(text: str, made: str = MADE, more: str = "") -> str:
    return evernote.note("To do", made, f"<div>{text}</div>", more)


def put(folder: Path, notebooks: Notebooks) -> Path:
    for name, notes in notebooks.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(evernote.notebook(*notes))
    return folder


def held(home: Home) -> list[tuple[str, str]]:
    """Return where each note lies and how it begins."""
    return sorted(
        (data["notebook"], data["body"])
        for (stream, _), data in home.records().items()
        if stream == "notes"
    )


BOTH = {"Boat.enex": [note(PAINT)], "Kitchen.enex": [note(FLOUR)]}
APART = [("Boat", PAINT), ("Kitchen", FLOUR)]


@pytest.mark.parametrize("made", [MADE, ""])
def test_notes_of_one_title_and_second_in_two_notebooks_are_two(tmp_path: Path, made: str) -> None:
    notebooks = {"Boat.enex": [note(PAINT, made)], "Kitchen.enex": [note(FLOUR, made)]}
    home, folder = Home(tmp_path / "data"), put(tmp_path / "enex", notebooks)
    home.bring(folder)
    assert held(home) == APART
    assert counts(home.bring(folder)).keys().isdisjoint({"new", "changed"})


def test_notebooks_that_come_one_by_one_keep_their_notes(tmp_path: Path) -> None:
    home, folder = Home(tmp_path / "data"), put(tmp_path / "enex", BOTH)
    for name in ("Kitchen.enex", "Boat.enex", "Kitchen.enex"):
        home.bring(folder / name)
    assert held(home) == APART
    assert counts(home.bring(folder))["unchanged"] == 2


@pytest.mark.parametrize(
    "later",
    [
        {"Boat.enex": [note(f"{PAINT}, and varnish")], "Kitchen.enex": [note(FLOUR)]},
        {"Ship.enex": [note(f"{PAINT}, and varnish")], "Baking.enex": [note(FLOUR)]},
        {"Everything.enex": [note(FLOUR), note(f"{PAINT}, and varnish")]},
        {"Everything.enex": [note(f"Soon: {PAINT}"), note(FLOUR)]},
        {"Aft.enex": [note(f"Now! {FLOUR}")], "Boat.enex": [note(f"{PAINT}.")]},
    ],
)
def test_a_later_export_brings_no_note_a_second_time(tmp_path: Path, later: Notebooks) -> None:
    home = Home(tmp_path / "data")
    home.bring(put(tmp_path / "first", BOTH))
    changed = counts(home.bring(put(tmp_path / "later", later)))
    assert len(held(home)) == 2
    assert "new" not in changed
    assert counts(home.bring(tmp_path / "later"))["unchanged"] == 2


def test_the_same_notebook_twice_in_a_folder_is_there_once(tmp_path: Path) -> None:
    notebooks = {
        "2023/Boat.enex": [note(PAINT), note(ROOF)],
        "2024/Boat.enex": [note(ROOF), note(f"{PAINT}, and varnish")],
        "Boat 2024-05-01.enex": [note(f"{PAINT}, and varnish")],
        "All.enex": [note(ROOF)],
    }
    home = Home(tmp_path / "data")
    home.bring(put(tmp_path / "enex", notebooks))
    assert len(held(home)) == 2


def test_copies_that_were_changed_in_two_notebooks_are_two(tmp_path: Path) -> None:
    notebooks = {
        "Boat.enex": [note(f"{PAINT}; the hull is done")],
        "Dinghy.enex": [note(f"{PAINT}; nothing is done")],
    }
    home, folder = Home(tmp_path / "data"), put(tmp_path / "enex", notebooks)
    home.bring(folder)
    assert [place for place, _ in held(home)] == ["Boat", "Dinghy"]
    assert counts(home.bring(folder))["unchanged"] == 2


def test_an_empty_note_takes_no_text_away(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    home.bring(put(tmp_path / "first", {"Boat.enex": [note(PAINT)]}))
    home.bring(put(tmp_path / "later", {"Kitchen.enex": [note("")]}))
    assert held(home) == [("Boat", PAINT), ("Kitchen", "")]


def test_a_file_belongs_to_its_own_note(tmp_path: Path) -> None:
    picture = "<resource><data>aGVsbQ==</data><mime>image/png</mime></resource>"
    notebooks = {
        "Boat.enex": [note(PAINT, more=picture)],
        "Kitchen.enex": [note(FLOUR, more=picture)],
    }
    home, folder = Home(tmp_path / "data"), put(tmp_path / "enex", notebooks)
    home.bring(folder)
    records = home.records()
    notes = {key for stream, key in records if stream == "notes"}
    files = {key: data for (stream, key), data in records.items() if stream == "attachments"}
    assert {data["note_id"] for data in files.values()} == notes
    assert {data["id"] for data in files.values()} == set(files)
    assert counts(home.bring(folder))["unchanged"] == 4


def test_a_mirror_deletes_only_the_note_that_is_gone(tmp_path: Path) -> None:
    home, folder = Home(tmp_path / "data"), put(tmp_path / "enex", BOTH)
    home.bring(folder)
    put(folder, {"Boat.enex": [evernote.BREAD]})
    home.bring(folder, "--mirror")
    assert ("Kitchen", FLOUR) in held(home)
    assert ("Boat", PAINT) not in held(home)


def test_a_note_is_known_after_another_of_its_name_was_deleted(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    home.bring(put(tmp_path / "1", {"Boat.enex": [note(PAINT), note(FLOUR), note(ROOF)]}))
    later = put(tmp_path / "2", {"Boat.enex": [note(ROOF)]})
    home.bring(later, "--mirror")
    assert counts(home.bring(later))["unchanged"] == 1
    assert held(home) == [("Boat", ROOF)]


def test_a_note_that_was_moved_beside_another_of_its_name_is_there_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    home.bring(put(tmp_path / "1", BOTH))
    home.bring(put(tmp_path / "2", {"Boat.enex": [note(FLOUR), note(PAINT)]}))
    assert held(home) == [("Boat", FLOUR), ("Boat", PAINT)]


def test_a_note_that_was_changed_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    home.bring(put(tmp_path / "1", {"Boat.enex": [note(""), note(PAINT)]}))
    keys = {key for (_, key), data in home.records().items() if PAINT in data.get("body", "")}
    home.bring(put(tmp_path / "2", {"Boat.enex": [note(f"{PAINT}. Soon"), note("")]}))
    later = {key for (_, key), data in home.records().items() if PAINT in data.get("body", "")}
    assert later == keys
