"""Work that waits, by owner: how a worker finds the jobs of owners whom nobody visits.

The table ``owner_work`` has a row for each owner who ever had a job: when the next one is due, and
until when one is leased. A session that names an owner sees that owner's row alone; a session that
names nobody sees all of them, and they say nothing of what is to be done. So one short question
finds the owners with work, and nobody opens all owners to look.
"""

from collections.abc import Callable, Collection
from typing import cast

from pdpp.model.instant import SECOND, Clock
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.pool import WorkerConnections
from pdpp.store.tables.database import TableConnection
from pdpp.store.tables.records.predicate import OWNER

_NOBODY = 0
OVERDUE = 10 * SECOND
"""Whoever has the owner open takes a job sooner; others come after so long."""
VISIT = 60 * SECOND
"""For how long one worker alone is sent to an owner."""

# What repeats has no parameters; what somebody ordered has some, and comes first.
_NOTE = """
    INSERT INTO owner_work (owner, due_at, leased_until, ordered)
    SELECT $1::bigint,
      min(CASE status WHEN 'queued' THEN greatest(not_before, created_at) ELSE lease_until END),
      coalesce(max(lease_until), 0), coalesce(bool_or(parameters <> '{}'), false)
    FROM job WHERE owner = $1::bigint AND status IN ('queued', 'running')
    ON CONFLICT (owner) DO UPDATE SET due_at = excluded.due_at,
      leased_until = excluded.leased_until, ordered = excluded.ordered
"""
# Rows that another worker is taking are passed over, so that workers go to different owners. Who
# was visited longest ago comes first: jobs that no worker can do keep nobody else waiting.
_TAKE = r"""
    WITH chosen AS (
      SELECT w.owner, n.name FROM owner_work w JOIN owner_name n ON n.id = w.owner
      WHERE w.due_at <= $1 AND w.visited_until <= $2
        AND n.name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'
      ORDER BY w.ordered DESC, w.visited_until, w.due_at LIMIT $3 FOR UPDATE OF w SKIP LOCKED
    )
    UPDATE owner_work w SET visited_until = $4 FROM chosen c WHERE w.owner = c.owner
    RETURNING c.name
"""
_BUSY = """
    SELECT n.name FROM owner_work w JOIN owner_name n ON n.id = w.owner WHERE n.name = ANY ($1)
      AND (w.leased_until > $2 OR (w.due_at <= $2 AND w.visited_until > $2))
"""


def note_work(db: TableConnection) -> None:
    """Note when the next job of an owner is due, in the transaction that changed one."""
    cast(PostgresConnection, db).run(_NOTE, (OWNER,))


class OwnersWithWork:
    """Finds owners who have jobs that nobody does, on the connections of a worker."""

    def __init__(self, connections: WorkerConnections, clock: Clock) -> None:
        self._connections = connections
        self._clock = clock

    def take(self, most: int) -> list[str]:
        """Return some owners with overdue work; no other worker is sent to them for a while.

        Only owners whose names can stand in an address are served by name.
        """
        now = self._clock()
        asked = (now - OVERDUE, now, most, now + VISIT)
        return self._names(lambda db: db.run(_TAKE, asked).fetchall())

    def busy(self, names: Collection[str]) -> set[str]:
        """Return those of some owners for whom a job runs, or is still to be taken."""
        if not names:
            return set()
        asked = (list(names), self._clock())
        return set(self._names(lambda db: db.run(_BUSY, asked).fetchall()))

    def _names(self, ask: Callable[[PostgresConnection], list[tuple[str]]]) -> list[str]:
        db, rows = self._connections.readers.take(_NOBODY, ask)
        self._connections.readers.give(db)
        return [name for (name,) in rows]
