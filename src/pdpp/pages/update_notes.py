"""Update notes: what changed in this version, from the file that comes with it."""

import re
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE / "CHANGELOG.md", _PACKAGE.parents[1] / "CHANGELOG.md")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[`*]")


def update_notes() -> list[str]:
    """Return the first entries of the newest version; none where the file is not there."""
    path = next((path for path in _PLACES if path.is_file()), None)
    return [] if path is None else first_entries(path.read_text("utf-8"))


def first_entries(changelog: str) -> list[str]:
    """Return the first entry of each group of the newest version, as plain text."""
    _, _, newest = changelog.partition("\n## ")
    groups = newest.partition("\n## ")[0].split("\n### ")[1:]
    entries = [group.split("\n- ")[1] for group in groups if "\n- " in group]
    return [_plain(entry) for entry in entries]


def _plain(entry: str) -> str:
    """Return an entry without marks of Markdown, on one line."""
    return _MARKS.sub("", _LINK.sub(r"\1", " ".join(entry.split())))
