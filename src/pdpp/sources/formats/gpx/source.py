"""Tracks, routes and places as GPX files, one or a folder of them."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pdpp.model import instant
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.reading.xmlstream import XmlElement, XmlEnd, XmlStart, xml_elements, xml_root
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    part_of_each,
)

_MOST_CANDIDATES = 20_000
_EARTH_METRES = 6_371_008.8
_CLIMB_STEP = 2.0
"""Heights tremble: what goes up by less than so many metres is no climb."""
_WORDS = ("name", "desc", "cmt", "type")
_POINTS = frozenset({"trkpt", "rtept"})


class Gpx(Source):
    """Files that watches, telephones and programs for hiking write."""

    connector_key = "gpx"
    lies_among_others = True
    collects = True
    label = "GPX tracks"

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for documents whose root only this format has."""
        tracks = _candidates(tree)
        if not any(_is_gpx(entry) for entry in tracks):
            return None
        return Recognition(
            Confidence.CERTAIN,
            f"{len(tracks):,} files" if len(tracks) > 1 else "a file",
            account="GPX tracks",
            identity="GPX",
            owner_known=False,
            detail={"entries": [entry.name for entry in tracks]},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file."""
        return part_of_each(tree.these(recognition.detail["entries"]), _read)


def _candidates(tree: Tree) -> list[FileEntry]:
    """Return the files to look at; those of a health export belong to its workouts."""
    if tree.kind == "file":
        return list(tree.entries)
    tracks = [
        entry
        for entry in tree.named("*.[gG][pP][xX]")
        if "workout-routes" not in entry.name.split("/")[:-1]
    ]
    return tracks[:_MOST_CANDIDATES]


def _is_gpx(entry: FileEntry) -> bool:
    root = xml_root(entry)
    return root is not None and root.name == "gpx"


@dataclass(slots=True)
class _Way:
    """A track or a route as far as it is read."""

    kind: str
    words: dict[str, str] = field(default_factory=dict)
    points: int = 0
    first: tuple[float, float] | None = None
    last: tuple[float, float] | None = None
    started: str | None = None
    ended: str | None = None
    metres: float = 0.0
    climb: float = 0.0
    height: float | None = None
    joined: bool = False

    def take(self, point: XmlElement) -> bool:
        """Go on to a point; False where it has no place."""
        place = _place(point)
        if place is None:
            return False
        self.points += 1
        if self.last is not None and self.joined:
            self.metres += _distance(self.last, place)
        self.first, self.last, self.joined = self.first or place, place, True
        when = _when(point)
        self.started, self.ended = self.started or when, when or self.ended
        height = _number(point.text_at("ele"))
        if height is not None and (self.height is None or height < self.height):
            self.height = height
        elif height is not None and self.height is not None and height - self.height >= _CLIMB_STEP:
            self.climb += height - self.height
            self.height = height
        return True


def _read(entry: FileEntry) -> Iterator[Finding]:
    way: _Way | None = None
    program, lost, ordinals, keeps = "", 0, Ordinals(), True
    wanted = (*_POINTS, "wpt", "metadata", "extensions", *_WORDS)
    with entry.open() as stream:
        for element in xml_elements(stream, *wanted, around=("gpx", "trk", "rte", "trkseg")):
            if isinstance(element, Skipped):
                yield element
            elif isinstance(element, XmlStart):
                program = (
                    element.attributes.get("creator", "") if element.name == "gpx" else program
                )
                if element.name in ("trk", "rte"):
                    way = _Way("track" if element.name == "trk" else "route")
                elif way is not None:
                    way.joined = False
            elif isinstance(element, XmlEnd):
                if way is not None and element.name in ("trk", "rte"):
                    where = f"{entry.name} {way.kind}"
                    # A file of a thousand tracks is kept once, with the first of them.
                    kept, keeps = (entry if keeps else None), False
                    finding = _way(kept, way, program, ordinals, where)
                    yield from account(finding, where, way.kind)
                    way = None
            elif element.name in _POINTS and way is not None:
                lost += not way.take(element)
            elif element.name == "wpt":
                where = f"{entry.name} waypoint {element.number}"
                yield from account(_waypoint(element, ordinals, where), where, "waypoint")
            elif way is not None and element.name in _WORDS:
                way.words.setdefault(element.name, element.text.strip())
    if lost:
        yield Skipped("points without a place", f"{entry.name}: {lost:,}")


def _way(
    file: FileEntry | None, way: _Way, program: str, ordinals: Ordinals, where: str
) -> Iterator[Finding]:
    if way.first is None or way.last is None:
        yield Unknown("a track without points", where)
        return
    ends = (*way.first, *way.last)
    key = ordinals.key("way", way.started or "", *map(str, ends), str(way.points))
    data: dict[str, object] = {
        "id": key,
        "name": way.words.get("name") or f"{way.kind} of {(way.started or 'an unknown day')[:14]}",
        "description": "\n".join(filter(None, [way.words.get("desc"), way.words.get("cmt")])),
        "kind": way.kind,
        "activity": way.words.get("type"),
        "started_at": way.started,
        "ended_at": way.ended,
        "seconds": _seconds(way.started, way.ended),
        "distance_metres": round(way.metres, 1),
        "climb_metres": round(way.climb, 1) if way.height is not None else None,
        "points": way.points,
        "start_latitude": ends[0],
        "start_longitude": ends[1],
        "end_latitude": ends[2],
        "end_longitude": ends[3],
        "program": program,
    }
    files = (Attachment("file", file.open, "application/gpx+xml"),) if file is not None else ()
    yield Item("tracks", key, present(data, ""), files)


def _waypoint(point: XmlElement, ordinals: Ordinals, where: str) -> Iterator[Finding]:
    place = _place(point)
    if place is None:
        yield Unknown("a waypoint without a place", where)
        return
    name, when = point.text_at("name"), _when(point)
    key = ordinals.key("waypoint", name, when or "", str(place[0]), str(place[1]))
    words = [point.text_at("desc"), point.text_at("cmt")]
    data = {
        "id": key,
        "name": name or f"{place[0]:.5f}, {place[1]:.5f}",
        "description": "\n".join(dict.fromkeys(filter(None, words))),
        "kind": point.text_at("type") or point.text_at("sym"),
        "latitude": place[0],
        "longitude": place[1],
        "elevation_metres": _number(point.text_at("ele")),
        "marked_at": when,
    }
    yield Item("waypoints", key, present(data, ""))


def _when(point: XmlElement) -> str | None:
    """Return the time of a point; the layout says that one without a zone is in UTC."""
    text = point.text_at("time").strip()
    return moment_text(text) or moment_text(f"{text}Z")


def _place(point: XmlElement) -> tuple[float, float] | None:
    latitude = _number(point.attributes.get("lat", ""))
    longitude = _number(point.attributes.get("lon", ""))
    if latitude is None or longitude is None or abs(latitude) > 90 or abs(longitude) > 180:
        return None
    return latitude, longitude


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < 1e7 else None


def _distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the metres between two places on a round earth."""
    latitude, further = math.radians(one[0]), math.radians(other[0])
    east = math.radians(other[1] - one[1])
    square = (
        math.sin((further - latitude) / 2) ** 2
        + math.cos(latitude) * math.cos(further) * math.sin(east / 2) ** 2
    )
    return 2 * _EARTH_METRES * math.asin(min(1.0, math.sqrt(square)))


def _seconds(start: str | None, end: str | None) -> float | None:
    first, last = instant.parse(start or ""), instant.parse(end or "")
    if first is None or last is None or last < first:
        return None
    return (last - first) / instant.SECOND
