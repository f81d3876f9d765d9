"""Goodreads: the table of a library, with what was rated, read and wanted."""

from collections.abc import Iterator

from pdpp.sources.formats.csv_archive import Cells, KnownTables, TableKind, plain
from pdpp.sources.item import Finding, Item, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.html import html_text

_COLUMNS = frozenset({"book id", "title", "author", "my rating", "exclusive shelf", "date added"})

_SHELVES = {"currently-reading": "currently reading", "to-read": "want to read"}


def _book(cells: Cells, where: str) -> Iterator[Finding]:
    number, title = cells["book id"], cells["title"]
    if not number or not title:
        yield Unknown("a book without a number or a title", where)
        return
    key = safe_key(number)
    more = cells.get("additional authors", "")
    shelves = [shelf for part in cells.get("bookshelves", "").split(",") if (shelf := part.strip())]
    read, added = _day(cells.get("date read", "")), _day(cells["date added"])
    data = {
        "id": key,
        "title": title,
        "author": cells["author"],
        "more_authors": [name.strip() for name in more.split(",") if name.strip()],
        "shelf": _SHELVES.get(cells["exclusive shelf"], cells["exclusive shelf"]),
        "shelves": shelves,
        "shelf_names": ", ".join(shelves),
        # A zero says that the book was not rated.
        "my_rating": _number(cells["my rating"]) or None,
        "average_rating": _number(cells.get("average rating", "")),
        "read_on": read,
        "added_on": added,
        "day": read or added,
        "times_read": _number(cells.get("read count", "")),
        "review": html_text(cells.get("my review", "")),
        "notes": html_text(cells.get("private notes", "")),
        "isbn": _isbn(cells.get("isbn13", "")) or _isbn(cells.get("isbn", "")),
        "publisher": cells.get("publisher", ""),
        "binding": cells.get("binding", ""),
        "pages": _number(cells.get("number of pages", "")),
        "published": _number(cells.get("original publication year", ""))
        or _number(cells.get("year published", "")),
        "link": f"https://www.goodreads.com/book/show/{number}" if number.isdigit() else "",
    }
    yield Item("books", key, present(data, "", []))


def _day(text: str) -> str | None:
    """Return a day such as ``2026/01/31``; of some books only the year or the month is known."""
    parts = text.replace("-", "/").split("/")
    if not all(part.isdecimal() for part in parts) or len(parts[0]) != len("2026"):
        return None
    year, month, day = (*map(int, parts), 1, 1)[:3]
    return f"{year:04}-{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else None


def _isbn(text: str) -> str:
    """Return a number that is written as a formula, so that spreadsheets leave it as it is."""
    return text.removeprefix("=").strip('"')


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return (int(value) if value.is_integer() else value) if abs(value) < 1e9 else None


class Goodreads(KnownTables):
    """The table that Goodreads exports, also as other services write it for their users."""

    connector_key = "goodreads"
    files_stand_alone = True
    label = "Goodreads"
    kinds = (TableKind("*.csv", _COLUMNS, "book", plain(_book)),)
