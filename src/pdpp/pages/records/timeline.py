"""The timeline: how many records there are of each month, as bars that narrow the page by a click.

What was counted is kept until the stream changes: to count a million records in 300 streams takes
a good part of a second, and most pages are opened without anything having changed.
"""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pdpp.authz.requester import one_line
from pdpp.evidence.amount import counted
from pdpp.model.errors import PdppError
from pdpp.model.instant import SECOND
from pdpp.pages.dates import Dates
from pdpp.pages.page_reader import PageReader
from pdpp.pages.records.browsing import BrowsedFeed
from pdpp.pages.records.search_filters import SearchFilters
from pdpp.service.runner import run_here
from pdpp.store.scope import Reach

HEIGHT = 64
_BAR = 10
_MOST_BARS = 72
_KEPT_FOR = 3 * SECOND
_MOST_KEPT = 10_000
_MOST_AT_ONCE = 24
"""Streams that a page waits for: one takes about half a millisecond, a big one three."""

Months = Mapping[str, int]


class Bar(NamedTuple):
    """One bar: where it stands, how high it is, what it says, and where it leads."""

    x: int
    y: int
    height: int
    label: str
    address: str
    chosen: bool


class Timeline(NamedTuple):
    """Bars of months, or of years where there are too many months for bars."""

    bars: Sequence[Bar]
    width: int
    first: str
    last: str
    height: int = HEIGHT
    step: int = _BAR


class _RecentTotals(threading.local):
    """Sums of several streams; each thread has its own, as it sees states of its own."""

    def __init__(self) -> None:
        self.state: object = None
        self.totals: dict[tuple[str, tuple[BrowsedFeed, ...]], Counter[str]] = {}
        self.fresh: set[tuple[str, tuple[BrowsedFeed, ...]]] = set()

    def at(self, state: object) -> "_RecentTotals":
        """Return the sums of a state of the store; those of another are forgotten."""
        if state != self.state or len(self.totals) >= _MOST_KEPT:
            self.state = state
            self.totals.clear()
            self.fresh.clear()
        return self


class MonthTotals(NamedTuple):
    """Records by month of some streams, and the streams that are yet to be counted."""

    counts: Counter[str]
    uncounted: Sequence[BrowsedFeed] = ()
    known: bool = True
    """Whether every stream was counted at least once, so that the counts are worth showing."""


class MonthCounts:
    """Counts records by month, and remembers what was counted while nothing changes.

    A page waits for the counts of a few streams. Where more of them changed, as after a start, it
    shows what was counted before, and the rest is counted when the page is gone. While a stream is
    written to all the time it is counted again every few seconds at most.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, str], tuple[int, int, Months]] = {}
        self._recent = _RecentTotals()
        self._counting = False

    async def of_feeds(
        self, reader: PageReader, feeds: Sequence[BrowsedFeed], zone: str
    ) -> MonthTotals:
        """Return how many records of several streams there are of each month."""
        recent = self._recent.at(reader.service.store.state())
        key = zone, tuple(feeds)
        if (totals := recent.totals.get(key)) is not None:
            return MonthTotals(totals)
        stale = [feed for feed in feeds if not self._is_fresh(reader, feed, zone)]
        if len(stale) <= _MOST_AT_ONCE:
            for feed in stale:
                await self._count(reader, feed, zone)
            stale = []
        kept = [self._kept.get((_feed_id(reader, feed), zone)) for feed in feeds]
        totals = Counter()
        for entry in kept:
            totals.update(entry[2] if entry is not None else {})
        if not stale and all(self._is_exact(reader, feed, zone) for feed in feeds):
            recent.totals[key] = totals
        return MonthTotals(totals, stale, known=None not in kept)

    def uncounted(
        self, reader: PageReader, feeds: Sequence[BrowsedFeed], zone: str
    ) -> Sequence[BrowsedFeed]:
        """Return the streams that changed since they were counted."""
        recent, key = self._recent.at(reader.service.store.state()), (zone, tuple(feeds))
        if key in recent.fresh:
            return ()
        stale = [feed for feed in feeds if not self._is_fresh(reader, feed, zone)]
        if not stale:
            recent.fresh.add(key)
        return stale

    async def count(self, reader: PageReader, feeds: Sequence[BrowsedFeed], zone: str) -> None:
        """Count streams when no page waits for it: in threads, a few at a time."""
        if self._counting:
            return
        self._counting = True
        try:
            for start in range(0, len(feeds), _MOST_AT_ONCE):
                some = feeds[start : start + _MOST_AT_ONCE]
                await reader.service.runner.aside(partial(self._count_some, reader, some, zone))
        finally:
            self._counting = False

    def _count_some(self, reader: PageReader, feeds: Sequence[BrowsedFeed], zone: str) -> None:
        for feed in feeds:
            if not self._is_fresh(reader, feed, zone):
                run_here(self._count(reader, feed, zone))

    def _is_exact(self, reader: PageReader, feed: BrowsedFeed, zone: str) -> bool:
        reach = _reach_of(reader, feed)
        kept = self._kept.get((reach.feed.id, zone))
        return kept is not None and kept[0] == reader.service.store.latest_version(reach)

    def _is_fresh(self, reader: PageReader, feed: BrowsedFeed, zone: str) -> bool:
        """Tell whether a stream need not be counted: it did not change, or was counted just now."""
        kept = self._kept.get((_feed_id(reader, feed), zone))
        if kept is not None and reader.service.clock() - kept[1] < _KEPT_FOR:
            return True
        return self._is_exact(reader, feed, zone)

    async def _count(self, reader: PageReader, feed: BrowsedFeed, zone: str) -> None:
        version = reader.service.store.latest_version(_reach_of(reader, feed))
        months = await _counted(reader, feed, zone)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[_feed_id(reader, feed), zone] = version, reader.service.clock(), months


def _reach_of(reader: PageReader, feed: BrowsedFeed) -> Reach:
    return reader.principal.reaches_of(feed.stream, feed.connection_id)[0]


def _feed_id(reader: PageReader, feed: BrowsedFeed) -> int:
    return _reach_of(reader, feed).feed.id


async def _counted(reader: PageReader, feed: BrowsedFeed, zone: str) -> Months:
    query: dict[str, str | int] = {
        "connection_id": feed.connection_id,
        "group_by_time": feed.field,
        "granularity": "month",
        "limit": 1_000,
    }
    if zone:
        query["time_zone"] = zone
    try:
        answer = await reader.operate("aggregate", {"stream": feed.stream}, query)
    except PdppError:
        return {}
    groups = answer["groups"]
    return {str(group["key"])[:7]: group["count"] for group in groups if group["key"] is not None}


def timeline(totals: Mapping[str, int], filters: SearchFilters, dates: Dates) -> Timeline | None:
    """Return the bars of some months, with the empty ones between; None where there are none."""
    months = sorted(month for month, count in totals.items() if count)
    if not months:
        return None
    names = _between(months[0], months[-1])
    sums = {name: totals.get(name, 0) for name in names}
    if len(names) > _MOST_BARS:
        sums = _by_year(sums)
    sums = dict(list(sums.items())[-_MOST_BARS:])
    most = max(sums.values())
    bars = [
        _bar(number, name, count, most, filters, dates)
        for number, (name, count) in enumerate(sums.items())
    ]
    first, *_, last = [*sums, list(sums)[-1]]
    return Timeline(bars, len(bars) * _BAR, _named(first, dates), _named(last, dates))


def _bar(
    number: int, name: str, count: int, most: int, filters: SearchFilters, dates: Dates
) -> Bar:
    height = max(2, round(count / most * HEIGHT)) if count else 0
    label = f"{_named(name, dates)}: {counted(count, 'record')}"
    chosen = filters.month == name
    address = filters.query(month="" if chosen else name)
    return Bar(number * _BAR, HEIGHT - height, height, one_line(label, 200), address, chosen)


def _named(name: str, dates: Dates) -> str:
    return dates.month(name) if "-" in name else name


def _by_year(sums: Mapping[str, int]) -> dict[str, int]:
    years: Counter[str] = Counter()
    for name, count in sums.items():
        years[name[:4]] += count
    return dict(years)


def _between(first: str, last: str) -> list[str]:
    """Return every month from one to another; more than fit are those at the end."""
    year, month = int(last[:4]), int(last[5:])
    names: list[str] = []
    while (name := f"{year:04d}-{month:02d}") >= first and year > 0:
        names.append(name)
        year, month = (year - 1, 12) if month == 1 else (year, month - 1)
    return names[::-1]
