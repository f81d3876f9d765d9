"""What is particular to notebooks of Evernote."""

from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, counts, findings, look, read, told
from tests.sources.samples import evernote

from pdpp.sources.formats.evernote.source import Evernote
from pdpp.sources.item import Item
from pdpp.sources.source import Recognition

SOURCE = Evernote()


def put(folder: Path, *notes: str, name: str = "Boat.enex") -> Path:
    path = folder / name
    path.write_bytes(evernote.notebook(*notes))
    return path


def only(path: Path, stream: str) -> dict[str, Any]:
    [data] = [data for (name, _), data in read(SOURCE, path).items() if name == stream]
    return data


def test_a_note_has_its_words_tags_place_and_times(tmp_path: Path) -> None:
    note = only(put(tmp_path, evernote.KNOTS), "notes")
    assert note["body"].splitlines() == [
        "A bowline never slips on a wet rope",
        "[x] learn it",
        "[ ] teach Ivo",
        "[encrypted]",
    ]
    assert (note["title"], note["notebook"]) == ("Knots & splices", "Boat")
    assert note["tags"] == ["sea", "craft"]
    assert note["created_at"] == "2024-01-02T08:00:00Z"
    assert note["updated_at"] == "2024-02-03T09:00:00Z"
    assert (note["latitude"], note["longitude"]) == (38.7, -9.1)
    assert note["source_url"] == "https://knots.example/bowline"


def test_a_file_keeps_its_bytes_and_the_words_that_were_seen_in_it(tmp_path: Path) -> None:
    items = findings(SOURCE, put(tmp_path, evernote.KNOTS))
    [picture] = [item for item in items if isinstance(item, Item) and item.stream == "attachments"]
    assert picture.data["name"] == "bowline.png"
    assert picture.data["recognised_text"] == "bowline"
    [attachment] = picture.attachments
    with attachment.open() as file:
        assert file.read() == evernote.PICTURE


def test_a_picture_before_others_brings_none_of_them_a_second_time(tmp_path: Path) -> None:
    pictures = [
        f"<resource><data>{data}</data><mime>image/png</mime></resource>"
        for data in ("Ym9hdA==", "c2VhIQ==", "c2VhIQ==", "cGllcg==")
    ]
    home = Home(tmp_path / "data")
    home.bring(put(tmp_path, evernote.note("Pier", "20240101T000000Z", "x", "".join(pictures[1:]))))
    report = home.bring(
        put(tmp_path, evernote.note("Pier", "20240101T000000Z", "x", "".join(pictures)))
    )
    assert counts(report)["new"] == 1
    assert len(home.records()) == 5


def test_what_is_encrypted_or_no_file_is_told(tmp_path: Path) -> None:
    broken = evernote.note(
        "x", "20240101T000000Z", "y", "<resource><data>!!</data></resource><resource/>"
    )
    path = put(tmp_path, evernote.KNOTS, broken, "<stack/>")
    assert [finding.reason for finding in told(SOURCE, path)] == [
        "a passage that is encrypted",
        "a file that is not written as base64",
        "a file that is empty",
        "an element stack",
    ]


def test_a_note_that_is_encrypted_as_a_whole_comes_in_without_text(tmp_path: Path) -> None:
    page = '<content encoding="base64:aes">RU5DMFNBTFQ=</content>'
    path = put(
        tmp_path, f"<note><title>Safe</title><created>20240101T000000Z</created>{page}</note>"
    )
    note = only(path, "notes")
    assert (note["title"], note["body"]) == ("Safe", "")
    [skipped] = told(SOURCE, path)
    assert skipped.reason == "the text of a note that is encrypted"


def test_notes_of_one_second_and_one_title_are_all_kept(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    home.bring(put(tmp_path, evernote.BREAD, evernote.BREAD, evernote.UNTITLED))
    assert len(home.records()) == 3


def task(title: str, group: str, weight: str, status: str = "open", more: str = "") -> str:
    return (
        f"<task><title>{title}</title><created>20240101T000000Z</created>"
        f"<taskStatus>{status}</taskStatus><inNote>true</inNote><sortWeight>{weight}</sortWeight>"
        f"<taskGroupNoteLevelID>{group}</taskGroupNoteLevelID>{more}</task>"
    )


def test_tasks_stand_in_the_note_where_it_shows_them(tmp_path: Path) -> None:
    page = (
        "<div>Before we sail</div>"
        '<div style="--en-task-group:true; --en-id:g-1; --en-taskgroup-version:1;"></div>'
        "<div>Then go</div>"
    )
    tasks = (
        task("Fill the water &amp; fuel", "g-1", "B", more="<dueDate>20240510T120000Z</dueDate>")
        + task("Mend the jib", "g-1", "A", "completed")
        + task("Write to Ivo", "g-2", "A")
    )
    note = only(put(tmp_path, evernote.note("Spring", "20240501T080000Z", page, tasks)), "notes")
    assert note["body"].splitlines() == [
        "Before we sail",
        "[x] Mend the jib",
        "[ ] Fill the water & fuel (due 2024-05-10)",
        "Then go",
        "[ ] Write to Ivo",
    ]


def written_by(author: str, title: str) -> str:
    more = f"<note-attributes><author>{author}</author></note-attributes>"
    return evernote.note(title, "20240501T080000Z", "<div>x</div>", more)


def test_clippings_by_others_make_no_second_account(tmp_path: Path) -> None:
    own = [written_by("Nora", title) for title in ("Sails", "Ropes")]
    clipped = [written_by("The Tide Paper", title) for title in ("Moon", "Neaps", "Springs")]
    home = Home(tmp_path / "data")
    home.bring(put(tmp_path, *own))
    report = home.bring(put(tmp_path, *own, *clipped))
    assert counts(report)["new"] == 3


def test_the_account_is_who_wrote_most(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, evernote.KNOTS, evernote.BREAD))
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.owner_known) == ("nora@lind.example", False)
    nameless = look(SOURCE, put(tmp_path, evernote.BREAD))
    assert isinstance(nameless, Recognition)
    assert (nameless.identity, nameless.owner_known) == ("", False)


def clipped_by(author: str, title: str) -> str:
    more = f"<author>{author}</author><source-url>https://tides.example</source-url>"
    more = f"<note-attributes>{more}</note-attributes>"
    return evernote.note(title, "20240501T080000Z", "<div>x</div>", more)


def bring_folders(home: Path, folder: Path, notes: dict[str, list[str]]) -> list[dict[str, Any]]:
    for name, written in notes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(evernote.notebook(*written))
    report = Home(home).bring(folder)
    imports: list[dict[str, Any]] = report.get("imports", [report])
    return imports


def test_two_people_in_folders_of_their_own_are_two_accounts(tmp_path: Path) -> None:
    clipping = clipped_by("The Tide Paper", "Moon")
    notes = {
        "nora/Boat.enex": [written_by("Nora", "Sails"), clipping],
        "nora/more/Home.enex": [written_by("Nora", "Roof")],
        "ben/Boat.enex": [written_by("Ben", "Oars")],
    }
    first, second = bring_folders(tmp_path / "data", tmp_path / "enex", notes)
    names = {one["connection"]["display_name"]: one["counts"]["new"] for one in (first, second)}
    assert names == {"Evernote (Ben)": 1, "Evernote (Nora)": 3}


@pytest.mark.parametrize(
    "notes",
    [
        {"Stack/a.enex": ["Nora"], "Shared/b.enex": ["Nora", "Ben"]},
        {"2010/a.enex": ["nora@lind.example"], "2020/b.enex": ["Nora", "nora@lind.example"]},
        {"a.enex": ["Nora"], "b.enex": ["Ben"]},
        {"a.enex": ["Nora"], "Old/b.enex": ["nora@lind.example"]},
        {"x/a.enex": ["Nora"], "y/b.enex": ["Nora"]},
    ],
)
def test_folders_of_one_person_stay_one_account(
    tmp_path: Path, notes: dict[str, list[str]]
) -> None:
    written = {
        name: [written_by(author, f"{name} {author}") for author in authors]
        for name, authors in notes.items()
    }
    assert len(bring_folders(tmp_path / "data", tmp_path / "enex", written)) == 1


def test_a_list_to_tick_says_what_is_done(tmp_path: Path) -> None:
    page = (
        '<ul style="--en-todo:true;"><li style="--en-checked:false;"><div>caulk</div></li>'
        '<li style="--en-checked:true;">paint</li></ul><ul><li><div>rope</div></li></ul>'
    )
    note = only(put(tmp_path, evernote.note("Boat", "20240101T000000Z", page)), "notes")
    assert note["body"].split("\n") == ["- [ ] caulk", "- [x] paint", "", "- rope"]


def test_lists_in_a_note_are_indented_with_their_numbers_and_ticks(tmp_path: Path) -> None:
    ticked = '<li style="--en-checked:{};"><div>{}</div>{}</li>'
    inner = f'<ul style="--en-todo:true;">{ticked.format("true", "sand", "")}</ul>'
    steps = "<ol><li><div>wash</div></li><li><div>dry</div><ul><li>two days</li></ul></li></ol>"
    page = (
        f'<ul style="--en-todo:true;">{ticked.format("false", "hull", inner)}</ul>'
        f"<ul><li><div>deck</div>{steps}</li><li><div>mast</div></li></ul>"
    )
    home = Home(tmp_path / "data")
    home.bring(put(tmp_path, evernote.note("Boat", "20240101T000000Z", page)))
    [note] = home.records().values()
    assert note["body"].split("\n") == [
        *("- [ ] hull", "  - [x] sand", "", "- deck", "  1. wash", "  2. dry", "    - two days"),
        "- mast",
    ]


def test_times_are_read_as_other_programs_write_them_too(tmp_path: Path) -> None:
    remind = "<note-attributes><reminder-time>2026-02-01T08:00:00.000Z</reminder-time>"
    note = evernote.KNOTS.replace("<note-attributes>", remind)
    assert only(put(tmp_path, note), "notes")["reminder_at"] == "2026-02-01T08:00:00.000Z"
