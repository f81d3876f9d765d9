"""The notes of an update, as the settings page shows them."""

from pdpp.pages.update_notes import first_entries, update_notes

CHANGELOG = """# What changed

For people.

## 0.3.0

An opening.

### Search

- A `word` is found
  in [two lines](docs/search.md).
- A second entry.

### Imports

| kind | known |
|---|---|
| mail | *all* |

- An export comes in.

### Nothing yet

## 0.2.0

### Search

- What was there before.
"""


def test_the_first_entry_of_each_group_of_the_newest_version_is_told_as_plain_text() -> None:
    assert first_entries(CHANGELOG) == ["A word is found in two lines.", "An export comes in."]


def test_the_notes_of_this_version_are_there_without_marks() -> None:
    notes = update_notes()
    assert len(notes) > 5
    assert not [note for note in notes for mark in ("`", "](", "#", "|") if mark in note]
