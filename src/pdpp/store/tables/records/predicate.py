"""Predicates: a reach becomes SQL, written from places and kinds, never from a caller's text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from pdpp.model.declaration import TIMES, Kind
from pdpp.model.grant import Interval
from pdpp.store.cell import CellValue, text_cell
from pdpp.store.number_key import Number, near, number_key
from pdpp.store.scope import Condition, Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.numbering import record_number
from pdpp.store.tables.positions import cell_position, indexed
from pdpp.store.tables.records.dated import SECOND, mark_of


class OwnerId(int):
    """The number of an owner, told apart from other numbers that are bound to a statement.

    An engine that serves many owners puts the number of the session's own in its place.
    """


OWNER = OwnerId(1)
"""The one owner that a store serves."""

ABSENT = b""
"""How an absent value stands in a cell: it sorts after every number and text."""

_OPERATORS = {"eq": "=", "gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}
_SELECTIVE = 2_000
"""Up to so many rows are read and sorted; more are walked in the order that an index has."""

_KEY = "SELECT {} FROM exact_number e WHERE e.owner = ? AND e.feed = ? AND e.field = ?"
"""A decimal that no number of the engine is has a key beside its cell, which holds the nearest."""

_JSON_TYPES = {
    Kind.TEXT: "'text'",
    Kind.DATE_TIME: "'text'",
    Kind.DATE: "'text'",
    Kind.BOOLEAN: "'true', 'false'",
    Kind.INTEGER: "'integer', 'real'",
    Kind.NUMBER: "'integer', 'real'",
}


class Sql:
    """A piece of SQL with its values. A read puts many together: to freeze each costs more."""

    __slots__ = ("text", "values")

    def __init__(self, text: str, values: tuple[Any, ...] = ()) -> None:
        self.text = text
        self.values = values

    def __add__(self, other: "Sql") -> "Sql":
        return Sql(f"{self.text} {other.text}", self.values + other.values)


@dataclass(frozen=True, slots=True)
class CellRange:
    """The rows ``w`` of an index of cells that meet a condition: an indexed way into a reach.

    ``number`` is that of the record which a row leads to.
    """

    table: str
    number: Sql
    where: Sql


def records_where(reach: Reach) -> Sql:
    """Return the whole condition on record rows ``r``: the feed, the grant and the request."""
    return Sql("r.owner = ? AND r.feed = ?", (OWNER, reach.feed.id)) + limits_where(reach)


def limits_where(reach: Reach, without: str | None = None) -> Sql:
    """Return what limits the records of a feed, as further conditions on record rows ``r``.

    ``without`` names a field whose conditions the caller has put elsewhere.
    """
    if reach.time is not None and without == reach.stream.consent_time_field:
        sql = reach.once(_keys_where)
    else:
        sql = reach.once(_grant_where)
    return sql + _conditions_where(reach, without)


def _grant_where(reach: Reach) -> Sql:
    """Return the limits that a grant sets."""
    return _time_where(reach) + _keys_where(reach)


def _time_where(reach: Reach) -> Sql:
    sql = Sql("")
    if reach.time is not None:
        if reach.time.since is not None:
            sql += Sql("AND r.time >= ?", (reach.time.since,))
        if reach.time.until is not None:
            sql += Sql("AND r.time < ?", (reach.time.until,))
        sql += Sql("AND r.time IS NOT NULL")
    return sql


def _keys_where(reach: Reach) -> Sql:
    if reach.keys is None:
        return Sql("")
    return Sql("AND r.key IN (SELECT value FROM json_each(?))", (_key_list(reach.keys),))


def _conditions_where(reach: Reach, without: str | None = None) -> Sql:
    sql = Sql("")
    for condition in reach.conditions:
        if condition.field != without:
            sql += Sql("AND") + _condition(reach, condition)
    return sql


def _key_list(keys: Iterable[str]) -> str:
    """Return keys as one value: the statement is the same, and kept, however many there are."""
    return orjson.dumps(sorted(keys)).decode()


def keyed_rows(table: str, alias: str, feed: int, keys: Iterable[str]) -> Sql:
    """Return what follows ``FROM`` for the rows of a feed that have one of some keys.

    CROSS JOIN fixes the order: each key is looked up. To go through a feed instead, because its
    rows are believed to be few, would be to go through what a grant hides.
    """
    return Sql(
        f"json_each(?) AS k CROSS JOIN {table} {alias} INDEXED BY {table}_key"
        f" ON {alias}.owner = ? AND {alias}.feed = ? AND {alias}.key = k.value",
        (_key_list(keys), OWNER, feed),
    )


def along_keys(reach: Reach) -> Sql:
    """Return what follows ``FROM`` for the record rows ``r`` of a reach by the keys it lists."""
    return reach.once(_granted_by_key) + _conditions_where(reach)


def _granted_by_key(reach: Reach) -> Sql:
    rows = keyed_rows("record", "r", reach.feed.id, reach.keys or ())
    return rows + Sql("WHERE 1") + _time_where(reach)


def value_of(reach: Reach, field: str) -> Sql:
    """Return the SQL value of a visible field of record ``r``."""
    place = cell_position(reach, field)
    if place is not None:
        # A place is a number of ours; names of fields reach the engine as bound values only.
        return Sql(f"json_extract(r.cells, '$[{place:d}]')")
    path = "$." + orjson.dumps(field).decode()
    kind = reach.stream.fields[field].kind
    if kind is Kind.NUMBER:
        # Not indexed as a number now; the text of the JSON has all digits.
        return Sql("pdpp_number_key(CAST(r.data AS TEXT) -> ?)", (path,))
    sql = Sql(
        f"CASE WHEN json_type(CAST(r.data AS TEXT), ?) IN ({_JSON_TYPES[kind]})"
        " THEN json_extract(CAST(r.data AS TEXT), ?) END",
        (path, path),
    )
    return Sql("pdpp_instant(") + sql + Sql(")") if kind in TIMES else sql


def _condition(reach: Reach, condition: Condition) -> Sql:
    value = value_of(reach, condition.field)
    bound = condition.value
    if condition.kind is Kind.NUMBER and not isinstance(bound, str):
        place = cell_position(reach, condition.field)
        if place is not None:
            return _compared(reach, place, value, "r", condition)
        bound = number_key(bound)
    elif isinstance(bound, str):
        bound = text_cell(bound)
    return value + Sql(f"{_OPERATORS[condition.operator]} ?", (bound,))


def spans(reach: Reach) -> list[CellRange]:
    """Return the indexed ways into a reach that its time range and its conditions offer.

    Those of a reach that is limited in time lead to nothing outside that time: to look at what a
    grant hides takes time, and how many hidden records meet a condition must cost nothing.
    """
    if reach.time is not None:
        return [*_dated_spans(reach), time_span(reach)]
    fields = dict.fromkeys(condition.field for condition in reach.conditions)
    places = {field: cell_position(reach, field) for field in fields}
    return [_field_span(reach, at, field) for field, at in places.items() if at is not None]


def is_by_one_field(reach: Reach) -> bool:
    """Tell whether everything that limits a reach is about one field."""
    fields = {condition.field for condition in reach.conditions}
    if reach.time is not None:
        fields.add(reach.stream.consent_time_field or "")
    return len(fields) == 1


def time_span(reach: Reach) -> CellRange:
    """Return the cells of the event time inside the time of a grant."""
    consent = reach.stream.consent_time_field
    if consent is None:
        raise TypeError("a time limits streams that have an event time")
    # The time of a grant holds for hidden times too, so this asks the feed and not the reach.
    return _field_span(reach, indexed(reach.feed).cells[consent][0], consent)


def _field_span(reach: Reach, place: int, field: str) -> CellRange:
    return _cells(reach, place, span_where(reach, field))


def value_span(reach: Reach, place: int, value: CellValue) -> CellRange:
    """Return the cells that hold a value, those of hidden records among them."""
    return _cells(reach, place, Sql("AND w.value = ?", (value,)))


def _cells(reach: Reach, place: int, where: Sql) -> CellRange:
    feed = (OWNER, reach.feed.id, place)
    rows = Sql("w.owner = ? AND w.feed = ? AND w.field = ?", feed) + where
    return CellRange("cell", Sql("w.record"), rows)


def _dated_spans(reach: Reach) -> Iterator[CellRange]:
    for condition in reach.conditions:
        place = cell_position(reach, condition.field)
        if condition.operator == "eq" and place is not None:
            span = dated_span(reach, place, condition.value)
            if span is not None:
                yield span


def dated_span(reach: Reach, place: int, value: str | float | Decimal) -> CellRange | None:
    """Return the dated cells of a value inside the time of a grant; None where there are none."""
    if reach.time is None or place not in indexed(reach.feed).dated:
        return None
    mark = mark_of(place, text_cell(value) if isinstance(value, str) else value)
    rows = Sql("w.owner = ? AND w.feed = ? AND w.mark = ?", (OWNER, reach.feed.id, mark))
    number = Sql("w.sequence + ?", (record_number(reach.feed.id, 0),))
    return CellRange("dated_cell", number, rows + _seconds_where(reach, reach.time))


def _seconds_where(reach: Reach, time: Interval) -> Sql:
    """Return the seconds that a grant's time and a request's conditions on it lie in."""
    sql = Sql("")
    if time.since is not None:
        sql += Sql("AND w.time >= ?", (time.since // SECOND,))
    if time.until is not None:
        sql += Sql("AND w.time < ?", (-(-time.until // SECOND),))
    for condition in reach.conditions:
        if condition.field == reach.stream.consent_time_field and reach.compares(condition.field):
            sql += _second_where(condition)
    return sql


def _second_where(condition: Condition) -> Sql:
    if not isinstance(condition.value, int):
        raise TypeError("times are compared with times")
    second, sql = condition.value // SECOND, Sql("")
    if condition.operator in ("eq", "gte", "gt"):
        sql += Sql("AND w.time >= ?", (second,))
    if condition.operator in ("eq", "lte", "lt"):
        sql += Sql("AND w.time <= ?", (second,))
    return sql


def span_where(reach: Reach, field: str) -> Sql:
    """Return what a reach says about one field, as further conditions on its cells ``w``."""
    sql = Sql("")
    for condition in reach.conditions:
        if condition.field == field:
            sql += Sql("AND") + _cell_condition(reach, condition)
    if reach.time is not None and field == reach.stream.consent_time_field:
        if reach.time.since is not None:
            sql += Sql("AND w.value >= ?", (reach.time.since,))
        if reach.time.until is not None:
            sql += Sql("AND w.value < ?", (reach.time.until,))
    return sql + Sql("AND w.value < ?", (ABSENT,))


def _cell_condition(reach: Reach, condition: Condition) -> Sql:
    place = cell_position(reach, condition.field)
    if condition.kind is Kind.NUMBER and place is not None:
        return _compared(reach, place, Sql("w.value"), "w", condition)
    bound = condition.value
    if isinstance(bound, str):
        bound = text_cell(bound)
    return Sql(f"w.value {_OPERATORS[condition.operator]} ?", (bound,))


def shortest_span(db: TableReader, reach: Reach, most: int) -> CellRange | None:
    """Return the indexed way into a reach that has the fewest rows, if they are at most so many."""
    best: CellRange | None = None
    for span in spans(reach):
        size = count_cells(db, span, most + 1)
        if size <= most:
            best, most = span, size - 1
    return best


def count_cells(db: TableReader, span: CellRange, most: int) -> int:
    """Return how many rows a way has, without looking at more than so many."""
    rows = f"SELECT 1 FROM {span.table} w WHERE {span.where.text} LIMIT ?"
    sql = f"SELECT count(*) FROM ({rows}) AS counted"
    return int(db.execute(sql, (*span.where.values, most)).get)


def narrow_way(db: TableReader, reach: Reach) -> Sql | None:
    """Return what follows ``FROM`` for the record rows ``r`` of a reach, if they are but few."""
    if _by_key(reach):
        return along_keys(reach)
    span = shortest_span(db, reach, _SELECTIVE)
    return None if span is None else along_span(span, reach)


def _by_key(reach: Reach) -> bool:
    """Tell whether a grant lists so few records that they are best looked up one by one."""
    return reach.keys is not None and len(reach.keys) <= _SELECTIVE


def along_span(span: CellRange, reach: Reach) -> Sql:
    """Return what follows ``FROM`` for the record rows ``r`` of a reach along a way."""
    # CROSS JOIN fixes the order: the planner, which has no statistics, might walk the feed instead.
    way = Sql(f"{span.table} w CROSS JOIN record r ON r.id =") + span.number
    return way + Sql("WHERE") + span.where + limits_where(reach)


def holds_exact(db: TableReader, reach: Reach, field: str, place: int | None) -> bool:
    """Tell whether a field of a reach may hold decimals that no number of the engine is."""
    if place is None or reach.stream.fields[field].kind is not Kind.NUMBER:
        return False
    sql = _KEY.format("1") + " LIMIT 1"
    return next(db.execute(sql, (OWNER, reach.feed.id, place)), None) is not None


def exact_key(reach: Reach, place: int, value: Sql, row: str) -> Sql:
    """Return the key of a value of the record that a row, named by its alias, is of."""
    known = Sql(f"coalesce(({_KEY.format('e.key')} AND e.surrogate = {row}.surrogate),")
    of_feed = Sql("", (OWNER, reach.feed.id, place))
    return known + of_feed + Sql("pdpp_number_key(") + value + Sql("))")


def _compared(reach: Reach, place: int, value: Sql, row: str, condition: Condition) -> Sql:
    """Return a comparison with a number; ``row`` is the alias of a cell or a record."""
    operator, bound = condition.operator, condition.value
    if isinstance(bound, str):
        raise TypeError("numbers are compared with numbers")
    nearest, sign = near(bound), _OPERATORS[operator]
    # Of a value that is equal to the nearest number, its key decides where it has one.
    known = _KEY.format(f"e.key {sign} ?") + f" AND e.surrogate = {row}.surrogate"
    tie = Sql(
        f"coalesce(({known}), ?)",
        (number_key(bound), OWNER, reach.feed.id, place, _meets(nearest, operator, bound)),
    )
    if operator == "eq":
        return value + Sql("= ? AND", (nearest,)) + tie
    wide = Sql(f"{sign.rstrip('=')}= ? AND (", (nearest,))
    return value + wide + value + Sql("<> ? OR", (nearest,)) + tie + Sql(")")


def _meets(number: Number, operator: str, bound: Number) -> bool:
    """Tell whether a number that has no key of its own compares so with a bound."""
    one, other = number_key(number), number_key(bound)
    if operator == "eq":
        return one == other
    return (
        one > other
        if operator == "gt"
        else one >= other
        if operator == "gte"
        else (one < other if operator == "lt" else one <= other)
    )


def after_decimal(value: Sql, bound: Decimal, descending: bool) -> Sql:
    """Return what follows a decimal among values of which none has a key."""
    operator = "lt" if descending else "gt"
    reached = "=" if _meets(near(bound), operator, bound) else ""
    return value + Sql(f"{_OPERATORS[operator]}{reached} ?", (near(bound),))
