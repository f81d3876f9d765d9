"""Snapshots in PostgreSQL: of the primary, of a state that is assumed, or of a replica."""

import math
from types import TracebackType
from typing import TYPE_CHECKING

import psycopg

from pdpp.store.deadline import Deadline
from pdpp.store.postgres.replica import LagNeed, ReplicaReaders
from pdpp.store.postgres.session import Beginning
from pdpp.store.replica import ReadAgain
from pdpp.store.tables.snapshot import Snapshot

if TYPE_CHECKING:
    from pdpp.store.postgres.database import PostgresDatabase

STATEMENT_MILLISECONDS = 30_000
"""How long a statement may take, whoever asks it."""
SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_SHORT_SECONDS = 1.0
"""A read that may take longer leaves a connection to the others."""
_SHORT_STEP, _LONG_STEP = 5, 500
"""To how many milliseconds the time of a statement is rounded up."""


def beginning(deadline: Deadline | None) -> tuple[Beginning, bool]:
    """Return what begins a snapshot, and whether it may be held for long."""
    if deadline is None:
        return Beginning((SNAPSHOT,)), True
    # A statement that runs on after the time of its read is ended by the database. Each number is a
    # statement of its own that stays prepared, so there are few of them.
    left = deadline.left()
    step = _SHORT_STEP if left <= _SHORT_SECONDS else _LONG_STEP
    timeout = min(STATEMENT_MILLISECONDS, step * max(1, math.ceil(left * 1_000 / step)))
    texts = SNAPSHOT, f"SET LOCAL statement_timeout = {timeout}"
    # Outside of a transaction the words above would be warned of; what they do is the same.
    alone = (f"SELECT set_config('statement_timeout', '{timeout}', true)",)
    return Beginning(texts, alone), left > _SHORT_SECONDS


class StateSnapshot(Snapshot):
    """Holds a snapshot of a state; raises ``StateChanged`` where something was written since.

    The question goes with the first statement of the read, so that it is no way of its own. Where
    none was asked the read ends with it.
    """

    __slots__ = ("_assumed", "_database")

    def __init__(
        self, database: "PostgresDatabase", deadline: Deadline | None, assumed: int
    ) -> None:
        super().__init__(database, deadline)
        self._database = database
        self._assumed = assumed

    def __enter__(self) -> None:
        self._outermost = self._database.begin(self._deadline, self._assumed)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            # Also where it failed: what was refused may be allowed by now.
            if self._outermost:
                self._database.check_state()
        finally:
            super().__exit__(kind, problem, trace)


class ReplicaSnapshot(Snapshot):
    """Holds a snapshot of a replica, or one of the primary where that is not recent enough."""

    __slots__ = ("_database", "_need", "_on_replica", "_replica")

    def __init__(
        self,
        database: "PostgresDatabase",
        deadline: Deadline | None,
        replica: ReplicaReaders,
        need: LagNeed,
    ) -> None:
        super().__init__(database, deadline)
        self._database = database
        self._replica = replica
        self._need = need
        self._on_replica = False

    def __enter__(self) -> None:
        self._on_replica = self._database.begin_on(self._replica, self._deadline, self._need)
        if self._on_replica:
            self._outermost = True
        else:
            super().__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, problem, trace)
        # A replica also ends reads that stand in the way of what it has to repeat.
        if self._on_replica and isinstance(problem, psycopg.Error):
            self._replica.failed(problem)
            raise ReadAgain from problem
