"""One owner's part of a PostgreSQL database: a writer that takes turns, a reader per thread."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

import psycopg

from pdpp.model.errors import NewerDatabase, StoreError
from pdpp.store.deadline import DeadlinePassed
from pdpp.store.port import Deadline
from pdpp.store.postgres import schema
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.sqlite.snapshot import Snapshot

_STATEMENT_MILLISECONDS = 30_000
_IDLE_MILLISECONDS = 120_000
SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TURN = "UPDATE owner SET changes = changes + 1 WHERE id = $1"
"""Whoever writes for an owner holds this row: the others wait, and all see that something changed.
"""


class PostgresDatabase:
    """Opens connections to one database for one owner and hands them out."""

    interruption: type[Exception] = psycopg.errors.QueryCanceled

    def __init__(self, url: str, owner: str) -> None:
        """``owner`` is the name of the owner, who is added where there is none of that name."""
        self._url = url
        self._local = threading.local()
        self._lock = threading.RLock()
        self._opened: list[PostgresConnection] = []
        self._opened_lock = threading.Lock()
        try:
            prepare(url)
            self.owner = _owner(url, owner)
            self._writer = self._connect(lambda: None)
        except psycopg.Error as problem:
            raise StoreError(f"cannot open the database: {problem}") from problem

    def _connect(self, check: Callable[[], None]) -> PostgresConnection:
        db = PostgresConnection(open_session(self._url, self.owner), self.owner, check)
        with self._opened_lock:
            self._opened.append(db)
        return db

    @property
    def reader(self) -> PostgresConnection:
        """Return this thread's own connection for reads."""
        reader: PostgresConnection | None = getattr(self._local, "reader", None)
        if reader is not None and reader.raw.closed and not self._local.depth:
            self._forget(reader)
            reader = None
        if reader is None:
            self._local.deadline = None
            self._local.depth = 0
            reader = self._local.reader = self._connect(self.check_deadline)
        return reader

    def _forget(self, db: PostgresConnection) -> None:
        """Give up a connection that was cut; a new one is opened in its place."""
        with self._opened_lock:
            self._opened.remove(db)
        db.close()

    def count_bytes(self, size: int) -> None:
        """Count a large record that was read; raise when this thread's read may read no more."""
        deadline: Deadline | None = self._local.deadline
        if deadline is not None:
            deadline.take(size)

    def check_deadline(self) -> None:
        """Raise when this thread's read has used up its time."""
        deadline: Deadline | None = getattr(self._local, "deadline", None)
        if deadline is not None and deadline.passed():
            raise DeadlinePassed

    def reading(self, deadline: Deadline | None) -> Snapshot:
        """Hold one snapshot; nested uses join the outer one."""
        return Snapshot(self, deadline)

    def begin(self, deadline: Deadline | None) -> bool:
        """Begin a snapshot of this thread; tell whether there was none before."""
        reader = self.reader
        if self._local.depth:
            return False
        reader.run(SNAPSHOT)
        self._local.deadline = deadline
        self._local.depth = 1
        return True

    def end(self) -> None:
        """End the snapshot of this thread."""
        reader: PostgresConnection = self._local.reader
        self._local.deadline = None
        self._local.depth = 0
        if not reader.raw.closed:
            # Nothing was written. After a rollback the driver would prepare every statement anew.
            reader.run("COMMIT")

    def writing(self) -> AbstractContextManager[PostgresConnection]:
        """Hold the owner's write lock, of all workers, for one transaction."""
        return self._writing()

    @contextmanager
    def _writing(self) -> Iterator[PostgresConnection]:
        with self._lock:
            if self._writer.raw.closed:
                self._forget(self._writer)
                self._writer = self._connect(lambda: None)
            self._writer.run("BEGIN")
            try:
                self._writer.run(_TURN, (self.owner,))
                yield self._writer
                self._writer.run("COMMIT")
            except BaseException:
                if not self._writer.raw.closed:
                    self._writer.raw.rollback()
                raise

    def state(self) -> int:
        """Return a number that differs after any write for this owner."""
        return int(self.reader.run("SELECT changes FROM owner WHERE id = $1", (self.owner,)).get)

    def session(self) -> PostgresConnection:
        """Open a further connection, which the caller closes."""
        return PostgresConnection(open_session(self._url, self.owner), self.owner, lambda: None)

    def shed_log(self) -> None:
        """Do nothing: the database cleans up by itself."""

    def close(self) -> None:
        """Close every connection this object opened."""
        with self._opened_lock:
            for db in self._opened:
                db.close()
            self._opened.clear()


def open_session(url: str, owner: int | None) -> "psycopg.Connection[Any]":
    """Open a session that sees the rows of one owner, and of nobody where none is named."""
    raw = psycopg.connect(
        url,
        autocommit=True,
        options=f"-c search_path={schema.SCHEMA} -c statement_timeout={_STATEMENT_MILLISECONDS}"
        f" -c idle_in_transaction_session_timeout={_IDLE_MILLISECONDS}"
        # Every statement has one good plan. Planned anew for its values over all partitions, a
        # record took 3.3 ms instead of 0.5, and a page of 25 took 12 ms instead of 1.2 to 3.5.
        " -c plan_cache_mode=force_generic_plan -c jit=off",
    )
    try:
        # Row security does not bind whoever may pass it by: such a user takes on a role that may
        # not.
        row = raw.execute(
            "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        if row is None or row[0]:
            raw.execute(f"SET ROLE {schema.ROLE}")
        if owner is not None:
            raw.execute("SELECT set_config('pdpp.owner', %s, false)", (str(owner),))
    except BaseException:
        raw.close()
        raise
    return raw


def prepare(url: str) -> None:
    """Make the schema where there is none; refuse one that this program does not know."""
    with psycopg.connect(url) as raw:
        raw.execute("SELECT pg_advisory_xact_lock(%s)", (schema.LOCK,))
        there = raw.execute(
            "SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema.SCHEMA,)
        ).fetchone()
        if there is None:
            _make_role(raw)
            for text in schema.statements():
                raw.execute(text)
            return
        row = raw.execute(f"SELECT version FROM {schema.SCHEMA}.about").fetchone()
    version = 0 if row is None else int(row[0])
    if version > schema.VERSION:
        raise NewerDatabase(
            f"the database is of version {version} and this program reads version "
            f"{schema.VERSION}: install a newer pdpp-server"
        )


def _make_role(raw: "psycopg.Connection[Any]") -> None:
    known = raw.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (schema.ROLE,)).fetchone()
    if known is None:
        raw.execute(f"CREATE ROLE {schema.ROLE} NOLOGIN")
    raw.execute(f"GRANT {schema.ROLE} TO CURRENT_USER")


def _owner(url: str, name: str) -> int:
    """Return the number of an owner, who is added where there is none of that name."""
    find = "SELECT id FROM owner_name WHERE name = %s"
    with closing(open_session(url, None)) as raw, raw.transaction():
        row = raw.execute(find, (name,)).fetchone()
        if row is None:
            # Another worker may add the same one: it waits here, and both find one row.
            raw.execute("INSERT INTO owner_name (name) VALUES (%s) ON CONFLICT DO NOTHING", (name,))
            row = raw.execute(find, (name,)).fetchone()
        number = int(row[0]) if row else 0
        raw.execute("SELECT set_config('pdpp.owner', %s, true)", (str(number),))
        raw.execute("INSERT INTO owner (id) VALUES (%s) ON CONFLICT DO NOTHING", (number,))
        return number
