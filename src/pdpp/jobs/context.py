"""The context of a job: what its work may ask and tell."""

import threading
from collections.abc import Callable

from pdpp.store.jobs import Job, JobLease, JobProgress, JobStore, Json, LeaseLost


class JobCancelled(Exception):
    """The work ended early because somebody asked for it, or because the worker stops."""


class JobContext:
    """Hands a job's parameters and saved state to its work, and takes its progress.

    The work asks ``cancelled`` often and then ends, best by raising through ``check``. Progress is
    only noted here; the runner writes it down about once a second.
    """

    def __init__(self, job: Job, jobs: JobStore, worker: str, stopping: Callable[[], bool]) -> None:
        self.job = job
        self.parameters: Json = job.parameters
        self.state: Json | None = job.state
        self._jobs = jobs
        self._worker = worker
        self._stopping = stopping
        self._cancelled = threading.Event()
        self._lost = threading.Event()
        self._progress = job.progress
        self._written = job.progress

    def progress(self, done: int, total: int = 0, note: str = "") -> None:
        """Note how far the work is; ``total`` 0 says that nobody knows."""
        self._progress = JobProgress(done, total, note)

    def cancelled(self) -> bool:
        """Tell whether the work is to end as soon as it can."""
        return self._cancelled.is_set() or self._lost.is_set() or self._stopping()

    def check(self) -> None:
        """End the work here if it is to end."""
        if self.cancelled():
            raise JobCancelled(self.job.id)

    def give_up(self) -> None:
        """Cancel the job from within: nobody is to go on with it."""
        self._cancelled.set()
        raise JobCancelled(self.job.id)

    def save(self, state: Json) -> None:
        """Keep what a later run goes on from; raise where another worker has the job by now."""
        self._jobs.save(self.job.id, self._worker, state)
        self.state = state

    # For the runner

    @property
    def current(self) -> JobProgress:
        """Return the progress that was noted last."""
        return self._progress

    @property
    def has_news(self) -> bool:
        """Tell whether there is progress that was not written down yet."""
        return self._progress != self._written

    @property
    def wanted_cancelled(self) -> bool:
        """Tell whether somebody asked for the end of this very job."""
        return self._cancelled.is_set()

    def listen(self) -> None:
        """Hear whether somebody wants the job to end, without writing anything."""
        job = self._jobs.get(self.job.id)
        if job is not None and job.cancel_requested:
            self._cancelled.set()

    def renew(self, until: int) -> None:
        """Keep the job for longer, write its progress down, and hear whether it is to end."""
        progress = self._progress
        try:
            if self._jobs.renew(self.job.id, JobLease(self._worker, until), progress):
                self._cancelled.set()
            self._written = progress
        except LeaseLost:
            self._lost.set()
