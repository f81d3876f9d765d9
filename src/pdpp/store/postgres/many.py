"""Many rows in one statement: what is written for each of some rows, given as arrays of columns.

A statement for each row is a message for each row, even where they are sent in one go: 60 µs, of
which the row itself takes five. Given as arrays, all of them are one statement.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pdpp.store.postgres.bulk import array_literal
from pdpp.store.postgres.schema import tables
from pdpp.store.postgres.values import (
    BYTEA,
    BYTEA_ARRAY,
    INT8,
    TEXT,
    Packed,
    array_of,
)
from pdpp.store.tables.records.predicate import OwnerId

_NAMES = {BYTEA: "bytea", INT8: "bigint", TEXT: "text"}
_INSERTION = re.compile(r"^\s*INSERT INTO (\w+)(?: \(([^)]*)\))?\s+VALUES \(([^()]*)\)", re.DOTALL)
_CONFLICT = re.compile(r"ON CONFLICT \(([^)]*)\) DO UPDATE")
_PLACE = re.compile(r"\$(\d+)")
_INNER = ") AS v"
"""Where the values of a statement that has them in an inner query end."""


class ManyRows(NamedTuple):
    """A statement for many rows, the types of its columns, and which of them tell rows apart."""

    text: str
    types: Sequence[int]
    key: Sequence[int]

    def columns(self, rows: Sequence[Sequence[Any]], owner: int | None) -> list[Any]:
        """Return rows as the statement takes them: an array for each column."""
        if self.key:
            # One statement may not write a row twice; of several the last one stays.
            rows = list({tuple(row[at] for at in self.key): row for row in rows}.values())
        columns = zip(*rows, strict=True)
        return [
            _array(column, type_, owner) for column, type_ in zip(columns, self.types, strict=True)
        ]


def _array(column: Sequence[Any], type_: int, owner: int | None) -> Packed:
    if type_ == BYTEA_ARRAY:
        return array_of([array_literal(value) for value in column], TEXT)
    # The one owner that statements name is whoever the session serves.
    whose = [owner] * len(column) if isinstance(column[0], OwnerId) else column
    return array_of(whose, type_)


def many_rows(text: str, types: Sequence[int]) -> ManyRows | None:
    """Return a statement that does for many rows what another does for one; None where none can.

    ``types`` are those of its places.
    """
    if not types or any(type_ not in _NAMES and type_ != BYTEA_ARRAY for type_ in types):
        return None
    given = ", ".join(
        f"${place}::{_NAMES.get(type_, 'text')}[]" for place, type_ in enumerate(types, 1)
    )
    names = ", ".join(f"c{place}" for place in range(1, len(types) + 1))
    rows = f"unnest({given}) AS g({names})"

    def place(match: re.Match[str]) -> str:
        cast = "::bytea[]" if types[int(match[1]) - 1] == BYTEA_ARRAY else ""
        return f"g.c{match[1]}{cast}"

    written = _PLACE.sub(place, text).strip()
    if written.startswith("DELETE FROM") and written.count("WHERE") == 1:
        return ManyRows(written.replace("WHERE", f"USING {rows} WHERE"), types, ())
    if written.startswith("UPDATE") and written.count("WHERE") == 1:
        return ManyRows(written.replace("WHERE", f"FROM {rows} WHERE"), types, ())
    if written.startswith("INSERT") and "+ excluded." not in written:
        return _inserting(text, written, types, rows)
    return None


def _inserting(text: str, written: str, types: Sequence[int], rows: str) -> ManyRows | None:
    if _INNER in written:
        return ManyRows(written.replace(_INNER, f" FROM {rows}{_INNER}"), types, ())
    insertion, spread = _INSERTION.match(text), _INSERTION.match(written)
    if insertion is None or spread is None:
        return None
    head = written[: spread.start(3)]
    head = head[: head.rindex("VALUES")]
    rest = written[spread.end(3) + 1 :]
    return ManyRows(f"{head}SELECT {spread[3]} FROM {rows}{rest}", types, _key(insertion, text))


def _key(insertion: re.Match[str], text: str) -> Sequence[int]:
    """Return the places, from 0, of the columns by which an insertion replaces a row."""
    conflict = _CONFLICT.search(text)
    if conflict is None:
        return ()
    named = insertion[2].split(", ") if insertion[2] else list(tables()[insertion[1]].columns)
    values = [value.strip() for value in insertion[3].split(",")]
    places = dict(zip(named, values, strict=False))
    return [
        int(place[1]) - 1
        for name in conflict[1].split(", ")
        if (place := _PLACE.fullmatch(places.get(name, ""))) is not None
    ]
