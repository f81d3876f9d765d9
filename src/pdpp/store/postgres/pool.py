"""The connections of one worker: a few that read, one that writes, and one for receipts.

A worker has five at most, whatever its threads and owners: a hundred workers then stay within what
one PostgreSQL serves without a pooler of its own. Whoever takes a connection names an owner, and
the session sees the rows of that owner from then on.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg

from pdpp.model.errors import Overloaded
from pdpp.store.deadline import Deadline, DeadlinePassed
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.notices import NoticeListener
from pdpp.store.postgres.timeline import DatabaseTimeline

if TYPE_CHECKING:
    from pdpp.store.postgres.replica import ReplicaReaders

T = TypeVar("T")
Open = Callable[[], PostgresConnection]

READERS = 3
_WAIT_SECONDS = 10.0
"""How long a read without a deadline waits for a connection."""
_LOOK_SECONDS = 0.005


def first_asked(
    db: PostgresConnection, owner: int, ask: Callable[[PostgresConnection], T], again: Open
) -> tuple[PostgresConnection, T]:
    """Ask the first statement after a connection was taken; where it was cut, ask on a new one.

    Nothing has happened yet that the cut could have undone, so nobody has to hear of it.
    """
    try:
        db.set_owner(owner)
        return db, ask(db)
    except psycopg.OperationalError:
        if not db.raw.closed:
            raise
    db.close()
    db = again()
    db.set_owner(owner)
    return db, ask(db)


class ReaderPool:
    """Hands out a bounded number of connections for reads."""

    def __init__(self, open_one: Open, size: int = READERS) -> None:
        self._open = open_one
        self._size = size
        self._count = 0
        self._idle: list[PostgresConnection] = []
        self._long = 0
        self._freed = threading.Condition()
        self._closed = False

    def take(
        self,
        owner: int,
        ask: Callable[[PostgresConnection], T],
        deadline: Deadline | None = None,
        *,
        is_long: bool = False,
    ) -> tuple[PostgresConnection, T]:
        """Take a connection for an owner and ask a first statement on it; ``give`` it back.

        Where all are taken this waits until the deadline of the read. Long reads leave one to the
        short ones, which the one thread that answers everybody may be waiting for.
        """
        db = self._take(owner, deadline, is_long=is_long)
        try:
            if db is None:
                db = self._open()
            db, answer = first_asked(db, owner, ask, self._open)
        except BaseException:
            self._release(db, was_long=is_long)
            raise
        db.is_long = is_long
        return db, answer

    def _take(
        self, owner: int, deadline: Deadline | None, *, is_long: bool
    ) -> PostgresConnection | None:
        """Return an idle connection, or None where the caller may open one."""
        until = time.monotonic() + _WAIT_SECONDS
        with self._freed:
            while not self._has_room(is_long=is_long):
                if deadline is not None and deadline.passed():
                    raise DeadlinePassed
                if time.monotonic() > until:
                    raise Overloaded(
                        "The server is busy with long requests; retry soon.",
                        headers={"Retry-After": "2"},
                    )
                self._freed.wait(_LOOK_SECONDS)
            self._long += is_long
            # One that served this owner last needs no word about whom it serves.
            for at, db in enumerate(reversed(self._idle), 1):
                if db.owner == owner:
                    return self._idle.pop(-at)
            if self._count < self._size:
                self._count += 1
                return None
            return self._idle.pop(0)

    def _has_room(self, *, is_long: bool) -> bool:
        if is_long and self._long >= self._size - 1:
            return False
        return bool(self._idle) or self._count < self._size

    def give(self, db: PostgresConnection) -> None:
        """Give a connection back; one that was cut, or is inside a transaction, is closed."""
        whole = not db.raw.closed and db.is_idle()
        with self._freed:
            if whole and not self._closed:
                self._idle.append(db)
                self._long -= db.is_long
                self._freed.notify_all()
                return
        self._release(db, was_long=db.is_long)

    def _release(self, db: PostgresConnection | None, *, was_long: bool) -> None:
        if db is not None:
            db.close()
        with self._freed:
            self._count -= 1
            self._long -= was_long
            self._freed.notify_all()

    def close(self) -> None:
        """Close what is idle now; what is taken is closed when it is given back."""
        with self._freed:
            self._closed = True
            idle, self._idle = self._idle, []
            self._count -= len(idle)
        for db in idle:
            db.close()


class TurnConnection:
    """One connection that the threads of a worker take in turns."""

    def __init__(self, open_one: Open) -> None:
        self._open = open_one
        self._lock = threading.RLock()
        self._db: PostgresConnection | None = None

    @contextmanager
    def held(
        self, owner: int, ask: Callable[[PostgresConnection], Any]
    ) -> Iterator[PostgresConnection]:
        """Hold the connection for an owner, after a first statement was asked on it."""
        with self.session() as db:
            self._db, _ = first_asked(db, owner, ask, self._open)
            yield self._db

    @contextmanager
    def session(self) -> Iterator[PostgresConnection]:
        """Hold the connection for what concerns no owner; it stays that of the owner it was."""
        with self._lock:
            if self._db is None or self._db.raw.closed:
                self.close()
                self._db = self._open()
            yield self._db

    def close(self) -> None:
        """Close the connection; the next who holds it opens another."""
        with self._lock:
            if self._db is not None:
                with suppress(psycopg.Error):
                    self._db.close()
            self._db = None


class WorkerConnections:
    """All connections of a worker to one database."""

    def __init__(self, open_one: Open, replica: "ReplicaReaders | None" = None) -> None:
        self._open_one = open_one
        self.timeline = DatabaseTimeline()
        self.readers = ReaderPool(self.open)
        self.replica = replica
        if replica is not None:
            self.timeline.follow(replica.forget)
        self.writer = TurnConnection(self.open)
        self.receipts = TurnConnection(self.open)
        self.notices = NoticeListener(self.receipts)

    def open(self) -> PostgresConnection:
        """Open a connection, which tells whether the database is still the one it was."""
        db = self._open_one()
        try:
            self.timeline.look(db)
        except BaseException:
            db.close()
            raise
        return db

    def close(self) -> None:
        """Close all of them."""
        self.notices.close()
        if self.replica is not None:
            self.replica.close()
        for part in (self.readers, self.writer, self.receipts):
            part.close()
