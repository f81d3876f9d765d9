"""The file of receipts: a database of its own, so that writing it disturbs no read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from pdpp.encryption.data_key import DataKey
from pdpp.model import instant
from pdpp.model.errors import NewerDatabase, StoreError
from pdpp.store.sqlite.failures import DAMAGED, advice
from pdpp.store.sqlite.opening import EXISTING, SqliteConnection, check_kind, open_connection
from pdpp.store.sqlite.writer_lock import WriterLock, is_gone
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.receipts.chain import ChainHead
from pdpp.store.tables.receipts.log import Anchor, HeldLock, TableReceipts
from pdpp.store.tables.receipts.tables import TABLES

RECEIPTS_NAME = "receipts.db"
_APPLICATION_ID = 0x50445052
_VERSION = 20
"""The format of the first release. Smaller numbers were only written during development."""
_BUSY_MILLISECONDS = 5_000


class ReceiptFile(TableReceipts):
    """Fulfils the port of receipts on a file of its own."""

    _db: SqliteConnection

    def __init__(
        self,
        folder: Path,
        secret: bytes,
        anchor: Anchor,
        clock: instant.Clock,
        key: DataKey | None = None,
    ) -> None:
        """Open the log of a folder; ``secret`` seals its ends, ``key`` is of an encrypted store."""
        super().__init__(secret, anchor, clock)
        self._path = folder / RECEIPTS_NAME
        self._data_key = key
        try:
            self._db = self._open()
        except (OSError, apsw.Error) as problem:
            remedy = advice(problem)
            if remedy in (None, DAMAGED):
                remedy = "mend it or move it away"
            raise StoreError(
                f"cannot open the receipts {self._path}: {problem}; {remedy}"
            ) from problem

    def _open(self) -> SqliteConnection:
        if not self._path.exists():
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        check_kind(self._path, self._data_key)
        db = open_connection(self._path, self._data_key, flags=EXISTING)
        try:
            db.set_busy_timeout(_BUSY_MILLISECONDS)
            db.transaction_mode = "IMMEDIATE"
            _recognise(db)
            db.pragma("journal_mode", "wal")
            db.pragma("synchronous", "full")
            self._make(db)
        except BaseException:
            db.close()
            raise
        return db

    def _make(self, db: SqliteConnection) -> None:
        with db:
            if db.pragma("user_version") == _VERSION:
                return
            db.execute(TABLES)
            db.execute("INSERT INTO head VALUES (?, ?, ?, ?, ?)", self._sealed(ChainHead()))
            db.pragma("application_id", _APPLICATION_ID)
            db.pragma("user_version", _VERSION)

    def close(self) -> None:
        """Close the file."""
        if self._writer_lock is not None:
            self._writer_lock.drop()
        self._db.close()

    # Writing

    @contextmanager
    def _writing(self) -> Iterator[SqliteConnection]:
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield self._db
                self._db.execute("COMMIT")
            except apsw.Error as problem:
                raise StoreError(f"cannot write to {self._path}: {problem}") from problem
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _hold(self, session: str) -> HeldLock:
        return WriterLock(self._lock_of(session))

    def _is_gone(self, session: str) -> bool:
        return is_gone(self._lock_of(session))

    def _lock_of(self, session: str) -> Path:
        return self._path.with_name(f"receipts.{session}.lock")

    def _used(self, db: TableReader) -> int:
        """Return how many bytes of the file hold something."""
        pages = db.execute("PRAGMA page_count").get - db.execute("PRAGMA freelist_count").get
        return int(pages * db.execute("PRAGMA page_size").get)

    # Reading

    @contextmanager
    def _reading(self) -> Iterator[SqliteConnection]:
        db = open_connection(self._path, self._data_key, flags=EXISTING)
        try:
            db.set_busy_timeout(_BUSY_MILLISECONDS)
            db.pragma("query_only", True)
            with db:
                yield db
        finally:
            db.close(True)

    def backup(self, target: Path) -> None:
        """Write a copy into a new file; nobody writes to the copy, so nobody is missed there."""
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        db = open_connection(self._path, self._data_key, flags=EXISTING)
        try:
            db.set_busy_timeout(_BUSY_MILLISECONDS)
            db.execute("VACUUM INTO ?", (str(target),))
        finally:
            db.close()
        copy = open_connection(target, self._data_key, flags=EXISTING)
        try:
            copy.pragma("journal_mode", "delete")
            copy.execute("DELETE FROM session")
        finally:
            copy.close()


def _recognise(db: SqliteConnection) -> None:
    """Refuse a file that is not ours or that a newer program wrote, and leave it as it is."""
    # In this order: another worker may make the tables between the two looks, and with them the
    # version, which is then seen.
    empty = not db.execute("SELECT count(*) FROM sqlite_schema").get
    version = db.pragma("user_version")
    if version == 0 and empty:
        return
    if version == 0 or db.pragma("application_id") != _APPLICATION_ID:
        raise StoreError(f"{RECEIPTS_NAME} holds something else than receipts; move it away")
    if int(str(version)) > _VERSION:
        raise NewerDatabase(f"{RECEIPTS_NAME} was written by a newer pdpp-server; install that")
    if int(str(version)) < _VERSION:
        raise StoreError(f"{RECEIPTS_NAME} is from before the first release; move it away")
