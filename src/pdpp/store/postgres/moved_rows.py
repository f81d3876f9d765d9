"""Rows of PostgreSQL for a move, given and taken as the embedded engine has them."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from pdpp.store.postgres.connection import as_cells
from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.postgres.dialect import cells
from pdpp.store.postgres.owner_work import note_work
from pdpp.store.postgres.schema import NUMBERED, tables
from pdpp.store.postgres.variant import INDEXED_BYTES, decode, encode, index_key
from pdpp.store.tables.moving import MovedTable, Row, forget_state, keep_state, recall_state

_OWN = ("owner", "whole")
"""Columns that say whose a row is, or the same as another: each engine has its own."""

_NUMBER = """
    INSERT INTO counter (name, value) VALUES ($1, $2)
    ON CONFLICT (owner, name) DO UPDATE SET value = greatest(counter.value, excluded.value)
"""


def moved_tables() -> list[MovedTable]:
    """Return all tables, each after those that it refers to."""
    return [
        MovedTable(
            table.name,
            tuple(name for name in table.columns if name not in _OWN),
            tuple(name for name in table.key if name not in _OWN),
        )
        for table in tables().values()
    ]


class PostgresSide:
    """The rows of an owner in PostgreSQL."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def reading(self) -> AbstractContextManager[None]:
        """Hold one moment of the store."""
        return self._database.reading(None)

    def rows(self, table: MovedTable, after: Sequence[Any] | None, most: int) -> list[Row]:
        """Return rows in the order of their keys, from the one after a key."""
        names, key = table.columns, table.key
        # The longest cells are kept beside what an index has of them.
        asked = ["coalesce(whole, value)" if _is_cell(table, name) else name for name in names]
        text = f'SELECT {", ".join(asked)} FROM "{table.name}"'
        values: list[Any] = []
        if after is not None:
            places = ", ".join(f"${number}" for number in range(1, len(key) + 1))
            text += f" WHERE ({', '.join(key)}) > ({places})"
            values = [_indexed(table, name, value) for name, value in zip(key, after, strict=True)]
        if key:
            text += f" ORDER BY {', '.join(key)} LIMIT {most}"
        with self._database.snapshot() as db:
            return [_read(table, names, row) for row in db.rows(text, values)]

    def add(self, table: MovedTable, rows: Sequence[Row], state: bytes) -> None:
        """Add rows, and keep with them how far the move is."""
        names = table.columns
        whole = ["whole"] if table.name == "cell" else []
        places = ", ".join(f"${number}" for number in range(1, len(names) + len(whole) + 1))
        text = f"INSERT INTO {_quoted(table)} ({', '.join([*names, *whole])}) VALUES ({places})"
        with self._database.writing() as db:
            db.add_rows(text, [_written(table, names, row) for row in rows])
            if table.name in NUMBERED:
                db.run(_NUMBER, (table.name, max(row[names.index("id")] for row in rows)))
            keep_state(db, state)

    def state(self) -> bytes | None:
        """Return how far a move into this store is."""
        return recall_state(self._database.reader)

    def is_empty(self, tables: Sequence[MovedTable]) -> bool:
        """Tell whether nothing was ever stored here."""
        return not any(self.rows(table, None, 1) for table in tables)

    def finish(self) -> None:
        """Forget that there was a move."""
        with self._database.writing() as db:
            forget_state(db)
            note_work(db)


def _quoted(table: MovedTable) -> str:
    """Return the name of a table as a statement takes it; one is a word of the language."""
    return '"grant"' if table.name == "grant" else table.name


def _is_cell(table: MovedTable, name: str) -> bool:
    return table.name == "cell" and name == "value"


def _indexed(table: MovedTable, name: str, value: Any) -> Any:
    """Return a value of a key as an index has it."""
    return index_key(value) if name in tables()[table.name].mixed else value


def _written(table: MovedTable, names: Sequence[str], row: Row) -> list[Any]:
    """Return the values of a row as PostgreSQL keeps them."""
    values: list[Any] = []
    for name, value in zip(names, row, strict=True):
        if table.name == "record" and name == "cells":
            values.append(cells(value))
        elif name in tables()[table.name].mixed:
            values.append(index_key(value) if _is_cell(table, name) else encode(value))
        else:
            values.append(value)
    if table.name == "cell":
        whole = encode(row[names.index("value")])
        values.append(whole if whole is not None and len(whole) > INDEXED_BYTES else None)
    return values


def _read(table: MovedTable, names: Sequence[str], row: Row) -> Row:
    """Return the values of a row as the embedded engine keeps them."""
    return tuple(
        as_cells(value)
        if table.name == "record" and name == "cells"
        else decode(value)
        if name in tables()[table.name].mixed
        else value
        for name, value in zip(names, row, strict=True)
    )
