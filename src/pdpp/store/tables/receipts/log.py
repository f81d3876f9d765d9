"""The log of receipts: a chain of batches, each sealed with the hash of those before it."""

import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from pdpp.model import instant
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import (
    ChainedReceipt,
    ChainVerdict,
    ClientHour,
    FirstRead,
    LogEvent,
    ReadTotal,
    Receipt,
    ReceiptQuery,
)
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.receipts import chain, hours, totals, verification
from pdpp.store.tables.receipts.chain import ChainHead

_TRIMMED_PART = 16
"""One part in this many goes when the log is too long."""


class Anchor(Protocol):
    """Remembers, outside the log, a receipt that it must hold."""

    def recall(self) -> tuple[int, bytes] | None: ...
    def remember(self, number: int, hashed: bytes) -> None: ...


class HeldLock(Protocol):
    """Shows that a process which writes is alive."""

    def leave(self) -> None: ...
    def drop(self) -> None: ...


class TableReceipts(ABC):
    """Fulfils the port of receipts on tables; an engine adds how they are opened and held."""

    _db: TableConnection
    """The connection that writes."""

    def __init__(self, secret: bytes, anchor: Anchor, clock: instant.Clock) -> None:
        """``secret`` seals the ends of the log."""
        self._key = chain.sealing_key(secret)
        self._anchor = anchor
        self._clock = clock
        self._lock = threading.Lock()
        self._session: str | None = None
        self._writer_lock: HeldLock | None = None
        self._tried: tuple[Sequence[ReceiptBatch], ChainHead] | None = None
        """What was to be written last, and the end that the log has if it was."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[TableConnection]:
        """Hold the right to extend the log for one transaction."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[TableReader]:
        """Hold one snapshot of the log on a connection of its own."""

    @abstractmethod
    def _hold(self, session: str) -> HeldLock:
        """Show that a session writes for as long as this process lives."""

    @abstractmethod
    def _is_gone(self, session: str) -> bool:
        """Tell whether the process of a session ended."""

    @abstractmethod
    def _used(self, db: TableReader) -> int:
        """Return how many bytes the log takes."""

    # Writing

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

    def _missed(self, db: TableConnection, now: int) -> list[Receipt]:
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
        """Write batches of receipts, all of them or none.

        Where this fails the same ones are given again. They may be in the log by then: a database
        that was cut off may have committed before it could say so.
        """
        with self._writing() as db:
            if not self._is_written(db, batches):
                self._tried = batches, self._extend(db, batches)
        self._tried = None

    def _is_written(self, db: TableConnection, batches: Sequence[ReceiptBatch]) -> bool:
        """Tell whether a try of which it was said that it failed wrote these batches."""
        if self._tried is None or self._tried[0] is not batches:
            return False
        end = self._tried[1]
        return verification.hash_of(db, end.last) == end.hash

    def _extend(self, db: TableConnection, batches: Sequence[ReceiptBatch]) -> ChainHead:
        """Write batches; return the ends of the log with them."""
        head = self._checked_head(db)
        for batch in batches:
            head = self._put(db, head, batch) if batch.count else head
        self._end(db, head)
        return head

    def _put(self, db: TableConnection, head: ChainHead, batch: ReceiptBatch) -> ChainHead:
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

    def _end(self, db: TableConnection, head: ChainHead) -> None:
        db.execute(
            "UPDATE head SET first = ?, before = ?, last = ?, hash = ?, seal = ?",
            self._sealed(head),
        )

    def _sealed(self, head: ChainHead) -> tuple[int | bytes, ...]:
        return (*head, chain.seal(head, self._key))

    def _head(self, db: TableReader) -> ChainHead:
        *ends, _ = db.execute(verification.HEAD).get
        return ChainHead(*ends)

    def _checked_head(self, db: TableConnection) -> ChainHead:
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

    def _drop(self, db: TableConnection, count: int) -> bool:
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

    def hourly(self, since: int) -> Sequence[ClientHour]:
        """Return what each client read since a moment, by hour, over all streams."""
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


def _last(db: TableReader) -> tuple[int, bytes] | None:
    """Return the last receipt that is found, by number and hash."""
    row: tuple[int, bytes] | None = db.execute(
        "SELECT last, hash FROM batch ORDER BY last DESC LIMIT 1"
    ).get
    return row


def _end_of(db: TableReader, number: int, last: int) -> int | None:
    """Return the end of the batch that holds a receipt, but not of the very last batch."""
    end: int | None = db.execute(
        "SELECT min(last) FROM batch WHERE last >= ? AND last < ?", (number, last)
    ).get
    if end is None:
        end = db.execute("SELECT max(last) FROM batch WHERE last < ?", (last,)).get
    return end
