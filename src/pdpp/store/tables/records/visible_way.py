"""The visible way: how to read what shares a value without a look at every hidden record.

The rows at such a value, visible and hidden, are counted before they are read. Where they are more
than the records that a reach shows, those are walked instead.
"""

from collections.abc import Callable

from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.positions import indexed
from pdpp.store.tables.records.predicate import (
    CellRange,
    Sql,
    along_span,
    records_where,
    span_where,
)

_FEW = 256
"""So few visible records are always walked: then nothing at all depends on the hidden ones."""
_MORE = 4

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
                self._is_short = self._shows_at_most(self._most)
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
            return Sql("record r INDEXED BY record_key WHERE") + records_where(self._reach)
        return along_span(_time_span(self._reach), self._reach)

    def _shows_at_most(self, most: int) -> bool:
        """Tell whether a grant shows at most so many records, without looking at more."""
        if self._reach.keys is not None:
            return len(self._reach.keys) <= most
        rows = _time_span(self._reach).rows(self._reach)
        sql = f"SELECT count(*) FROM (SELECT 1 FROM cell w WHERE {rows.text} LIMIT ?) AS counted"
        return bool(self._db.execute(sql, (*rows.values, most + 1)).get <= most)


def _time_span(reach: Reach) -> CellRange:
    """Return the cells of the event time inside the time of a grant."""
    consent = reach.stream.consent_time_field
    if consent is None:
        raise TypeError("a time limits streams that have an event time")
    # The time of a grant holds for hidden times too, so this asks the feed and not the reach.
    return CellRange(indexed(reach.feed).cells[consent][0], span_where(reach, consent))
