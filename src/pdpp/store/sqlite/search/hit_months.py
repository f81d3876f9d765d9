"""Months of hits: how many of all records that answer fall into each month of a calendar."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import date, tzinfo

import numpy as np

from pdpp.model import instant
from pdpp.store.ranking.days import instant_of
from pdpp.store.ranking.postings import Longs
from pdpp.store.sqlite.search.entry import NO_TIME
from pdpp.store.sqlite.search.parts import Part
from pdpp.store.sqlite.search.visible import Visible

_MOST_MONTHS = 12_000


def hit_months(visible: Visible, rows: Longs, zone: tzinfo) -> Mapping[str, int]:
    """Return how many of some rows, in order, are of each month, such as ``2026-03``.

    Only the times of these rows count: how blocks are cut, and the times of records that are gone
    and still stand in them, are nothing that an answer may tell.
    """
    parts = [part for part in visible.parts_of(rows) if part.reach.shows_time]
    runs = [times for part in parts if len(times := _times(visible, part, rows))]
    if not runs:
        return {}
    first, last = min(int(run[0]) for run in runs), max(int(run[-1]) for run in runs)
    names, starts = _calendar(first, last, zone)
    counts = np.zeros(len(names), dtype=np.int64)
    for run in runs:
        if len(run) < len(starts):
            places = np.searchsorted(starts, run, side="right") - 1
            counts += np.bincount(places, minlength=len(names))
        else:  # times are in order, so a month is one stretch of them
            counts += np.diff(np.searchsorted(run, starts), append=len(run))
    return {name: count for name, count in zip(names, counts.tolist(), strict=True) if count}


def _times(visible: Visible, part: Part, rows: Longs) -> Longs:
    """Return the times of the rows that are in a part and have one, in order."""
    low, high = np.searchsorted(rows, (part.base, part.end))
    times: Longs = visible.times_of(part)[rows[low:high] - part.base]
    return times[np.searchsorted(times, NO_TIME, side="right") :]


def _calendar(first: int, last: int, zone: tzinfo) -> tuple[list[str], Longs]:
    """Return the months from one moment to another, the latest ones, and when each begins."""
    at = instant.to_datetime(last)
    with suppress(OverflowError):  # The last day of all years has ended elsewhere.
        at = at.astimezone(zone)
    year, month = at.year, at.month
    names: list[str] = []
    begins: list[int] = []
    while len(names) < _MOST_MONTHS and year > 0:
        names.append(f"{year:04d}-{month:02d}")
        begins.append(instant_of(date(year, month, 1), zone))
        if begins[-1] <= first:
            break
        year, month = (year - 1, 12) if month == 1 else (year, month - 1)
    # What is older than the last month counted is in that month: it has no bar of its own.
    begins[-1] = min(begins[-1], first)
    return names[::-1], np.array(begins[::-1], dtype=np.int64)
