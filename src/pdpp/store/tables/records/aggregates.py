"""Adding up: one tally, or one per group, over what several reaches show."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from decimal import Context, Decimal
from functools import cache
from itertools import chain
from typing import Any

from pdpp.model.declaration import Kind
from pdpp.store.aggregation import AggregateQuery, GroupTotal
from pdpp.store.cell import CellValue
from pdpp.store.number_key import number_of
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.positions import cell_position
from pdpp.store.tables.records.long_values import long_value, read_long_values, read_member
from pdpp.store.tables.records.predicate import (
    ABSENT,
    OWNER,
    Sql,
    exact_key,
    holds_exact,
    value_of,
)
from pdpp.store.tables.records.visible_way import source

Bucket = Callable[[int], tuple[str, int]]
_ADDED = {"count": "NULL, NULL, NULL", "sum": "pdpp_sum(m), NULL, NULL"}
MINUTE = 60_000_000
EARLIEST = -(2**63)
MOST_RANGES = 1_000
_FEW_RECORDS = 5_000
"""Up to here it takes less time to read all values than to look up both ends of each bucket."""
_WHOLE = 2**63


class Aggregator:
    """Adds up through one connection, under a snapshot its caller holds."""

    def __init__(self, db: TableReader, count: Callable[[Reach], int]) -> None:
        self._db = db
        self._count = count

    def aggregate(
        self, query: AggregateQuery, bucket: Bucket | None
    ) -> Mapping[CellValue, GroupTotal]:
        """Return the tally of each group; the only group is None where nothing groups."""
        groups: dict[CellValue, GroupTotal] = {}
        for reach in query.reaches:
            rows = self._rows(reach, query, bucket)
            group_of, value_in = (
                self._shown(reach, field) for field in (query.group_by, query.field)
            )
            # The short forms of two texts are equal only where the texts are.
            is_text = query.field is not None and _kind(reach, query.field) is Kind.TEXT
            for group, count, total, least, most, distinct in _bucketed(rows, query, bucket):
                tally = groups.setdefault(group_of(group), GroupTotal())
                _add(tally, count, total, value_in(least), value_in(most))
                if query.metric == "count_distinct" and distinct is not None:
                    tally.distinct.add(distinct if is_text else value_in(distinct))
        return groups

    def _shown(self, reach: Reach, field: str | None) -> Callable[[CellValue], CellValue]:
        """Return what makes a value of a field as it is shown of what the engine said."""
        if field is None:
            return _plain
        kind = _kind(reach, field)
        if kind is Kind.TEXT:
            return cache(lambda value: whole_cell(self._db, reach, field, value))
        if kind is not Kind.NUMBER:
            return _plain
        return lambda value: number_of(value) if isinstance(value, str) else _plain(value)

    def _rows(
        self, reach: Reach, query: AggregateQuery, bucket: Bucket | None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield (group, count, total, least, most, distinct) rows of one reach."""
        grouped = query.group_by or query.bucket_by
        if query.field is None and grouped is None:
            return iter([(None, self._count(reach), 0, None, None, None)])
        single = query.field if grouped is None else grouped if query.field is None else None
        place = cell_position(reach, single) if single is not None else None
        if place is not None and not reach.restricted and not reach.conditions:
            if bucket is not None and query.bucket_by is not None:
                ranges = self._from_ranges(reach, place, bucket)
                if ranges is not None:
                    return iter(ranges or self._unfilled(reach))
            rows = self._from_cells(reach, single or "", place, query)
            first = next(rows, None)
            return iter(self._unfilled(reach)) if first is None else chain((first,), rows)
        return self._from_records(reach, query)

    def _from_ranges(
        self, reach: Reach, place: int, bucket: Bucket
    ) -> list[tuple[Any, ...]] | None:
        """Count the cells between the ends of buckets; None where there are too many buckets."""
        cells = "FROM cell w WHERE w.owner = ? AND w.feed = ? AND w.field = ?"
        feed = (OWNER, reach.feed.id, place)
        absent = self._db.execute(f"SELECT count(*) {cells} AND w.value = ?", (*feed, ABSENT)).get
        rows: list[tuple[Any, ...]] = [(None, absent, 0, None, None, None)] if absent else []
        if self._count(reach) <= _FEW_RECORDS:
            present = f"SELECT w.value {cells} AND w.value < ? ORDER BY w.value"
            values = [row[0] for row in self._db.execute(present, (*feed, ABSENT))]
            return rows + list(_ranges_of(values, bucket))
        first = f"SELECT min(w.value) {cells} AND w.value >= ? AND w.value < ?"
        within = f"SELECT count(*) {cells} AND w.value >= ? AND w.value < ?"
        # One statement counts a bucket and finds where the next begins: to start one costs most.
        both = f"SELECT ({within}), ({first}) AS m"
        start = self._db.execute(first, (*feed, EARLIEST, ABSENT)).get
        while start is not None:
            if len(rows) > MOST_RANGES:
                return None
            _, end = bucket(start)
            bounds = (*feed, start, end, *feed, end, ABSENT)
            ((count, following),) = self._db.execute(both, bounds)
            rows.append((start, count, 0, None, None, None))
            start = following
        return rows

    def _unfilled(self, reach: Reach) -> list[tuple[Any, ...]]:
        """Return the only group of records none of which has a value."""
        count = self._count(reach)
        return [(None, count, 0, None, None, None)] if count else []

    def _from_cells(
        self, reach: Reach, field: str, place: int, query: AggregateQuery
    ) -> Iterator[tuple[Any, ...]]:
        """Read one field's cells alone, in their own order."""
        value = Sql("nullif(w.value, ?)", (ABSENT,))
        if holds_exact(self._db, reach, field, place):
            value = exact_key(reach, place, value, "w")
        where = Sql(
            "FROM cell w WHERE w.owner = ? AND w.feed = ? AND w.field = ?",
            (OWNER, reach.feed.id, place),
        )
        measured = value if query.field is not None else Sql("NULL")
        group = Sql("NULL") if query.field is not None else self._group(query, value)
        return self._grouped(query.metric, group, measured, where)

    def _from_records(self, reach: Reach, query: AggregateQuery) -> Iterator[tuple[Any, ...]]:
        grouped = query.group_by or query.bucket_by
        value = Sql("NULL") if grouped is None else self._value(reach, grouped)
        group = self._group(query, value)
        measured = self._value(reach, query.field) if query.field is not None else Sql("NULL")
        where = source(self._db, reach)
        return self._grouped(query.metric, group, measured, where)

    def _group(self, query: AggregateQuery, value: Sql) -> Sql:
        """Return the SQL of a group: the value itself, or the minute an instant falls in."""
        if query.bucket_by is None:
            return value
        rest = Sql("(((") + value + Sql(f") % {MINUTE}) + {MINUTE}) % {MINUTE}")
        return Sql("(") + value + Sql(") -") + rest

    def _value(self, reach: Reach, field: str) -> Sql:
        """Return the value of a field of record ``r``, or its key where that tells more."""
        value, place = value_of(reach, field), cell_position(reach, field)
        if place is not None and holds_exact(self._db, reach, field, place):
            return exact_key(reach, place, value, "r")
        return value

    def _grouped(
        self, metric: str, group: Sql, measured: Sql, where: Sql
    ) -> Iterator[tuple[Any, ...]]:
        if metric == "count_distinct":
            return self._distinct(group, measured, where)
        # Only what is asked for: to compare every value takes a fifth of a count by groups.
        added = _ADDED.get(metric, "NULL, min(m), max(m)")
        sql = (
            Sql(f"SELECT g, count(*), {added}, NULL FROM (SELECT")
            + group
            + Sql("AS g,")
            + measured
            + Sql("AS m")
            + where
            + Sql(") GROUP BY g")
        )
        return self._db.execute(sql.text, sql.values)

    def _distinct(self, group: Sql, measured: Sql, where: Sql) -> Iterator[tuple[Any, ...]]:
        sql = (
            Sql("SELECT g, count(*), 0, NULL, NULL, m FROM (SELECT")
            + group
            + Sql("AS g,")
            + measured
            + Sql("AS m")
            + where
            + Sql(") GROUP BY g, m")
        )
        return self._db.execute(sql.text, sql.values)


def _ranges_of(values: list[int], bucket: Bucket) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each bucket of some instants, which are in order."""
    at = 0
    while at < len(values):
        _, end = bucket(values[at])
        following = bisect_left(values, end, at + 1)
        yield values[at], following - at, 0, None, None, None
        at = following


def _bucketed(
    rows: Iterator[tuple[Any, ...]], query: AggregateQuery, bucket: Bucket | None
) -> Iterator[tuple[Any, ...]]:
    """Name the calendar bucket of each minute; minutes come in order."""
    if query.bucket_by is None or bucket is None:
        yield from rows
        return
    name, end = "", EARLIEST
    for minute, *rest in rows:
        if minute is None:
            yield (None, *rest)
            continue
        if minute >= end:
            name, end = bucket(minute)
        yield (name, *rest)


def _kind(reach: Reach, field: str) -> Kind:
    return reach.stream.fields[field].kind


def whole_cell(db: TableReader, reach: Reach, field: str, value: CellValue) -> CellValue:
    """Return the text that a cell is of: a long one is read from a record that holds it.

    It need not be one that the reach shows: a digest of all of the text is part of the cell.
    """
    place = cell_position(reach, field)
    if place is None or long_value(value) is None:
        return value
    row = next(
        db.execute(
            "SELECT surrogate FROM cell"
            " WHERE owner = ? AND feed = ? AND field = ? AND value = ? LIMIT 1",
            (OWNER, reach.feed.id, place, value),
        ),
        None,
    )
    if row is None:
        return value
    # That member alone: the record may have others, which are hidden, of megabytes.
    values = read_long_values(db, reach.feed.id, row, [field])
    text: CellValue = read_member(values[row[0], field]) if values else value
    return text


def _plain(value: CellValue) -> CellValue:
    """Return a whole number in one form, so that it does not matter which of its equals was met."""
    if isinstance(value, float) and value.is_integer() and -_WHOLE <= value < _WHOLE:
        return int(value)
    return value


EXACT = Context(prec=800)
"""Has room for the sum of the largest and the smallest number that is kept."""

_SCALE = 10_000
_SCALE_DIGITS = -4
_MOST_SCALED = 1e11


class ExactSum:
    """Adds up numbers as the decimals they are written as, to the same in any order.

    An SQL aggregate. Numbers of at most four decimal places, as amounts of money are, are added up
    as whole numbers of their ten-thousandths, which is quick; all others as decimals.
    """

    def __init__(self) -> None:
        self._whole = 0
        self._scaled = 0
        self._rest = Decimal(0)

    def step(self, *values: Any) -> None:
        """Take one value."""
        if isinstance(values[0], int):
            self._whole += values[0]
        elif isinstance(values[0], float):
            self._take(values[0])
        elif isinstance(values[0], str):
            self._rest = EXACT.add(self._rest, Decimal(str(number_of(values[0]))))

    def _take(self, value: float) -> None:
        # Past this the ten-thousandths of a number are no longer all told apart.
        scaled = round(value * _SCALE) if -_MOST_SCALED < value < _MOST_SCALED else 0
        if scaled / _SCALE == value:
            self._scaled += scaled
        else:
            self._rest = EXACT.add(self._rest, Decimal(repr(value)))

    def final(self) -> str:
        """Return the sum as a text: no number of the engine has room for every sum."""
        counted = Decimal(self._whole * _SCALE + self._scaled).scaleb(_SCALE_DIGITS, EXACT)
        return str(EXACT.add(counted, self._rest))


def _add(
    tally: GroupTotal, count: int, total: str | None, least: CellValue, most: CellValue
) -> None:
    tally.count += count
    tally.total = EXACT.add(tally.total, Decimal(total or 0))
    if least is not None and (tally.least is None or _key(least) < _key(tally.least)):
        tally.least = least
    if most is not None and (tally.most is None or _key(most) > _key(tally.most)):
        tally.most = most


def _key(value: CellValue) -> tuple[bool, Any]:
    """Return what a value is compared by with those of other reaches."""
    if isinstance(value, float | Decimal):
        # Floats stand for the decimals they are written as.
        return False, Decimal(str(value))
    return isinstance(value, str), value
