"""Reading records: one, a page over several reaches, the related ones, and how many."""

from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Any

import apsw
import orjson

from pdpp.store.cell import CellValue
from pdpp.store.port import Page, PageQuery, Position, Record
from pdpp.store.scope import Reach
from pdpp.store.sqlite.predicate import (
    ABSENT,
    SUBJECT,
    Sql,
    limits_where,
    records_where,
    selective_span,
    source,
    span_where,
    spans,
    value_of,
)

COLUMNS = "r.key, r.data, r.digest, r.shape, r.created, r.emitted, r.stamps"

Shapes = Callable[[int], frozenset[str] | None]


MOVES = ""
"""The member of a record's stamps, no field's name, for the times it was moved away from."""


def visible_stamp(reach: Reach, created: int, emitted: int, stamps: str) -> tuple[int, int]:
    """Return the version and emission of the last write that changed what a reach shows.

    Coming into the reach's time is such a write, even where the time itself is hidden.
    """
    latest = (created, emitted)
    marks = orjson.loads(stamps)
    moves = marks.pop(MOVES, ())
    for name, (version, at) in marks.items():
        if reach.shows(name) and version > latest[0]:
            latest = (version, at)
    for version, at, time in moves:
        if reach.time is not None and not reach.time.holds(time) and version > latest[0]:
            latest = (version, at)
    return latest


class Lens:
    """Builds what one reach shows of rows of ``COLUMNS``; most are passed on as they are stored."""

    def __init__(self, reach: Reach, shapes: Shapes, select: frozenset[str] | None = None) -> None:
        self._reach = reach
        self._shapes = shapes
        self._select = select
        self._plain: dict[int, bool] = {}

    def record(self, row: Sequence[Any]) -> Record:
        """Build one record; whatever stands before the columns in a row is passed over."""
        *_, key, data, digest, shape, created, emitted, stamps = row
        plain = self._plain.get(shape)
        if plain is None:
            plain = self._plain[shape] = self._is_plain(shape)
        if not plain:
            data, digest = self._reach.project(data, digest, self._shapes(shape), self._select)
        if stamps is not None:
            _, emitted = visible_stamp(self._reach, created, emitted, stamps)
        return Record(self._reach, key, data, emitted, digest)

    def _is_plain(self, shape: int) -> bool:
        """Tell whether records of a shape are shown whole."""
        names = self._shapes(shape)
        wanted = (self._reach.fields, self._select)
        return all(fields is None or (names is not None and names <= fields) for fields in wanted)


class RecordReader:
    """Reads records through one connection, under a snapshot its caller holds."""

    def __init__(self, db: apsw.Connection, shapes: Shapes) -> None:
        self._db = db
        self._shapes = shapes

    def record(self, reach: Reach, key: str, select: frozenset[str] | None) -> Record | None:
        """Return one record by key, if the reach shows it."""
        where = records_where(reach)
        row = next(
            self._db.execute(
                f"SELECT {COLUMNS} FROM record r WHERE {where.text} AND r.key = ?",
                (*where.values, key),
            ),
            None,
        )
        return None if row is None else Lens(reach, self._shapes, select).record(row)

    def page(self, query: PageQuery) -> Page:
        """Return one page in one order over every reach."""
        if len(query.reaches) == 1:
            reach = query.reaches[0]
            rows = [(reach, row) for row in islice(self._walk(reach, query), query.limit + 1)]
        else:
            ways = [_beside(reach, self._walk(reach, query)) for reach in query.reaches]
            rows = list(islice(merge(*ways, key=_rank(query.descending)), query.limit + 1))
        lenses = {reach: Lens(reach, self._shapes, query.select) for reach in query.reaches}
        shown = rows[: query.limit]
        records = tuple([lenses[reach].record(row) for reach, row in shown])
        if len(rows) <= query.limit:
            return Page(records, None)
        reach, (value, key, *_) = shown[-1]
        return Page(records, Position(value, reach.connection_id, key))

    def _walk(self, reach: Reach, query: PageQuery) -> "Iterator[_Row]":
        """Yield the rows of one reach that follow the position, in the order of the query."""
        sort = query.sort or reach.default_sort()
        place = reach.cell(sort) if sort is not None else None
        if sort is None or place is None:
            return self._by_key(reach, query)
        if _filtered_elsewhere(reach, sort):
            span = selective_span(self._db, reach)
            if span is not None:
                way = Sql("cell w CROSS JOIN record r ON r.id = w.record WHERE") + span.rows(reach)
                return self._sorted(reach, query, way + limits_where(reach), value_of(reach, sort))
        way = (
            Sql("cell w CROSS JOIN record r ON r.id = w.record WHERE")
            + Sql("w.subject = ? AND w.feed = ? AND w.field = ?", (SUBJECT, reach.feed.id, place))
            + limits_where(reach, without=sort)
        )
        return self._segments(reach, query, way, sort)

    def _segments(self, reach: Reach, query: PageQuery, way: Sql, sort: str) -> "Iterator[_Row]":
        """Return the present values in order, then the absent ones."""
        rows: list[_Row] = []
        if query.after is None or query.after.value is not None:
            present = way + span_where(reach, sort) + _keyset(query, reach, "w.value", "w.key")
            rows += self._rows(query, Sql("w.value"), "w.value {0}, w.key {0}", present)
        limited = any(condition.field == sort for condition in reach.conditions)
        by_time = reach.time is not None and sort == reach.stream.consent_time_field
        if len(rows) <= query.limit and not limited and not by_time:
            absent = way + Sql("AND w.value = ?", (ABSENT,))
            if query.after is not None and query.after.value is None:
                absent += _key_after(query, reach, "w.key")
            rows += self._rows(query, Sql("NULL"), "w.key {0}", absent)
        return iter(rows)

    def _sorted(self, reach: Reach, query: PageQuery, way: Sql, value: Sql) -> "Iterator[_Row]":
        """Yield a narrow choice of records after sorting it by a value that is not the way in."""
        inner = Sql("SELECT") + value + Sql(f"AS value, {COLUMNS} FROM") + way
        order = "DESC" if query.descending else "ASC"
        sql = Sql("SELECT * FROM (") + inner + Sql(") r WHERE TRUE")
        if query.after is not None:
            if query.after.value is None:
                sql += Sql("AND value IS NULL") + _key_after(query, reach, "r.key")
            else:
                sql += Sql("AND (value IS NULL OR (TRUE")
                sql += _keyset(query, reach, "value", "r.key") + Sql("))")
        sql += Sql(f"ORDER BY value IS NULL, value {order}, r.key {order}")
        return self._run(query, sql)

    def _by_key(self, reach: Reach, query: PageQuery) -> "Iterator[_Row]":
        where = records_where(reach)
        if query.after is not None and query.after.value is None:
            where += _key_after(query, reach, "r.key")
        way = Sql("record r WHERE") + where
        return self._rows(query, Sql("NULL"), "r.key {0}", way)

    def _rows(self, query: PageQuery, value: Sql, order: str, way: Sql) -> "Iterator[_Row]":
        direction = order.format("DESC" if query.descending else "ASC")
        sql = Sql("SELECT") + value + Sql(f"AS value, {COLUMNS} FROM") + way
        return self._run(query, sql + Sql(f"ORDER BY {direction}"))

    def _run(self, query: PageQuery, sql: Sql) -> "Iterator[_Row]":
        """Return as many rows as a page can need: the sort value, then the columns."""
        return self._db.execute(f"{sql.text} LIMIT ?", (*sql.values, query.limit + 1))

    def related(self, reach: Reach, field: str, value: str | int, limit: int) -> tuple[Record, ...]:
        """Return the first records whose field has a value, by time where that is visible."""
        place = reach.cell(field)
        if place is None:
            return ()
        order = "r.time, r.key" if reach.shows_time else "r.key"
        sql = (
            Sql(f"SELECT {COLUMNS} FROM cell w CROSS JOIN record r ON r.id = w.record WHERE")
            + Sql("w.subject = ? AND w.feed = ? AND w.field = ?", (SUBJECT, reach.feed.id, place))
            + Sql("AND w.value = ?", (value,))
            + limits_where(reach)
            + Sql(f"ORDER BY {order} LIMIT ?", (limit,))
        )
        rows = self._db.execute(sql.text, sql.values)
        lens = Lens(reach, self._shapes)
        return tuple(lens.record(row) for row in rows)

    def count(self, reach: Reach) -> int:
        """Return how many records a reach shows."""
        if not reach.restricted and not reach.conditions:
            return int(
                self._db.execute("SELECT record_count FROM feed WHERE id = ?", (reach.feed.id,)).get
            )
        ways = spans(reach)
        if len(ways) == 1 and reach.keys is None and _only(reach):
            rows = ways[0].rows(reach)
            return int(
                self._db.execute(f"SELECT count(*) FROM cell w WHERE {rows.text}", rows.values).get
            )
        sql = source(self._db, reach)
        return int(self._db.execute(f"SELECT count(*) {sql.text}", sql.values).get)

    def counts(self, reaches: Sequence[Reach]) -> dict[int, int]:
        """Return how many records each reach shows, by the number of its feed."""
        kept = dict(
            self._db.execute("SELECT id, record_count FROM feed WHERE subject = ?", (SUBJECT,))
        )
        return {
            reach.feed.id: self.count(reach)
            if reach.restricted or reach.conditions
            else kept[reach.feed.id]
            for reach in reaches
        }

    def newest(self, reach: Reach, field: str) -> CellValue:
        """Return the largest value of an indexed field among the records a reach shows."""
        page = next(self._walk(reach, PageQuery((reach,), 1, sort=field)), None)
        return None if page is None else page[0]


_Row = tuple[Any, ...]
"""The sort value, then ``COLUMNS``."""


def _beside(reach: Reach, rows: Iterator[_Row]) -> Iterator[tuple[Reach, _Row]]:
    for row in rows:
        yield reach, row


def _only(reach: Reach) -> bool:
    """Tell whether everything that limits a reach is about one field."""
    fields = {condition.field for condition in reach.conditions}
    if reach.time is not None:
        fields.add(reach.stream.consent_time_field or "")
    return len(fields) == 1


def _filtered_elsewhere(reach: Reach, sort: str) -> bool:
    """Tell whether the records are limited by a field other than the one they are sorted by."""
    if any(condition.field != sort for condition in reach.conditions):
        return True
    return reach.time is not None and reach.stream.consent_time_field != sort


def _keyset(query: PageQuery, reach: Reach, value: str, key: str) -> Sql:
    """Return the condition for what follows the position among present values.

    Between records of equal value the connection decides, then the key.
    """
    if query.after is None or query.after.value is None:
        return Sql("")
    sign = "<" if query.descending else ">"
    after = query.after
    if reach.connection_id == after.connection_id:
        return Sql(f"AND ({value}, {key}) {sign} (?, ?)", (after.value, after.key))
    before = (reach.connection_id < after.connection_id) is query.descending
    return Sql(f"AND {value} {sign}{'=' if before else ''} ?", (after.value,))


def _key_after(query: PageQuery, reach: Reach, key: str) -> Sql:
    """Return the condition for what follows the position among absent values."""
    assert query.after is not None  # noqa: S101 - callers have looked
    after = query.after
    if reach.connection_id == after.connection_id:
        return Sql(f"AND {key} {'<' if query.descending else '>'} ?", (after.key,))
    before = (reach.connection_id < after.connection_id) is query.descending
    return Sql("AND TRUE" if before else "AND FALSE")


def _rank(descending: bool) -> Callable[[tuple[Reach, _Row]], Any]:
    """Return the key that orders rows of several reaches as each is ordered in itself."""

    def rank(row: tuple[Reach, _Row]) -> tuple[Any, ...]:
        reach, (value, key, *_) = row
        parts = (isinstance(value, str), value if value is not None else 0)
        return value is None, _Ordered((*parts, reach.connection_id, key), descending)

    return rank


class _Ordered:
    """A value that sorts the other way round when asked to."""

    __slots__ = ("_descending", "_value")

    def __init__(self, value: Any, descending: bool) -> None:
        self._value = value
        self._descending = descending

    def __lt__(self, other: "_Ordered") -> bool:
        if self._descending:
            return bool(other._value < self._value)
        return bool(self._value < other._value)
