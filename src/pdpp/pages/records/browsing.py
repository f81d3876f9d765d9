"""Browsing: the newest records of several streams in one order of time, a page at a time.

Only the streams are asked whose newest record can be on the page, so that a page costs what a page
of one or two streams costs, however many there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from pdpp.model import instant
from pdpp.model.errors import PdppError
from pdpp.pages.dates import Dates
from pdpp.pages.page_reader import PageReader

PAGE = 25
_FEW = 6
_FIRST, _LAST = (instant.parse(f"{year}-01-01") or 0 for year in ("0002", "9998"))
_MOST_TIES = 75
"""Records of one and the same moment that a page passes over; a page of records has 100."""


class BrowsedFeed(NamedTuple):
    """A stream of an account that can be browsed by a field of times."""

    connection_id: str
    stream: str
    field: str


class NewestFirst(NamedTuple):
    """A stream with the moment of its newest record before the end of a page."""

    newest: int
    feed: BrowsedFeed


class BrowsedPage(NamedTuple):
    """Records, newest first, and where the next page begins."""

    records: Sequence[Mapping[str, Any]]
    after: str
    left_out: bool = False
    """Whether records of one moment were left out because there are too many of them."""


_Row = tuple[int, BrowsedFeed, Mapping[str, Any]]
"""A record with its moment and its stream."""


class _Position(NamedTuple):
    """Where a page begins: at a moment, after so many records of that moment."""

    moment: int
    passed: int


def browsable(reader: PageReader, rows: Iterable[Mapping[str, Any]]) -> list[BrowsedFeed]:
    """Return the streams of a listing that have times."""
    feeds = reader.catalogue.feeds
    return [
        BrowsedFeed(row["connection_id"], row["name"], field)
        for row in rows
        if (field := feeds[row["connection_id"], row["name"]].stream.consent_time_field) is not None
    ]


def timed_feeds(reader: PageReader) -> list[BrowsedFeed]:
    """Return all streams that have times."""
    feeds = reader.catalogue.feeds.items()
    return browsable(reader, [{"connection_id": at[0], "name": at[1]} for at, _ in feeds])


def newest_first_feeds(reader: PageReader, rows: Iterable[Mapping[str, Any]]) -> list[NewestFirst]:
    """Return the streams of a listing by the moments of their newest records, latest first."""
    moments = {
        (row["connection_id"], row["name"]): instant.parse(row["freshness"]["newest_record_at"])
        for row in rows
        if row["freshness"]["newest_record_at"]
    }
    feeds = [
        NewestFirst(moment, feed)
        for feed in browsable(reader, rows)
        if (moment := moments.get((feed.connection_id, feed.stream))) is not None
    ]
    return sorted(feeds, key=lambda pair: (-pair.newest, pair.feed))


def page_end(dates: Dates, month: str, after: str) -> str:
    """Return the moment before which everything on a page is; empty where there is no bound."""
    position = _position(after)
    ends = [month_bounds(dates, month)[1], position and position.moment + 1]
    given = [end for end in ends if end is not None]
    return instant.to_text(min(given)) if given else ""


async def browse(
    reader: PageReader, bounds: Sequence[NewestFirst], dates: Dates, month: str, after: str
) -> BrowsedPage:
    """Return a page of the newest records of all these streams."""
    position = _position(after)
    passed = position.passed if position else 0
    wanted = PAGE + passed
    since, until = month_bounds(dates, month)
    few = _FEW if not passed else wanted + 1
    if len(bounds) > wanted:
        # The newest records of so many streams fill the page, so nothing older is on it.
        oldest = bounds[wanted].newest
        since = oldest if since is None else max(since, oldest)
        few = wanted + 1
    span = since, until, position
    chosen: list[_Row] = []
    for newest, feed in bounds:
        if since is not None and newest < since:
            break
        if len(chosen) > wanted and chosen[wanted][0] > newest:
            break
        # Of most streams a few records are on the page at most; only where all of a few are, the
        # rest is asked for too.
        rows = await _newest(reader, feed, span, few)
        merged = _newest_first([*chosen, *rows])[: wanted + 1]
        if len(rows) == few <= wanted and (len(merged) <= wanted or rows[-1][0] >= merged[-1][0]):
            rows = await _newest(reader, feed, span, wanted + 1)
            merged = _newest_first([*chosen, *rows])[: wanted + 1]
        chosen = merged
    rows_of_page, more = chosen[passed:wanted], len(chosen) > wanted
    return _page(rows_of_page, position, more=more)


def _newest_first(rows: Iterable[_Row]) -> list[_Row]:
    # Records of one moment stand in the order of their streams, so that the next page, which asks
    # the streams in another order, goes on where this one ended.
    return sorted(rows, key=lambda row: (-row[0], row[1]))


def _page(rows: Sequence[_Row], position: _Position | None, *, more: bool) -> BrowsedPage:
    records = [record for _, _, record in rows]
    if not more or not rows:
        return BrowsedPage(records, "")
    last = rows[-1][0]
    passed = sum(moment == last for moment, *_ in rows)
    if position is not None and position.moment == last:
        passed += position.passed
    if passed > _MOST_TIES:
        return BrowsedPage(records, f"{last - 1}.0", left_out=True)
    return BrowsedPage(records, f"{last}.{passed}")


async def _newest(
    reader: PageReader,
    feed: BrowsedFeed,
    span: tuple[int | None, int | None, _Position | None],
    limit: int,
) -> list[_Row]:
    """Return the newest records of one stream; one that cannot be narrowed by time has none."""
    since, until, position = span
    query: dict[str, str | int] = {
        "connection_id": feed.connection_id,
        "limit": min(limit, 100),
        "sort": f"-{feed.field}",
    }
    if since is not None:
        query[f"filter[{feed.field}][gte]"] = instant.to_text(since)
    if until is not None and (position is None or position.moment >= until):
        query[f"filter[{feed.field}][lt]"] = instant.to_text(until)
    elif position is not None:
        query[f"filter[{feed.field}][lte]"] = instant.to_text(position.moment)
    try:
        answer = await reader.operate("listRecords", {"stream": feed.stream}, query)
    except PdppError:
        return []
    rows = []
    for record in answer["data"]:
        moment = instant.parse(str(record["data"].get(feed.field) or ""))
        if moment is not None:
            rows.append((moment, feed, record))
    return rows


def _position(after: str) -> _Position | None:
    moment, _, passed = after.partition(".")
    if not (moment.lstrip("-").isascii() and moment.lstrip("-").isdecimal() and passed.isdecimal()):
        return None
    # An address that somebody wrote may name a moment that no calendar has.
    bounded = min(max(int(moment[:18]), _FIRST), _LAST)
    return _Position(bounded, min(int(passed[:3]), _MOST_TIES))


def month_bounds(dates: Dates, month: str) -> tuple[int | None, int | None]:
    """Return where a month or a year begins and ends on the reader's calendar."""
    if not month:
        return None, None
    year, _, number = month.partition("-")
    if not number:
        return _midnight(dates, int(year), 1), _midnight(dates, int(year) + 1, 1)
    following = (int(year) + 1, 1) if number == "12" else (int(year), int(number) + 1)
    return _midnight(dates, int(year), int(number)), _midnight(dates, *following)


def _midnight(dates: Dates, year: int, month: int) -> int:
    # The first and the last year of the calendar have no room for a zone.
    return dates.midnight(date(min(max(year, 2), 9_998), month, 1))
