"""Google Timeline: where a phone was, in the layouts of the phone and of Takeout."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from pdpp.model import instant
from pdpp.sources.formats.google_timeline.movement import kind_of_place, way_of_moving
from pdpp.sources.formats.takeout import (
    TAKEOUT_FILES,
    TAKEOUT_OWNER,
    json_files,
    looks_like,
    takeout_recognition,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, digest_key
from pdpp.sources.reading.code_words import plain_words, titled_words
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import elements, read_each
from pdpp.sources.reading.times import epoch_text, moment_text
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
)

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE]-?\d{1,2})?")
_RIGHT_ANGLE = 900_000_000
_PATH = "path"
_SOMEWHERE = "a place"
_NAMES = (
    *("Timeline*.json", "location-history*.json", "Records*.json", "Zeitachse*.json"),
    *("Chronologie*.json", "Vos trajets*.json", "타임라인*.json", "20??_*.json"),
)
_MARKS = (b'"semanticSegments"', b'"rawSignals"', b'"timelineObjects"', b'"latitudeE7"')
_MARKS_OF_LISTS = (b'"timelinePath"', b'"topCandidate"', b'"timelineMemory"')
_PATHS = frozenset(
    {
        *("semanticSegments", "timelineObjects", "locations.item.latitudeE7"),
        "rawSignals.item.position",
        *("item.startTime", "item.endTime", "locations.item"),
    }
)
_LAYOUTS = MappingProxyType(
    {
        "semanticSegments": "a phone with Android",
        "timelineObjects": "Takeout, by month",
        "locations": "Takeout, every position",
        "item": "an iPhone",
    }
)


_EDITS = b'"timelineEdits"'
_ONLY_EDITS = (
    "this Takeout has edits of Google's Timeline and not the Timeline, which Google keeps on the "
    "phone; export it there: Settings, Location, Location services, Timeline, Export (Android), or "
    "in Google Maps: Settings, Personal content, Export Timeline data (iPhone)"
)


class GoogleTimeline(Source):
    """Files of Google Maps' timeline, exported on the phone or from Takeout."""

    connector_key = "google_timeline"
    owner_files = TAKEOUT_OWNER
    lies_among_others = True
    files_stand_alone = True
    label = "Google Timeline"
    passed_over = MappingProxyType(
        {
            **TAKEOUT_FILES,
            "Settings.json": "settings",
            "Timeline Edits.json": "raw edits, which the timeline holds",
            "Tombstones.csv": "what was deleted",
        }
    )

    def recognise(
        self,
        tree: Tree,
        choices: OwnerChoices,  # noqa: ARG002
    ) -> Recognition | ExportRefusal | None:
        """Look for the members that only a timeline has."""
        documents = {
            entry.name: layout
            for entry, expected in json_files(tree, *_NAMES)
            if (layout := _layout(entry, expected)) is not None
        }
        if not documents:
            edits = any(_EDITS in entry.head() for entry, _ in json_files(tree, *_NAMES))
            return ExportRefusal(_ONLY_EDITS, lies_among_others=True) if edits else None
        version = ", ".join(sorted({_LAYOUTS[layout] for layout in documents.values()}))
        return takeout_recognition(tree, self.label, version, {"documents": documents})

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each document."""
        documents = recognition.detail["documents"]
        for entry in tree.these(documents):
            yield ExportPart(entry, partial(_READERS[documents[entry.name]], entry))


def _layout(entry: FileEntry, expected: bool) -> str | None:
    paths = looks_like(entry, _MARKS + _MARKS_OF_LISTS, _PATHS, expected=expected)
    if paths & {"semanticSegments", "rawSignals.item.position"}:
        return "semanticSegments"
    if "timelineObjects" in paths:
        return "timelineObjects"
    if "locations.item.latitudeE7" in paths:
        return "locations"
    is_list = {"item.startTime", "item.endTime"} <= paths
    return "item" if is_list and any(mark in entry.head() for mark in _MARKS_OF_LISTS) else None


_Reader = Callable[[Any, str], Iterator[Finding]]


class _VisitKeys:
    """Keys of the visits in one document: when a stay began, and whether it lies within another.

    The place is no part of it unless two of them agree, because people correct it.
    """

    def __init__(self) -> None:
        self._places: dict[tuple[int, str], str] = {}

    def key(self, begun: int, level: str, place: object) -> RecordKey:
        """Return the key of a visit."""
        own = str(place)
        if self._places.setdefault((begun, level), own) == own:
            return digest_key("visit", str(begun), level)
        return digest_key("visit", str(begun), level, own)


def _read_android(entry: FileEntry) -> Iterator[Finding]:
    segment: _Reader = partial(_segment, _VisitKeys())
    readers: dict[str, tuple[str, _Reader]] = {
        "semanticSegments.item": ("segment", segment),
        "rawSignals.item": ("signal", _signal),
        "userLocationProfile": ("profile", _profile),
    }
    with entry.open() as stream:
        for element in elements(stream, *readers):
            if isinstance(element, Skipped):
                yield element
            else:
                noun, reader = readers[element.path]
                where = f"{entry.name} {noun} {element.number}"
                yield from account(reader(element.value, where), where, noun)


def _segment(keys: _VisitKeys, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Yield what one stretch of time was: a stay, a way, or the points of a path."""
    span = _span(value.get("startTime"), value.get("endTime"))
    if span is None:
        yield Unknown("a stretch without a time", where)
    elif isinstance(value.get("visit"), dict):
        yield _visit(keys, value["visit"], span)
    elif isinstance(value.get("activity"), dict):
        yield _trip(value["activity"], span)
    elif isinstance(value.get("timelinePath"), list):
        yield from _path(value["timelinePath"], span, where)
    elif "timelineMemory" in value:
        yield Skipped("a memory of a journey, which Google made of the rest", where)
    else:
        yield Unknown("a stretch of a kind that is not known", where)


class _Span:
    """From when to when something lasted."""

    def __init__(self, start: str, end: str | None) -> None:
        self.start, self.end = start, end
        self.first = instant.parse(start) or 0
        last = instant.parse(end) if end else None
        self.minutes = None if last is None else round((last - self.first) / instant.SECOND / 60, 1)


def _span(start: object, end: object) -> _Span | None:
    begun = moment_text(start)
    return None if begun is None else _Span(begun, moment_text(end))


def _candidate(value: Mapping[str, object]) -> Mapping[str, object]:
    candidate = value.get("topCandidate")
    return candidate if isinstance(candidate, dict) else {}


def _visit(keys: _VisitKeys, value: Mapping[str, object], span: _Span) -> Item:
    best = _candidate(value)
    place = best.get("placeLocation")
    position = _position(place.get("latLng") if isinstance(place, dict) else place)
    kind = kind_of_place(best.get("semanticType"))
    place_id = best.get("placeId") or best.get("placeID")
    key = keys.key(span.first, str(value.get("hierarchyLevel") or 0), place_id)
    data = {
        "id": key,
        "place": titled_words(kind or _SOMEWHERE),
        "kind": kind or None,
        "place_id": str(place_id) if place_id else None,
        "latitude": position[0] if position else None,
        "longitude": position[1] if position else None,
        "probability": _number(best.get("probability", value.get("probability"))),
        "minutes": span.minutes,
        "started_at": span.start,
        "ended_at": span.end,
    }
    # Takeout names the place and its address, and a phone neither.
    return Item("visits", key, present(data), lacks="address")


def _trip(value: Mapping[str, object], span: _Span) -> Item:
    best = _candidate(value)
    start, end = _position(value.get("start")), _position(value.get("end"))
    return _trip_item(
        span, best.get("type"), _number(value.get("distanceMeters")), start, end, best
    )


def _trip_item(
    span: _Span,
    kind: object,
    metres: float | None,
    start: tuple[float, float] | None,
    end: tuple[float, float] | None,
    candidate: Mapping[str, object],
) -> Item:
    key = digest_key("trip", str(span.first))
    data = {
        "id": key,
        "kind": way_of_moving(kind),
        "metres": metres,
        "minutes": span.minutes,
        "latitude": start[0] if start else None,
        "longitude": start[1] if start else None,
        "end_latitude": end[0] if end else None,
        "end_longitude": end[1] if end else None,
        "probability": _number(candidate.get("probability")),
        "started_at": span.start,
        "ended_at": span.end,
    }
    return Item("trips", key, present(data))


def _path(points: list[Any], span: _Span, where: str) -> Iterator[Finding]:
    """Yield the points of a path; iPhones count their minutes from its start."""
    for number, point in enumerate(points, 1):
        moment = moment_text(point.get("time"))
        minutes = _number(point.get("durationMinutesOffsetFromStartTime"))
        if moment is None and minutes is not None:
            moment = instant.to_text(span.first + round(minutes * 60 * instant.SECOND))
        position = _position(point.get("point"))
        if moment is None or position is None:
            yield Unknown("a point without a time or a place", f"{where} point {number}")
        else:
            yield _point(position, moment, source=_PATH)
    if not points:
        yield Skipped("a path without points", where)


def _signal(value: Mapping[str, object], where: str) -> Iterator[Finding]:
    signal = value.get("position")
    if not isinstance(signal, dict):
        yield Skipped("a raw signal that is no position", where)
        return
    position, moment = _position(signal.get("LatLng")), moment_text(signal.get("timestamp"))
    if position is None or moment is None:
        yield Unknown("a position without a time or a place", where)
        return
    yield _point(
        position,
        moment,
        source=plain_words(str(signal.get("source") or "")).lower(),
        accuracy=signal.get("accuracyMeters"),
        altitude=signal.get("altitudeMeters"),
    )


def _profile(value: object, where: str) -> Iterator[Finding]:  # noqa: ARG001 - as other readers
    yield Skipped("places and ways that Google counts as frequent, made of the rest", where)


def _record(value: Mapping[str, object], where: str) -> Iterator[Finding]:
    """Yield one position of ``Records.json``."""
    position, moment = _degrees(value), _stamp(value, "timestamp")
    if position is None or moment is None:
        yield Unknown("a position without a time or a place", where)
        return
    device = value.get("deviceTag")
    yield _point(
        position,
        moment,
        source=plain_words(str(value.get("source") or "")).lower(),
        device=str(device or ""),
        accuracy=value.get("accuracy"),
        altitude=value.get("altitude"),
    )


def _point(
    position: tuple[float, float], moment: str, *, source: str, device: str = "", **more: object
) -> Item:
    # A path repeats some positions and tells less of them: neither may replace the other.
    kind = "point of a path" if source == _PATH else "point"
    key = digest_key(kind, str(instant.parse(moment)), f"{position[0]:.7f},{position[1]:.7f}")
    data = {
        "id": key,
        "latitude": position[0],
        "longitude": position[1],
        "source": source or None,
        "device": device or None,
        "recorded_at": moment,
        **{name: _number(value) for name, value in more.items()},
    }
    return Item("points", key, present(data))


def _month_entry(
    keys: _VisitKeys, value: Mapping[str, object], where: str, level: int = 0
) -> Iterator[Finding]:
    """Yield one entry of ``Semantic Location History``."""
    segment = value.get("placeVisit") or value.get("activitySegment")
    if not isinstance(segment, dict):
        yield Unknown("an entry of a kind that is not known", where)
        return
    duration = segment.get("duration") or {}
    span = _span(_stamp(duration, "startTimestamp"), _stamp(duration, "endTimestamp"))
    if span is None:
        yield Unknown("a stretch without a time", where)
    elif "placeVisit" in value:
        yield _month_visit(keys, segment, span, level)
        for number, child in enumerate(segment.get("childVisits") or (), 1):
            inner = f"{where} visit {number}"
            yield from _month_entry(keys, {"placeVisit": child}, inner, level + 1)
        yield from _raw_path(segment)
    else:
        start, end = _degrees(segment.get("startLocation")), _degrees(segment.get("endLocation"))
        yield _trip_item(
            span, segment.get("activityType"), _number(segment.get("distance")), start, end, {}
        )
        yield from _raw_path(segment)


def _raw_path(segment: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the points of a stretch that have a time of their own."""
    for point in (segment.get("simplifiedRawPath") or {}).get("points") or ():
        position, moment = _degrees(point, "latE7", "lngE7"), _stamp(point, "timestamp")
        if position is not None and moment is not None:
            yield _point(position, moment, source=_PATH, accuracy=point.get("accuracyMeters"))


def _month_visit(keys: _VisitKeys, visit: Mapping[str, Any], span: _Span, level: int) -> Item:
    place = visit.get("location") or {}
    position = _degrees(place)
    kind = kind_of_place(place.get("semanticType"))
    key = keys.key(span.first, str(level), place.get("placeId"))
    data = {
        "id": key,
        "place": str(place.get("name") or titled_words(kind or _SOMEWHERE)),
        "kind": kind or None,
        "address": place.get("address"),
        "place_id": place.get("placeId"),
        "latitude": position[0] if position else None,
        "longitude": position[1] if position else None,
        "minutes": span.minutes,
        "started_at": span.start,
        "ended_at": span.end,
    }
    return Item("visits", key, present(data))


def _degrees(
    value: object, latitude: str = "latitudeE7", longitude: str = "longitudeE7"
) -> tuple[float, float] | None:
    """Return a position that is written in ten millionths of a degree."""
    if not isinstance(value, dict) or latitude not in value or longitude not in value:
        return None
    return _degree(value[latitude], _RIGHT_ANGLE), _degree(value[longitude], 2 * _RIGHT_ANGLE)


def _degree(value: Any, largest: int) -> float:
    """Return a degree; Google wrote some negative ones as if 32 bits had no sign."""
    count = int(value)
    return (count - (1 << 32) if count > largest else count) / 1e7


def _stamp(value: Mapping[str, Any], name: str) -> str | None:
    """Return a time that is RFC 3339 text today and was milliseconds before 2022."""
    if name in value:
        return moment_text(value[name])
    count = value.get(f"{name}Ms")
    return None if count is None else epoch_text(int(count) / 1000)


def _position(value: object) -> tuple[float, float] | None:
    """Return a position from "12.3°, -4.5°", "geo:12.3,-4.5" or an object that holds one."""
    if isinstance(value, dict):
        value = value.get("latLng")
    degrees = _NUMBER.findall(value) if isinstance(value, str) else []
    return (float(degrees[0]), float(degrees[1])) if len(degrees) == 2 else None


def _number(value: Any) -> float | None:
    """Return a number, which iPhones write as text."""
    return None if value is None or isinstance(value, bool) else float(value)


_READERS: Mapping[str, Callable[[FileEntry], Iterator[Finding]]] = {
    "semanticSegments": _read_android,
    "item": lambda entry: read_each(entry, partial(_segment, _VisitKeys()), "item", noun="segment"),
    "locations": lambda entry: read_each(entry, _record, "locations.item", noun="location"),
    "timelineObjects": lambda entry: read_each(
        entry, partial(_month_entry, _VisitKeys()), "timelineObjects.item", noun="segment"
    ),
}
