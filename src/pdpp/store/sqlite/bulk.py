"""Bulk: many rows in one statement.

A statement for each row would take and leave the interpreter's lock each time, and so hold up the
thread that reads while another one writes.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from pdpp.store.tables.records.predicate import ABSENT, OWNER
from pdpp.store.tables.write.new_records import NewRecords

if TYPE_CHECKING:
    from pdpp.store.sqlite.opening import SqliteConnection

_MOST_VALUES = 1_024
"""How many values one statement takes: with more of them a row gets no cheaper, and the engine
remembers 72 bytes for each place of a statement that it may be asked again."""

_MOST_ROWS = 512
"""A statement of more rows would be longer than the 16 KB up to which statements are remembered."""

_INSERTION = re.compile(
    r"\s*((?:INSERT|REPLACE)[A-Z ]* INTO (\w+)\b.* VALUES) (\((?:\?, )*\?\))\s*", re.DOTALL
)
_LONG = frozenset({"long_posting", "long_value", "word_list"})
"""Tables whose rows are so long that each is given alone: the engine copies what it is given."""


class Insertion(NamedTuple):
    """A statement that adds a row, and how many values the row takes.

    ``row`` may name values that all rows share: they have numbers and come before all others.
    """

    head: str
    row: str
    width: int


_RECORD = Insertion(
    "INSERT INTO record (owner, feed, created, version, id, key, surrogate, emitted, time,"
    " field_set, digest, cells, data) VALUES",
    "(?1, ?2, ?3, ?3, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    9,
)
_CELL = Insertion("INSERT INTO cell VALUES", "(?1, ?2, ?3, ?, ?, ?)", 3)
_DATED = Insertion("INSERT INTO dated_cell VALUES", "(?1, ?2, ?, ?, ?)", 3)
_SAME_CELLS = """
    INSERT INTO cell
    SELECT ?1, ?2, same.column1, same.column2, r.surrogate, r.id
    FROM (VALUES {}) same
    CROSS JOIN record r INDEXED BY record_once
    WHERE r.owner = ?1 AND r.feed = ?2 AND r.version = ?3 AND r.stamps IS NULL
"""
"""The cells of fields that are the same in all records of a version, in the order of the table."""


_EMPTY_CELLS = """
    INSERT INTO cell
    SELECT ?1, ?2, ?3, ?4, r.surrogate, r.id
    FROM record r INDEXED BY record_surrogate
    WHERE r.owner = ?1 AND r.feed = ?2
    AND CASE WHEN json_valid(r.cells) THEN json_extract(r.cells, ?5) END IS NULL
    ORDER BY r.surrogate
"""


@lru_cache(maxsize=256)
def insertion_of(sql: str) -> Insertion | None:
    """Return a statement that adds one row of given values, None where it does anything else."""
    match = _INSERTION.fullmatch(sql)
    if match is None or match[2] in _LONG:
        return None
    return Insertion(match[1], match[3], match[3].count("?"))


@lru_cache(maxsize=512)
def _statement(insertion: Insertion, rows: int) -> str:
    return f"{insertion.head} {', '.join([insertion.row] * rows)}"


def insert_rows(
    db: "SqliteConnection",
    insertion: Insertion,
    rows: Iterable[Sequence[Any]],
) -> None:
    """Add rows, some at once."""
    _insert(db, insertion, [*chain.from_iterable(rows)], ())


def _insert(
    db: "SqliteConnection", insertion: Insertion, values: Sequence[Any], shared: Sequence[Any]
) -> None:
    """Add rows, of which ``values`` has one after the other, and all have the shared values."""
    width = insertion.width
    at = 0
    for count in _counts(len(values) // width, width):
        end = at + count * width
        db.execute(_statement(insertion, count), (*shared, *values[at:end]))
        at = end


def _counts(rows: int, width: int) -> Iterator[int]:
    """Yield how many rows each statement takes: few different numbers, so that few are parsed."""
    count = 1 << min(_MOST_ROWS, _MOST_VALUES // width).bit_length() - 1
    while rows:
        if count <= rows:
            rows -= count
            yield count
        else:
            count >>= 1


def insert_records(db: "SqliteConnection", new: NewRecords) -> None:
    """Add records, and their cells in the order of the table."""
    cells = [orjson.dumps(values).decode() for values in new.cells]
    rows = zip(*new.columns(cells), strict=True)
    _insert(db, _RECORD, [*chain.from_iterable(rows)], (OWNER, new.feed, new.version))
    if new.places:
        _insert_cells(db, new)
    if new.dated:
        _insert(db, _DATED, _beside(new.dated_columns()), (OWNER, new.feed))


def fill_cells(db: "SqliteConnection", feed: int, place: int) -> None:
    """Add an empty cell for each record of a feed that has no value at a place."""
    db.execute(_EMPTY_CELLS, (OWNER, feed, place, ABSENT, f"$[{place}]"))


def _insert_cells(db: "SqliteConnection", new: NewRecords) -> None:
    """Add the cells of records, field by field and in the order of the table."""
    same, ordered = new.cell_order()
    columns = [*zip(*new.cells, strict=True)]
    for place, order in ordered:
        stored = [ABSENT if value is None else value for value in columns[place]]
        values = _interleaved(order, stored, new.surrogates, new.ids)
        _insert(db, _CELL, values, (OWNER, new.feed, place))
    if same:
        shared = chain.from_iterable(
            (place, ABSENT if value is None else value) for place, value in same
        )
        db.execute(_same_cells(len(same)), (OWNER, new.feed, new.version, *shared))


@lru_cache(maxsize=64)
def _same_cells(fields: int) -> str:
    # The rows come out of the records: the engine works on alone, and another thread meanwhile.
    return _SAME_CELLS.format(", ".join(["(?4, ?5)"] + ["(?, ?)"] * (fields - 1)))


def _interleaved(order: Sequence[int], *columns: Sequence[Any]) -> list[Any]:
    """Return rows one after the other: what each column has, in some order."""
    return _beside([[*map(column.__getitem__, order)] for column in columns])


def _beside(columns: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the rows of some columns one after the other."""
    values: list[Any] = [None] * (len(columns[0]) * len(columns))
    for at, column in enumerate(columns):
        values[at :: len(columns)] = column
    return values
