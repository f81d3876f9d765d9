"""Bulk: the new records of a batch and their cells, written in a few statements."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from pdpp.store.cell import CellValue
from pdpp.store.postgres.values import BYTEA, INT8, TEXT, array_of
from pdpp.store.postgres.variant import EXACT, TEXT_KIND, encode, encoded_numbers
from pdpp.store.tables.numbering import record_number
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.write.new_records import NewRecords

if TYPE_CHECKING:
    from pdpp.store.postgres.connection import PostgresConnection

_RECORDS = """
    INSERT INTO record (
      id, owner, feed, key, surrogate, created, emitted, version, time, field_set, digest, cells,
      data
    )
    SELECT n.id, $1, $2, n.key, n.surrogate, $3, n.emitted, $3, n.time, n.field_set, n.digest,
           n.cells::bytea[], n.data
    FROM unnest(
      $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
      $10::text[], $11::text[], $12::bytea[]
    ) AS n(id, key, surrogate, emitted, time, field_set, digest, cells, data)
"""

_CELLS = """
    INSERT INTO cell (owner, feed, field, value, surrogate, record, whole)
    SELECT $1, $2, c.place - 1, coalesce(index_key(c.value), '\\x03'::bytea), r.surrogate, r.id,
           beyond_index(c.value)
    FROM record r, unnest(r.cells) WITH ORDINALITY AS c(value, place)
    WHERE r.owner = $1 AND r.id BETWEEN $3 AND $4 AND c.place - 1 = ANY ($5::bigint[])
"""

_EMPTY_CELLS = """
    INSERT INTO cell (owner, feed, field, value, surrogate, record)
    SELECT $1, $2, $3, '\\x03'::bytea, r.surrogate, r.id
    FROM record r WHERE r.owner = $1 AND r.id >= $4 AND r.id < $5 AND r.cells[$3 + 1] IS NULL
"""
_FILLED_AT_ONCE = 100_000
"""How many numbers of records one statement goes through: each has an end that the server sets,
and a feed may have millions."""

_DATED = """
    INSERT INTO dated_cell (owner, feed, mark, time, sequence)
    SELECT $1, $2, n.mark, n.time, n.sequence
    FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS n(mark, time, sequence)
"""

_KINDS = (INT8, TEXT, INT8, INT8, INT8, INT8, TEXT, TEXT, BYTEA)


def insert_records(db: "PostgresConnection", new: NewRecords) -> None:
    """Add records, and from them their cells, while the caller makes their words ready."""
    cells = cell_literals(new.cells)
    columns = zip(new.columns(cells), _KINDS, strict=True)
    arrays = [array_of(column, kind) for column, kind in columns]
    statements: list[tuple[str, Sequence[Any]]] = [
        (_RECORDS, (OWNER, new.feed, new.version, *arrays))
    ]
    if new.places:
        span = (min(new.ids), max(new.ids))
        statements.append((_CELLS, (OWNER, new.feed, *span, list(new.places))))
    if new.dated:
        dated = [array_of(column, INT8) for column in new.dated_columns()]
        statements.append((_DATED, (OWNER, new.feed, *dated)))
    db.run_meanwhile(statements)


def fill_cells(db: "PostgresConnection", feed: int, place: int) -> None:
    """Add an empty cell for each record of a feed that has no value at a place."""
    ((sequence,),) = db.rows("SELECT next_sequence FROM feed WHERE id = $1", (feed,))
    edges = range(record_number(feed, 0), record_number(feed, sequence), _FILLED_AT_ONCE)
    statements = [
        (_EMPTY_CELLS, (OWNER, feed, place, first, first + _FILLED_AT_ONCE)) for first in edges
    ]
    if statements:
        db.run_meanwhile(statements)


def cell_literals(rows: Sequence[Sequence[CellValue]]) -> list[str]:
    """Return the cells of each of some records of a feed as PostgreSQL reads an array of bytes."""
    columns = [_literals(column) for column in zip(*rows, strict=True)]
    if not columns:
        return ["{}"] * len(rows)
    return [f"{{{','.join(row)}}}" for row in zip(*columns, strict=True)]


def _literals(column: Sequence[CellValue]) -> list[str]:
    """Return the values of one field as items of arrays: mostly all of them are of one kind."""
    kinds = set(map(type, column))
    if kinds == {str}:
        head = f'"\\\\x{TEXT_KIND.hex()}'
        return [f'{head}{value.encode().hex()}"' for value in cast(Sequence[str], column)]
    if kinds == {int}:
        numbers = cast(Sequence[int], column)
        if min(numbers) >= 0 and max(numbers) <= EXACT:
            return [f'"\\\\x{value.hex()}"' for value in encoded_numbers(numbers)]
    return [_item(encode(value)) for value in column]


def array_literal(values: Sequence[bytes | None]) -> str:
    """Return cells as PostgreSQL reads an array of bytes."""
    # An array of arrays would have to be of one length; a text for each record is unfolded there.
    return "{" + ",".join(map(_item, values)) + "}"


def _item(value: bytes | None) -> str:
    return "NULL" if value is None else f'"\\\\x{value.hex()}"'
