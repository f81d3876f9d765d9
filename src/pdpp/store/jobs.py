"""Jobs: work that outlives a request, as a store keeps it.

A worker claims a job for a while, its lease, and renews the lease as long as it is at work. When a
worker dies the lease runs out and another worker goes on from the state that was saved last. Every
change of a running job names its worker, so that one which lost its lease can change nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypedDict

Json = Mapping[str, Any]


class JobStatus(StrEnum):
    """Where a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED})


class JobError(TypedDict):
    """Why a job failed."""

    code: str
    message: str


class JobProgress(NamedTuple):
    """How far a job is: ``total`` 0 means that nobody knows how much there is."""

    done: int = 0
    total: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work. Times are in microseconds; ``state`` is what a run left to go on from."""

    id: str
    kind: str
    status: JobStatus
    created_at: int
    not_before: int
    parameters: Json = field(default_factory=dict)
    state: Json | None = None
    progress: JobProgress = field(default_factory=JobProgress)
    started_at: int | None = None
    finished_at: int | None = None
    attempts: int = 0
    cancel_requested: bool = False
    result: Json | None = None
    error: JobError | None = None
    lease_until: int = 0

    def is_left(self, now: int) -> bool:
        """Tell whether a job is begun and nobody works on it: its worker was killed."""
        return self.status is JobStatus.RUNNING and self.lease_until <= now


@dataclass(frozen=True, slots=True)
class JobOrder:
    """A request to have work done; ``once`` adds nothing while a job of its kind is open.

    ``apart`` is how long after the end of the last job of its kind it may begin.
    """

    kind: str
    parameters: Json = field(default_factory=dict)
    not_before: int = 0
    once: bool = False
    apart: int = 0


class JobLease(NamedTuple):
    """Who works on a job and until when nobody else may."""

    worker: str
    until: int


class LeaseLost(Exception):
    """Another worker has taken the job over; this run must stop and save nothing."""


class JobStore(Protocol):
    """The jobs of one owner. Every method is one transaction and safe from any thread."""

    def add(self, order: JobOrder) -> Job:
        """Add a job; if the order says ``once`` and one of its kind is open, return that one."""
        ...

    def begin(self, order: JobOrder, lease: JobLease) -> Job:
        """Keep a new job that is begun at once: no other worker ever sees it waiting."""
        ...

    def get(self, job_id: str) -> Job | None: ...

    def recent(self, limit: int, kind: str | None = None) -> Sequence[Job]:
        """Return the newest jobs, newest first."""
        ...

    def claim(self, limits: Mapping[str, int], lease: JobLease) -> Job | None:
        """Take the job that has waited longest, of kinds of which so many may run at once."""
        ...

    def renew(self, job_id: str, lease: JobLease, progress: JobProgress) -> bool:
        """Keep a job and its progress; tell whether somebody wants it to stop."""
        ...

    def save(self, job_id: str, worker: str, state: Json) -> None:
        """Keep what a later run goes on from."""
        ...

    def release(self, job_id: str, worker: str) -> None:
        """Let any worker go on with a job at once."""
        ...

    def finish(
        self,
        job_id: str,
        worker: str,
        status: JobStatus,
        progress: JobProgress,
        outcome: Json | None,
    ) -> None:
        """End a job with its result, or with its error where it failed."""
        ...

    def request_cancel(self, job_id: str) -> Job | None:
        """End a job that nobody works on; let the worker know of any other."""
        ...

    def prune(self, before: int, most: int, kinds: Collection[str], most_of_kind: int) -> int:
        """Forget jobs that ended long ago, all but some of the rest, and all but few of kinds."""
        ...
