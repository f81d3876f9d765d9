"""Months of hits: how many of all records that answer fall into each month of a calendar."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import tzinfo
from itertools import pairwise

import numpy as np

from pdpp.model import instant
from pdpp.store.ranking.days import instant_of
from pdpp.store.ranking.postings import Longs
from pdpp.store.tables.search.entry import NO_TIME
from pdpp.store.tables.search.visible import Visible

_FEW_YEARS = 200 * 366 * instant.DAY
"""Up to here the months between two moments are few enough to name them all."""


def hit_months(visible: Visible, rows: Longs, zone: tzinfo) -> Mapping[str, int]:
    """Return how many of some rows, in order, are of each month, such as ``2026-03``.

    Only the times of these rows count: how blocks are cut, and the times of records that are gone
    and still stand in them, are nothing that an answer may tell.
    """
    times = _times(visible, rows)
    if len(times) and times.max() - times.min() < _FEW_YEARS:
        return _between_bounds(times, zone)
    times = np.sort(times, kind="stable")
    months: dict[str, int] = {}
    end = len(times)
    while end:
        name, begin = _month(int(times[end - 1]), zone)
        start = int(times.searchsorted(begin))
        months[name] = end - start
        end = start
    return dict(reversed(months.items()))


def _between_bounds(times: Longs, zone: tzinfo) -> Mapping[str, int]:
    """Count times by the bounds of all months between them, which takes no sorting."""
    names: list[str] = []
    begins: list[int] = []
    moment, first = int(times.max()), int(times.min())
    while moment >= first:
        name, begin = _month(moment, zone)
        names.append(name)
        begins.append(begin)
        moment = begin - 1
    counts = np.bincount(np.searchsorted(begins[::-1], times, side="right"), minlength=len(names))
    pairs = zip(reversed(names), counts[1:].tolist(), strict=False)
    return {name: count for name, count in pairs if count}


def _times(visible: Visible, rows: Longs) -> Longs:
    """Return the times of the rows, in order, that have one which their reach shows."""
    times = np.full(len(rows), NO_TIME)
    edges = np.searchsorted(rows, [*(part.base for part in visible.parts), visible.size]).tolist()
    for part, (low, high) in zip(visible.parts, pairwise(edges), strict=True):
        if low < high and part.reach.shows_time:
            times[low:high] = visible.times_of(part)[rows[low:high] - part.base]
    timed: Longs = times[times != NO_TIME]
    return timed


def _month(moment: int, zone: tzinfo) -> tuple[str, int]:
    """Return the month that a moment is of, and when it begins."""
    at = instant.to_datetime(moment)
    with suppress(OverflowError):  # No calendar has the day before its first or after its last.
        at = at.astimezone(zone)
    return f"{at.year:04d}-{at.month:02d}", min(moment, instant_of(at.date().replace(day=1), zone))
