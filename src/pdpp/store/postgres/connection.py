"""A connection to PostgreSQL that is asked as one of the embedded engine is."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
import psycopg
from psycopg.abc import Buffer
from psycopg.types.numeric import NumericBinaryLoader

from pdpp.store.postgres import bulk
from pdpp.store.postgres.counting import GROWTH
from pdpp.store.postgres.dialect import MIXED, Statement, statement
from pdpp.store.postgres.many import ManyRows, many_rows
from pdpp.store.postgres.session import Beginning, Column, OwnerRows, Result, Session
from pdpp.store.postgres.values import BYTEA, BYTEA_ARRAY
from pdpp.store.postgres.variant import INDEXED_BYTES, decode
from pdpp.store.tables.write.new_records import NewRecords

Values = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]

_MOST_OWNERS = 1_000
"""Of how many owners, those that wrote last, it is remembered what was counted."""
_MOST_ROWS = 5_000
"""How many rows one statement takes at most: each array of theirs is in memory here and there."""


class _WholeNumber(NumericBinaryLoader):
    """Reads sums, which are whole numbers here."""

    def load(self, data: Buffer) -> Any:
        return int(super().load(data))


class CommitUnknown(psycopg.OperationalError):
    """The connection was cut before the database said whether it committed."""


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
        self._converts: dict[str, Sequence[tuple[int, Callable[[Any], Any]]]] = {}
        raw.adapters.register_loader("numeric", _WholeNumber)
        self._many: dict[str, ManyRows | None] = {}
        self._session = Session(raw)

    def set_owner(self, owner: int) -> None:
        """Let the session see the rows of an owner, and of nobody else."""
        if owner != self.owner:
            # Nobody's while it is being changed: a failure leaves a session that has no owner.
            self.owner = None
            self.run("SELECT set_config('pdpp.owner', $1, false)", (str(owner),))
            self.owner = owner

    def is_idle(self) -> bool:
        """Tell whether the session is outside of any transaction."""
        return self._session.is_idle

    def control(self, text: str) -> None:
        """Send statements that begin or end something, several at once where there are several."""
        # The plain protocol, which takes several at a time; nothing in them comes from a caller.
        self._session.control(text)

    def commit(self) -> None:
        """Commit; raise where a statement had failed, because nothing was kept then."""
        try:
            done = self._session.control("COMMIT")
        except psycopg.OperationalError as problem:
            raise CommitUnknown(str(problem)) from problem
        # The database takes the word for the end of a failed transaction without an error.
        if done != b"COMMIT":
            raise psycopg.errors.InFailedSqlTransaction("a statement of the transaction failed")

    def begin(self, beginning: Beginning) -> None:
        """Begin a transaction with the next statement, in one go with it."""
        self._session.beginning = beginning

    @property
    def is_beginning(self) -> bool:
        """Tell whether a transaction is to begin with the next statement."""
        return self._session.beginning is not None

    def ask_beginning(self) -> None:
        """Ask the question that a transaction was to begin with, where nothing else was asked."""
        self._session.ask_beginning()

    def end_reading(self) -> None:
        """End a transaction in which nothing was written, without waiting for that."""
        self._session.beginning = None
        if self._session.is_in_transaction:
            self.send("COMMIT")

    def roll_back(self) -> None:
        """End a transaction that failed; a connection that was cut has ended it already."""
        self._session.roll_back()
        if self.owner is not None:
            self._session.owner_rows.pop(self.owner, None)  # what was counted is gone too

    def send(self, text: str) -> None:
        """Send a statement, and do not wait for what comes of it."""
        self._session.end(text)

    def notices(self) -> list[str]:
        """Return what others announced on the channels that this session listens to."""
        return self._session.notices()

    def array(self, values: Any) -> Any:
        """Return values as a statement takes a list of them."""
        return values

    def execute(self, sql: str, values: Values = ()) -> Rows:
        """Ask one statement."""
        self.check()
        asked = statement(sql)
        converted = asked.values(values)
        if asked.whole is None:
            return self.ask(asked, converted)
        return self._ask_indexed(asked, asked.whole, values, converted)

    def _ask_indexed(
        self, asked: Statement, whole: Statement, values: Values, converted: Sequence[Any]
    ) -> Rows:
        """Ask a statement along an index, which has the beginning of long values only."""
        if asked.needs_whole(converted):
            return self.ask(whole, whole.values(values))
        result = self._asked(asked, converted)
        if asked.by_index and any(len(row[0] or b"") > INDEXED_BYTES for row in result.rows):
            # Equal beginnings may stand in another order than what they begin.
            return self.ask(whole, whole.values(values))
        return self._converted(asked, result)

    def ask(self, asked: Statement, values: Sequence[Any]) -> Rows:
        """Ask a statement of PostgreSQL."""
        return self._converted(asked, self._asked(asked, values))

    def _asked(self, asked: Statement, values: Sequence[Any]) -> Result:
        result = self._session.ask(asked.text, values, self.owner)
        self._changes = result.size
        self.check()
        return result

    def _converted(self, asked: Statement, result: Result) -> Rows:
        rows = result.rows
        if asked.numbered:
            self._last_number = rows[0][0]
            return Rows(())
        converts = self._converts.get(asked.text)
        if converts is None:
            converts = self._converts[asked.text] = _converts(result.columns)
        return Rows(_converted(rows, converts) if converts else rows)

    def run(self, text: str, values: Sequence[Any] = ()) -> Rows:
        """Ask a statement that is in the words of PostgreSQL already."""
        return self.ask(Statement(text, None, None, None, numbered=False), values)

    def run_meanwhile(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Have statements of PostgreSQL's own words done while the caller does something else.

        Where one fails, the next statement or the end of the transaction raises it.
        """
        self._session.send(statements, self.owner)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Ask one statement for all of some rows of values."""
        asked = statement(sql)
        values = [asked.values(row) for row in rows]
        if values:
            self.add_rows(asked.text, values)

    def insert_records(self, new: NewRecords) -> None:
        """Add records with their cells."""
        self.check()
        bulk.insert_records(self, new)

    def fill_cells(self, feed: int, place: int) -> None:
        """Add an empty cell for each record of a feed that has no value at a place."""
        self.check()
        bulk.fill_cells(self, feed, place)

    def rows(self, text: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return rows with their values as they are stored."""
        return list(self._session.ask(text, values, self.owner).rows)

    def add_rows(self, text: str, rows: Sequence[Sequence[Any]]) -> None:
        """Ask one statement of PostgreSQL's own words for all of some rows of values."""
        many = self._many.get(text)
        if many is None:
            many = self._many[text] = many_rows(text, self._session.parameter_types(text))
        if many is not None:
            for start in range(0, len(rows), _MOST_ROWS):
                columns = many.columns(rows[start : start + _MOST_ROWS], self.owner)
                self._session.ask(many.text, columns, self.owner)
            return
        for row in rows:
            self._session.ask(text, row, self.owner)

    def take_grown(self, rows: int) -> tuple[list[str], int | None]:
        """Return the tables that rows were added to, where so many rows were written since.

        With the owner, where the rows of this owner became several times as many since they were
        counted.
        """
        session, owner = self._session, self.owner
        if session.written < rows:
            return [], None
        grown, written = sorted(session.grown), session.written
        session.written, session.grown = 0, set()
        if owner is None:
            return grown, None
        before = session.owner_rows.pop(owner, OwnerRows())
        total = before.written + written
        is_newcomer = total >= GROWTH * before.counted
        while len(session.owner_rows) >= _MOST_OWNERS:
            del session.owner_rows[next(iter(session.owner_rows))]
        session.owner_rows[owner] = OwnerRows(total, total if is_newcomer else before.counted)
        return grown, owner if is_newcomer else None

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        return self._changes

    def last_insert_rowid(self) -> int:
        """Return the number of the row that was added last."""
        return self._last_number

    def close(self) -> None:
        """Close the connection."""
        self.raw.close()


def always() -> None:
    """Let a statement be asked at any time."""


def _converts(columns: Iterable[Column]) -> list[tuple[int, Callable[[Any], Any]]]:
    """Return which columns of a result are read in another way than they are sent."""
    converts: list[tuple[int, Callable[[Any], Any]]] = []
    for at, column in enumerate(columns):
        if column.type == BYTEA and column.name in MIXED:
            converts.append((at, decode))
        elif column.type == BYTEA_ARRAY:
            converts.append((at, as_cells))
    return converts


def _converted(
    rows: Iterable[Row], converts: Sequence[tuple[int, Callable[[Any], Any]]]
) -> Iterator[Row]:
    if len(converts) == 1 and converts[0][0] == 0:
        # A page has the value that it is sorted by in front of each record, and nothing else.
        convert = converts[0][1]
        for row in rows:
            yield convert(row[0]), *row[1:]
        return
    for row in rows:
        values = list(row)
        for at, convert in converts:
            values[at] = convert(values[at])
        yield tuple(values)


def as_cells(stored: Sequence[bytes | None]) -> str:
    """Return the cells of a record as JSON."""
    return orjson.dumps([decode(value) for value in stored]).decode()
