"""The recorder: takes what was read as a line of JSON, and writes such lines down soon after.

A line is made where the answer is still at hand. That is cheaper than keeping the answer for a
thread that would make it later, and a moment's lines are next to nothing in memory.

No read under a grant goes unrecorded in silence. What waits to be written is bounded, and when it
is full, because the disk is or because writing fails, such reads are refused until it is not.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from pdpp.authz.principal import Principal
from pdpp.evidence.amount import counted
from pdpp.model.errors import Overloaded, StoreError
from pdpp.model.instant import Clock
from pdpp.receipts.served import Served, ServedParts, merged
from pdpp.receipts.witness import make_witness
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import LogEvent, Receipt, ReceiptLog

_receipt: Callable[[tuple[Any, ...]], Receipt] = partial(tuple.__new__, Receipt)
"""Makes a receipt of its values in a third of the time that its constructor takes."""

_BATCHES = 16
"""A log that is as long as it may be has at least this many batches, so that few go at a time."""

log = logging.getLogger("pdpp.receipts")


@dataclass(frozen=True, slots=True)
class ReceiptPolicy:
    """How soon receipts are written, how much may wait, and how much is kept."""

    seconds: float = 1.0
    anchor_seconds: float = 60.0
    """How long the end of the log may go without the store remembering it."""
    witness: str | None = None
    """A file, or an https address, that is told the end of the log."""
    batch_bytes: int = 256 << 10
    waiting_bytes: int = 8 << 20
    most_rows: int = 1_000_000
    most_bytes: int = 256 << 20

    @property
    def batch_rows(self) -> int:
        """Return how many receipts fill a batch."""
        return max(1, self.most_rows // _BATCHES)


class AnsweredRead(NamedTuple):
    """One read as it is taken: who, what, and what the operation put aside."""

    at: int
    principal: Principal
    operation: str
    stream: str | None
    served: Sequence[ServedParts]
    asked: tuple[str, ...] = ()
    """The fields that the question used: to filter, sort, group or add up."""


class _Attempt(NamedTuple):
    """What is written at once: full batches, and one that tells of unrecorded reads.

    What failed is tried again as it was, because the log may hold it: a database that was cut off
    may have committed before it could say so.
    """

    batches: Sequence[ReceiptBatch]
    full: int
    unrecorded: int


class Recorder:
    """Writes receipts in a thread of its own."""

    def __init__(self, book: ReceiptLog, clock: Clock, policy: ReceiptPolicy | None = None) -> None:
        self._book = book
        self._clock = clock
        self._policy = policy or ReceiptPolicy()
        self._batch_rows = self._policy.batch_rows
        self._witness = make_witness(self._policy.witness)
        self._batch = ReceiptBatch()
        self._full: list[ReceiptBatch] = []
        self._waiting = 0
        self._unrecorded = 0
        self._attempt: _Attempt | None = None
        """What failed."""
        self._failing = False
        self._ending = False
        self._unanchored = False
        self._lock = threading.Lock()
        self._work = threading.Event()
        self._soon = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pdpp-receipts", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._book.begin()
        self._thread.start()

    def take(self, reading: AnsweredRead) -> None:
        """Take a read that is about to be answered; refuse it where it could not be recorded."""
        policy = self._policy
        # Read without the lock: a number that is a moment old lets one more read in at most for
        # each thread.
        if self._waiting > policy.waiting_bytes:
            self._refuse(reading)
            return
        try:
            receipts = rows_of(reading)
        except Exception:
            log.exception("a read could not be told; its receipt says only that it was")
            receipts = _rows(reading, [Served(None, reading.stream, None, None)])
        with self._lock:
            batch = self._batch
            self._waiting += batch.add(receipts)
            full = batch.size > policy.batch_bytes or batch.count >= self._batch_rows
            if full:
                self._turn()
        if full:
            self._soon.set()
        # Setting an event takes its lock, which this thread would share with the one that writes.
        if not self._work.is_set():
            self._work.set()

    def _turn(self) -> None:
        """Put a batch aside that is to be written and begin another."""
        if self._batch.count:
            self._full.append(self._batch)
            self._batch = ReceiptBatch()

    def _refuse(self, reading: AnsweredRead) -> None:
        """Refuse a read under a grant; the owner's goes on, and that it went is told later."""
        if not reading.principal.is_owner:
            raise Overloaded(
                "What clients read cannot be written down at the moment, so nothing is read under "
                "a grant; the log of the server says why. Retry soon.",
                headers={"Retry-After": "5"},
            )
        with self._lock:
            self._unrecorded += 1

    @property
    def failing(self) -> bool:
        """Tell whether the last try to write receipts failed."""
        return self._failing

    def wants_anchor(self) -> bool:
        """Tell whether receipts were written since this was last asked."""
        wanted, self._unanchored = self._unanchored, False
        return wanted

    def anchor(self) -> int:
        """Let the store, and a witness, remember the last receipt; return its number."""
        try:
            number, hashed = self._book.anchor()
            if self._witness is not None:
                self._witness(self._clock(), number, hashed)
        except (StoreError, OSError):
            self._unanchored = True  # the next look tries again
            raise
        return number

    def close(self) -> None:
        """Write what there is and stop."""
        self._ending = True
        self._work.set()
        self._soon.set()
        if self._thread.is_alive():
            self._thread.join()
        left = sum(batch.count for batch in (*self._full, self._batch))
        if left:
            log.error("%d receipts could not be written; a gap will be told", left)
            return
        try:
            self._book.finish()
            if self._witness is not None:
                self.anchor()
        except (StoreError, OSError) as problem:
            log.error("the end of the receipts could not be written: %s", problem)

    # In the thread

    def _run(self) -> None:
        while not self._ending:
            self._work.wait()
            self._linger()
            self._write()
        while self._write():  # what came while the last was written
            pass

    def _linger(self) -> None:
        """Wait until it is time to write, or until a batch is full that may well be written."""
        until = time.monotonic() + self._policy.seconds
        while not self._ending and (left := until - time.monotonic()) > 0:
            if self._soon.wait(left):
                self._soon.clear()
                if not self._failing:
                    return

    def _write(self) -> bool:
        """Write what waits; where that fails keep it and try again after a while.

        Tell whether more was left to be written after it.
        """
        with self._lock:
            self._work.clear()
            self._turn()
            attempt = self._attempt or self._next_attempt()
        if not attempt.batches:
            return False
        try:
            self._book.write(attempt.batches)
        except Exception as problem:  # noqa: BLE001 - whatever it is, others will be written
            self._attempt = attempt
            self._tell_failing(problem)
            self._work.set()
            return False
        self._attempt = None
        self._tell_going_on()
        self._unanchored = True
        with self._lock:
            del self._full[: attempt.full]
            self._waiting = sum(batch.size for batch in (*self._full, self._batch))
            self._unrecorded -= attempt.unrecorded
            is_left = bool(self._full or self._unrecorded)
        if is_left:
            self._work.set()
        try:
            self._book.trim(self._policy.most_rows, self._policy.most_bytes)
        except Exception as problem:  # noqa: BLE001 - what was written stays
            log.error("old receipts could not be dropped: %s", problem)
        return is_left

    def _next_attempt(self) -> _Attempt:
        # A copy: what fails to be written stays where it was, and reads go on to fill new batches.
        full, unrecorded = list(self._full), self._unrecorded
        return _Attempt([*full, *self._gap(unrecorded)], len(full), unrecorded)

    def _gap(self, unrecorded: int) -> Iterator[ReceiptBatch]:
        if unrecorded:
            note = f"{counted(unrecorded, 'read')} of the owner could not be recorded"
            yield ReceiptBatch([Receipt(self._clock(), LogEvent.GAP, detail=note)])

    def _tell_failing(self, problem: Exception) -> None:
        if not self._failing:
            log.error(
                "receipts cannot be written, reads under grants will be refused: %s",
                problem,
                exc_info=None if isinstance(problem, StoreError) else problem,
            )
        self._failing = True

    def _tell_going_on(self) -> None:
        if self._failing:
            log.warning("receipts are written again")
        self._failing = False


def rows_of(reading: AnsweredRead) -> list[Receipt]:
    """Return the receipts of a read: one for each stream and set of fields, or one for nothing."""
    served = reading.served
    parts = (
        list(served[0]())
        if len(served) == 1
        else list(merged(part for parts_of in served for part in parts_of()))
    )
    return _rows(reading, parts or [Served(None, reading.stream, None, ())])


def _rows(reading: AnsweredRead, parts: Sequence[Served]) -> list[Receipt]:
    at, principal, operation, _, _, asked = reading
    grant, package = principal.grant, principal.package
    approval = grant or package
    client_id = None if approval is None else approval.client_id
    grant_id = None if grant is None else grant.id
    package_id = None if package is None else package.id
    who = at, operation, client_id
    return [
        _receipt((*who, grant_id or own_id, package_id, place, stream, fields, asked, *amounts))
        for place, stream, own_id, fields, *amounts in parts
    ]
