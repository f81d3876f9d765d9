"""Stretches: stays and ways from when to when, and what each is known by."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pdpp.model import instant
from pdpp.sources.formats.google_timeline.positions import Position
from pdpp.sources.keys import RecordKey, digest_key
from pdpp.sources.reading.times import moment_text


class Span(NamedTuple):
    """From when to when something lasted, as text and as moments."""

    start: str
    end: str | None
    first: int
    last: int | None

    @property
    def minutes(self) -> float | None:
        """Return how long it lasted."""
        if self.last is None:
            return None
        return round((self.last - self.first) / instant.SECOND / 60, 1)


def span_of(start: object, end: object) -> Span | None:
    """Return a span; None where nobody knows when it began."""
    begun, ended = moment_text(start), moment_text(end)
    if begun is None:
        return None
    return Span(begun, ended, instant.parse(begun) or 0, instant.parse(ended) if ended else None)


class Stretch(NamedTuple):
    """A stay or a way, with what tells it from others that began at the same moment."""

    noun: str
    begun: int
    level: str
    mark: str
    ended: int


def stay_of(span: Span, level: object, place_id: object, position: Position | None) -> Stretch:
    """Return a stay, which lies within others by its level."""
    mark = str(place_id or "") or (f"{position[0]:.4f},{position[1]:.4f}" if position else "")
    return Stretch("visit", span.first, str(level or 0), mark, span.last or span.first)


def way_of(span: Span, kind: object) -> Stretch:
    """Return a way between places."""
    ended = span.last or span.first
    return Stretch("trip", span.first, "", f"{kind or ''} {ended}", ended)


class StretchKeys:
    """Keys of the stretches of one document: when one began, and within how many others it lies.

    Where it was is no part of it, because people correct that, nor when it ended, because an export
    may come while it lasts. Of several that began together the longest has this key, and the others
    are numbered, in whatever order the document holds them: all are given beforehand.
    """

    def __init__(self, stretches: Iterable[Stretch]) -> None:
        alone: dict[tuple[str, int, str], Stretch] = {}
        together: dict[tuple[str, int, str], dict[str, int]] = {}
        for stretch in stretches:
            group = stretch[:3]
            one = alone.setdefault(group, stretch)
            if one[3:] != stretch[3:]:
                ends = together.setdefault(group, {one.mark: one.ended})
                ends[stretch.mark] = max(stretch.ended, ends.get(stretch.mark, 0))
        self._ends = together
        self._places = {group: _longest_first(ends) for group, ends in together.items()}

    def key(self, stretch: Stretch) -> RecordKey:
        """Return the key of a stretch."""
        noun, begun, level = group = stretch[:3]
        marks = self._places.get(group, ())
        place = marks.index(stretch.mark) if stretch.mark in marks else 0
        number = (str(place + 1),) if place else ()
        return digest_key(noun, str(begun), *((level,) if level else ()), *number)

    def is_told_longer(self, stretch: Stretch) -> bool:
        """Tell whether the same stretch is there with a later end."""
        return self._ends.get(stretch[:3], {}).get(stretch.mark, 0) > stretch.ended


def _longest_first(ends: Mapping[str, int]) -> Sequence[str]:
    """Return the marks of stretches that began together, in an order that each export gives."""
    return sorted(ends, key=lambda mark: (-ends[mark], mark))
