"""What changed in this version, as the settings page tells it."""

from pdpp.pages.update_notes import update_notes


def test_notes_are_entries_alone_without_headings_or_marks() -> None:
    notes = update_notes()
    assert len(notes) == 8
    assert [note for note in notes if "#" in note or "](" in note or "`" in note] == []
    assert [note for note in notes if not note.endswith((".", ")"))] == []
