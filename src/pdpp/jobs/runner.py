"""The runner of jobs: a few threads that claim what is due, work on it, and keep the outcome."""

import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from socket import gethostname

from pdpp.jobs.context import JobCancelled, JobContext
from pdpp.jobs.kind import JobKind
from pdpp.model.errors import PdppError
from pdpp.model.instant import SECOND, Clock
from pdpp.service.settings import Settings
from pdpp.store.jobs import Job, JobLease, JobOrder, JobStatus, Json, LeaseLost
from pdpp.store.port import Store

_THREADS = 2
_LOOK_SECONDS = 1.0
_LISTENING_LOOK_SECONDS = 5.0
"""How often work is looked for while notices of it come: for what is due later, for leases that
ended, and for a notice that was lost."""
_STOP_SECONDS = 10.0

log = logging.getLogger("pdpp.jobs")


class JobRunner:
    """Works on the jobs of one store in this process; others may do so in theirs."""

    def __init__(
        self,
        store: Store,
        kinds: Iterable[JobKind],
        clock: Clock,
        *,
        threads: int = _THREADS,
        lease_seconds: float = Settings().job_lease_seconds,
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:
        self._store = store
        self._kinds = {kind.name: kind for kind in kinds}
        self._limits = {kind.name: kind.at_once for kind in self._kinds.values()}
        self._clock = clock
        self._lease = int(lease_seconds * SECOND)
        self._look_seconds = look_seconds
        # A process that is killed and started again is another worker. The name says on which
        # machine to look for one that hangs.
        self._worker = f"{gethostname()}/{os.getpid()}/{secrets.token_hex(8)}"
        self._stopping = threading.Event()
        self._wakes = 0
        self._woken = threading.Condition()
        self._running: dict[str, tuple[JobContext, int]] = {}
        self._lock = threading.Lock()
        self._unsubscribe: Callable[[], None] = _nothing
        self._workers = threads
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to work."""
        if self._store.notices is not None:
            self._unsubscribe = self._store.notices.subscribe(self.wake)
        # Not before: a thread that never began would keep its runner, and the files of a job that
        # was done here and now, until garbage is collected.
        self._threads = [
            threading.Thread(target=self._work, name=f"pdpp-job-{number}", daemon=True)
            for number in range(self._workers)
        ]
        self._threads.append(threading.Thread(target=self._care, name="pdpp-job-care", daemon=True))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let what runs end where it can go on later, and wait for it a while."""
        self._stopping.set()
        self.wake()
        self._unsubscribe()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(_STOP_SECONDS)

    def wake(self) -> None:
        """Look for work now."""
        with self._woken:
            self._wakes += 1
            self._woken.notify_all()

    def run_now(self, order: JobOrder) -> Job:
        """Do a job here and now and return it as it ended; others see it run."""
        job = self._store.jobs.begin(order, self._new_lease())
        ended = threading.Event()
        care = threading.Thread(target=self._renew_until, args=(ended,), daemon=True)
        care.start()
        try:
            self._run(job)
        finally:
            ended.set()
            care.join()
        return self._store.jobs.get(job.id) or job

    def _renew_until(self, ended: threading.Event) -> None:
        """Keep the lease of the job that is done here and now."""
        while not ended.wait(self._look_seconds):
            try:
                self._renew_all()
            except Exception as problem:  # noqa: BLE001 - a runner goes on
                # Of a disk that fails whoever does the job hears, and tells it as it is there.
                if self._store.remedy(problem) is None:
                    self._tell("a lease could not be renewed", problem)

    # Working

    def _work(self) -> None:
        while not self._stopping.is_set():
            # Before the look: whoever is woken during it looks once more, and misses nothing.
            wakes = self._wakes
            try:
                job = self._store.jobs.claim(self._limits, self._new_lease())
                if job is not None:
                    self._run(job)
                    continue
            except Exception as problem:  # noqa: BLE001 - a runner goes on
                self._tell("looking for work failed", problem)
            self._rest(wakes)

    def _rest(self, wakes: int) -> None:
        """Wait for somebody who wakes this runner, or for the next look."""
        with self._woken:
            self._woken.wait_for(
                lambda: self._wakes != wakes or self._stopping.is_set(), self._pause()
            )

    def _pause(self) -> float:
        notices = self._store.notices
        if notices is not None and notices.is_listening:
            return max(self._look_seconds, _LISTENING_LOOK_SECONDS)
        return self._look_seconds

    def _new_lease(self) -> JobLease:
        return JobLease(self._worker, self._clock() + self._lease)

    def _run(self, job: Job) -> None:
        """Do one job; whatever happens in it, the runner goes on."""
        kind = self._kinds[job.kind]
        context = JobContext(job, self._store.jobs, self._worker, self._stopping.is_set)
        with self._lock:
            self._running[job.id] = context, self._clock()
        try:
            # A lease that was lost means that another worker has the job and will end it.
            with suppress(LeaseLost):
                self._attempt(kind, context)
        finally:
            with self._lock:
                self._running.pop(job.id, None)  # a clock that leaps can end a lease early

    def _attempt(self, kind: JobKind, context: JobContext) -> None:
        if context.job.attempts > kind.most_attempts:
            message = f"It was begun {kind.most_attempts} times and never came to an end."
            self._finish(kind, context, JobStatus.FAILED, {"code": "gave_up", "message": message})
            return
        try:
            result = kind.run(context)
        except JobCancelled:
            self._end_early(kind, context)
        except LeaseLost:
            raise
        except Exception as problem:  # noqa: BLE001 - whatever it is becomes the job's error
            error = self._error(kind, context.job, problem)
            self._finish(kind, context, JobStatus.FAILED, error)
        except BaseException:
            # A person who ends the program ends what it does; only a kill is gone on with.
            self._finish(kind, context, JobStatus.CANCELLED, None)
            raise
        else:
            self._finish(kind, context, JobStatus.SUCCEEDED, result)

    def _end_early(self, kind: JobKind, context: JobContext) -> None:
        context.renew(self._clock() + self._lease)
        if context.wanted_cancelled:
            self._finish(kind, context, JobStatus.CANCELLED, None)
        else:
            self._store.jobs.release(context.job.id, self._worker)

    def _finish(
        self, kind: JobKind, context: JobContext, status: JobStatus, outcome: Json | None
    ) -> None:
        jobs = self._store.jobs
        jobs.finish(context.job.id, self._worker, status, context.current, outcome)
        if kind.every is not None and kind.wanted is None:
            self._schedule(kind)

    def _error(self, kind: JobKind, job: Job, problem: Exception) -> Json:
        """Return the error to keep: that of a typed failure; the log has any other."""
        known = problem if isinstance(problem, PdppError) else self._store.explain(problem)
        if known is not None:
            log.warning("job %s (%s) failed: %s", job.id, kind.name, known.code)
            return {"code": known.code, "message": known.message}
        log.error("job %s (%s) failed", job.id, kind.name, exc_info=problem)
        return {"code": "failed", "message": "It failed; the log of the server has the detail."}

    def _tell(self, what: str, problem: Exception) -> None:
        """Log what failed; of a disk that is full or gone the store has logged what it needs."""
        if self._store.explain(problem) is None:
            log.error("%s; trying again", what, exc_info=problem)

    # Care: leases, progress, and what repeats

    def _care(self) -> None:
        """Renew leases, write progress down, and add what repeats, about once a second."""
        looked: dict[str, int] = {}
        scheduled = False
        while not self._stopping.is_set():
            try:
                if not scheduled:
                    self._schedule_all()
                    scheduled = True
                self._renew_all()
                self._look(looked)
            except Exception as problem:  # noqa: BLE001 - a runner goes on
                self._tell("the care for jobs failed", problem)
            self._stopping.wait(self._look_seconds)
        # Threads that end their work now still need their leases.
        while any(thread.is_alive() for thread in self._threads[:-1]) and self._running:
            with suppress(Exception):
                self._renew_all()
            threading.Event().wait(self._look_seconds)

    def _renew_all(self) -> None:
        now = self._clock()
        with self._lock:
            running = list(self._running.items())
        for job_id, (context, renewed_at) in running:
            if not context.has_news and now - renewed_at < self._lease // 3:
                context.listen()
                continue
            context.renew(now + self._lease)
            with self._lock:
                if job_id in self._running:
                    self._running[job_id] = context, now

    def _schedule_all(self) -> None:
        for kind in self._kinds.values():
            if kind.every is not None and kind.wanted is None:
                self._schedule(kind)

    def _schedule(self, kind: JobKind) -> None:
        """Add the next run of a kind that repeats, unless it is there."""
        apart = int((kind.every or 0) * SECOND)
        self._store.jobs.add(JobOrder(kind.name, once=True, apart=apart))

    def _look(self, looked: dict[str, int]) -> None:
        """Add a job for each kind that runs on demand and is wanted now."""
        now = self._clock()
        for kind in self._kinds.values():
            # Either way: a clock that was set back must not put the next look off.
            passed = abs(now - looked.get(kind.name, 0))
            if kind.wanted is None or passed < (kind.every or 0) * SECOND:
                continue
            looked[kind.name] = now
            if kind.wanted():
                self._store.jobs.add(JobOrder(kind.name, once=True))
                self.wake()


def _nothing() -> None:
    """End nothing: nobody was subscribed."""
