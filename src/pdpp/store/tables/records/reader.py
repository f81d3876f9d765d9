"""Reading records: one, a page over several reaches, the related ones, and how many."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

import orjson

from pdpp.store.cell import CellValue, text_cell
from pdpp.store.number_key import number_key, number_of
from pdpp.store.port import (
    PAGE_BYTES,
    PagePosition,
    PageQuery,
    Record,
    RecordPage,
    RelatedPage,
)
from pdpp.store.scope import Condition, Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.positions import cell_position
from pdpp.store.tables.records.predicate import (
    ABSENT,
    OWNER,
    Sql,
    after_decimal,
    exact_key,
    holds_exact,
    limits_where,
    narrow_way,
    records_where,
    source,
    span_where,
    spans,
    value_of,
)
from pdpp.store.tables.records.projection import (
    COLUMNS,
    CountBytes,
    Projector,
    Projectors,
    Row,
    fetched,
)

_BY_VALUE = "w.value {0}, w.surrogate {0}"

NEWEST_OF = """
SELECT f.value ->> 0, (
  SELECT w.value FROM cell w
  WHERE w.owner = ? AND w.feed = f.value ->> 1 AND w.field = f.value ->> 2 AND w.value < ?
  ORDER BY w.value DESC LIMIT 1
) FROM json_each(?) f
"""


class RecordReader:
    """Reads records through one connection, under a snapshot its caller holds."""

    def __init__(self, db: TableReader, projector: Projectors, count: CountBytes) -> None:
        self._db = db
        self._projector = projector
        self._count = count

    def record(self, reach: Reach, id: str, select: frozenset[str] | None) -> Record | None:
        """Return one record by what it is called under the reach, if the reach shows it."""
        projector = self._projector(reach, select)
        if reach.shows_key:
            return self._one(reach, projector, Sql("AND r.key = ?", (id,)))
        surrogate = projector.seal.open(id)
        return None if surrogate is None else self.by_surrogate(reach, surrogate, select)

    def by_surrogate(
        self, reach: Reach, surrogate: int, select: frozenset[str] | None = None
    ) -> Record | None:
        """Return one record by its surrogate, if the reach shows it."""
        projector = self._projector(reach, select)
        return self._one(reach, projector, Sql("AND r.surrogate = ?", (surrogate,)))

    def by_number(self, reach: Reach, number: int, select: frozenset[str]) -> Record | None:
        """Return some fields of one record by its number, if the reach shows it."""
        return self._one(reach, self._projector(reach, select), Sql("AND r.id = ?", (number,)))

    def _one(self, reach: Reach, projector: Projector, condition: Sql) -> Record | None:
        # Only a request's own conditions change it: without any it is made once for a grant.
        one = reach.once(_one_record) if reach.unfiltered is None else _one_record(reach)
        sql = one + condition
        row = next(self._db.execute(sql.text, sql.values), None)
        return None if row is None else projector.record(row)

    def page(self, query: PageQuery) -> RecordPage:
        """Return one page in one order over every reach."""
        if len(query.reaches) != 1:
            return self._merged(query)
        (reach,) = query.reaches
        rows = self._walk(reach, query)
        projector = self._projector(reach, query.select)
        records = projector.records(rows[: query.limit], PAGE_BYTES)
        more = len(rows) > len(records)
        return RecordPage(
            tuple(records), _position(reach, rows[len(records) - 1]) if more else None
        )

    def _merged(self, query: PageQuery) -> RecordPage:
        """Return one page from several reaches."""
        walks = [(reach, self._walk(reach, query)) for reach in query.reaches]
        exact = any(isinstance(row[0], Decimal) for _, rows in walks for row in rows)
        ways = [_beside(reach, rows) for reach, rows in walks]
        rows = list(islice(merge(*ways, key=_rank(query.descending, exact)), query.limit + 1))
        records: list[Record] = []
        total = 0
        for reach, row in rows[: query.limit]:
            record = self._projector(reach, query.select).record(row)
            total += len(record.data)
            if records and total > PAGE_BYTES:
                break
            records.append(record)
        more = len(rows) > len(records)
        return RecordPage(tuple(records), _position(*rows[len(records) - 1]) if more else None)

    def _walk(self, reach: Reach, query: PageQuery) -> list[Row]:
        """Return the rows of one reach that follow the position, in the order of the query.

        There are more of them than a page has wherever more records follow.
        """
        sort = query.sort or reach.default_sort()
        place = cell_position(reach, sort) if sort is not None else None
        if sort is None or place is None:
            return self._by_surrogate(reach, query)
        if reach.keys is not None or _filtered_elsewhere(reach, sort):
            way = narrow_way(self._db, reach)
            if way is not None:
                return self._sorted(reach, query, way, self._order(reach, sort, place, "r"))
        return self._segments(reach, query, sort, place)

    def _order(self, reach: Reach, sort: str, place: int, row: str) -> "_Order":
        """Return what records are sorted by: a value, or its key where that tells more."""
        value = Sql("w.value") if row == "w" else value_of(reach, sort)
        if holds_exact(self._db, reach, sort, place):
            return _Order(exact_key(reach, place, value, row), exact=True)
        return _Order(value, exact=False)

    def _segments(self, reach: Reach, query: PageQuery, sort: str, place: int) -> list[Row]:
        """Return the present values in order, then the absent ones."""
        rows: list[Row] = []
        after = query.after
        if after is None or after.value is not None:
            order = self._order(reach, sort, place, "w")
            present = _present(reach, sort, place, order)
            if after is not None:
                present += self._keyset(query, reach, order, "w.surrogate")
            # Keys only sort what stands at one number: the index gives the order of those.
            by = "w.value {0}, value {0}, w.surrogate {0}" if order.exact else _BY_VALUE
            rows = order.shown(self._run(query, present, by))
        limited = any(condition.field == sort for condition in reach.conditions)
        by_time = reach.time is not None and sort == reach.stream.consent_time_field
        if len(rows) <= query.limit and not limited and not by_time:
            absent = _select("NULL", _by_cells(reach, sort, place))
            absent += Sql("AND w.value = ?", (ABSENT,))
            if after is not None and after.value is None:
                absent += self._surrogate_after(query, reach, "w.surrogate")
            rows += self._run(query, absent, "w.surrogate {0}")
        return rows

    def _sorted(self, reach: Reach, query: PageQuery, way: Sql, order: "_Order") -> list[Row]:
        """Return a narrow choice of records after sorting it by a value that is not the way in."""
        inner = Sql("SELECT") + order.value + Sql(f"AS value, {COLUMNS} FROM") + way
        sql = Sql("SELECT * FROM (") + inner + Sql(") r WHERE TRUE")
        if query.after is not None:
            if query.after.value is None:
                sql += Sql("AND value IS NULL") + self._surrogate_after(query, reach, "r.surrogate")
            else:
                sql += Sql("AND (value IS NULL OR (TRUE")
                named = _Order(Sql("value"), order.exact)
                sql += self._keyset(query, reach, named, "r.surrogate") + Sql("))")
        rows = self._run(query, sql, "value IS NULL, value {0}, r.surrogate {0}")
        return order.shown(rows)

    def _by_surrogate(self, reach: Reach, query: PageQuery) -> list[Row]:
        way = narrow_way(self._db, reach) if reach.restricted or reach.conditions else None
        sql = _select("NULL", way or Sql("record r WHERE") + records_where(reach))
        if query.after is not None and query.after.value is None:
            sql += self._surrogate_after(query, reach, "r.surrogate")
        return self._run(query, sql, "r.surrogate {0}")

    def _keyset(self, query: PageQuery, reach: Reach, order: "_Order", surrogate: str) -> Sql:
        """Return the condition for what follows the position among present values.

        Between records of equal value the connection decides, then the surrogate.
        """
        after = query.after
        if after is None or after.value is None:
            return Sql("")
        sign = "<" if query.descending else ">"
        bound = order.bound(after.value)
        if isinstance(bound, Decimal):
            return Sql("AND") + after_decimal(order.value, bound, query.descending)
        if reach.connection_id == after.connection_id:
            end = _last_surrogate(after)
            pair = Sql("AND (") + order.value + Sql(f", {surrogate})")
            return pair + Sql(f"{sign} (?, ?)", (bound, end))
        before = (reach.connection_id < after.connection_id) is query.descending
        return Sql("AND") + order.value + Sql(f"{sign}{'=' if before else ''} ?", (bound,))

    def _surrogate_after(self, query: PageQuery, reach: Reach, surrogate: str) -> Sql:
        """Return the condition for what follows the position among absent values."""
        assert query.after is not None  # noqa: S101 - callers have looked
        after = query.after
        if reach.connection_id == after.connection_id:
            end = _last_surrogate(after)
            return Sql(f"AND {surrogate} {'<' if query.descending else '>'} ?", (end,))
        before = (reach.connection_id < after.connection_id) is query.descending
        return Sql("AND TRUE" if before else "AND FALSE")

    def _run(self, query: PageQuery, sql: Sql, order: str) -> list[Row]:
        """Return as many rows as a page can need, and one more."""
        direction = order.format("DESC" if query.descending else "ASC")
        text = f"{sql.text} ORDER BY {direction} LIMIT ?"
        return fetched(self._db.execute(text, (*sql.values, query.limit + 1)), self._count)

    def related(self, reach: Reach, field: str, value: str | int, limit: int) -> RelatedPage:
        """Return the first records whose field has a value, by time where that is visible."""
        place = cell_position(reach, field)
        if place is None:
            return RelatedPage((), more=False)
        order = "r.time, r.surrogate" if reach.shows_time else "r.surrogate"
        sql = (
            Sql(f"SELECT NULL, {COLUMNS} FROM cell w CROSS JOIN record r ON r.id = w.record WHERE")
            + Sql("w.owner = ? AND w.feed = ? AND w.field = ?", (OWNER, reach.feed.id, place))
            + Sql("AND w.value = ?", (text_cell(value) if isinstance(value, str) else value,))
            + limits_where(reach)
            + Sql(f"ORDER BY {order} LIMIT ?", (limit + 1,))
        )
        rows = fetched(self._db.execute(sql.text, sql.values), self._count)
        records = self._projector(reach, None).records(rows[:limit], PAGE_BYTES)
        return RelatedPage(tuple(records), more=len(rows) > len(records))

    def count(self, reach: Reach) -> int:
        """Return how many records a reach shows."""
        if not reach.restricted and not reach.conditions:
            kept = "SELECT record_count FROM feed WHERE id = ?"
            row = next(self._db.execute(kept, (reach.feed.id,)), None)
            return 0 if row is None else int(row[0])
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
        kept = dict(self._db.execute("SELECT id, record_count FROM feed WHERE owner = ?", (OWNER,)))
        # A feed that was removed since the caller looked at the catalogue holds nothing.
        return {
            reach.feed.id: self.count(reach)
            if reach.restricted or reach.conditions
            else kept.get(reach.feed.id, 0)
            for reach in reaches
        }

    def newest(self, reach: Reach, field: str) -> CellValue:
        """Return the largest value of an indexed field among the records a reach shows."""
        rows = self._walk(reach, PageQuery((reach,), 1, sort=field))
        return rows[0][0] if rows else None

    def newest_of(self, fields: Sequence[tuple[Reach, str]], before: int | None) -> list[CellValue]:
        """Return the largest value of a field for each reach, below a bound where one is given.

        For reaches that show a whole feed all of it is one statement with a seek for each: 300
        statements of their own take 12 ms, this takes 1.
        """
        places = []
        for number, (reach, field) in enumerate(fields):
            place = cell_position(reach, field)
            if place is not None and not reach.restricted and not reach.conditions:
                places.append((number, reach.feed.id, place))
        values = (OWNER, ABSENT if before is None else before, orjson.dumps(places).decode())
        newest = dict(self._db.execute(NEWEST_OF, values))
        return [
            newest[number] if number in newest else self._newest_below(reach, field, before)
            for number, (reach, field) in enumerate(fields)
        ]

    def _newest_below(self, reach: Reach, field: str, before: int | None) -> CellValue:
        if before is not None:
            kind = reach.stream.fields[field].kind
            reach = reach.narrowed([Condition(field, kind, "lt", before)])
        return self.newest(reach, field)


def _position(reach: Reach, row: Row) -> PagePosition:
    value = row[0]
    if type(value) is float:
        # As its key would tell it: whether keys were asked for depends on hidden records, and the
        # length of a cursor would tell 1.0 from 1.
        value = number_of(number_key(value))
    return PagePosition(value, reach.connection_id, row[1])


def _last_surrogate(position: PagePosition) -> int:
    """Return the surrogate that a page ended with among records of equal value."""
    return position.surrogate


def _select(value: str, way: Sql) -> Sql:
    return Sql(f"SELECT {value} AS value, {COLUMNS} FROM") + way


class _Order(NamedTuple):
    """What records are sorted by: a value, or with ``exact`` the key of a number."""

    value: Sql
    exact: bool

    def bound(self, value: CellValue) -> CellValue:
        """Return a position's value as it is compared."""
        if self.exact and value is not None and not isinstance(value, str):
            return number_key(value)
        return value

    def shown(self, rows: list[Row]) -> list[Row]:
        """Return rows with the numbers that their keys stand for."""
        if not self.exact:
            return rows
        return [(key and number_of(key), *rest) for key, *rest in rows]


def _one_record(reach: Reach) -> Sql:
    """Return the selection of a single record, up to what names it."""
    return Sql(f"SELECT NULL, {COLUMNS} FROM record r WHERE") + records_where(reach)


def _present(reach: Reach, sort: str, place: int, order: _Order) -> Sql:
    """Return the selection of the records that have a value to be sorted by."""
    # Only a request's own conditions change it: without any it is put together once for a grant.
    kept = reach.once(_no_selections) if reach.unfiltered is None else {}
    selection = kept.get((sort, order.exact))
    if selection is None:
        columns = Sql("SELECT") + order.value + Sql(f"AS value, {COLUMNS} FROM")
        selection = columns + _by_cells(reach, sort, place) + span_where(reach, sort)
        kept[sort, order.exact] = selection
    return selection


def _no_selections(_: Reach) -> dict[tuple[str, bool], Sql]:
    return {}


def _by_cells(reach: Reach, sort: str, place: int) -> Sql:
    """Return the way to the records of a reach along the cells of one field."""
    return (
        Sql("cell w CROSS JOIN record r ON r.id = w.record WHERE")
        + Sql("w.owner = ? AND w.feed = ? AND w.field = ?", (OWNER, reach.feed.id, place))
        + limits_where(reach, without=sort)
    )


def _beside(reach: Reach, rows: Sequence[Row]) -> Iterator[tuple[Reach, Row]]:
    return ((reach, row) for row in rows)


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


def _rank(descending: bool, exact: bool) -> Callable[[tuple[Reach, Row]], Any]:
    """Return the key that orders rows of several reaches as each is ordered in itself."""

    def rank(row: tuple[Reach, Row]) -> tuple[Any, ...]:
        reach, (value, surrogate, *_) = row
        if exact and value is not None and not isinstance(value, str):
            value = number_key(value)
        parts = (isinstance(value, str), value if value is not None else 0)
        return value is None, _Ordered((*parts, reach.connection_id, surrogate), descending)

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
