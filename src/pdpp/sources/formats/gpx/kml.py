"""KML: places, lines, areas and tracks of a map, as Google Earth, My Maps and Timeline write it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pdpp.sources.formats.gpx.way import (
    Place,
    Way,
    moment_of,
    number_of,
    place_of,
    way_found,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.html import html_text
from pdpp.sources.reading.tree import FileEntry
from pdpp.sources.reading.xmlstream import XmlElement, XmlEnd, XmlStart, xml_elements

_FOLDERS = ("Document", "Folder")
_LINES = {"LineString": "line", "LinearRing": "area", "Track": "track"}
_LINK = "NetworkLink"
_WEB = "a link to a map on the web; save the map itself, without “keep up to date”"
_BESIDE = "a link to a map beside this one, which is read by itself"
_OTHERS = {
    "GroundOverlay": "a picture on the map",
    "PhotoOverlay": "a picture on the map",
    "ScreenOverlay": "a picture on the map",
    "Tour": "a flight over the map",
}
_HOLE = "innerBoundaryIs"
_AROUND = (*_FOLDERS, "Placemark", "Point", _LINK, *_LINES, *_OTHERS, _HOLE)
_WORDS = ("name", "description", "address", "phoneNumber")
_WANTED = (*_WORDS, "coordinates", "coord", "when", "begin", "end", "Data", "SimpleData", "href")
_TRIPLE = re.compile(r"\S+")
_MOST_OF_ONE = 10_000
"""Points and details of one thing on a map; what is beyond is told."""
_OWNER = "Email"
"""Timeline notes the address of the account with every place."""


@dataclass(slots=True)
class _Placemark:
    """One thing on a map as far as it is read."""

    folder: str
    words: dict[str, str] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    whens: list[str | None] = field(default_factory=list)
    begin: str | None = None
    end: str | None = None
    points: list[tuple[Place, float | None]] = field(default_factory=list)
    way: Way | None = None
    seen: int = 0
    """How many points of the present track are taken: the times stand in a list of their own."""
    lost: int = 0
    cut: int = 0
    """How many points and details were left out because there are too many."""

    def description(self) -> str:
        """Return what is said of it, and what of its details that does not repeat."""
        told = self.words.get("description", "")
        lines = [html_text(told) if "<" in told else told]
        lines += [self.words.get("address", ""), self.words.get("phoneNumber", "")]
        lines += [
            f"{name}: {value}"
            for name, value in self.details.items()
            if name != _OWNER and value not in lines[0]
        ]
        return "\n".join(dict.fromkeys(filter(None, map(str.strip, lines))))


def read_kml(entry: FileEntry) -> Iterator[Finding]:
    """Yield the places and ways of a map."""
    steps: list[str] = []
    folders: list[str] = []
    mark: _Placemark | None = None
    ordinals, keeps, number = Ordinals(), True, 0
    link = ""
    with entry.open() as stream:
        for element in xml_elements(stream, *_WANTED, around=_AROUND):
            if isinstance(element, Skipped):
                yield element
            elif isinstance(element, XmlStart):
                steps.append(element.name)
                if element.name in _FOLDERS:
                    folders.append("")
                elif element.name == "Placemark":
                    mark = _Placemark("/".join(filter(None, folders[1:] or folders)))
                elif mark is not None:
                    _begin(mark, element.name)
                if element.name in _OTHERS:
                    yield Skipped(_OTHERS[element.name], entry.name)
            elif isinstance(element, XmlEnd):
                steps.pop()
                if element.name in _FOLDERS:
                    folders.pop()
                elif element.name == _LINK:
                    yield Skipped(_WEB if not link or ":" in link else _BESIDE, entry.name)
                    link = ""
                elif element.name == "Placemark" and mark is not None:
                    number += 1
                    where = f"{entry.name} place {number}"
                    # The file is kept once, with the first of its ways.
                    file, keeps = (entry if keeps else None), keeps and mark.way is None
                    yield from account(_found(file, mark, ordinals, where), where, "place")
                    mark = None
            elif mark is not None and _HOLE not in steps:
                _take(mark, element, steps[-1])
            elif element.name == "href" and steps and steps[-1] == _LINK:
                link = element.text.strip()
            elif element.name == "name" and steps and steps[-1] in _FOLDERS:
                folders[-1] = element.text.strip()


def _begin(mark: _Placemark, name: str) -> None:
    if name in _LINES:
        mark.way = mark.way or Way(_LINES[name], mark.words, folder=mark.folder)
        mark.way.joined = False
        mark.whens, mark.seen = ([], 0) if name == "Track" else (mark.whens, mark.seen)


def _take(mark: _Placemark, element: XmlElement, inside: str) -> None:
    """Take over a piece of a placemark."""
    text = element.text.strip()
    if element.name in _WORDS and inside == "Placemark":
        mark.words.setdefault(element.name, text)
    elif element.name in ("Data", "SimpleData"):
        value = element.text_at("value") or text
        if value and len(mark.details) < _MOST_OF_ONE:
            mark.details.setdefault(element.attributes.get("name", ""), value)
        else:
            mark.cut += bool(value)
    elif element.name in ("begin", "end", "when"):
        moment = moment_of(text)
        if element.name == "when":
            mark.whens.append(moment)
        else:
            setattr(mark, element.name, moment)
        if moment is None and text:
            # A day, a month or a year is no moment, and still worth to be found.
            mark.details.setdefault(element.name, text)
    elif element.name == "coord" and mark.way is not None:
        when = mark.whens[mark.seen] if mark.seen < len(mark.whens) else None
        mark.seen += 1
        _go(mark, text.split(), when)
    elif element.name == "coordinates":
        # One by one, because a list of the numbers of a long line is many times as large.
        for triple in _TRIPLE.finditer(text):
            _go(mark, triple[0].split(","), None, at_point=inside == "Point")
            if inside == "Point":
                break


def _go(mark: _Placemark, numbers: list[str], when: str | None, *, at_point: bool = False) -> None:
    """Take a point, which has its longitude first."""
    longitude, latitude, height, *_ = [*numbers, "", "", ""]
    # Most programs write zero where they know no height.
    place, metres = place_of(latitude, longitude), number_of(height) or None
    if place is None:
        mark.lost += 1
    elif at_point and len(mark.points) >= _MOST_OF_ONE:
        mark.cut += 1
    elif at_point:
        mark.points.append((place, metres))
    elif mark.way is not None:
        mark.way.take(place, metres, when)


def _found(
    file: FileEntry | None, mark: _Placemark, ordinals: Ordinals, where: str
) -> Iterator[Finding]:
    when = mark.begin or next(iter(mark.whens), None)
    description = mark.description()
    if mark.way is not None:
        way = mark.way
        way.words = {"name": mark.words.get("name", ""), "desc": description}
        way.words["type"] = mark.details.get("Category", "")
        way.started, way.ended = way.started or when, way.ended or mark.end
        yield from way_found(file, way, "", ordinals, where)
    for place, height in mark.points:
        yield _place(mark, description, place, height, when, ordinals)
    if mark.way is None and not mark.points:
        named = mark.words.get("name") or mark.words.get("address")
        # My Maps writes no more than the address of places that came from a table.
        yield (
            _place(mark, description, None, None, when, ordinals)
            if named
            else Unknown("a placemark without a place or a name", where)
        )
    if mark.lost:
        yield Skipped("points without a place", f"{where}: {mark.lost:,}")
    if mark.cut:
        yield Skipped("points and details of one place beyond the bound", f"{where}: {mark.cut:,}")


def _place(
    mark: _Placemark,
    description: str,
    place: Place | None,
    height: float | None,
    when: str | None,
    ordinals: Ordinals,
) -> Item:
    name = mark.words.get("name") or mark.words.get("address", "")
    latitude, longitude = place or (None, None)
    spot = [str(latitude), str(longitude)] if place else [mark.words.get("address", "")]
    key = ordinals.key("waypoint", name, when or "", *spot)
    data = {
        "id": key,
        "name": name or f"{latitude:.5f}, {longitude:.5f}",
        "description": description,
        "folder": mark.folder,
        "kind": mark.details.get("Category"),
        "latitude": latitude,
        "longitude": longitude,
        "elevation_metres": height,
        "marked_at": when,
        "left_at": mark.end,
    }
    return Item("waypoints", key, present(data, ""))
