"""The recorder: takes what was read off the read path at once, and writes it down soon after.

No read under a grant goes unrecorded in silence. What waits to be written is bounded, and when it
is full, because the disk is or because writing fails, such reads are refused until it is not.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pdpp.authz.principal import Principal
from pdpp.model.errors import Overloaded, StoreError
from pdpp.model.instant import Clock
from pdpp.receipts.served import Served, Shown, merged
from pdpp.store.receipts import Event, Receipt, ReceiptBook

_ROW_BYTES = 300

log = logging.getLogger("pdpp.receipts")


@dataclass(frozen=True, slots=True)
class Policy:
    """How soon receipts are written, how much may wait, and how much is kept."""

    seconds: float = 1.0
    batch_rows: int = 2_000
    soon_bytes: int = 1 << 20
    answers_bytes: int = 128 << 20
    waiting_bytes: int = 8 << 20
    most_rows: int = 1_000_000
    most_bytes: int = 256 << 20


class Reading(NamedTuple):
    """One read as it is taken: who, what, and what the operation put aside."""

    at: int
    principal: Principal
    operation: str
    stream: str | None
    shown: Sequence[Shown]
    size: int


class Recorder:
    """Writes receipts in a thread of its own."""

    def __init__(self, book: ReceiptBook, clock: Clock, policy: Policy | None = None) -> None:
        self._book = book
        self._clock = clock
        self._policy = policy or Policy()
        self._taken: deque[Reading] = deque()
        self._answers = 0
        self._rows: list[Receipt] = []
        self._waiting = 0
        self._unrecorded = 0
        self._failing = False
        self._ending = False
        self._lock = threading.Lock()
        self._work = threading.Event()
        self._soon = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pdpp-receipts", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._book.begin()
        self._thread.start()

    def take(self, reading: Reading) -> None:
        """Take a read that is about to be answered; refuse it where it could not be recorded."""
        policy = self._policy
        if self._waiting > policy.waiting_bytes or self._answers > policy.answers_bytes:
            self._refuse(reading)
            return
        with self._lock:
            self._taken.append(reading)
            self._answers += reading.size
        if not self._work.is_set():
            self._work.set()
        if self._answers > policy.soon_bytes:
            self._soon.set()

    def _refuse(self, reading: Reading) -> None:
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

    def close(self) -> None:
        """Write what there is and stop."""
        self._ending = True
        self._work.set()
        self._soon.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._rows or self._taken:
            log.error("%d receipts could not be written; a gap will be told", len(self._rows))
            return
        try:
            self._book.finish()
        except StoreError as problem:
            log.error("the end of the receipts could not be written: %s", problem.message)

    # In the thread

    def _run(self) -> None:
        while not self._ending:
            self._work.wait()
            self._work.clear()
            self._gather()
            self._write()

    def _gather(self) -> None:
        """Make rows of what is taken until it is time to write them."""
        until = time.monotonic() + self._policy.seconds
        while not self._ending and (left := until - time.monotonic()) > 0:
            if not self._failing and len(self._rows) >= self._policy.batch_rows:
                break
            if self._soon.wait(left):
                self._soon.clear()
                self._make_rows()
        self._make_rows()

    def _make_rows(self) -> None:
        while self._taken:
            reading = self._taken.popleft()
            try:
                rows = rows_of(reading)
            except Exception:
                log.exception("a read could not be told; its receipt says only that it was")
                rows = [_row(reading, Served(None, reading.stream, None, None))]
            self._rows += rows
            with self._lock:
                self._answers -= reading.size
                self._waiting += sum(map(_weight, rows))

    def _write(self) -> None:
        """Write the rows; where that fails keep them and try again after a while."""
        batch, unrecorded = list(self._rows), self._unrecorded
        if unrecorded:
            told = f"{unrecorded} reads of the owner could not be recorded"
            batch.append(Receipt(self._clock(), Event.GAP, detail=told))
        if not batch:
            return
        try:
            self._book.append(batch)
        except StoreError as problem:
            self._tell(failing=True, why=problem.message)
            self._work.set()
            return
        self._tell(failing=False)
        with self._lock:
            self._rows.clear()
            self._waiting = 0
            self._unrecorded -= unrecorded
        try:
            self._book.trim(self._policy.most_rows, self._policy.most_bytes)
        except StoreError as problem:
            log.error("old receipts could not be dropped: %s", problem.message)

    def _tell(self, *, failing: bool, why: str = "") -> None:
        if failing and not self._failing:
            log.error("receipts cannot be written, reads under grants will be refused: %s", why)
        elif self._failing and not failing:
            log.warning("receipts are written again")
        self._failing = failing


def rows_of(reading: Reading) -> list[Receipt]:
    """Return the receipts of a read: one for each stream and set of fields, or one for nothing."""
    parts = list(merged(part for shown in reading.shown for part in shown()))
    return [_row(reading, part) for part in parts or [Served(None, reading.stream, None, ())]]


def _row(reading: Reading, part: Served) -> Receipt:
    principal = reading.principal
    grant, package = principal.grant, principal.package
    approval = grant or package
    return Receipt(
        at=reading.at,
        operation=reading.operation,
        client_id=None if approval is None else approval.client_id,
        grant_id=part.grant_id if grant is None else grant.id,
        package_id=None if package is None else package.id,
        connection_id=part.connection_id,
        stream=part.stream,
        fields=part.fields,
        records=part.records,
        characters=part.characters,
        bytes=part.bytes,
        detail=part.blob_id,
    )


def _weight(row: Receipt) -> int:
    return _ROW_BYTES + sum(map(len, row.records))
