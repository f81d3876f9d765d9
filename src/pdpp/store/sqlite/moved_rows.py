"""Rows of the embedded engine for a move."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Any

import orjson

from pdpp.store.sqlite.database import SqliteDatabase
from pdpp.store.sqlite.opening import SqliteConnection
from pdpp.store.tables.moving import (
    MovedTable,
    Row,
    forget_state,
    keep_state,
    plain,
    recall_state,
)
from pdpp.store.tables.records.predicate import OWNER


class SqliteSide:
    """The rows of an embedded store: its file, and that of its receipts."""

    def __init__(
        self, database: SqliteDatabase, receipts: SqliteConnection, receipt_names: Collection[str]
    ) -> None:
        """``receipt_names`` are the tables that are in the file of the receipts."""
        self._database = database
        self._receipts = receipts
        self._receipt_names = receipt_names

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
        db = self._receipts if table.name in self._receipt_names else self._database.reader
        rows = db.execute(text, tuple(after or ())).fetchall()
        if table.name != "record":
            return rows
        at = table.columns.index("cells")
        return [(*row[:at], _same_cells(str(row[at])), *row[at + 1 :]) for row in rows]

    def add(self, table: MovedTable, rows: Sequence[Row], state: bytes) -> None:
        """Add rows, and keep with them how far the move is."""
        names = table.columns
        owned = table.name not in self._receipt_names and self._is_owned(table)
        places = ", ".join("?" * (len(names) + owned))
        listed = ", ".join([*names, *(["owner"] if owned else [])])
        text = f'INSERT OR REPLACE INTO "{table.name}" ({listed}) VALUES ({places})'
        whose = (OWNER,) if owned else ()
        with self._database.writing() as db:
            if table.name in self._receipt_names:
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

    def is_empty(self, tables: Sequence[MovedTable]) -> bool:
        """Tell whether nothing was ever stored here."""
        return not any(
            self.rows(table, None, 1) for table in tables if table.name not in self._receipt_names
        )

    def finish(self) -> None:
        """Forget that there was a move."""
        with self._database.writing() as db:
            forget_state(db)


def _same_cells(text: str) -> str:
    """Return cells as JSON in the one spelling in which both engines give them."""
    return orjson.dumps([plain(value) for value in orjson.loads(text)]).decode()
