"""One owner's part of a PostgreSQL database: snapshots with a deadline, and turns at writing."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, TypeVar

import psycopg

from pdpp.store.deadline import Deadline, DeadlinePassed
from pdpp.store.postgres.connection import PostgresConnection, Rows, Values, always
from pdpp.store.postgres.growth import count_grown
from pdpp.store.postgres.notices import notice
from pdpp.store.postgres.opening import prepare, worker_connections
from pdpp.store.postgres.owner import find_owner, owner_number
from pdpp.store.postgres.pool import READERS, WorkerConnections
from pdpp.store.postgres.replica import CHANGES, LagNeed, ReplicaReaders
from pdpp.store.postgres.session import StateCheck
from pdpp.store.postgres.snapshots import (
    SNAPSHOT,
    ReplicaSnapshot,
    StateSnapshot,
    beginning,
)
from pdpp.store.state import StateChanged
from pdpp.store.tables.snapshot import Snapshot

T = TypeVar("T")

_TURN = """
    UPDATE owner SET changes = changes + 1 + (random() * 2147483647)::bigint WHERE id = $1
"""
"""Whoever writes for an owner holds this row: the others wait, and all see that something changed.

By how much is chance: a database that goes on from an earlier moment never comes to a number that a
worker remembers from what is lost.
"""


class ThreadReader:
    """Asks on the snapshot of the calling thread, or on a connection taken for one statement.

    Whoever keeps this object never keeps a connection: that serves somebody else a moment later.
    """

    failure: type[Exception] = psycopg.Error

    def __init__(self, database: "PostgresDatabase") -> None:
        self._database = database

    def execute(self, sql: str, values: Values = ()) -> Rows:
        """Ask one statement."""
        return self._database.ask(lambda db: db.execute(sql, values))

    def run(self, text: str, values: Sequence[Any] = ()) -> Rows:
        """Ask a statement that is in the words of PostgreSQL already."""
        return self._database.ask(lambda db: db.run(text, values))

    def array(self, values: Any) -> Any:
        """Return values as a statement takes a list of them."""
        return values


class _ThreadState(threading.local):
    """The snapshot that a thread reads from."""

    snapshot: PostgresConnection | None = None
    deadline: Deadline | None = None
    assumed: int | None = None
    """The state that what is read must be of."""
    from_replica: ReplicaReaders | None = None
    """The replica that the snapshot is of, None where it is of the primary."""


class PostgresDatabase:
    """One owner's part of a database, on the connections that all owners of a worker share."""

    interruption: type[Exception] = psycopg.errors.QueryCanceled
    failure: type[Exception] = psycopg.Error

    def __init__(self, url: str, owner: str, connections: WorkerConnections | None = None) -> None:
        """``owner`` is the name of the owner, who is added where there is none of that name.

        Without ``connections`` the database has its own, which it closes.
        """
        self._thread = _ThreadState()
        self._shares = connections is not None
        if connections is None:
            prepare(url)
            connections = worker_connections(url)
        self.connections = connections
        try:
            self._owner = owner_number(connections, owner)
        except BaseException:
            self.close()
            raise
        self._name = owner
        self._is_known = True
        connections.timeline.follow(self.forget)
        self.reader = ThreadReader(self)
        self._last_state: tuple[int, object] | None = None
        """The state that was asked for last, and what notices had told before that."""

    @property
    def owner(self) -> int:
        """Return the number of the owner, as long as it is theirs."""
        self._check_owner()
        return self._owner

    def _check_owner(self) -> None:
        if not self._is_known:
            raise psycopg.OperationalError("the owner of this store is not in the database")

    def forget(self, db: PostgresConnection) -> None:
        """Look whether the number is still that of the owner: who was added since may be lost."""
        self._last_state = None
        self._is_known = find_owner(db, self._name) == self._owner

    def ask(self, question: Callable[[PostgresConnection], Rows]) -> Rows:
        """Ask on the snapshot of this thread, or on a connection that is taken for this once."""
        snapshot = self._thread.snapshot
        if snapshot is not None:
            return self._ask_first(question) if snapshot.is_beginning else question(snapshot)
        db, rows = self.connections.readers.take(self.owner, question)
        self.connections.readers.give(db)
        self._check_owner()
        return rows

    def _take(
        self,
        question: Callable[[PostgresConnection], T],
        deadline: Deadline | None = None,
        *,
        is_long: bool = False,
    ) -> tuple[PostgresConnection, T]:
        """Take a connection for several statements, and ask a first one on it.

        Whoever asks has worked out what to ask for before: it holds for the past of that moment.
        """
        timeline = self.connections.timeline
        number = timeline.number
        db, answer = self.connections.readers.take(self.owner, question, deadline, is_long=is_long)
        if timeline.number != number:
            self._ended(db)
            raise psycopg.OperationalError("the database goes on from another moment")
        return db, answer

    def _ask_first(self, question: Callable[[PostgresConnection], T]) -> T:
        """Ask the first statement of this thread's snapshot, on another connection if one was cut.

        Nothing has been read yet, so nobody has to hear of it. A replica is not asked again.
        """
        thread = self._thread
        deadline, assumed = thread.deadline, thread.assumed
        # All that were idle may have been cut, so that only the one after them is a new one.
        for left in range(READERS, -1, -1):
            db = thread.snapshot
            assert db is not None  # noqa: S101 - a snapshot is held
            try:
                return question(db)
            except psycopg.OperationalError:
                if not left or not db.raw.closed or thread.from_replica is not None:
                    raise
            self.end()
            self.begin(deadline, assumed)
        raise AssertionError

    def count_bytes(self, size: int) -> None:
        """Count a large record that was read; raise when this thread's read may read no more."""
        deadline = self._thread.deadline
        if deadline is not None:
            deadline.take(size)

    def check_deadline(self) -> None:
        """Raise when this thread's read has used up its time."""
        deadline = self._thread.deadline
        if deadline is not None and deadline.passed():
            raise DeadlinePassed

    def reading(
        self, deadline: Deadline | None, need: LagNeed | None = None, assumed: int | None = None
    ) -> Snapshot:
        """Hold one snapshot; nested uses join the outer one.

        With ``need`` the replica may answer, where there is one and it is as recent. The snapshot
        is of the state that is ``assumed``, or ``StateChanged`` is raised.
        """
        replica = self.connections.replica
        if need is not None and replica is not None:
            return ReplicaSnapshot(self, deadline, replica, need)
        return (
            Snapshot(self, deadline) if assumed is None else StateSnapshot(self, deadline, assumed)
        )

    def begin(self, deadline: Deadline | None, assumed: int | None = None) -> bool:
        """Begin a snapshot of this thread; tell whether there was none before."""
        if self._thread.snapshot is not None:
            return False
        begin, is_long = beginning(deadline)
        if assumed is not None:
            begin = begin._replace(question=self._state_question(assumed))
        db, _ = self._take(lambda db: db.begin(begin), deadline, is_long=is_long)
        self._hold(db, deadline)
        self._thread.assumed = assumed
        return True

    def _state_question(self, assumed: int) -> StateCheck:
        """Return the question that shows whether a snapshot is of a state."""

        def take(changes: int) -> None:
            if changes != assumed:
                raise StateChanged

        return StateCheck(CHANGES, (self.owner,), take)

    def check_state(self) -> None:
        """Raise ``StateChanged`` where this thread's snapshot is of another state than assumed."""
        db = self._thread.snapshot
        # Whoever asked a statement has been told with its answer.
        if db is not None and db.is_beginning:
            self._ask_first(PostgresConnection.ask_beginning)

    def begin_on(self, replica: ReplicaReaders, deadline: Deadline | None, need: LagNeed) -> bool:
        """Begin a snapshot of this thread on a replica; tell whether that was possible."""
        if self._thread.snapshot is not None:
            return False
        begin, is_long = beginning(deadline)
        db = replica.begin(self.owner, begin, deadline, need, is_long=is_long)
        if db is None:
            return False
        self._hold(db, deadline)
        self._thread.from_replica = replica
        return True

    def _hold(self, db: PostgresConnection, deadline: Deadline | None) -> None:
        db.check = self.check_deadline
        self._thread.snapshot, self._thread.deadline = db, deadline

    def end(self) -> None:
        """End the snapshot of this thread."""
        db, replica = self._thread.snapshot, self._thread.from_replica
        self._thread.snapshot = self._thread.deadline = self._thread.from_replica = None
        self._thread.assumed = None
        if db is not None and replica is not None:
            db.check = always
            replica.end(db)
        elif db is not None:
            self._ended(db)

    def _ended(self, db: PostgresConnection) -> None:
        db.check = always
        try:
            if not db.raw.closed:
                db.end_reading()
        finally:
            self.connections.readers.give(db)

    @contextmanager
    def snapshot(self) -> Iterator[PostgresConnection]:
        """Hold a snapshot that is not the thread's: whoever reads slowly leaves the others alone.

        Inside of the thread's own it is that one, so that a read never waits for itself.
        """
        if self._thread.snapshot is not None:
            yield self._thread.snapshot
            return
        db, _ = self._take(lambda db: db.control(SNAPSHOT), is_long=True)
        try:
            yield db
        finally:
            self._ended(db)

    @contextmanager
    def brief(self) -> Iterator[PostgresConnection]:
        """Hold a short transaction that writes beside the owner's turn: counts, not records."""
        readers = self.connections.readers
        db, _ = self._take(lambda db: db.control("BEGIN"))
        try:
            yield db
            db.commit()
        except BaseException:
            db.roll_back()
            raise
        finally:
            readers.give(db)

    def writing(self) -> AbstractContextManager[PostgresConnection]:
        """Hold the owner's write lock, of all workers, for one transaction."""
        return self._writing()

    @contextmanager
    def _writing(self) -> Iterator[PostgresConnection]:
        with self.connections.writer.held(self.owner, lambda db: db.control("BEGIN")) as db:
            try:
                db.run(_TURN, (self.owner,))
                yield db
                count_grown(db)
                db.commit()
            except BaseException:
                db.roll_back()
                raise
            _send_notice(db, notice(self.owner))

    def announce_work(self) -> None:
        """Tell all workers that there may be a job to claim."""
        writer = self.connections.writer
        text = notice(self.owner, work=True)
        with suppress(psycopg.Error), writer.held(self.owner, lambda db: db.send(text)):
            pass

    def state(self) -> int:
        """Return a number that differs after any write for this owner."""
        replica = self.connections.replica
        if self._thread.snapshot is not None:
            return int(self.reader.run(CHANGES, (self.owner,)).get)
        told = self.connections.notices.seen(self.owner)
        at = 0.0 if replica is None else replica.now()
        changes = int(self.reader.run(CHANGES, (self.owner,)).get)
        if replica is not None:
            replica.see(self.owner, changes, at)
        self._last_state = changes, told
        return changes

    def is_assumable(self, state: object) -> bool:
        """Tell whether a read may assume a state: it was the last one, and no notice came since.

        With a replica it may not: the primary is asked who a caller is.
        """
        told = self.connections.notices.seen(self.owner)
        return self.connections.replica is None and self._last_state == (state, told)

    def assumed_state(self) -> object:
        """Return the state that this thread's snapshot is of, None where that is not known."""
        return self._thread.assumed

    def recent_state(self) -> object:
        """Return a value that soon differs after a write; no question while notices come."""
        return self.connections.notices.seen(self.owner) or self.state()

    def shed(self) -> bool:
        """Do nothing: the database cleans up by itself."""
        return False

    def holds_deleted(self) -> bool:
        """Return False: what there is to remove is the database's own work."""
        return False

    def close(self) -> None:
        """Close every connection this object opened."""
        if not self._shares:
            self.connections.close()


def _send_notice(db: PostgresConnection, text: str) -> None:
    # The write is done: nobody may hear that it failed because a notice did.
    with suppress(psycopg.Error):
        db.send(text)
