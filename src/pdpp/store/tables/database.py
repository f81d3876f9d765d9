"""The database that the rooms here ask: what a connection and a database of an engine can do.

The statements are written as SQLite reads them. An engine that reads others puts them into its own
words (``store/postgres/dialect.py``).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from pdpp.store.deadline import Deadline
from pdpp.store.tables.snapshot import Snapshot, SnapshotSource
from pdpp.store.tables.write.new_records import NewRecords

Values = Sequence[Any] | Mapping[str, Any]


class TableRows(Protocol):
    """The rows that a statement gave; each is read once."""

    def __iter__(self) -> Iterator[Any]: ...
    def __next__(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...

    @property
    def get(self) -> Any:
        """Return the first row, or its only value; None where there is none."""


class TableReader(Protocol):
    """Executes statements that read: a connection, or one that is borrowed for each statement."""

    @property
    def failure(self) -> type[Exception]:
        """Return what the engine raises where it fails."""

    def array(self, values: Any, /) -> Any:
        """Return numbers or texts as ``carray(?)`` takes them."""

    def execute(self, sql: str, values: Values = (), /) -> TableRows: ...


class TableConnection(TableReader, Protocol):
    """A connection that writes."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object: ...

    def insert_records(self, new: NewRecords) -> None:
        """Add records with their cells."""

    def fill_cells(self, feed: int, place: int) -> None:
        """Add an empty cell for each record of a feed that has no value at a place."""

    def changes(self) -> int:
        """Return how many rows the last statement changed."""

    def last_insert_rowid(self) -> int:
        """Return the number of the row that was added last."""


class TableDatabase(SnapshotSource, Protocol):
    """The tables of one store: a reader for each thread, and a writer that takes turns."""

    @property
    def failure(self) -> type[Exception]:
        """Return what the engine raises where it fails."""

    @property
    def reader(self) -> TableReader:
        """Return what this thread reads with."""

    def reading(self, deadline: Deadline | None) -> Snapshot:
        """Hold one snapshot; nested uses join the outer one."""

    def writing(self) -> AbstractContextManager[TableConnection]:
        """Hold the write lock for one transaction."""

    def state(self) -> object:
        """Return a value that differs after any write by another connection."""

    def assumed_state(self) -> object:
        """Return the state that this thread's snapshot is of, None where that is not known."""

    def count_bytes(self, size: int) -> None:
        """Count a large record that was read; raise if this thread's read has reached its limit."""

    def check_deadline(self) -> None:
        """Raise when this thread's read has used up its time."""

    def shed(self) -> bool:
        """Let go of a piece of what is kept beside the rows, such as copies of deleted ones.

        Tell whether there may be more.
        """

    def holds_deleted(self) -> bool:
        """Tell whether copies of deleted rows may be left that ``shed`` has yet to remove."""

    def close(self) -> None:
        """Close every connection."""
