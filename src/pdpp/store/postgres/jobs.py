"""Jobs in PostgreSQL: whoever adds one tells all workers, so that none has to look for it."""

from pdpp.model import instant
from pdpp.store.jobs import Job, JobOrder, JobProgress, JobStatus, Json
from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.tables.jobs import TableJobs


class PostgresJobs(TableJobs):
    """Announces what another worker may do now: a new job, one that was given back, a free place.

    Progress and renewals are not announced: nobody else has anything to do with them.
    """

    def __init__(self, database: PostgresDatabase, clock: instant.Clock) -> None:
        super().__init__(database, clock)
        self._announce = database.announce_work

    def add(self, order: JobOrder) -> Job:
        """Add a job; if the order says ``once`` and one of its kind is open, return that one."""
        job = super().add(order)
        self._announce()
        return job

    def release(self, job_id: str, worker: str) -> None:
        """Let any worker go on with a job at once; that run was nobody's fault."""
        super().release(job_id, worker)
        self._announce()

    def finish(
        self,
        job_id: str,
        worker: str,
        status: JobStatus,
        progress: JobProgress,
        outcome: Json | None,
    ) -> None:
        """End a job with its result, or with its error where it failed."""
        super().finish(job_id, worker, status, progress, outcome)
        self._announce()

    def request_cancel(self, job_id: str) -> Job | None:
        """End a job that nobody works on; let the worker know of any other."""
        job = super().request_cancel(job_id)
        self._announce()
        return job
