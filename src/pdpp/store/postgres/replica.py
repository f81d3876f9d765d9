"""Reads from a replica: a copy of the database that follows it, a moment behind.

Each write of an owner adds to the number of their row (``owner.changes``), on the replica too.
A worker asks the primary for that number when it decides who a caller is. So the number that a
snapshot of the replica shows tells, for this owner, exactly which writes it has: all of them, or
all up to a moment at which this worker saw the primary's number. No clock of another machine is
asked, and a replica that was cut off from its primary is not taken for a recent one.

A number that this worker never saw on the primary tells nothing. By how much a write adds is
chance, so that a replica which went another way, with writes of its own, has other numbers.
"""

import logging
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import psycopg

from pdpp.store.deadline import Deadline
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.pool import Open, ReaderPool
from pdpp.store.postgres.session import Beginning
from pdpp.store.replica import ReplicaUse

log = logging.getLogger("pdpp.replica")

CHANGES = "SELECT changes FROM owner WHERE id = $1"
_MOST_OWNERS = 4_096
_MOST_SEEN = 256
_LEAST_LAG = 1e-6
"""What lacks a write is behind, however little time has passed: 0 says that nothing is missing."""
_AGAIN_SECONDS = 5.0
"""How long a replica that failed is left alone."""


@dataclass(slots=True)
class _Seen:
    """The number that an owner's row had on the primary, and when it was seen for the last time."""

    changes: int
    at: float


class LagNeed(NamedTuple):
    """How many seconds a snapshot may be behind, and whether one that is behind can be used.

    With a lag of 0 it has everything that this worker knows to be on the primary.
    """

    lag: float
    fits: Callable[[PostgresConnection], bool]


class ReplicaReaders:
    """Hands out snapshots of a replica that are as recent as a read needs."""

    def __init__(
        self, open_one: Open, most_lag: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.most_lag = most_lag
        self._pool = ReaderPool(open_one)
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: OrderedDict[int, deque[_Seen]] = OrderedDict()
        self._forgot_at = -math.inf
        self._resting_until = 0.0
        self._use = ReplicaUse()

    def now(self) -> float:
        """Return the moment to note with a number, taken before the primary is asked for it.

        What it answers may be overtaken before anybody notes it; it was true at that moment.
        """
        return self._clock()

    def see(self, owner: int, changes: int, at: float) -> None:
        """Note the number that an owner's row had on the primary at a moment."""
        with self._lock:
            if at <= self._forgot_at:
                return  # of a primary that is none any more
            seen = self._seen.setdefault(owner, deque(maxlen=_MOST_SEEN))
            self._seen.move_to_end(owner)
            if seen and seen[-1].changes >= changes:
                # Two threads may tell what they saw in another order than they saw it.
                if seen[-1].changes == changes:
                    seen[-1].at = max(seen[-1].at, at)
            else:
                seen.append(_Seen(changes, at))
            if len(self._seen) > _MOST_OWNERS:
                self._seen.popitem(last=False)

    def forget(self, _: PostgresConnection) -> None:
        """Forget all numbers: the primary goes on from a moment before some of them."""
        with self._lock:
            self._seen.clear()
            self._forgot_at = self._clock()

    def lag(self, owner: int, changes: int) -> float | None:
        """Return by how many seconds at most a snapshot with a number is behind; None if unknown.

        It has all that was written before the last moment at which the primary had no more.
        """
        with self._lock:
            seen = self._seen.get(owner)
            if not seen:
                return None
            if changes == seen[-1].changes:
                return 0.0
            # Another number, also one between two of these, may be of a write that the primary
            # never had.
            at = next((known.at for known in seen if known.changes == changes), None)
        return None if at is None else max(self._clock() - at, _LEAST_LAG)

    def begin(
        self,
        owner: int,
        begin: Beginning,
        deadline: Deadline | None,
        need: LagNeed,
        *,
        is_long: bool,
    ) -> PostgresConnection | None:
        """Begin a snapshot that is as recent as a read needs; None where there is none."""
        if self._clock() < self._resting_until:
            return None
        db: PostgresConnection | None = None
        try:
            db, changes = self._pool.take(
                owner, lambda db: _changes(db, owner, begin), deadline, is_long=is_long
            )
            behind = None if changes is None else self.lag(owner, int(changes))
            is_recent = behind is not None and behind <= min(need.lag, self.most_lag)
            # Who may read what follows from the catalogue of the primary: places in records that
            # are those of another catalogue would be other fields.
            is_recent = is_recent and (not behind or need.fits(db))
        except psycopg.Error as problem:
            self.failed(problem)
            if db is not None:
                self._drop(db)
            return None
        with self._lock:
            self._use = self._use.counted(behind, is_recent=is_recent)
        if is_recent:
            return db
        self.end(db)
        return None

    def end(self, db: PostgresConnection) -> None:
        """End a snapshot."""
        try:
            if not db.raw.closed:
                db.end_reading()
        finally:
            self._pool.give(db)

    def _drop(self, db: PostgresConnection) -> None:
        with suppress(psycopg.Error):
            db.close()
        self._pool.give(db)

    def failed(self, problem: Exception) -> None:
        """Leave the replica alone for a while; the primary answers."""
        log.warning("the replica failed (%s); reading from the primary", type(problem).__name__)
        with self._lock:
            self._resting_until = self._clock() + _AGAIN_SECONDS
            self._use = self._use.failed()

    def use(self) -> ReplicaUse:
        """Return how often the replica answered, and how far behind it was."""
        with self._lock:
            return self._use

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


def _changes(db: PostgresConnection, owner: int, begin: Beginning) -> int | None:
    """Begin a snapshot; return the number of an owner's row in it."""
    db.begin(begin)
    changes: int | None = db.run(CHANGES, (owner,)).get
    return changes
