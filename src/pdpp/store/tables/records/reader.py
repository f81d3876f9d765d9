"""Reading records: one, a page over several reaches, the related ones, and how many."""

from array import array
from collections.abc import Mapping, Sequence
from decimal import Decimal
from heapq import merge
from itertools import islice

import orjson

from pdpp.model.declaration import Kind
from pdpp.store.cell import CellValue
from pdpp.store.number_key import number_key, number_of
from pdpp.store.query import PAGE_BYTES, PagePosition, PageQuery, Record, RecordPage
from pdpp.store.scope import Condition, Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.positions import cell_position
from pdpp.store.tables.records.cell_walk import CellWalk, no_walks
from pdpp.store.tables.records.filled import filled_places
from pdpp.store.tables.records.long_values import has_long_values
from pdpp.store.tables.records.order import RecordOrder, order_key, with_reach
from pdpp.store.tables.records.predicate import (
    ABSENT,
    OWNER,
    Sql,
    after_decimal,
    exact_key,
    holds_exact,
    is_by_one_field,
    limits_where,
    records_where,
    span_where,
    spans,
    value_of,
)
from pdpp.store.tables.records.projection import (
    COLUMNS,
    DATA,
    CountBytes,
    Projectors,
    Row,
    fetched,
)
from pdpp.store.tables.records.related import RelatedReader
from pdpp.store.tables.records.visible_way import page_way, source

_BY_VALUE = "w.value {0}, w.surrogate {0}"

_KEPT_COUNTS = "SELECT f.id, f.record_count FROM carray(?) AS c CROSS JOIN feed f ON f.id = c.value"
NEWEST_OF = """
SELECT f.value ->> 0, (
  SELECT w.value FROM cell w
  WHERE w.owner = ? AND w.feed = f.value ->> 1 AND w.field = f.value ->> 2 AND w.value < ?
  ORDER BY w.value DESC LIMIT 1
) FROM json_each(?) f
"""


class RecordReader:
    """Reads records through one connection, under a snapshot its caller holds."""

    def __init__(
        self, db: TableReader, projector: Projectors, count: CountBytes, assumed: object
    ) -> None:
        """``assumed`` is the state that the snapshot is of, None where that is not known."""
        self._db = db
        self._projector = projector
        self._count = count
        self._assumed = assumed

    def record(self, reach: Reach, id: str, select: frozenset[str] | None) -> Record | None:
        """Return one record by what it is called under the reach, if the reach shows it."""
        row = self._row(reach, id)
        return None if row is None else self._projector(reach, select).record(row)

    def record_with(self, reach: Reach, id: str, field: str) -> Record | None:
        """Return one record with a field of it whole; its other long fields are left out."""
        row = self._row(reach, id)
        if row is None:
            return None
        # What stands in the row costs nothing to pass on, and to write it anew costs 20 µs: only
        # values that are kept beside the row are left out.
        select = frozenset({field}) if has_long_values(row[DATA]) else None
        return self._projector(reach, select).record(row)

    def by_surrogate(
        self, reach: Reach, surrogate: int, select: frozenset[str] | None = None
    ) -> Record | None:
        """Return one record by its surrogate, if the reach shows it."""
        row = self._row_where(reach, "surrogate", surrogate)
        return None if row is None else self._projector(reach, select).record(row)

    def by_number(self, reach: Reach, number: int, select: frozenset[str]) -> Record | None:
        """Return some fields of one record by its number, if the reach shows it."""
        row = self._row_where(reach, "id", number)
        return None if row is None else self._projector(reach, select).record(row)

    def _row(self, reach: Reach, id: str) -> Row | None:
        if reach.shows_key:
            # Not asked of the engine, which looks through the list only where there is a record:
            # the time would tell which keys exist that a grant does not list.
            is_listed = reach.keys is None or id in reach.keys
            return self._row_where(reach, "key", id) if is_listed else None
        surrogate = self._projector(reach, None).seal.open(id)
        return None if surrogate is None else self._row_where(reach, "surrogate", surrogate)

    def _row_where(self, reach: Reach, column: str, value: str | int) -> Row | None:
        # Only a request's own conditions change it: without any it is made once for a grant.
        one = reach.once(_one_record) if reach.unfiltered is None else _one_record(reach)
        sql = one[column]
        return next(self._db.execute(sql.text, (*sql.values, value)), None)

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
        ways = [with_reach(reach, rows) for reach, rows in walks]
        rows = list(islice(merge(*ways, key=order_key(query.descending, exact)), query.limit + 1))
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
        # The statements of a first page change only with a request's own conditions: without any
        # they are made once for a grant.
        kept = None
        if query.after is None and reach.unfiltered is None:
            kept = reach.once(no_walks)
            walk = self._still_good(reach, kept.get((query.sort, query.descending)))
            if walk is not None:
                kept[query.sort, query.descending] = walk
                return self._walked(reach, query, walk)
        sort = query.sort or reach.default_sort()
        place = cell_position(reach, sort) if sort is not None else None
        if sort is None or place is None:
            way = page_way(self._db, reach) if reach.restricted or reach.conditions else None
            return self._by_surrogate(reach, query, way)
        chosen = reach.keys is not None or _filtered_elsewhere(reach, sort)
        if chosen:
            way = page_way(self._db, reach)
            if way is not None:
                return self._sorted(reach, query, way, self._order(reach, sort, place, "r"))
        walk = self._along_cells(reach, query, sort, place)
        # Whether numbers are compared by their keys depends on what is stored; so does which way is
        # the shorter one, and to find that out takes three times as long as the page.
        if kept is not None and reach.stream.fields[sort].kind is not Kind.NUMBER:
            version = self._version(reach) if chosen else None
            walk = walk._replace(version=version, state=self._assumed)
            kept[query.sort, query.descending] = walk
        return self._walked(reach, query, walk)

    def _still_good(self, reach: Reach, walk: CellWalk | None) -> CellWalk | None:
        """Return a kept walk where it is still the way to go; None where there is none."""
        if walk is None or walk.is_good_in(self._assumed):
            return walk
        is_same = walk.version == self._version(reach)
        return walk._replace(state=self._assumed) if is_same else None

    def _version(self, reach: Reach) -> int:
        """Return the version of the last write to the feed of a reach."""
        return int(
            self._db.execute("SELECT version FROM feed WHERE id = ?", (reach.feed.id,)).get or 0
        )

    def _walked(self, reach: Reach, query: PageQuery, walk: CellWalk) -> list[Row]:
        """Return the present values in order, then the absent ones."""
        rows = [] if walk.present is None else self._run(query, walk.present)
        rows = walk.order.shown(rows)
        if len(rows) <= query.limit and walk.absent is not None:
            rows += self._run(query, walk.absent)
            if not rows and not filled_places(self._db, reach.feed.id, (walk.place,)):
                # Whoever walks has looked for a shorter way, or there is nothing to go past. To
                # look again would take as long, and tell whether hidden records fill the field.
                return self._by_surrogate(reach, query, None)
        return rows

    def _order(self, reach: Reach, sort: str, place: int, row: str) -> RecordOrder:
        """Return what records are sorted by: a value, or its key where that tells more."""
        value = Sql("w.value") if row == "w" else value_of(reach, sort)
        if holds_exact(self._db, reach, sort, place):
            return RecordOrder(exact_key(reach, place, value, row), exact=True)
        return RecordOrder(value, exact=False)

    def _along_cells(self, reach: Reach, query: PageQuery, sort: str, place: int) -> CellWalk:
        """Return the statements that walk along the cells of one field."""
        after, cells = query.after, _by_cells(reach, sort, place)
        order = self._order(reach, sort, place, "w")
        present = absent = None
        if after is None or after.value is not None:
            present = Sql("SELECT") + order.value + Sql(f"AS value, {COLUMNS} FROM") + cells
            present += span_where(reach, sort)
            if after is not None:
                present += self._keyset(query, reach, order, "w.surrogate")
            # Keys only sort what stands at one number: the index gives the order of those.
            by = "w.value {0}, value {0}, w.surrogate {0}" if order.exact else _BY_VALUE
            present = _page_of(query, present, by)
        limited = any(condition.field == sort for condition in reach.conditions)
        by_time = reach.time is not None and sort == reach.stream.consent_time_field
        if not limited and not by_time:
            absent = _select("NULL", cells) + Sql("AND w.value = ?", (ABSENT,))
            if after is not None and after.value is None:
                absent += self._surrogate_after(query, reach, "w.surrogate")
            absent = _page_of(query, absent, "w.surrogate {0}")
        return CellWalk(place, present, absent, order)

    def _sorted(self, reach: Reach, query: PageQuery, way: Sql, order: RecordOrder) -> list[Row]:
        """Return a narrow choice of records after sorting it by a value that is not the way in."""
        inner = Sql("SELECT") + order.value + Sql(f"AS value, {COLUMNS} FROM") + way
        sql = Sql("SELECT * FROM (") + inner + Sql(") r WHERE TRUE")
        if query.after is not None:
            if query.after.value is None:
                sql += Sql("AND value IS NULL") + self._surrogate_after(query, reach, "r.surrogate")
            else:
                sql += Sql("AND (value IS NULL OR (TRUE")
                named = RecordOrder(Sql("value"), order.exact)
                sql += self._keyset(query, reach, named, "r.surrogate") + Sql("))")
        by = "value IS NULL, value {0}, r.surrogate {0}"
        return order.shown(self._run(query, _page_of(query, sql, by)))

    def _by_surrogate(self, reach: Reach, query: PageQuery, way: Sql | None) -> list[Row]:
        """Return records in the order of their random numbers; ``way`` leads to them if given."""
        sql = _select("NULL", way or Sql("record r WHERE") + records_where(reach))
        if query.after is not None and query.after.value is None:
            sql += self._surrogate_after(query, reach, "r.surrogate")
        return self._run(query, _page_of(query, sql, "r.surrogate {0}"))

    def _keyset(self, query: PageQuery, reach: Reach, order: RecordOrder, surrogate: str) -> Sql:
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

    def _run(self, query: PageQuery, sql: Sql) -> list[Row]:
        """Return as many rows as a page can need, and one more."""
        rows = self._db.execute(sql.text, (*sql.values, query.limit + 1))
        return fetched(rows, self._count)

    def related(self, reach: Reach, field: str) -> RelatedReader:
        """Return what reads the records of a reach by the values of a field."""
        return RelatedReader(self._db, reach, field, self._projector, self._count)

    def count(self, reach: Reach) -> int:
        """Return how many records a reach shows."""
        if not reach.restricted and not reach.conditions:
            kept = "SELECT record_count FROM feed WHERE id = ?"
            row = next(self._db.execute(kept, (reach.feed.id,)), None)
            return 0 if row is None else int(row[0])
        ways = spans(reach)
        if len(ways) == 1 and reach.keys is None and is_by_one_field(reach):
            cells = ways[0].where
            sql = f"SELECT count(*) FROM {ways[0].table} w WHERE {cells.text}"
            return int(self._db.execute(sql, cells.values).get)
        rows = source(self._db, reach)
        return int(self._db.execute(f"SELECT count(*) {rows.text}", rows.values).get)

    def counts(self, reaches: Sequence[Reach]) -> dict[int, int]:
        """Return how many records each reach shows, by the number of its feed."""
        whole = array("q", (r.feed.id for r in reaches if not r.restricted and not r.conditions))
        # Only these: what a store has beside them is hidden, and costs nothing.
        kept = dict(self._db.execute(_KEPT_COUNTS, (self._db.array(whole),))) if whole else {}
        # A feed that was removed since the caller looked at the catalogue holds nothing.
        return {
            reach.feed.id: self.count(reach)
            if reach.restricted or reach.conditions
            else kept.get(reach.feed.id, 0)
            for reach in reaches
        }

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
        rows = self._walk(reach, PageQuery((reach,), 1, sort=field))
        return rows[0][0] if rows else None


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


def _one_record(reach: Reach) -> Mapping[str, Sql]:
    """Return the selections of a single record, by the column that names it."""
    selection = Sql(f"SELECT NULL, {COLUMNS} FROM record r WHERE") + records_where(reach)
    return {column: selection + Sql(f"AND r.{column} = ?") for column in ("key", "surrogate", "id")}


def _page_of(query: PageQuery, sql: Sql, order: str) -> Sql:
    """Return a selection in the order of a query, up to how many rows it has."""
    direction = order.format("DESC" if query.descending else "ASC")
    return sql + Sql(f"ORDER BY {direction} LIMIT ?")


def _by_cells(reach: Reach, sort: str, place: int) -> Sql:
    """Return the way to the records of a reach along the cells of one field."""
    return (
        Sql("cell w CROSS JOIN record r ON r.id = w.record WHERE")
        + Sql("w.owner = ? AND w.feed = ? AND w.field = ?", (OWNER, reach.feed.id, place))
        + limits_where(reach, without=sort)
    )


def _filtered_elsewhere(reach: Reach, sort: str) -> bool:
    """Tell whether the records are limited by a field other than the one they are sorted by."""
    if any(condition.field != sort for condition in reach.conditions):
        return True
    return reach.time is not None and reach.stream.consent_time_field != sort
