"""Jobs in PostgreSQL: whoever adds one tells all workers, so that none has to look for it.

Whatever changes a job also notes when the next one is due, for workers that do not have the owner
open.
"""

from typing import Any

from pdpp.model import instant
from pdpp.store.jobs import Job, JobLease, JobOrder, JobProgress, JobStatus, Json
from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.postgres.owner_work import note_work
from pdpp.store.tables.database import TableConnection
from pdpp.store.tables.jobs import TableJobs


class PostgresJobs(TableJobs):
    """Announces what another worker may do now: a new job, one that was given back, a free place.

    Progress and renewals are not announced: nobody else has anything to do with them.
    """

    def __init__(self, database: PostgresDatabase, clock: instant.Clock) -> None:
        super().__init__(database, clock)
        self._announce = database.announce_work

    def _insert(self, db: TableConnection, order: JobOrder) -> str:
        job_id = super()._insert(db, order)
        note_work(db)
        return job_id

    def _take(self, db: TableConnection, job_id: str, lease: JobLease) -> None:
        super()._take(db, job_id, lease)
        note_work(db)

    def _change(
        self, db: TableConnection, job_id: str, worker: str, changes: str, values: tuple[Any, ...]
    ) -> None:
        super()._change(db, job_id, worker, changes, values)
        note_work(db)

    def _end(self, db: TableConnection, job_id: str, status: JobStatus) -> None:
        super()._end(db, job_id, status)
        note_work(db)

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
