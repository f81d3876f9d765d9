"""The log of receipts: a database file of its own, so that writing it disturbs no read."""

import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import apsw

from pdpp.encryption.data_key import DataKey
from pdpp.model import instant
from pdpp.model.errors import NewerDatabase, StoreError
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import (
    ChainedReceipt,
    ChainVerdict,
    FirstRead,
    HourlyReads,
    LogEvent,
    ReadTotal,
    Receipt,
    ReceiptQuery,
)
from pdpp.store.sqlite.opening import EXISTING, SqliteConnection, check_kind, open_connection
from pdpp.store.sqlite.receipts import chain, hours, totals, verification
from pdpp.store.sqlite.receipts.chain import ChainHead
from pdpp.store.sqlite.receipts.writer_lock import WriterLock, is_gone

RECEIPTS_NAME = "receipts.db"
_APPLICATION_ID = 0x50445052
_VERSION = 20
"""The format of the first release. Smaller numbers were only written during development."""
_BUSY_MILLISECONDS = 5_000
_TRIMMED_PART = 16
"""One part in this many goes when the log is too long."""

TABLES = """
-- Receipts that were written together, as JSON; the last of them is receipt ``last``.
CREATE TABLE batch (
  last INTEGER PRIMARY KEY,
  latest INTEGER NOT NULL,
  events INTEGER NOT NULL,
  content BLOB NOT NULL,
  hash BLOB NOT NULL
);
CREATE INDEX batch_latest ON batch (latest);
CREATE INDEX batch_events ON batch (latest) WHERE events;

-- Which batches tell of a client, and when it read last there.
CREATE TABLE reader (
  client_id TEXT NOT NULL,
  latest INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (client_id, latest, last)
) WITHOUT ROWID;

-- The ends of the chain, sealed with the key of the store.
CREATE TABLE head (
  first INTEGER NOT NULL,
  before BLOB NOT NULL,
  last INTEGER NOT NULL,
  hash BLOB NOT NULL,
  seal BLOB NOT NULL
);

-- Who writes; what is left here by a process that is gone was not ended properly.
CREATE TABLE session (
  id TEXT PRIMARY KEY,
  began_at INTEGER NOT NULL
) WITHOUT ROWID;
"""
TABLES += hours.TABLE


class Anchor(Protocol):
    """Remembers, outside the log, a receipt that it must hold."""

    def recall(self) -> tuple[int, bytes] | None: ...
    def remember(self, number: int, hashed: bytes) -> None: ...


class HeldLock(Protocol):
    """Shows that a process which writes is alive."""

    def leave(self) -> None: ...
    def drop(self) -> None: ...


class ReceiptFile:
    """Fulfils the port of receipts on a file of its own."""

    def __init__(
        self,
        folder: Path,
        secret: bytes,
        anchor: Anchor,
        clock: instant.Clock,
        key: DataKey | None = None,
    ) -> None:
        """Open the log of a folder; ``secret`` seals its ends, ``key`` is of an encrypted store."""
        self._path = folder / RECEIPTS_NAME
        self._data_key = key
        self._writer_lock: HeldLock | None = None
        self._key = chain.sealing_key(secret)
        self._anchor = anchor
        self._clock = clock
        self._lock = threading.Lock()
        self._session: str | None = None
        try:
            self._db = self._open()
        except (OSError, apsw.Error) as problem:
            raise StoreError(
                f"cannot open the receipts {self._path}: {problem}; mend it or move it away"
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

    def begin(self) -> None:
        """Begin to write; a predecessor that ended without saying so leaves a gap in the log."""
        now, session = self._clock(), secrets.token_hex(8)
        self._writer_lock = self._hold(session)
        with self._writing() as db:
            events = self._missed(db, now)
            head, remembered = self._head(db), self._anchor.recall()
            if not verification.holds(db, head, remembered):
                problem = verification.older(head, remembered)
                events.append(Receipt(now, LogEvent.BROKEN, detail=problem))
            self._extend(db, [ReceiptBatch([event]) for event in events])
            db.execute("INSERT INTO session VALUES (?, ?)", (session, now))
            head = self._head(db)
        self._session = session
        self._anchor.remember(head.last, head.hash)

    def _hold(self, session: str) -> HeldLock:
        """Show that a session writes for as long as this process lives."""
        return WriterLock(self._lock_of(session))

    def _is_gone(self, session: str) -> bool:
        return is_gone(self._lock_of(session))

    def _lock_of(self, session: str) -> Path:
        return self._path.with_name(f"receipts.{session}.lock")

    def _missed(self, db: SqliteConnection, now: int) -> list[Receipt]:
        """Return a gap for each writer that is gone and did not say that it had written all."""
        rows = list(db.execute("SELECT id, began_at FROM session ORDER BY began_at"))
        gone = [row for row in rows if self._is_gone(row[0])]
        db.executemany("DELETE FROM session WHERE id = ?", [(name,) for name, _ in gone])
        last = db.execute("SELECT ifnull(max(latest), 0) FROM batch").get
        note = "the server ended without writing its last receipts, those after {}"
        return [
            Receipt(now, LogEvent.GAP, detail=note.format(instant.to_text(max(began, last))))
            for _, began in gone
        ]

    def write(self, batches: Sequence[ReceiptBatch]) -> None:
        """Write batches of receipts, all of them or none."""
        with self._writing() as db:
            self._extend(db, batches)

    def _extend(self, db: SqliteConnection, batches: Sequence[ReceiptBatch]) -> None:
        head = self._checked_head(db)
        for batch in batches:
            head = self._put(db, head, batch) if batch.count else head
        self._end(db, head)

    def _put(self, db: SqliteConnection, head: ChainHead, batch: ReceiptBatch) -> ChainHead:
        """Write one batch; return the ends of the log with it."""
        content, latest, events, readers, hourly = batch.written()
        last = head.last + batch.count
        hashed = chain.link(head.hash, last, latest, int(events), content)
        row = (last, latest, int(events), content, hashed)
        db.execute("INSERT INTO batch VALUES (?, ?, ?, ?, ?)", row)
        for client_id, at in readers:
            db.execute("INSERT OR IGNORE INTO reader VALUES (?, ?, ?)", (client_id, at, last))
        hours.add(db, hourly)
        return head._replace(last=last, hash=hashed)

    def _end(self, db: SqliteConnection, head: ChainHead) -> None:
        db.execute(
            "UPDATE head SET first = ?, before = ?, last = ?, hash = ?, seal = ?",
            self._sealed(head),
        )

    def _sealed(self, head: ChainHead) -> tuple[int | bytes, ...]:
        return (*head, chain.seal(head, self._key))

    def _head(self, db: SqliteConnection) -> ChainHead:
        *ends, _ = db.execute(verification.HEAD).get
        return ChainHead(*ends)

    def _checked_head(self, db: SqliteConnection) -> ChainHead:
        """Return the ends to go on from; where they are not as they were left, write that down.

        Going on without a word would put a good seal on what somebody else did.
        """
        *ends, seal = db.execute(verification.HEAD).get
        head = ChainHead(*ends)
        last, stored = _last(db) or (head.first - 1, head.before)
        if chain.is_sealed(head, self._key, seal) and (last, stored) == (head.last, head.hash):
            return head
        note = "the end of the log was not as it had been left"
        broken = ReceiptBatch([Receipt(self._clock(), LogEvent.BROKEN, detail=note)])
        return self._put(db, head._replace(last=max(last, head.last), hash=stored), broken)

    def trim(self, most_rows: int, most_bytes: int) -> None:
        """Drop the oldest receipts where there are too many, and write down that they went."""
        with self._writing() as db:
            head = self._head(db)
            rows = head.last - head.first + 1
            if rows <= most_rows and self._used(db) <= most_bytes:
                return
            self._end(db, self._checked_head(db))
            part = max(1, rows // _TRIMMED_PART)
            self._drop(db, max(part, rows - most_rows))
            while self._used(db) > most_bytes and self._drop(db, part):
                pass
            hours.forget(db, self._clock())
            gone = self._head(db).first - 1
            if gone >= head.first:
                note = f"receipts {head.first} to {gone} made room for newer"
                self._extend(
                    db, [ReceiptBatch([Receipt(self._clock(), LogEvent.TRIMMED, detail=note)])]
                )

    def _used(self, db: SqliteConnection) -> int:
        """Return how many bytes of the file hold something."""
        pages = db.execute("PRAGMA page_count").get - db.execute("PRAGMA freelist_count").get
        return int(pages * db.execute("PRAGMA page_size").get)

    def _drop(self, db: SqliteConnection, count: int) -> bool:
        """Drop some of the oldest receipts, whole batches of them but never the last one."""
        head = self._head(db)
        last = _end_of(db, head.first + count - 1, head.last)
        before = None if last is None else verification.hash_of(db, last)
        if last is None or before is None:
            return False
        db.execute("DELETE FROM batch WHERE last <= ?", (last,))
        db.execute("DELETE FROM reader WHERE last <= ?", (last,))
        self._end(db, head._replace(first=last + 1, before=before))
        return True

    def anchor(self) -> tuple[int, bytes]:
        """Let the store remember the last receipt, so that an older log is found out; return it."""
        with self._lock:
            head = self._head(self._db)
        self._anchor.remember(head.last, head.hash)
        return head.last, head.hash

    def finish(self) -> None:
        """Stop writing, with everything written."""
        if self._session is None:
            return
        with self._writing() as db:
            db.execute("DELETE FROM session WHERE id = ?", (self._session,))
            head = self._head(db)
        self._session = None
        if self._writer_lock is not None:
            self._writer_lock.leave()
        self._anchor.remember(head.last, head.hash)

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

    def receipts(self, query: ReceiptQuery, limit: int | None = None) -> Iterator[ChainedReceipt]:
        """Yield receipts, newest first."""
        with self._reading() as db:
            yield from verification.receipts(db, query, limit)

    def events(self, since: int | None = None) -> Iterator[ChainedReceipt]:
        """Yield what happened to the log itself, newest first."""
        with self._reading() as db:
            yield from verification.receipts(db, ReceiptQuery(since), None, events=True)

    def totals(self, query: ReceiptQuery) -> tuple[ReadTotal, ...]:
        """Return what was read, by client and connection, most characters first."""
        with self._reading() as db:
            return totals.totals(kept.receipt for kept in verification.receipts(db, query, None))

    def hourly(self, since: int) -> Sequence[HourlyReads]:
        """Return what clients read since a moment, by hour."""
        with self._reading() as db:
            return hours.since(db, since)

    def first_reads(self) -> Sequence[FirstRead]:
        """Return when each client first read each stream, of what is still known."""
        with self._reading() as db:
            return hours.first_reads(db)

    def question(self, number: int) -> Sequence[ChainedReceipt]:
        """Return the receipts of the question that a receipt belongs to: one moment, one client."""
        with self._reading() as db:
            return verification.question(db, number)

    def last_read(self, client_id: str) -> int | None:
        """Return when a client last read something."""
        with self._reading() as db:
            return verification.last_read(db, client_id)

    def hash_of(self, number: int) -> bytes | None:
        """Return the hash of a receipt that is still there."""
        with self._reading() as db:
            return verification.hash_of(db, number)

    def verify(self) -> ChainVerdict:
        """Compute the whole chain again."""
        with self._reading() as db:
            return verification.verify(db, self._key, self._anchor.recall())

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


def _last(db: SqliteConnection) -> tuple[int, bytes] | None:
    """Return the last receipt that is found, by number and hash."""
    row: tuple[int, bytes] | None = db.execute(
        "SELECT last, hash FROM batch ORDER BY last DESC LIMIT 1"
    ).get
    return row


def _end_of(db: SqliteConnection, number: int, last: int) -> int | None:
    """Return the end of the batch that holds a receipt, but not of the very last batch."""
    end: int | None = db.execute(
        "SELECT min(last) FROM batch WHERE last >= ? AND last < ?", (number, last)
    ).get
    if end is None:
        end = db.execute("SELECT max(last) FROM batch WHERE last < ?", (last,)).get
    return end
