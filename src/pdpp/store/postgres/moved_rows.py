"""The two sides of a move: rows of either engine, as the embedded one has them."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import orjson

from pdpp.store.postgres.connection import as_cells
from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.postgres.dialect import cells
from pdpp.store.postgres.moving import MOVE_SETTING, MovedTable, Row, plain
from pdpp.store.postgres.schema import NUMBERED, RECEIPT_NAMES, tables
from pdpp.store.postgres.variant import INDEXED_BYTES, decode, encode, index_key
from pdpp.store.sqlite.database import SqliteDatabase
from pdpp.store.sqlite.opening import SqliteConnection
from pdpp.store.tables.records.predicate import OWNER

_OWN = ("owner", "whole")
"""Columns that say whose a row is, or the same as another: each engine has its own."""

_STATE = "SELECT value FROM setting WHERE owner = ? AND name = ?"
_KEEP = "INSERT OR REPLACE INTO setting VALUES (?, ?, ?)"
_FORGET = "DELETE FROM setting WHERE owner = ? AND name = ?"
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


class SqliteSide:
    """The rows of an embedded store: its file, and that of its receipts."""

    def __init__(self, database: SqliteDatabase, receipts: SqliteConnection) -> None:
        self._database = database
        self._receipts = receipts

    def reading(self) -> AbstractContextManager[None]:
        """Hold one moment of the store; receipts are only ever added to."""
        return self._database.reading(None)

    def rows(self, table: MovedTable, after: Sequence[Any] | None, most: int) -> list[Row]:
        """Return rows in the order of their keys, from the one after a key."""
        key = table.key
        text = f'SELECT {", ".join(table.columns)} FROM "{table.name}"'
        if after is not None:
            places = ", ".join("?" * len(key))
            text += f" WHERE ({', '.join(key)}) > ({places})"
        if key:
            text += f" ORDER BY {', '.join(key)} LIMIT {most}"
        db = self._receipts if table.name in RECEIPT_NAMES else self._database.reader
        rows = db.execute(text, tuple(after or ())).fetchall()
        if table.name != "record":
            return rows
        at = table.columns.index("cells")
        return [(*row[:at], _same_cells(str(row[at])), *row[at + 1 :]) for row in rows]

    def add(self, table: MovedTable, rows: Sequence[Row], state: bytes) -> None:
        """Add rows, and keep with them how far the move is."""
        names = table.columns
        owned = table.name not in RECEIPT_NAMES and self._is_owned(table)
        places = ", ".join("?" * (len(names) + owned))
        listed = ", ".join([*names, *(["owner"] if owned else [])])
        text = f'INSERT OR REPLACE INTO "{table.name}" ({listed}) VALUES ({places})'
        whose = (OWNER,) if owned else ()
        with self._database.writing() as db:
            if table.name in RECEIPT_NAMES:
                # Another file: written before the state says so, and again where that was lost.
                with self._receipts:
                    if not table.key:
                        self._receipts.execute(f'DELETE FROM "{table.name}"')
                    self._receipts.executemany(text, rows)
            else:
                db.executemany(text, [(*row, *whose) for row in rows])
            keep_state(db, state)

    def _is_owned(self, table: MovedTable) -> bool:
        """Tell whether the rows of a table name their owner here."""
        asked = "SELECT 1 FROM pragma_table_info(?) WHERE name = 'owner'"
        return self._database.reader.execute(asked, (table.name,)).get is not None

    def state(self) -> bytes | None:
        """Return how far a move into this store is."""
        return recall_state(self._database.reader)

    def is_empty(self) -> bool:
        """Tell whether nothing was ever stored here."""
        return not any(
            self.rows(table, None, 1) for table in moved_tables() if table.name not in RECEIPT_NAMES
        )

    def finish(self) -> None:
        """Forget that there was a move."""
        with self._database.writing() as db:
            db.execute(_FORGET, (OWNER, MOVE_SETTING))


def _same_cells(text: str) -> str:
    """Return cells as JSON in the one spelling in which both engines give them."""
    return orjson.dumps([plain(value) for value in orjson.loads(text)]).decode()


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
        text = f'INSERT INTO "{table.name}" ({", ".join([*names, *whole])}) VALUES ({places})'
        with self._database.writing() as db:
            db.add_rows(text, [_written(table, names, row) for row in rows])
            if table.name in NUMBERED:
                db.run(_NUMBER, (table.name, max(row[names.index("id")] for row in rows)))
            keep_state(db, state)

    def state(self) -> bytes | None:
        """Return how far a move into this store is."""
        return recall_state(self._database.reader)

    def is_empty(self) -> bool:
        """Tell whether nothing was ever stored here."""
        return not any(self.rows(table, None, 1) for table in moved_tables())

    def finish(self) -> None:
        """Forget that there was a move."""
        with self._database.writing() as db:
            db.execute(_FORGET, (OWNER, MOVE_SETTING))


def recall_state(db: Any) -> bytes | None:
    """Return how far a move into a store is, None where there is none."""
    kept = db.execute(_STATE, (OWNER, MOVE_SETTING)).get
    return None if kept is None else bytes(kept)


def keep_state(db: Any, state: bytes) -> None:
    """Keep how far a move into a store is."""
    db.execute(_KEEP, (OWNER, MOVE_SETTING, state))


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
