"""Lists that somebody made on Letterboxd: a table about the list, and below it one of its films."""

import csv
from collections.abc import Iterator, Mapping
from datetime import date
from functools import partial
from itertools import takewhile

from pdpp.sources.formats.csv_archive import Cells, find_columns, read_table
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.html import html_text
from pdpp.sources.reading.textfile import text_lines
from pdpp.sources.reading.tree import FileEntry

_MARK = b"Letterboxd list export"
_FILMS = frozenset({"position", "name", "year", "url"})
_LONGEST_DESCRIPTION = 2_000
"""Lines that the words about a list may take."""


def is_own_list(entry: FileEntry) -> bool:
    """Tell whether a file is a list that somebody made."""
    return entry.head(64).removeprefix(b"\xef\xbb\xbf").startswith(_MARK)


def read_own_list(entry: FileEntry) -> Iterator[Finding]:
    """Yield the films of a list."""
    about = _about(entry)
    table = find_columns(entry, _FILMS, _LONGEST_DESCRIPTION)
    if table is None or _day(about.get("date", "")) is None:
        yield Unknown("a list without a day or films", entry.name)
        return
    yield from read_table(entry, table, "film", partial(_film, about))
    if about.get("description"):
        yield Skipped("what is said of a list as a whole", entry.name)


def _about(entry: FileEntry) -> Mapping[str, str]:
    """Return what a file says of its list, by the names of the columns in small letters."""
    lines = (f"{line.text}\n" for line in text_lines(entry))
    rows = csv.reader(takewhile(lambda line: not line.lower().startswith("position,"), lines))
    try:
        _, names, cells = (next(rows, []) for _ in range(3))
    except csv.Error:
        return {}
    return {name.strip().lower(): cell.strip() for name, cell in zip(names, cells, strict=False)}


def written_text(cell: str) -> str:
    """Return what somebody wrote: words with marks of HTML, in lines of their own."""
    return html_text(cell.replace("\n", "<br>"), levels=False)


def _film(about: Mapping[str, str], cells: Cells, where: str) -> Iterator[Finding]:
    if not cells["url"] or not cells["name"]:
        yield Unknown("an entry of a list without a film", where)
        return
    position, year = cells["position"], cells["year"]
    key = safe_key("list", about.get("url") or about.get("name", ""), cells["url"])
    data = {
        "id": key,
        "title": cells["name"],
        "year": int(year) if year.isdecimal() and len(year) == len("2026") else None,
        "link": cells["url"],
        "list": about.get("name") or "list",
        "position": int(position) if position.isdecimal() else None,
        "note": written_text(cells.get("description", "")),
        "added_on": about["date"],
    }
    yield Item("films", key, present(data, ""))


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
