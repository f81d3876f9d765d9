"""The fleet: all processes that answer for the owners of a database, as each tells of itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

LATE_SECONDS = 35
"""A worker tells of itself every ten seconds; silent for so long, it is probably gone."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What one process tells of itself; nothing in it says whose records it serves.

    ``seen_at`` is when it told so for the last time, by the clock of the database.
    """

    name: str
    version: str
    started_at: int
    seen_at: int = 0
    failing: tuple[str, ...] = ()
    """The parts that do not do their work; none where the worker is ready."""
    requests: int = 0
    failures: int = 0
    in_flight: int = 0
    owners: int = 0
    memory_bytes: int = 0


class Fleet(Protocol):
    """Where workers tell of themselves, and whoever runs them looks."""

    def report(self, report: WorkerReport) -> None:
        """Keep what a worker tells, in the place of what it told before."""
        ...

    def leave(self, name: str) -> None:
        """Forget a worker that stops."""
        ...

    def workers(self) -> Sequence[WorkerReport]:
        """Return all workers that told of themselves in the last day, by name."""
        ...

    def now(self) -> int:
        """Return the time by the clock that ``seen_at`` is of."""
        ...
