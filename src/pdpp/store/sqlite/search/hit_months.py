"""Months of hits: how many of all records that answer fall into each month of a calendar."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo

import numpy as np

from pdpp.model import instant
from pdpp.store.ranking.postings import Longs
from pdpp.store.sqlite.search.parts import Part
from pdpp.store.sqlite.search.visible import Visible

_MOST_MONTHS = 12_000
_MANY = 500
"""Rows of a block above which the ends of its months are found sooner than the time of each row."""


def hit_months(visible: Visible, rows: Longs, zone: tzinfo) -> Mapping[str, int]:
    """Return how many of some rows, in order, are of each month, such as ``2026-03``."""
    parts = [part for part in visible.parts_of(rows) if part.reach.shows_time]
    if len(rows) > _MANY * len(parts):
        return _by_runs(visible, parts, rows, zone)
    times = visible.times(rows)
    times = times[times != 0]
    if not len(times):
        return {}
    names, starts = _calendar(int(times.min()), int(times.max()), zone)
    places = np.searchsorted(starts, times, side="right") - 1
    return _named(names, np.bincount(places, minlength=len(names)))


def _by_runs(
    visible: Visible, parts: Sequence[Part], rows: Longs, zone: tzinfo
) -> Mapping[str, int]:
    """Count rows by month by the ends of the runs of rows that are of one month.

    Blocks are in the order of times, so a month is one run of rows in each, and nothing is looked
    up for a row by itself. Rows without a time stand before the first month of their part.
    """
    firsts = [time for part in parts if (time := visible.first_time(part)) is not None]
    if not firsts:
        return {}
    last = max(visible.last_time(part) for part in parts)
    names, starts = _calendar(min(firsts), last, zone)
    runs = np.empty((len(parts), len(names) + 1), dtype=np.int64)
    for run, part in zip(runs, parts, strict=True):
        run[:-1] = visible.times_of(part).searchsorted(starts)
        run[:-1] += part.base
        run[-1] = part.end
    return _named(names, np.diff(np.searchsorted(rows, runs), axis=1).sum(axis=0))


def _named(names: Sequence[str], counts: Longs) -> Mapping[str, int]:
    return {name: count for name, count in zip(names, counts.tolist(), strict=True) if count}


def _calendar(first: int, last: int, zone: tzinfo) -> tuple[list[str], Longs]:
    """Return the months from one moment to another, the latest ones, and when each begins."""
    at = instant.to_datetime(last).astimezone(zone)
    year, month = at.year, at.month
    names: list[str] = []
    begins: list[int] = []
    while len(names) < _MOST_MONTHS and year > 1:
        begin = datetime(year, month, 1, tzinfo=zone).astimezone(UTC)
        names.append(f"{year:04d}-{month:02d}")
        begins.append(instant.of_datetime(begin))
        if begins[-1] <= first:
            break
        year, month = (year - 1, 12) if month == 1 else (year, month - 1)
    # What is older than the last month counted is in that month: it has no bar of its own.
    begins[-1] = min(begins[-1], first)
    return names[::-1], np.array(begins[::-1], dtype=np.int64)
