"""The log of receipts in PostgreSQL: a chain for each owner, which all workers extend in turn."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from hashlib import blake2b

import psycopg

from pdpp.model import instant
from pdpp.model.errors import StoreError
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.receipts import ChainVerdict
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.receipts.chain import ChainHead
from pdpp.store.tables.receipts.log import Anchor, TableReceipts
from pdpp.store.tables.receipts.verification import HEAD

_TURN = "SELECT 1 FROM head FOR UPDATE"
"""Whoever extends a chain holds the row of its ends, so that no two receipts get one number."""


class SessionLock:
    """A lock that a worker's connection holds for as long as the worker lives."""

    def __init__(self, database: PostgresDatabase, session: str) -> None:
        self._database = database
        self._number = _number(session)
        self._holder: PostgresConnection | None = None
        with held(database) as db:
            self.keep(db)

    def keep(self, db: PostgresConnection) -> None:
        """Take the lock where the connection is another one, because the former was cut."""
        if db is not self._holder:
            db.run("SELECT pg_try_advisory_lock($1)", (self._number,))
            self._holder = db

    def leave(self) -> None:
        """Give the lock up."""
        with held(self._database) as db:
            if db is self._holder:
                db.run("SELECT pg_advisory_unlock($1)", (self._number,))

    def drop(self) -> None:
        """Give the lock up where there is still a connection that holds it."""
        with suppress(psycopg.Error):
            self.leave()


def held(
    database: PostgresDatabase, begin: str | None = None
) -> AbstractContextManager[PostgresConnection]:
    """Hold the connection for receipts in this worker's turn."""

    def ask(db: PostgresConnection) -> None:
        if begin is not None:
            db.control(begin)

    return database.connections.receipts.held(database.owner, ask)


def _number(session: str) -> int:
    digest = blake2b(f"receipts {session}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class PostgresReceipts(TableReceipts):
    """Fulfils the port of receipts on the tables of an owner."""

    _writer_lock: SessionLock | None

    def __init__(
        self, database: PostgresDatabase, secret: bytes, anchor: Anchor, clock: instant.Clock
    ) -> None:
        self._database = database
        super().__init__(secret, anchor, clock)
        if database.reader.execute("SELECT 1 FROM head").get is None:
            self._make_head()

    def _make_head(self) -> None:
        with self._database.writing() as db:
            if db.execute("SELECT 1 FROM head").get is None:
                row = self._sealed(ChainHead())
                db.execute("INSERT INTO head VALUES (?, ?, ?, ?, ?)", row)

    def _hold(self, session: str) -> SessionLock:
        return SessionLock(self._database, session)

    def _is_gone(self, session: str) -> bool:
        with held(self._database) as db:
            taken = db.run("SELECT pg_try_advisory_xact_lock($1)", (_number(session),)).get
            return bool(taken)

    @contextmanager
    def _writing(self) -> Iterator[PostgresConnection]:
        try:
            with held(self._database, "BEGIN") as db:
                try:
                    if self._writer_lock is not None:
                        self._writer_lock.keep(db)
                    db.run(_TURN)
                    yield db
                    db.commit()
                except BaseException:
                    db.roll_back()
                    raise
        except psycopg.Error as problem:
            raise StoreError(f"cannot write receipts: {problem}") from problem

    @contextmanager
    def _reading(self) -> Iterator[PostgresConnection]:
        with self._database.snapshot() as db:
            yield db

    def anchor(self) -> tuple[int, bytes]:
        """Let the store remember the last receipt, so that an older log is noticed; return it."""
        try:
            with self._reading() as db:
                head = self._head(db)
            self._anchor.remember(head.last, head.hash)
        except psycopg.Error as problem:
            raise StoreError(f"cannot anchor the receipts: {problem}") from problem
        return head.last, head.hash

    def verify(self) -> ChainVerdict:
        """Compute the whole chain again."""
        with self._reading() as db:
            # The snapshot of this thread may be from before the log was begun.
            if db.execute(HEAD).get is None and self._anchor.recall() is None:
                head = ChainHead()
                return ChainVerdict(head.first, head.last, head.hash, ())
        return super().verify()

    def close(self) -> None:
        """Let the others see that this worker writes no more."""
        if self._writer_lock is not None:
            self._writer_lock.drop()

    def _used(self, db: TableReader) -> int:
        size = "SELECT coalesce(sum(octet_length(content)), 0) FROM batch"
        return int(db.execute(size).get)
