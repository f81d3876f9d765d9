"""Conversations: which visible records stand before and after some of the same conversation."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from pdpp.model.grant import Interval
from pdpp.store.ranking.postings import Longs
from pdpp.store.ranking.refine import Neighbour
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.search.conditions import rows_by_reach
from pdpp.store.tables.search.entry import NO_TIME, hashed, place_in_thread
from pdpp.store.tables.search.record_data import RecordData, RecordsRead
from pdpp.store.tables.search.visible import Visible

BY_ORDINAL = """
    SELECT
      (SELECT json_group_array(record) FROM (
        SELECT record FROM thread_place WHERE feed = :feed AND thread = w.value ->> 0
        AND (time, ordinal, surrogate) < (w.value ->> 1, w.value ->> 2, w.value ->> 3)
        AND time >= :since
        ORDER BY time DESC, ordinal DESC, surrogate DESC LIMIT 2)),
      (SELECT json_group_array(record) FROM (
        SELECT record FROM thread_place WHERE feed = :feed AND thread = w.value ->> 0
        AND (time, ordinal, surrogate) > (w.value ->> 1, w.value ->> 2, w.value ->> 3)
        AND time < :until
        ORDER BY time, ordinal, surrogate LIMIT 2))
    FROM json_each(:wanted) AS w
"""
"""The two records before and the two after each of some, in the same conversation."""
AT_RANDOM = """
    SELECT
      (SELECT json_group_array(record) FROM (
        SELECT record FROM thread_place WHERE feed = :feed AND thread = w.value ->> 0
        AND time < w.value ->> 1 AND time >= :since
        ORDER BY time DESC, surrogate DESC LIMIT 2)),
      (SELECT json_group_array(json_array(surrogate, record)) FROM (
        SELECT surrogate, record FROM thread_place WHERE feed = :feed AND thread = w.value ->> 0
        AND time = w.value ->> 1 AND time >= :since
        ORDER BY surrogate)),
      (SELECT json_group_array(record) FROM (
        SELECT record FROM thread_place WHERE feed = :feed AND thread = w.value ->> 0
        AND time > w.value ->> 1 AND time < :until
        ORDER BY time, surrogate LIMIT 2))
    FROM json_each(:wanted) AS w
"""
"""The two records before each of some moments of a conversation, all of it, and the two after it.

For where that order is hidden, so that nothing may follow from it. The index is in that order: the
records of a moment are read once, and not for each of them that is looked at."""
NEAREST = 2
"""How many records on each side of one the statements look for."""
_LATEST = (1 << 63) - 1
_Sides = tuple[list[int], list[int]]
"""The records before one and after it, the nearest first."""


class _Place(NamedTuple):
    """Where a record stands in its conversation."""

    number: int
    thread: int
    time: int
    ordinal: int
    surrogate: int


def neighbours_of(
    db: TableReader, visible: Visible, read: RecordsRead, best: Longs
) -> list[Neighbour]:
    """Return the visible neighbours of rows in their conversations."""
    neighbours: list[Neighbour] = []
    if not visible.placement.shows_threads:
        return neighbours
    for reach, some in rows_by_reach(visible, best):
        if not reach.shows_thread:
            continue
        numbers = visible.numbers(some).tolist()
        # What has no time stands before everything, as in the table, and not in the year 1970.
        times = visible.moments(some).tolist()
        row_of = dict(zip(numbers, some.tolist(), strict=True))
        pairs = list(_around(db, reach, _places(reach, read, numbers, times)))
        rows = visible.rows_of(reach, [other for _, other, _ in pairs])
        neighbours += [
            Neighbour(row_of[number], rows[other], distance)
            for number, other, distance in pairs
            if other in rows
        ]
    return neighbours


def _places(
    reach: Reach, read: RecordsRead, numbers: Sequence[int], times: Sequence[int]
) -> list[_Place]:
    time_of = dict(zip(numbers, times, strict=True))
    return [
        _Place(number, hashed(str(name)), time_of[number], *_order(reach, record, time_of[number]))
        for number, record in read.of(numbers).items()
        if (name := record.get(reach.stream.thread_field or "")) is not None
    ]


def _order(reach: Reach, record: RecordData, time: int) -> tuple[int, int]:
    """Return what a record is in order by with others of its time."""
    if time == NO_TIME:
        # Others without a time are in no order with it, and all stand before those with one.
        return _LATEST, _LATEST
    return place_in_thread(reach.feed.stream, record.get, record.key), record.surrogate


def _around(
    db: TableReader, reach: Reach, places: Sequence[_Place]
) -> Iterator[tuple[int, int, int]]:
    """Yield records that stand near others in a conversation, and how many places after them."""
    for place, sides in zip(places, _sides(db, reach, places), strict=True):
        for side, step in zip(sides, (-1, 1), strict=True):
            for distance, other in enumerate(side, start=1):
                yield place.number, other, step * distance


def _sides(db: TableReader, reach: Reach, places: Sequence[_Place]) -> list[_Sides]:
    """Return the records on both sides of each of some places, the nearest first."""
    if reach.shows_order:
        rows = _asked(db, reach, BY_ORDINAL, [place[1:] for place in places])
        return [(before, after) for before, after in rows]
    moments = list(dict.fromkeys((place.thread, place.time) for place in places))
    known = dict(zip(moments, _asked(db, reach, AT_RANDOM, moments), strict=True))
    return [_beside(place.surrogate, *known[place.thread, place.time]) for place in places]


def _asked(db: TableReader, reach: Reach, sql: str, wanted: Sequence[Any]) -> list[list[Any]]:
    """Return the lists that a statement makes of each of some places, inside a grant's time."""
    time = reach.time or Interval()
    bounds = {
        "feed": reach.feed.id,
        "since": NO_TIME + 1 if time.since is None else time.since,
        "until": _LATEST if time.until is None else time.until,
        "wanted": orjson.dumps(wanted).decode(),
    }
    rows: list[Any] = db.execute(sql, bounds).fetchall()
    return [[orjson.loads(text) for text in row] for row in rows]


def _beside(
    surrogate: int, before: list[int], same: list[tuple[int, int]], after: list[int]
) -> _Sides:
    """Return the records on both sides of one, by the surrogates of those of its time."""
    at = bisect_left(same, surrogate, key=itemgetter(0))
    end = bisect_right(same, surrogate, key=itemgetter(0))
    earlier = [record for _, record in reversed(same[max(0, at - NEAREST) : at])]
    later = [record for _, record in same[end : end + NEAREST]]
    return (earlier + before)[:NEAREST], (later + after)[:NEAREST]
