"""The log of receipts in PostgreSQL: a chain for each owner, which all workers extend in turn."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import cast

import psycopg

from pdpp.model import instant
from pdpp.model.errors import StoreError
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.database import SNAPSHOT, PostgresDatabase
from pdpp.store.sqlite.opening import SqliteConnection
from pdpp.store.sqlite.receipts import chain
from pdpp.store.sqlite.receipts.chain import ChainHead
from pdpp.store.sqlite.receipts.log import Anchor, ReceiptFile

_TURN = "SELECT 1 FROM head FOR UPDATE"
"""Whoever extends a chain holds the row of its ends, so that no two receipts get one number."""


class SessionLock:
    """A lock that a connection holds as long as its worker lives."""

    def __init__(self, db: PostgresConnection, session: str) -> None:
        self._db = db
        self._number = _number(session)
        db.run("SELECT pg_advisory_lock($1)", (self._number,))

    def leave(self) -> None:
        """Give the lock up."""
        self._db.run("SELECT pg_advisory_unlock($1)", (self._number,))

    def drop(self) -> None:
        """Do nothing: the lock goes with the connection."""


def _number(session: str) -> int:
    digest = blake2b(f"receipts {session}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class PostgresReceipts(ReceiptFile):
    """Fulfils the port of receipts on the tables of an owner."""

    def __init__(
        self, database: PostgresDatabase, secret: bytes, anchor: Anchor, clock: instant.Clock
    ) -> None:
        self._database = database
        self._key = chain.sealing_key(secret)
        self._anchor = anchor
        self._clock = clock
        self._lock = threading.Lock()
        self._session = None
        self._writer_lock = None
        self._own = database.session()
        self._db = cast(SqliteConnection, self._own)
        with database.writing() as db:
            if db.execute("SELECT 1 FROM head").get is None:
                row = self._sealed(ChainHead())
                db.execute("INSERT INTO head VALUES (?, ?, ?, ?, ?)", row)

    def _hold(self, session: str) -> SessionLock:
        return SessionLock(self._own, session)

    def _is_gone(self, session: str) -> bool:
        taken = self._own.run("SELECT pg_try_advisory_xact_lock($1)", (_number(session),)).get
        return bool(taken)

    @contextmanager
    def _writing(self) -> Iterator[SqliteConnection]:
        with self._lock:
            try:
                with self._own.raw.transaction():
                    self._own.run(_TURN)
                    yield self._db
            except psycopg.Error as problem:
                raise StoreError(f"cannot write receipts: {problem}") from problem

    @contextmanager
    def _reading(self) -> Iterator[SqliteConnection]:
        db = self._database.session()
        try:
            db.run(SNAPSHOT)
            yield cast(SqliteConnection, db)
        finally:
            db.close()

    def _used(self, db: SqliteConnection) -> int:
        size = "SELECT coalesce(sum(octet_length(content)), 0) FROM batch"
        return int(cast(PostgresConnection, db).run(size).get)
