"""Months of hits: how many of all records that answer fall into each month of a calendar."""

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo

import numpy as np

from pdpp.model import instant
from pdpp.store.ranking.postings import Longs

_MOST_MONTHS = 12_000


def hit_months(times: Longs, zone: tzinfo) -> Mapping[str, int]:
    """Return counts by month, such as ``2026-03``; times of 0 are those of records without one."""
    times = times[times != 0]
    if not len(times):
        return {}
    names, begins = _calendar(int(times.min()), int(times.max()), zone)
    places = np.searchsorted(np.array(begins, dtype=np.int64), times, side="right") - 1
    counts = np.bincount(places, minlength=len(names)).tolist()
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def _calendar(first: int, last: int, zone: tzinfo) -> tuple[list[str], list[int]]:
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
    return names[::-1], begins[::-1]
