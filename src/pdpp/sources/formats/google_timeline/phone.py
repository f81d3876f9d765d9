"""Phones: the timeline as Android and iPhones export it, which hold the same in other frames."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from pdpp.model import instant
from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.google_timeline.movement import kind_of_place
from pdpp.sources.formats.google_timeline.positions import Position, number_of, position_of
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
from pdpp.sources.reading.guard import SURPRISES, account
from pdpp.sources.reading.jsonstream import Reader, elements, entry_elements, read_each
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry


def read_android(entry: FileEntry) -> Iterator[Finding]:
    """Yield what a phone with Android tells."""
    keys = _keys(entry, "semanticSegments.item")
    readers: dict[str, tuple[str, Reader]] = {
        "semanticSegments.item": ("segment", partial(_segment, keys)),
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


def read_iphone(entry: FileEntry) -> Iterator[Finding]:
    """Yield what an iPhone tells."""
    return read_each(entry, partial(_segment, _keys(entry, "item")), "item", noun="segment")


def _keys(entry: FileEntry, path: str) -> StretchKeys:
    return StretchKeys(_stretches(entry, path))


def _stretches(entry: FileEntry, path: str) -> Iterator[Stretch]:
    """Yield the stays and ways of a document, before it is read."""
    with suppress(DamagedFile):
        for element in entry_elements(entry, path):
            # What surprises here is told when the document is read.
            with suppress(*SURPRISES):
                if not isinstance(element, Skipped):
                    yield from _stretch(element.value)


def _stretch(value: Mapping[str, Any]) -> Iterator[Stretch]:
    span = span_of(value.get("startTime"), value.get("endTime"))
    if span is not None and isinstance(stay := value.get("visit"), dict):
        place_id, position = _place(_candidate(stay))
        yield stay_of(span, stay.get("hierarchyLevel"), place_id, position)
    elif span is not None and isinstance(way := value.get("activity"), dict):
        yield way_of(span, _candidate(way).get("type"))


def _segment(keys: StretchKeys, value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Yield what one stretch of time was: a stay, a way, or the points of a path."""
    span = span_of(value.get("startTime"), value.get("endTime"))
    if span is None:
        yield Unknown(NO_TIME, where)
    elif isinstance(value.get("visit"), dict):
        yield _visit(keys, value["visit"], span, where)
    elif isinstance(value.get("activity"), dict):
        yield _trip(keys, value["activity"], span)
    elif isinstance(value.get("timelinePath"), list):
        yield from _path(value["timelinePath"], span, where)
    elif "timelineMemory" in value:
        yield Skipped("a memory of a journey, which Google made of the rest", where)
    else:
        yield Unknown("a stretch of a kind that is not known", where)


def _candidate(value: Mapping[str, object]) -> Mapping[str, object]:
    candidate = value.get("topCandidate")
    return candidate if isinstance(candidate, dict) else {}


def _place(best: Mapping[str, object]) -> tuple[str | None, Position | None]:
    """Return Google's name for a place, and where that is."""
    place = best.get("placeLocation")
    place_id = best.get("placeId") or best.get("placeID")
    position = position_of(place.get("latLng") if isinstance(place, dict) else place)
    return str(place_id) if place_id else None, position


def _visit(
    keys: StretchKeys, value: Mapping[str, object], span: Span, where: str
) -> Item | Skipped:
    best = _candidate(value)
    place_id, position = _place(best)
    about = {
        "kind": kind_of_place(best.get("semanticType")) or None,
        "place_id": place_id,
        "probability": number_of(best.get("probability", value.get("probability"))),
    }
    item = visit(keys, span, value.get("hierarchyLevel"), position, about, where)
    # Takeout names the place and its address, and a phone neither.
    return item._replace(lacks="address") if isinstance(item, Item) else item


def _trip(keys: StretchKeys, value: Mapping[str, object], span: Span) -> Item:
    best = _candidate(value)
    start, end = position_of(value.get("start")), position_of(value.get("end"))
    about = {
        "metres": number_of(value.get("distanceMeters")),
        "probability": number_of(best.get("probability")),
    }
    return trip(keys, span, best.get("type"), start, end, about)


def _path(points: Sequence[Any], span: Span, where: str) -> Iterator[Finding]:
    """Yield the points of a path; iPhones count their minutes from its start."""
    for number, each in enumerate(points, 1):
        moment = moment_text(each.get("time"))
        minutes = number_of(each.get("durationMinutesOffsetFromStartTime"))
        if moment is None and minutes is not None:
            moment = instant.to_text(span.first + round(minutes * 60 * instant.SECOND))
        position = position_of(each.get("point"))
        if moment is None or position is None:
            yield Unknown("a point without a time or a place", f"{where} point {number}")
        else:
            yield point(position, moment, source=PATH)
    if not points:
        yield Skipped("a path without points", where)


def _signal(value: Mapping[str, Any], where: str) -> Iterator[Finding]:
    signal = value.get("position")
    if not isinstance(signal, dict):
        yield Skipped("a raw signal that is no position", where)
        return
    position, moment = position_of(signal.get("LatLng")), moment_text(signal.get("timestamp"))
    if position is None or moment is None:
        yield Unknown(NO_PLACE, where)
        return
    yield point(
        position,
        moment,
        source=plain_words(str(signal.get("source") or "")).lower(),
        accuracy=signal.get("accuracyMeters"),
        altitude=signal.get("altitudeMeters"),
    )


def _profile(value: object, where: str) -> Iterator[Finding]:  # noqa: ARG001 - as other readers
    yield Skipped("places and ways that Google counts as frequent, made of the rest", where)
