"""The visible way: how to read what shares a value without a look at every hidden record.

The rows at such a value, visible and hidden, are counted before they are read. Where they are more
than the records that a reach shows, those are walked instead.
"""

from collections.abc import Callable

from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.predicate import (
    Sql,
    along_keys,
    along_span,
    count_cells,
    is_by_one_field,
    narrow_way,
    records_where,
    shortest_span,
    spans,
    time_span,
)

_FEW = 256
"""So few visible records are always walked: then nothing at all depends on the hidden ones."""
_MORE = 4
"""How many times as many rows are looked at in the next turn."""
_PAGE_PART = 32
"""A page is walked in its order past hidden records as long as these are no more than so many times
the visible ones: to sort the visible ones takes 3.5 µs each, whatever a page shows of them."""
_SCAN_PART = 4
"""From which part on all records of a feed are read one after another: that takes a quarter of the
time of looking them up."""

CountRows = Callable[[int], int]
"""Counts the rows at a value, up to as many as it is given."""


class VisibleWay:
    """Tells which way of a read is the shorter one: all visible records, or the rows at a value.

    Both are looked at in turn, some rows at first and then more: what is counted is at most a few
    times what the shorter way has. One object is for all values of a request: what they have
    together counts.
    """

    def __init__(self, db: TableReader, reach: Reach) -> None:
        self._db = db
        self._reach = reach
        self._most = _FEW
        self._rows = 0
        self._is_short: bool | None = None

    def is_shorter(self, count: CountRows) -> bool:
        """Tell whether the visible records are fewer than the rows at this and earlier values."""
        while self._reach.restricted:
            if self._is_short is None:
                self._is_short = self.shows_at_most(self._most)
            if self._is_short:
                return True
            left = self._most - self._rows
            rows = count(left + 1)
            if rows <= left:
                self._rows += rows
                break
            self._most *= _MORE
            self._is_short = None
        return False

    def source(self) -> Sql:
        """Return what follows ``FROM`` for the visible records ``r``."""
        if self._reach.keys is not None:
            return along_keys(self._reach)
        return along_span(time_span(self._reach), self._reach)

    def shows_at_most(self, most: int) -> bool:
        """Tell whether a grant shows at most so many records, without looking at more."""
        if self._reach.keys is not None:
            return len(self._reach.keys) <= most
        return count_cells(self._db, time_span(self._reach), most + 1) <= most


def page_way(db: TableReader, reach: Reach) -> Sql | None:
    """Return what follows ``FROM`` for the record rows ``r`` of a reach, if they are to be sorted.

    They are where they are but few, or few among hidden ones: the order of an index would lead
    past all of those.
    """
    return narrow_way(db, reach) or _scarce_way(db, reach, _PAGE_PART)


def source(db: TableReader, reach: Reach) -> Sql:
    """Return ``FROM … WHERE …`` over record rows ``r`` of a reach, by its best way in."""
    ways = spans(reach)
    if len(ways) == 1 and reach.keys is None and (reach.time is None or is_by_one_field(reach)):
        return Sql("FROM") + along_span(ways[0], reach)
    way = narrow_way(db, reach) or _scarce_way(db, reach, _SCAN_PART)
    return Sql("FROM") + (Sql("record r WHERE") + records_where(reach) if way is None else way)


def _scarce_way(db: TableReader, reach: Reach, part: int) -> Sql | None:
    """Return the way along the visible records of a reach, if they are a small part of its feed."""
    if not reach.restricted:
        return None
    total = db.execute("SELECT record_count FROM feed WHERE id = ?", (reach.feed.id,)).get
    most = int(total or 0) // part
    if reach.keys is not None:
        return along_keys(reach) if len(reach.keys) <= most else None
    span = shortest_span(db, reach, most)
    return None if span is None else along_span(span, reach)
