"""Google's places: what somebody saved, labelled or reviewed in Maps, as a Takeout writes it.

Starred and labelled places and reviews are GeoJSON. Each list is a table without positions, whose
columns are called in the language of the account and always stand in the same order.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pdpp.sources.formats.gpx.way import moment_of, place_of
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.csvtable import CsvTable, Row, find_table, rows
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import elements
from pdpp.sources.reading.textfile import text_lines
from pdpp.sources.reading.tree import FileEntry

ENDINGS = (".json", ".geojson", ".csv")
_FEATURES = b'"FeatureCollection"'
_MARKS = (b'"google_maps_url"', b'"Google Maps URL"', b'"address"')
_ADDRESSES = ("google.com/maps/", "maps.google.com/", "maps.app.goo.gl/", "goo.gl/maps/")
_LEAST_COLUMNS = 4
_IN_ENGLISH = frozenset({"TITLE,NOTE,URL,COMMENT", "TITLE,NOTE,URL,TAGS,COMMENT"})
_LOOKED_AT = 8_192
"""So far the columns are looked for: what somebody wrote of a list stands before them."""
_STARS = ("five_star_rating_published", "Star Rating")
_REVIEW = ("review_text_published", "review_text", "Review Comment")


def holds_places(entry: FileEntry) -> bool:
    """Tell whether a file is one of these, by its beginning."""
    head = entry.head()
    if entry.suffix == ".csv":
        return _is_list(head.decode("utf-8-sig", "replace"))
    return _FEATURES in head and any(mark in head for mark in _MARKS)


def _is_list(head: str) -> bool:
    lines = (line.strip().upper() for line in head[:_LOOKED_AT].splitlines())
    header = next((line for line in lines if _names_columns(line.split(","))), None)
    return header is not None and (header in _IN_ENGLISH or _is_of_maps(head))


def _names_columns(names: Sequence[str]) -> bool:
    return len(names) >= _LEAST_COLUMNS and names[2].strip() == "URL"


def _is_of_maps(text: str) -> bool:
    return any(address in text for address in _ADDRESSES)


def read_places(entry: FileEntry) -> Iterator[Finding]:
    """Yield the places of a file."""
    return _read_list(entry) if entry.suffix == ".csv" else _read_features(entry)


def _read_features(entry: FileEntry) -> Iterator[Finding]:
    ordinals = Ordinals()
    with entry.open() as stream:
        for element in elements(stream, "features.item"):
            if isinstance(element, Skipped):
                yield element
            else:
                where = f"{entry.name} place {element.number}"
                found = _feature(entry, element.value, ordinals, where)
                yield from account(found, where, "place")


def _feature(
    entry: FileEntry, value: Mapping[str, Any], ordinals: Ordinals, where: str
) -> Iterator[Finding]:
    about = value.get("properties") or {}
    place = about.get("location") or about.get("Location") or {}
    url = _first(about, "google_maps_url", "Google Maps URL")
    name = _first(place, "name", "Business Name") or _first(about, "name", "Title")
    address = _first(place, "address", "Address") or _first(about, "address")
    stars, review = _first(about, *_STARS), _first(about, *_REVIEW)
    if not (name or address or url):
        yield Unknown("a place without a name", where)
        return
    words = [f"{stars} of 5 stars" if stars.isdigit() else stars, review]
    words += [_first(about, "Comment", "comment"), address, *_answers(about), url]
    position = _position(value)
    when = moment_of(_first(about, "date", "Published"))
    kind = "review" if stars or review else "saved place" if url else "labelled place"
    key = ordinals.key("google place", kind, url or name, when or "", address)
    data = {
        "id": key,
        "name": name or address or url,
        "description": "\n".join(filter(None, words)),
        "folder": _called(entry),
        "kind": kind,
        "latitude": position[0] if position else None,
        "longitude": position[1] if position else None,
        "marked_at": when,
    }
    yield Item("waypoints", key, present(data, ""))


def _answers(about: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was answered to Google's questions in a review."""
    for asked in about.get("questions") or ():
        many = asked.get("selected_options")
        answer = ", ".join(many) if many else _first(asked, "selected_option", "rating")
        if answer:
            yield f"{_first(asked, 'question')}: {answer}"


def _position(value: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return where a place is; zero and zero stand for a place that Google no longer knows."""
    found = (value.get("geometry") or {}).get("coordinates")
    if not isinstance(found, list) or len(found) < 2 or not any(found[:2]):
        return None
    return place_of(str(found[1]), str(found[0]))


def _read_list(entry: FileEntry) -> Iterator[Finding]:
    table, ordinals = find_table(entry), Ordinals()
    if table is not None and _is_described(entry, table):
        yield Skipped("what is written of a list as a whole", entry.name)
    for row in rows(entry, table) if table is not None else ():
        if isinstance(row, Skipped):
            yield row
        elif any(cell.strip() for cell in row.cells):
            where = f"{entry.name} line {row.line:,}"
            yield from account(_listed(entry, row, ordinals), where, "place")


def _is_described(entry: FileEntry, table: CsvTable) -> bool:
    before = islice(text_lines(entry, table.encoding), max(0, table.header_line - 1))
    return any(line.text.strip() for line in before)


def _listed(entry: FileEntry, row: Row, ordinals: Ordinals) -> Iterator[Finding]:
    name, note, url, *more = (cell.strip() for cell in row.cells)
    listed = _called(entry)
    key = ordinals.key("google list", listed, url or name)
    data = {
        "id": key,
        "name": name or url or note,
        "description": "\n".join(filter(None, [note, *more, url])),
        "folder": listed,
        "kind": "saved place" if _is_of_maps(url) or not url else "saved link",
    }
    yield Item("waypoints", key, present(data, ""))


def _called(entry: FileEntry) -> str:
    return entry.base.rpartition(".")[0]


def _first(value: Mapping[str, Any], *names: str) -> str:
    """Return the first of some members that says anything, as text."""
    found = (value.get(name) for name in names)
    return next((str(each).strip() for each in found if each not in (None, "")), "")
