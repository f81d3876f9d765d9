"""Takeout: the timeline as Google handed it out, by month and as every position."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.google_timeline.movement import kind_of_place
from pdpp.sources.formats.google_timeline.positions import degrees_of, number_of, stamp_of
from pdpp.sources.formats.google_timeline.records import NO_PLACE, NO_TIME, PATH, point, trip, visit
from pdpp.sources.formats.google_timeline.stretches import (
    Span,
    Stretch,
    StretchKeys,
    span_of,
    stay_of,
    way_of,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown
from pdpp.sources.reading.code_words import plain_words
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.jsonstream import entry_elements, read_each
from pdpp.sources.reading.tree import FileEntry

_ENTRIES = "timelineObjects.item"


def read_month(entry: FileEntry) -> Iterator[Finding]:
    """Yield what ``Semantic Location History`` tells of a month."""
    keys = StretchKeys(_stretches(entry))
    return read_each(entry, partial(_month_entry, keys), _ENTRIES, noun="segment")


def read_positions(entry: FileEntry) -> Iterator[Finding]:
    """Yield every position of ``Records.json``."""
    return read_each(entry, _record, "locations.item", noun="location")


def _stretches(entry: FileEntry) -> Iterator[Stretch]:
    """Yield the stays and ways of a document, before it is read."""
    with suppress(DamagedFile):
        for element in entry_elements(entry, _ENTRIES):
            # What surprises here is told when the document is read.
            with suppress(*SURPRISES):
                if not isinstance(element, Skipped):
                    yield from _stretch(element.value, 0)


def _stretch(value: Mapping[str, Any], level: int) -> Iterator[Stretch]:
    segment = value.get("placeVisit") or value.get("activitySegment") or {}
    span = _span(segment)
    if span is not None and "placeVisit" in value:
        place = segment.get("location") or {}
        yield stay_of(span, level, place.get("placeId"), degrees_of(place))
        for child in segment.get("childVisits") or ():
            yield from _stretch({"placeVisit": child}, level + 1)
    elif span is not None:
        yield way_of(span, segment.get("activityType"))


def _span(segment: Mapping[str, Any]) -> Span | None:
    duration = segment.get("duration") or {}
    return span_of(stamp_of(duration, "startTimestamp"), stamp_of(duration, "endTimestamp"))


def _record(value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Yield one position of ``Records.json``."""
    position, moment = degrees_of(value), stamp_of(value, "timestamp")
    if position is None or moment is None:
        yield Unknown(NO_PLACE, where)
        return
    yield point(
        position,
        moment,
        source=plain_words(str(value.get("source") or "")).lower(),
        device=str(value.get("deviceTag") or ""),
        accuracy=value.get("accuracy"),
        altitude=value.get("altitude"),
    )


def _month_entry(
    keys: StretchKeys, value: Mapping[str, Any], where: str, level: int = 0
) -> Iterator[Finding]:
    """Yield one entry of ``Semantic Location History``."""
    segment = value.get("placeVisit") or value.get("activitySegment")
    if not isinstance(segment, dict):
        yield Unknown("an entry of a kind that is not known", where)
        return
    span = _span(segment)
    if span is None:
        yield Unknown(NO_TIME, where)
        return
    if "placeVisit" in value:
        yield _visit(keys, segment, span, level, where)
        for number, child in enumerate(segment.get("childVisits") or (), 1):
            inner = f"{where} visit {number}"
            yield from _month_entry(keys, {"placeVisit": child}, inner, level + 1)
    else:
        yield _trip(keys, segment, span)
    yield from _raw_path(segment)


def _raw_path(segment: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the points of a stretch that have a time of their own."""
    for each in (segment.get("simplifiedRawPath") or {}).get("points") or ():
        position, moment = degrees_of(each, "latE7", "lngE7"), stamp_of(each, "timestamp")
        if position is not None and moment is not None:
            yield point(position, moment, source=PATH, accuracy=each.get("accuracyMeters"))


def _visit(
    keys: StretchKeys, stay: Mapping[str, Any], span: Span, level: int, where: str
) -> Item | Skipped:
    place = stay.get("location") or {}
    about = {
        "place": place.get("name"),
        "kind": kind_of_place(place.get("semanticType")) or None,
        "address": place.get("address"),
        "place_id": place.get("placeId"),
    }
    return visit(keys, span, level, degrees_of(place), about, where)


def _trip(keys: StretchKeys, way: Mapping[str, Any], span: Span) -> Item:
    start, end = degrees_of(way.get("startLocation")), degrees_of(way.get("endLocation"))
    about = {"metres": number_of(way.get("distance"))}
    return trip(keys, span, way.get("activityType"), start, end, about)
