"""The timeline: how many records there are of each month, as bars that narrow the page by a click.

What was counted is kept until the stream changes: a million records take some hundredths of a
second to count, and most pages are opened without anything having changed.
"""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pdpp.authz.requester import one_line
from pdpp.evidence.amount import counted
from pdpp.model.errors import PdppError
from pdpp.model.instant import SECOND
from pdpp.pages.dates import Dates
from pdpp.pages.page_reader import PageReader
from pdpp.pages.records.browsing import BrowsedFeed
from pdpp.pages.records.search_filters import SearchFilters

HEIGHT = 64
_BAR = 10
_MOST_BARS = 72
_KEPT_FOR = 3 * SECOND
_MOST_KEPT = 1_000

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


class MonthCounts:
    """Counts records by month, and remembers what was counted while nothing changes.

    While a stream is written to all the time it is counted again every few seconds at most.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, str], tuple[int, int, Months]] = {}
        self._recent = _RecentTotals()

    async def of_feeds(
        self, reader: PageReader, feeds: Sequence[BrowsedFeed], zone: str
    ) -> Counter[str]:
        """Return how many records of several streams there are of each month."""
        recent, state = self._recent, reader.service.store.state()
        if state != recent.state or len(recent.totals) >= _MOST_KEPT:
            recent.state = state
            recent.totals.clear()
        key = zone, tuple(feeds)
        totals = recent.totals.get(key)
        if totals is None:
            totals, exact = Counter[str](), True
            for feed in feeds:
                months, is_exact = await self._of_feed(reader, feed, zone)
                totals.update(months)
                exact = exact and is_exact
            if exact:
                recent.totals[key] = totals
        return totals

    async def _of_feed(
        self, reader: PageReader, feed: BrowsedFeed, zone: str
    ) -> tuple[Months, bool]:
        """Return how many records of a stream there are of each month, and if nothing changed."""
        store, now = reader.service.store, reader.service.clock()
        reach = reader.principal.reaches_of(feed.stream, feed.connection_id)[0]
        version = store.latest_version(reach)
        key = reach.feed.id, zone
        kept = self._kept.get(key)
        if kept is not None and (kept[0] == version or now - kept[1] < _KEPT_FOR):
            return kept[2], kept[0] == version
        months = await _counted(reader, feed, zone)
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[key] = version, now, months
        return months, True


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
