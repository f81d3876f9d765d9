"""Replicas: a copy of a database may answer reads that tolerate its lag, or where it has none."""

from typing import NamedTuple


class ReadAgain(Exception):
    """A replica failed in the middle of a read; the same read from the primary may succeed."""


class ReplicaUse(NamedTuple):
    """How a worker used its replica: reads it answered, those it was too far behind for, failures.

    ``lag`` is by how many seconds at most it was behind at the last read; None where it is unknown.
    """

    answered: int = 0
    behind: int = 0
    failures: int = 0
    lag: float | None = None

    def counted(self, lag: float | None, *, is_recent: bool) -> "ReplicaUse":
        """Return this with one more read that the replica was, or was not, recent enough for."""
        return ReplicaUse(
            self.answered + is_recent, self.behind + (not is_recent), self.failures, lag
        )

    def failed(self) -> "ReplicaUse":
        """Return this with one more failure."""
        return self._replace(failures=self.failures + 1, lag=None)
