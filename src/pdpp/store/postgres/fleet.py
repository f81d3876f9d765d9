"""The fleet in PostgreSQL: a table that belongs to no owner and names none."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import orjson

from pdpp.store.fleet import WorkerReport
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.pool import WorkerConnections

T = TypeVar("T")

_NOBODY = 0
_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
"""The clock of the database, which all workers share."""
_DAY = 86_400_000_000
_REPORT = f"""
    INSERT INTO worker (name, version, started_at, seen_at, told) VALUES ($1, $2, $3, {_NOW}, $4)
    ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at, told = excluded.told
"""
_FORGET = f"DELETE FROM worker WHERE seen_at < {_NOW} - {_DAY}"
_WORKERS = f"""
    SELECT name, version, started_at, seen_at, told FROM worker
    WHERE seen_at >= {_NOW} - {_DAY} ORDER BY name
"""


class PostgresFleet:
    """Keeps what workers tell, on the connections of one of them."""

    def __init__(self, connections: WorkerConnections) -> None:
        self._connections = connections

    def report(self, report: WorkerReport) -> None:
        """Keep what a worker tells, in the place of what it told before."""
        told = {
            "failing": report.failing,
            "requests": report.requests,
            "failures": report.failures,
            "in_flight": report.in_flight,
            "owners": report.owners,
            "memory_bytes": report.memory_bytes,
        }
        values = (report.name, report.version, report.started_at, orjson.dumps(told).decode())

        def write(db: PostgresConnection) -> None:
            db.run(_REPORT, values)
            db.run(_FORGET)

        self._asked(write)

    def leave(self, name: str) -> None:
        """Forget a worker that stops."""
        self._asked(lambda db: db.run("DELETE FROM worker WHERE name = $1", (name,)))

    def workers(self) -> Sequence[WorkerReport]:
        """Return all workers that told of themselves in the last day, by name."""
        return [_report(*row) for row in self._asked(lambda db: db.run(_WORKERS).fetchall())]

    def now(self) -> int:
        """Return the time by the clock of the database."""
        return int(self._asked(lambda db: db.run(f"SELECT {_NOW}").get))

    def _asked(self, ask: Callable[[PostgresConnection], T]) -> T:
        readers = self._connections.readers
        db, answer = readers.take(_NOBODY, ask)
        readers.give(db)
        return answer


def _report(name: str, version: str, started_at: int, seen_at: int, told: str) -> WorkerReport:
    document: dict[str, Any] = orjson.loads(told)
    failing = tuple(document.pop("failing"))
    return WorkerReport(name, version, started_at, seen_at, failing, **document)
