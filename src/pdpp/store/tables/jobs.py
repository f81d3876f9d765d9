"""Jobs: background work, kept in the tables of either engine."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from pdpp.model import instant
from pdpp.store.jobs import (
    ENDED,
    Job,
    JobLease,
    JobOrder,
    JobProgress,
    JobStatus,
    Json,
    LeaseLost,
)
from pdpp.store.tables.database import TableConnection, TableDatabase, TableReader
from pdpp.store.tables.records.predicate import OWNER

LONGEST_NOTE = 200
MOST_STATE_BYTES = 1 << 20
_COLUMNS = (
    "id, kind, status, created_at, not_before, parameters, state, done, total, note, started_at, "
    "finished_at, attempts, cancel, result, error, lease_until"
)
_OPEN = "owner = ? AND status IN ('queued', 'running')"
_FREE = f"{_OPEN} AND not_before <= ? AND (status = 'queued' OR lease_until <= ?)"
_MINE = "owner = ? AND id = ? AND worker = ? AND status = 'running'"
_ENDED = ", ".join(f"'{status}'" for status in sorted(ENDED))


class TableJobs:
    """Reads on each thread's own connection; takes and changes jobs on the one that writes."""

    def __init__(self, database: TableDatabase, clock: instant.Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, order: JobOrder) -> Job:
        """Add a job; if the order says ``once`` and one of its kind is open, return that one."""
        with self._database.writing() as db:
            if order.once:
                open_job = _one(db, f"{_OPEN} AND kind = ?", OWNER, order.kind)
                if open_job is not None:
                    return open_job
            return _known(db, self._insert(db, order))

    def begin(self, order: JobOrder, lease: JobLease) -> Job:
        """Keep a new job that is begun at once: no other worker ever sees it waiting."""
        with self._database.writing() as db:
            job_id = self._insert(db, order)
            self._take(db, job_id, lease)
            return _known(db, job_id)

    def _insert(self, db: TableConnection, order: JobOrder) -> str:
        job_id = f"job_{secrets.token_hex(8)}"
        not_before = order.not_before
        if order.apart:
            # Read in the transaction that adds: a job that ended just now counts too.
            query = "SELECT max(finished_at) FROM job WHERE owner = ? AND kind = ?"
            last: int | None = db.execute(query, (OWNER, order.kind)).get
            not_before = not_before if last is None else max(not_before, last + order.apart)
        db.execute(
            "INSERT INTO job (owner, id, kind, status, created_at, not_before, parameters) "
            "VALUES (?, ?, ?, 'queued', ?, ?, ?)",
            (OWNER, job_id, order.kind, self._clock(), not_before, _text(order.parameters)),
        )
        return job_id

    def _take(self, db: TableConnection, job_id: str, lease: JobLease) -> None:
        db.execute(
            "UPDATE job SET status = 'running', worker = ?, lease_until = ?, "
            "attempts = attempts + 1, started_at = coalesce(started_at, ?) "
            "WHERE owner = ? AND id = ?",
            (lease.worker, lease.until, self._clock(), OWNER, job_id),
        )

    def get(self, job_id: str) -> Job | None:
        """Return a job."""
        return _one(self._database.reader, "owner = ? AND id = ?", OWNER, job_id)

    def recent(self, limit: int, kind: str | None = None) -> Sequence[Job]:
        """Return the newest jobs, newest first."""
        rows = self._database.reader.execute(
            f"SELECT {_COLUMNS} FROM job WHERE owner = ? AND (? IS NULL OR kind = ?) "
            "ORDER BY created_at DESC, id LIMIT ?",
            (OWNER, kind, kind, limit),
        )
        return [_job(row) for row in rows]

    def claim(self, limits: Mapping[str, int], lease: JobLease) -> Job | None:
        """Claim the job that has waited longest, with at most so many running of its kind."""
        # Most looks find nothing: they must not take the lock of the file.
        if not self._free(self._database.reader, limits):
            return None
        with self._database.writing() as db:
            # Looked at again under the lock: another worker may have taken it in between.
            for job in self._free(db, limits):
                if job.cancel_requested:
                    self._end(db, job.id, JobStatus.CANCELLED)
                elif self._running(db, job.kind) < limits[job.kind]:
                    self._take(db, job.id, lease)
                    return _known(db, job.id)
        return None

    def _free(self, db: TableReader, limits: Mapping[str, int]) -> list[Job]:
        """Return the jobs of some kinds that are due and on which nobody works."""
        now = self._clock()
        jobs = _all(db, f"{_FREE} ORDER BY not_before, created_at, id", OWNER, now, now)
        return [job for job in jobs if job.kind in limits]

    def _running(self, db: TableReader, kind: str) -> int:
        # A lease that ran out does not count: its worker was killed, and nothing else would ever
        # free the place.
        query = f"SELECT count(*) FROM job WHERE {_OPEN} AND kind = ? AND lease_until > ?"
        return int(db.execute(query, (OWNER, kind, self._clock())).get)

    def renew(self, job_id: str, lease: JobLease, progress: JobProgress) -> bool:
        """Keep a job and its progress; tell whether somebody wants it to stop."""
        with self._database.writing() as db:
            self._change(
                db,
                job_id,
                lease.worker,
                "lease_until = ?, done = ?, total = ?, note = ?",
                (lease.until, progress.done, progress.total, progress.note[:LONGEST_NOTE]),
            )
            return _known(db, job_id).cancel_requested

    def save(self, job_id: str, worker: str, state: Json) -> None:
        """Keep what a later run goes on from."""
        stored = orjson.dumps(state)
        if len(stored) > MOST_STATE_BYTES:
            raise ValueError(f"the state of a job has at most {MOST_STATE_BYTES:,} bytes")
        with self._database.writing() as db:
            self._change(db, job_id, worker, "state = ?", (stored.decode(),))

    def release(self, job_id: str, worker: str) -> None:
        """Let any worker go on with a job at once; that run was nobody's fault."""
        with self._database.writing() as db:
            changes = "status = 'queued', worker = NULL, lease_until = 0, attempts = attempts - 1"
            self._change(db, job_id, worker, changes, ())

    def finish(
        self,
        job_id: str,
        worker: str,
        status: JobStatus,
        progress: JobProgress,
        outcome: Json | None,
    ) -> None:
        """End a job with its result, or with its error where it failed."""
        column = "error" if status is JobStatus.FAILED else "result"
        with self._database.writing() as db:
            self._change(
                db,
                job_id,
                worker,
                f"done = ?, total = ?, note = ?, {column} = ?",
                (*progress[:2], progress.note[:LONGEST_NOTE], _text(outcome)),
            )
            self._end(db, job_id, status)

    def _change(
        self, db: TableConnection, job_id: str, worker: str, changes: str, values: tuple[Any, ...]
    ) -> None:
        db.execute(f"UPDATE job SET {changes} WHERE {_MINE}", (*values, OWNER, job_id, worker))
        # The lease ran out and the job is another worker's: whoever wrote on would undo its
        # progress.
        if db.changes() == 0:
            raise LeaseLost(job_id)

    def _end(self, db: TableConnection, job_id: str, status: JobStatus) -> None:
        db.execute(
            "UPDATE job SET status = ?, finished_at = ?, worker = NULL, lease_until = 0, "
            "state = NULL WHERE owner = ? AND id = ?",
            (status.value, self._clock(), OWNER, job_id),
        )

    def request_cancel(self, job_id: str) -> Job | None:
        """End a job that nobody works on; let the worker know of any other."""
        with self._database.writing() as db:
            job = _one(db, "owner = ? AND id = ?", OWNER, job_id)
            if job is None or job.status in ENDED:
                return job
            worked_on = f"{_OPEN} AND id = ? AND status = 'running' AND lease_until > ?"
            if _one(db, worked_on, OWNER, job_id, self._clock()) is None:
                self._end(db, job_id, JobStatus.CANCELLED)
            else:
                db.execute("UPDATE job SET cancel = 1 WHERE owner = ? AND id = ?", (OWNER, job_id))
            return _known(db, job_id)

    def prune(self, before: int, most: int, kinds: Collection[str], most_of_kind: int) -> int:
        """Forget jobs that ended long ago, all but some of the rest, and all but few of kinds."""
        ended = f"owner = ? AND status IN ({_ENDED})"
        newest = f"SELECT id FROM job WHERE {ended} AND kind {{}} ORDER BY finished_at DESC LIMIT ?"
        with self._database.writing() as db:
            db.execute(f"DELETE FROM job WHERE {ended} AND finished_at < ?", (OWNER, before))
            dropped = db.changes()
            for kind in kinds:
                keep = newest.format("= ?")
                db.execute(
                    f"DELETE FROM job WHERE {ended} AND kind = ? AND id NOT IN ({keep})",
                    (OWNER, kind, OWNER, kind, most_of_kind),
                )
                dropped += db.changes()
            keep = newest.format("IS NOT NULL")
            db.execute(
                f"DELETE FROM job WHERE {ended} AND id NOT IN ({keep})", (OWNER, OWNER, most)
            )
            return dropped + db.changes()


def _text(document: Json | None) -> str | None:
    return None if document is None else orjson.dumps(document).decode()


def _all(db: TableReader, where: str, *values: Any) -> list[Job]:
    return [_job(row) for row in db.execute(f"SELECT {_COLUMNS} FROM job WHERE {where}", values)]


def _one(db: TableReader, where: str, *values: Any) -> Job | None:
    return next(iter(_all(db, where, *values)), None)


def _known(db: TableReader, job_id: str) -> Job:
    (job,) = _all(db, "owner = ? AND id = ?", OWNER, job_id)
    return job


def _job(row: tuple[Any, ...]) -> Job:
    job_id, kind, status, created_at, not_before, parameters, state, done, total, note, *rest = row
    started_at, finished_at, attempts, cancel, result, error, lease_until = rest
    return Job(
        id=job_id,
        kind=kind,
        status=JobStatus(status),
        created_at=created_at,
        not_before=not_before,
        parameters=orjson.loads(parameters),
        state=_document(state),
        progress=JobProgress(done, total, note),
        started_at=started_at,
        finished_at=finished_at,
        attempts=attempts,
        cancel_requested=bool(cancel),
        result=_document(result),
        error=None if error is None else orjson.loads(error),
        lease_until=lease_until,
    )


def _document(text: str | None) -> Json | None:
    return None if text is None else orjson.loads(text)
