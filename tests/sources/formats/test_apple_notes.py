"""What is particular to the database of Apple Notes."""

import gzip
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import read, told
from tests.sources.samples import apple_notes

from pdpp.sources.formats.apple_notes.source import AppleNotes, note_text

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
        "pictures, tables and files in a note",
        "a note that is locked",
        "a note that was deleted",
    ]


@given(st.binary(max_size=60))
def test_any_message_is_a_text_or_none(content: bytes) -> None:
    assert note_text(content) is None
    try:
        text = note_text(gzip.compress(content))
    except ValueError:
        return
    assert text is None or isinstance(text, str)
