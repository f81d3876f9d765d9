"""Update notes: what changed in this version, from the file that comes with it."""

import re
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE / "CHANGELOG.md", _PACKAGE.parents[1] / "CHANGELOG.md")
_MARKS = re.compile(r"[`*]")
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_MOST = 8


def update_notes() -> list[str]:
    """Return the first entries of the newest version; none where the file is not there."""
    path = next((path for path in _PLACES if path.is_file()), None)
    if path is None:
        return []
    _, _, newest = path.read_text("utf-8").partition("\n## ")
    section = _LINK.sub(r"\1", _HEADING.sub("", newest.partition("\n## ")[0]))
    entries = re.split(r"^- ", section, flags=re.MULTILINE)[1 : _MOST + 1]
    return [_MARKS.sub("", " ".join(entry.split())) for entry in entries]
