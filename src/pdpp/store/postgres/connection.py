"""A connection to PostgreSQL that is asked as one of the embedded engine is."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
import psycopg
from psycopg.abc import Buffer
from psycopg.types.numeric import Int8BinaryDumper, NumericBinaryLoader
from psycopg.types.string import BytesBinaryDumper, StrBinaryDumper, StrDumper, TextBinaryLoader

from pdpp.store.postgres.bulk import BULK
from pdpp.store.postgres.dialect import MIXED, Statement, statement
from pdpp.store.postgres.variant import decode
from pdpp.store.tables.records.predicate import OwnerId

Values = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]

_BYTEA, _BYTEA_ARRAY = 17, 1001
_ESCAPE = "\U0010ffff"
_PREPARED = 512


def _escaped(text: str) -> str:
    """Return a text without NULs, of which PostgreSQL knows none: each is two other characters."""
    if "\0" in text or _ESCAPE in text:
        return text.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")
    return text


class _Text(StrBinaryDumper):
    """Writes texts."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(_escaped(obj))


class _TextInList(StrDumper):
    """Writes texts inside of lists."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(_escaped(obj))


class _TextLoader(TextBinaryLoader):
    """Reads texts as they were written."""

    def load(self, data: Buffer) -> str | bytes:
        text = super().load(data)
        if isinstance(text, str) and _ESCAPE in text:
            return text.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE)
        return text


class _WholeNumber(NumericBinaryLoader):
    """Reads sums, which are whole numbers here."""

    def load(self, data: Buffer) -> Any:
        return int(super().load(data))


class Rows:
    """The rows that a statement gave."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = iter(rows)

    def __iter__(self) -> Iterator[Row]:
        return self._rows

    def __next__(self) -> Row:
        return next(self._rows)

    def fetchall(self) -> list[Row]:
        """Return all rows."""
        return list(self._rows)

    @property
    def get(self) -> Any:
        """Return the first row, or its only value; None where there is none."""
        row = next(self._rows, None)
        return None if row is None else row[0] if len(row) == 1 else row


class PostgresConnection:
    """Asks PostgreSQL for one owner at a time in the statements of the embedded engine."""

    failure: type[Exception] = psycopg.Error

    def __init__(self, raw: "psycopg.Connection[Any]") -> None:
        self.raw = raw
        self.owner: int | None = None
        self.is_long = False
        """Whether a read holds it that may take long."""
        self.check: Callable[[], None] = always
        """Raises where the read that holds this connection has used up its time."""
        self._changes = 0
        self._last_number = 0
        self._columns: dict[str, Sequence[tuple[int, Callable[[Any], Any]]]] = {}
        self._adapt()
        raw.prepare_threshold = 1
        raw.prepared_max = _PREPARED
        self._cursor = psycopg.RawCursor(raw)

    def _adapt(self) -> None:
        connection = self

        class Owner(Int8BinaryDumper):
            """Writes the number of the owner whom the session serves."""

            def dump(self, obj: Any) -> Buffer | None:  # noqa: ARG002 - there is but one
                return super().dump(connection.owner or 0)

        _adapt(self.raw, Owner)

    def set_owner(self, owner: int) -> None:
        """Let the session see the rows of an owner, and of nobody else."""
        if owner != self.owner:
            # Nobody's while it is being changed: a failure leaves a session that has no owner.
            self.owner = None
            self.run("SELECT set_config('pdpp.owner', $1, false)", (str(owner),))
            self.owner = owner

    def is_idle(self) -> bool:
        """Tell whether the session is outside of any transaction."""
        return self.raw.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    def control(self, text: str) -> None:
        """Send statements that begin or end something, several at once where there are several."""
        # The plain protocol, which takes several at a time; nothing in them comes from a caller.
        self.raw.cursor().execute(text.encode(), prepare=False)

    def array(self, values: Any) -> Any:
        """Return values as a statement takes a list of them."""
        return values

    def execute(self, sql: str, values: Values = ()) -> Rows:
        """Ask one statement."""
        self.check()
        bulk = BULK.get(sql)
        if bulk is not None:
            assert isinstance(values, Mapping)  # noqa: S101 - these statements have names
            bulk(self, values)
            return Rows(())
        asked = statement(sql)
        return self.ask(asked, asked.values(values))

    def ask(self, asked: Statement, values: Sequence[Any]) -> Rows:
        """Ask a statement of PostgreSQL."""
        cursor = self._cursor
        cursor.execute(asked.text, values, binary=True)
        self._changes = cursor.rowcount
        if cursor.description is None:
            return Rows(())
        rows = cursor.fetchall()
        self.check()
        if asked.numbered:
            self._last_number = rows[0][0]
            return Rows(())
        converts = self._columns.get(asked.text)
        if converts is None:
            converts = self._columns[asked.text] = _converts(cursor)
        return Rows(_converted(rows, converts) if converts else rows)

    def run(self, text: str, values: Sequence[Any] = ()) -> Rows:
        """Ask a statement that is in the words of PostgreSQL already."""
        return self.ask(Statement(text, None, None, None, numbered=False), values)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Ask one statement for each of some rows of values."""
        asked = statement(sql)
        values = [asked.values(row) for row in rows]
        if values:
            self._cursor.executemany(asked.text, values)

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        return self._changes

    def last_insert_rowid(self) -> int:
        """Return the number of the row that was added last."""
        return self._last_number

    def close(self) -> None:
        """Close the connection."""
        self._cursor.close()
        self.raw.close()


def always() -> None:
    """Let a statement be asked at any time."""


def _adapt(raw: "psycopg.Connection[Any]", owner: type[Int8BinaryDumper]) -> None:
    adapters = raw.adapters
    adapters.register_dumper(str, _TextInList)
    adapters.register_dumper(str, _Text)
    adapters.register_dumper(int, Int8BinaryDumper)
    adapters.register_dumper(OwnerId, owner)
    adapters.register_dumper(bytes, BytesBinaryDumper)
    for name in ("text", "varchar"):
        adapters.register_loader(name, _TextLoader)
    adapters.register_loader("numeric", _WholeNumber)


def _converts(cursor: "psycopg.RawCursor[Any]") -> list[tuple[int, Callable[[Any], Any]]]:
    """Return which columns of a result are read in another way than they are sent."""
    converts: list[tuple[int, Callable[[Any], Any]]] = []
    for at, column in enumerate(cursor.description or ()):
        if column.type_code == _BYTEA and column.name in MIXED:
            converts.append((at, decode))
        elif column.type_code == _BYTEA_ARRAY:
            converts.append((at, _cells))
    return converts


def _converted(
    rows: Iterable[Row], converts: Sequence[tuple[int, Callable[[Any], Any]]]
) -> Iterator[Row]:
    for row in rows:
        values = list(row)
        for at, convert in converts:
            values[at] = convert(values[at])
        yield tuple(values)


def _cells(stored: Sequence[bytes | None]) -> str:
    """Return the cells of a record as JSON."""
    return orjson.dumps([decode(value) for value in stored]).decode()
