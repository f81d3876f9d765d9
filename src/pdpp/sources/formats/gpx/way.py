"""Ways: tracks, routes and lines, as far as their points tell them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from pdpp.model import instant
from pdpp.sources.item import Attachment, Finding, Item, Unknown, present
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.code_words import plain_words
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry

_EARTH_METRES = 6_371_008.8
_CLIMB_STEP = 2.0
"""Heights tremble: what goes up by less than so many metres is no climb."""

_MEDIA_TYPES = {
    "kml": "application/vnd.google-earth.kml+xml",
    "tcx": "application/vnd.garmin.tcx+xml",
}

_STRAVA = {"1": "cycling", "4": "hiking", "9": "running", "10": "walking", "16": "swimming"}
"""What Strava wrote as a number, as the readers of many programs have it."""

Place = tuple[float, float]
"""Latitude and longitude."""


@dataclass(slots=True)
class Way:
    """A track, a route or a line as far as it is read."""

    kind: str
    words: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    points: int = 0
    first: Place | None = None
    last: Place | None = None
    started: str | None = None
    ended: str | None = None
    metres: float = 0.0
    measured: float = 0.0
    has_gaps: bool = False
    climb: float = 0.0
    height: float | None = None
    joined: bool = False

    def take(self, place: Place, height: float | None, when: str | None) -> None:
        """Go on to a point."""
        self.points += 1
        if self.last is not None and self.joined:
            self.metres += _distance(self.last, place)
        self.first, self.last, self.joined = self.first or place, place, True
        self.started, self.ended = self.started or when, when or self.ended
        if height is not None and (self.height is None or height < self.height):
            self.height = height
        elif height is not None and self.height is not None and height - self.height >= _CLIMB_STEP:
            self.climb += height - self.height
            self.height = height

    def pass_by(self, when: str | None) -> None:
        """Go on where the place is not known, as in a tunnel: only what was measured counts."""
        self.has_gaps = True
        self.started, self.ended = self.started or when, when or self.ended


def way_found(
    file: FileEntry | None, way: Way, program: str, ordinals: Ordinals, where: str
) -> Iterator[Finding]:
    """Yield a way as a record; ``file`` is what it stands in, where that is kept with it."""
    if way.first is None or way.last is None:
        yield Unknown("a track without points", where)
        return
    ends = (*way.first, *way.last)
    metres = max(way.metres, way.measured) if way.has_gaps else way.metres
    key = ordinals.key("way", way.started or "", *map(str, ends), str(way.points))
    data: dict[str, object] = {
        "id": key,
        "name": way.words.get("name") or f"{way.kind} of {_day(way.started)}",
        "description": "\n".join(filter(None, [way.words.get("desc"), way.words.get("cmt")])),
        "folder": way.folder,
        "kind": way.kind,
        "activity": _activity(way.words.get("type", "")),
        "started_at": way.started,
        "ended_at": way.ended,
        "seconds": _seconds(way.started, way.ended),
        "distance_metres": round(metres, 1),
        "climb_metres": round(way.climb, 1) if way.height is not None else None,
        "points": way.points,
        "start_latitude": ends[0],
        "start_longitude": ends[1],
        "end_latitude": ends[2],
        "end_longitude": ends[3],
        "program": program,
    }
    files = (Attachment("file", file.open_exact, _media_type(file)),) if file is not None else ()
    yield Item("tracks", key, present(data, ""), files)


def _activity(written: str) -> str:
    """Return what somebody did on a way."""
    return _STRAVA.get(written) or plain_words(written)


def _day(started: str | None) -> str:
    """Return when a way began as a person writes it; what is known is all there is to call it."""
    return started[:16].replace("T", " ") if started else "an unknown day"


def _media_type(file: FileEntry) -> str:
    ending = file.name.lower().removesuffix(".gz").rpartition(".")[2]
    return _MEDIA_TYPES.get(ending, "application/gpx+xml")


def place_of(latitude_text: str, longitude_text: str) -> Place | None:
    """Return a place on the earth, or None."""
    latitude, longitude = number_of(latitude_text), number_of(longitude_text)
    if latitude is None or longitude is None or abs(latitude) > 90 or abs(longitude) > 180:
        return None
    return latitude, longitude


def moment_of(text: str) -> str | None:
    """Return a time; the layouts say that one without a zone is in UTC."""
    text = text.strip()
    return moment_text(text) or moment_text(f"{text}Z")


def number_of(text: str) -> float | None:
    """Return a number that a measurement can be, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < 1e7 else None


def _distance(one: Place, other: Place) -> float:
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
