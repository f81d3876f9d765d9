"""What is particular to the database of Apple Notes."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import Home, read, told, zipped
from tests.sources.samples import apple_notes

from pdpp.sources.formats.apple_notes.attachments import NoteContent, note_content
from pdpp.sources.formats.apple_notes.source import AppleNotes
from pdpp.sources.formats.apple_notes.tables import table_text

SOURCE = AppleNotes()


def test_a_note_has_its_text_folder_and_times(tmp_path: Path) -> None:
    path = apple_notes.SAMPLES[0].folder(tmp_path)
    buoys, long = read(SOURCE, path).values()
    assert buoys == {
        "id": "ID-10",
        "title": "Buoys",
        "body": "Buoys\nThe green one whistles when the swell turns  north",
        "folder": "Harbour",
        "account": "iCloud",
        "created_at": "2026-01-01T10:00:00Z",
        "updated_at": "2026-01-01T11:00:00.500000Z",
        "pinned": True,
        "attachments": 1,
    }
    assert long["title"] == "A first line"
    assert long["body"].count("words") == 400


def test_what_is_locked_deleted_or_no_text_is_told(tmp_path: Path) -> None:
    path = apple_notes.SAMPLES[0].folder(tmp_path)
    assert [finding.reason for finding in told(SOURCE, path)] == [
        "something in a note that is not in the database",
        "a note that is locked",
        "a note that was deleted",
    ]


def test_a_note_lies_in_folders_inside_others_and_a_deleted_one_in_a_folder_of_its_own(
    tmp_path: Path,
) -> None:
    path = tmp_path / "NoteStore.sqlite"
    path.write_bytes(apple_notes.store(apple_notes.BUOYS, apple_notes.LONG))
    table = "ZICCLOUDSYNCINGOBJECT"
    with closing(sqlite3.connect(path)) as database, database:
        for name in ("ZPARENT", "ZFOLDERTYPE", "ZOWNER"):
            database.execute(f"alter table {table} add column {name} integer")
        rows = [(3, "Coast", None, 0), (4, "Recently Deleted", None, 1)]
        database.executemany(
            f"insert into {table} (Z_PK, ZTITLE2, ZPARENT, ZFOLDERTYPE) values (?, ?, ?, ?)", rows
        )
        database.execute(
            f"update {table} set ZPARENT = 3, ZACCOUNT4 = null, ZOWNER = 1 where Z_PK = 2"
        )
        database.execute(f"update {table} set ZFOLDER = 4 where Z_PK = 13")
    [buoys] = read(SOURCE, path).values()
    assert (buoys["folder"], buoys["account"]) == ("Coast/Harbour", "iCloud")
    assert "a note that was deleted" in [finding.reason for finding in told(SOURCE, path)]
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"update {table} set ZPARENT = 2 where Z_PK = 3")
    assert read(SOURCE, path)


def rich(tmp_path: Path) -> Path:
    return apple_notes.SAMPLES[1].folder(tmp_path)


def test_tables_tags_links_and_files_stand_in_their_places(tmp_path: Path) -> None:
    records = read(SOURCE, rich(tmp_path))
    assert records["notes", "ID-14"]["body"] == (
        "Moorings #moorings\nWhen to paint them:\n\n"
        "| Day | High water |\n| --- | --- |\n| Monday | 15:30 |\n| Tuesday |  |\n\n"
        "[buoy.jpg] and Tide tables (https://tides.example/)\n[page 1.jpg]   end"
    )
    assert records["notes", "ID-14"]["attachments"] == 7


def test_files_and_links_are_records_with_the_words_seen_in_them(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(rich(tmp_path / "e"))
    held = {data["name"]: data for (stream, _), data in home.records().items() if "note_id" in data}
    assert sorted(held) == ["Tide tables", "buoy.jpg", "page 1.jpg"]
    buoy = held["buoy.jpg"]
    assert (buoy["text"], buoy["media_type"]) == ("SLOW NEAR THE PIER", "image/jpeg")
    assert buoy["file"]["size_bytes"] == len(apple_notes.PHOTO)
    assert "file" not in held["page 1.jpg"]
    assert held["Tide tables"]["link"] == "https://tides.example/"


def test_what_stands_in_a_note_and_cannot_be_had_is_told(tmp_path: Path) -> None:
    assert [finding.reason for finding in told(SOURCE, rich(tmp_path))] == [
        "something in a note that is not in the database",
        "a file that does not lie beside the database",
        "a table that cannot be read",
        "something in a note that is not in the database",
    ]


@given(st.binary(max_size=80))
def test_any_table_is_text_or_none(content: bytes) -> None:
    assert table_text(content) is None
    assert isinstance(table_text(gzip.compress(content)), str | None)


@given(st.integers(min_value=0, max_value=2_000), st.binary(min_size=1, max_size=3))
def test_a_disturbed_table_is_survived(at: int, noise: bytes) -> None:
    plain = gzip.decompress(apple_notes.table(apple_notes.TIDES))
    table_text(gzip.compress(plain[:at] + noise + plain[at + len(noise) :]))


@given(st.binary(max_size=60))
def test_any_message_is_a_note_or_none(content: bytes) -> None:
    assert note_content(content) is None
    assert isinstance(note_content(gzip.compress(content)), NoteContent | None)


def test_a_drawing_comes_with_its_picture_and_without_one_its_lines_are_told(
    tmp_path: Path,
) -> None:
    kinds = ("com.apple.paper", "com.apple.drawing.2", "com.apple.drawing")
    drawings = [apple_notes.thing(number, kind) for number, kind in enumerate(kinds, 50)]
    sketched = apple_notes.note(
        15,
        "Sketches",
        "Sketches \ufffc \ufffc \ufffc",
        attachments=[(f"ID-{number}", kind) for number, kind in enumerate(kinds, 50)],
    )
    files = {
        "NoteStore.sqlite": apple_notes.store(sketched, things=tuple(drawings)),
        "Accounts/A/FallbackImages/ID-50/1_G/FallbackImage.png": b"\x89PNG a sail",
        "Accounts/A/FallbackImages/ID-51.jpg": b"\xff\xd8\xff a mast",
    }
    folder = tmp_path / "notes"
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert [finding.reason for finding in told(SOURCE, folder)] == [
        "the lines of a drawing, of which no picture is there"
    ]
    home = Home(tmp_path / "home")
    report = home.bring(folder)
    assert (report["files"]["kept"], report["files"]["unknown"]) == (2, [])
    names = {key: data["name"] for key, data in read(SOURCE, folder).items() if "name" in data}
    assert set(names.values()) == {"Drawing"}
    assert len(names) == 3


HEADER = (
    "Title, Created On, Modified On, Pinned, Deleted, Drawing/Handwriting, ContentHash at Import"
)
CLOUD = {
    "Notes Details.csv": f"{HEADER}\nLamps,01-31-2026 08:00:00,02-01-2026 09:30:00,Yes,No,No,\n"
    "Twice,01-01-2026 08:00:00,,No,No,No,\nTwice,01-02-2026 08:00:00,,No,No,No,\n",
    "Shared Notes Info.csv": "File Name, Shared On, Participants Details\n",
    "Notes/Harbour/Lamps/Lamps.txt": "Lamps\n\t\u25e6\tOil the hinge\n"
    "\t\u2713\tTrim the wick\n\ufffc\n",
    "Notes/Harbour/Lamps/Attachment.png": "a picture",
    "Notes/Harbour/Lamps/sketches/Sketch-1.jpg": "a sketch",
    "Notes/Twice/Twice.txt": "Twice\nOne",
    "Notes/Twice/Twice-1.txt": "Twice\nOther",
    "Recently Deleted/Gone/Gone.txt": "Gone",
    "Recently Deleted/Gone/Attachment.png": "gone too",
}


def test_what_apple_sends_on_request_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "iCloud Notes"
    for name, text in CLOUD.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    home = Home(tmp_path / "data")
    report = home.bring(tmp_path / "iCloud Notes", "--set", "time_zone=Europe/Lisbon")
    records = home.records()
    notes = {data["body"]: data for (stream, _), data in records.items() if stream == "notes"}
    lamps = notes["Lamps\n[ ] Oil the hinge\n[x] Trim the wick"]
    assert (lamps["title"], lamps["folder"], lamps["pinned"]) == ("Lamps", "Harbour", True)
    assert (lamps["created_at"], lamps["updated_at"]) == (
        "2026-01-31T08:00:00Z",
        "2026-02-01T09:30:00Z",
    )
    files = [data for (stream, _), data in records.items() if stream == "attachments"]
    assert {data["name"] for data in files} == {"Attachment.png", "Sketch-1.jpg"}
    assert {data["note_id"] for data in files} == {lamps["id"]}
    assert [notes[body].get("created_at") for body in ("Twice\nOne", "Twice\nOther")] == [None] * 2
    assert [case["reason"] for case in report["skipped"]] == ["a note that was deleted"]
    assert not report["files"]["unknown"]


def test_the_zip_that_apple_sends_is_the_same_account(tmp_path: Path) -> None:
    files = {f"iCloud Notes/{name}": text.encode() for name, text in CLOUD.items()}
    home = Home(tmp_path / "data")
    home.bring(zipped(tmp_path / "iCloud Notes.zip", files))
    for name, content in files.items():
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).write_bytes(content)
    before = home.records()
    home.bring(tmp_path / "out")
    assert home.records() == before
    assert "2026-01-31T08:00:00" in {data.get("created_at") for data in before.values()}


def test_a_note_of_apple_that_lies_in_another_folder_was_not_deleted(tmp_path: Path) -> None:
    files = {
        "Notes Details.csv": f"{HEADER}\nLamps,01-31-2026 08:00:00,,No,No,No,\n",
        "Shared/Lamps/Lamps.txt": "Lamps\nOil",
        "Recently Deleted/Gone/Gone.txt": "Gone",
        "other/readme.txt": "No note",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    [note] = read(SOURCE, tmp_path).values()
    assert (note["title"], note["folder"]) == ("Lamps", "Shared")
    assert [found.reason for found in told(SOURCE, tmp_path)] == ["a note that was deleted"]


def test_a_note_without_its_text_and_a_text_without_its_note_are_told(tmp_path: Path) -> None:
    path = tmp_path / "NoteStore.sqlite"
    path.write_bytes(apple_notes.store(*(apple_notes.note(n, f"N{n}", "x") for n in (20, 21, 22))))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("delete from ZICNOTEDATA where ZNOTE = 20")
        database.execute("delete from ZICCLOUDSYNCINGOBJECT where Z_PK = 21")
    assert [note["title"] for note in read(SOURCE, path).values()] == ["N22"]
    assert [(finding.reason, finding.example) for finding in told(SOURCE, path)] == [
        ("a text whose note is not in the database", "NoteStore.sqlite note 21"),
        ("a note without an id or a text", "NoteStore.sqlite note 20"),
    ]
