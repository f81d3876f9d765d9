"""Jobs run once, go on where they were cut, can be cancelled, and say why they failed."""

import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.engine import database_of, open_store
from tests.jobs.worker import make_runner
from tests.serving import SetClock

from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.jobs.runner import JobRunner
from pdpp.model import instant
from pdpp.model.errors import ImportRefused
from pdpp.store.jobs import (
    Job,
    JobLease,
    JobOrder,
    JobProgress,
    JobStatus,
    Json,
    LeaseLost,
)
from pdpp.store.port import Store

DEADLINE = 30.0


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


@contextmanager
def worker(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker in a process of its own."""
    command = [sys.executable, "-m", "tests.jobs.worker", str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        process.wait(DEADLINE)


def counting(store: Store, folder: Path, steps: int, pause: float = 0.01) -> Job:
    """Ask for a count."""
    trace = folder / "trace"
    trace.touch()
    parameters = {"trace": str(trace), "steps": steps, "pause": pause}
    return store.jobs.add(JobOrder("count", parameters))


def trace(folder: Path) -> list[int]:
    """Return the steps that any worker took, in order."""
    return [int(line) for line in (folder / "trace").read_text().split()]


def state_of(store: Store, job: Job) -> Job:
    found = store.jobs.get(job.id)
    assert found is not None
    return found


def test_a_job_goes_on_where_its_worker_was_killed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    job = counting(store, tmp_path, steps=200)
    with worker(tmp_path) as first:
        wait_for(lambda: len(trace(tmp_path)) >= 20)
        first.kill()
    cut = state_of(store, job)
    assert cut.status is JobStatus.RUNNING
    assert cut.state is not None
    with worker(tmp_path):
        wait_for(lambda: state_of(store, job).status is JobStatus.SUCCEEDED)
    ended = state_of(store, job)
    assert (ended.result, ended.attempts) == ({"counted": 200}, 2)
    assert ended.progress == JobProgress(200, 200, "step 200")
    # The step that was being saved when the worker died may be taken again, and no other.
    steps = trace(tmp_path)
    assert sorted(set(steps)) == list(range(1, 201))
    assert len(steps) <= 201
    store.close()


def test_several_processes_never_run_one_job_twice(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    jobs = [counting(store, tmp_path, steps=10, pause=0.001) for _ in range(12)]
    with worker(tmp_path), worker(tmp_path), worker(tmp_path):
        wait_for(lambda: all(state_of(store, job).status is JobStatus.SUCCEEDED for job in jobs))
    # One at a time: the steps of two jobs are never mixed.
    assert trace(tmp_path) == list(range(1, 11)) * 12
    assert {state_of(store, job).attempts for job in jobs} == {1}
    store.close()


def test_a_running_job_is_cancelled_and_a_waiting_one_never_begins(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    running = counting(store, tmp_path, steps=100_000)
    waiting = counting(store, tmp_path, steps=100_000)
    runner = make_runner(tmp_path)
    runner.start()
    wait_for(lambda: len(trace(tmp_path)) >= 3)
    ended = store.jobs.request_cancel(waiting.id)
    assert ended is not None
    assert ended.status is JobStatus.CANCELLED
    asked = store.jobs.request_cancel(running.id)
    assert asked is not None
    assert asked.cancel_requested
    wait_for(lambda: state_of(store, running).status is JobStatus.CANCELLED)
    runner.stop()
    assert state_of(store, waiting).started_at is None
    assert trace(tmp_path)[-1] < 100_000
    assert store.jobs.request_cancel(running.id) == state_of(store, running)
    assert store.jobs.request_cancel("job_unknown") is None
    store.close()


def test_a_server_that_stops_hands_its_job_back_at_once(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    job = counting(store, tmp_path, steps=30)
    runner = make_runner(tmp_path)
    runner.start()
    wait_for(lambda: len(trace(tmp_path)) >= 3)
    runner.stop()
    handed_back = state_of(store, job)
    assert (handed_back.status, handed_back.attempts) == (JobStatus.QUEUED, 0)
    runner = make_runner(tmp_path)
    runner.start()
    wait_for(lambda: state_of(store, job).status is JobStatus.SUCCEEDED)
    runner.stop()
    assert trace(tmp_path) == list(range(1, 31))
    store.close()


def refuse(_context: JobContext) -> None:
    raise ImportRefused("the export is of a kind that nobody knows")


def break_down(_context: JobContext) -> None:
    raise RuntimeError("secret of a record")


@pytest.mark.parametrize(
    ("run", "code", "message"),
    [
        (refuse, "import_refused", "the export is of a kind that nobody knows"),
        (break_down, "failed", "It failed; the log of the server has the detail."),
    ],
)
def test_a_failure_is_kept_with_its_reason_and_nothing_of_the_records(
    tmp_path: Path, run: Callable[[JobContext], None], code: str, message: str
) -> None:
    store = open_store(tmp_path)
    runner = JobRunner(store, [JobKind("breaks", run)], instant.now)
    ended = runner.run_now(JobOrder("breaks"))
    assert ended.status is JobStatus.FAILED
    assert ended.error == {"code": code, "message": message}
    assert ended.result is None
    store.close()


@pytest.mark.embedded("about the disk that a file is on")
def test_a_disk_that_fails_a_job_here_and_now_is_told_by_who_does_it_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A server goes on by itself once there is room; a command has ended by then."""
    store = open_store(tmp_path)
    tried: list[Exception] = []
    writer, remedy = database_of(store)._writer, store.remedy

    def noted(problem: Exception) -> str | None:
        tried.append(problem)
        return remedy(problem)

    def run(context: JobContext) -> Json:
        writer.pragma("query_only", True)
        context.progress(1, 2, "half of it")
        wait_for(lambda: bool(tried))
        writer.pragma("query_only", False)
        return {}

    store.remedy = noted  # type: ignore[method-assign]
    runner = JobRunner(store, [JobKind("work", run)], instant.now, look_seconds=0.01)
    assert runner.run_now(JobOrder("work")).status is JobStatus.SUCCEEDED
    assert not caplog.records
    store.close()


def test_what_a_job_held_here_and_now_is_let_go_with_its_runner(tmp_path: Path) -> None:
    """Such as the files of an export: nothing of it waits for a collection of garbage."""
    store = open_store(tmp_path)
    gc.disable()
    try:
        runner = JobRunner(store, [JobKind("count", lambda _: {})], instant.now)
        runner.run_now(JobOrder("count"))
        held = weakref.ref(runner)
        del runner
        assert held() is None
    finally:
        gc.enable()
        store.close()


def test_a_job_that_keeps_killing_its_worker_is_given_up(tmp_path: Path) -> None:
    clock = SetClock()
    store = open_store(tmp_path, clock)
    job = store.jobs.add(JobOrder("deadly"))
    for number in range(5):
        claimed = store.jobs.claim({"deadly": 1}, JobLease(f"worker {number}", clock.now + 1))
        assert claimed is not None
        clock.advance(60)
    runs: list[int] = []
    kind = JobKind("deadly", lambda _: runs.append(1))
    runner = JobRunner(store, [kind], clock, look_seconds=0.01)
    runner.start()
    wait_for(lambda: state_of(store, job).status is JobStatus.FAILED)
    runner.stop()
    assert runs == []
    error = state_of(store, job).error
    assert error is not None
    assert error["code"] == "gave_up"
    store.close()


def test_a_job_is_tried_as_often_as_its_kind_says(tmp_path: Path) -> None:
    clock = SetClock()
    store = open_store(tmp_path, clock)
    job = store.jobs.add(JobOrder("fragile"))
    assert store.jobs.claim({"fragile": 1}, JobLease("worker", clock.now + 1)) is not None
    clock.advance(60)
    kind = JobKind("fragile", lambda _: None, most_attempts=2)
    runner = JobRunner(store, [kind], clock, look_seconds=0.01)
    runner.start()
    wait_for(lambda: state_of(store, job).finished_at is not None)
    runner.stop()
    assert state_of(store, job).status is JobStatus.SUCCEEDED
    store.close()


def test_whoever_lost_a_lease_can_change_nothing(tmp_path: Path) -> None:
    clock = SetClock()
    store = open_store(tmp_path, clock)
    jobs = store.jobs
    job = jobs.add(JobOrder("count"))
    assert jobs.claim({"count": 1}, JobLease("slow", clock.now + 1)) is not None
    assert jobs.claim({"count": 1}, JobLease("quick", clock.now + 1)) is None
    clock.advance(60)
    assert jobs.claim({"count": 1}, JobLease("quick", clock.now + 60_000_000)) is not None
    for change in (
        lambda: jobs.save(job.id, "slow", {"step": 1}),
        lambda: jobs.renew(job.id, JobLease("slow", clock.now + 1), JobProgress()),
        lambda: jobs.release(job.id, "slow"),
        lambda: jobs.finish(job.id, "slow", JobStatus.SUCCEEDED, JobProgress(), None),
    ):
        with pytest.raises(LeaseLost):
            change()
    jobs.save(job.id, "quick", {"step": 2})
    assert state_of(store, job).state == {"step": 2}
    store.close()


def test_what_repeats_waits_its_time_also_after_a_restart(tmp_path: Path) -> None:
    clock = SetClock()
    store = open_store(tmp_path, clock)
    runs: list[int] = []
    kind = JobKind("repeats", lambda _: runs.append(1), every=3_600.0)

    def serve(until: Callable[[], bool]) -> None:
        runner = JobRunner(store, [kind], clock, look_seconds=0.01)
        runner.start()
        wait_for(until)
        runner.stop()

    def waits() -> bool:
        return any(job.status is JobStatus.QUEUED for job in store.jobs.recent(10))

    serve(lambda: len(runs) == 1 and waits())
    serve(waits)
    assert len(runs) == 1
    (following,) = [job for job in store.jobs.recent(10) if job.status is JobStatus.QUEUED]
    assert following.not_before == clock.now + 3_600 * instant.SECOND
    clock.advance(3_601)
    serve(lambda: len(runs) == 2 and waits())
    store.close()


def test_what_repeats_is_not_asked_for_again_by_who_looked_before_it_ended(tmp_path: Path) -> None:
    """Another worker may decide to add the next run before this one ends, and add it after."""
    clock = SetClock()
    store = open_store(tmp_path, clock)
    hour = 3_600 * instant.SECOND
    order = JobOrder("repeats", once=True, apart=hour)
    job = store.jobs.begin(JobOrder("repeats"), JobLease("w", clock.now + hour))
    store.jobs.finish(job.id, "w", JobStatus.SUCCEEDED, JobProgress(), None)
    assert store.jobs.add(order).not_before == clock.now + hour
    assert store.jobs.claim({"repeats": 1}, JobLease("other", clock.now + hour)) is None
    store.close()


def test_a_kind_may_run_several_at_once_if_it_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    together = threading.Barrier(2, timeout=DEADLINE)
    kind = JobKind("pair", lambda _: {"place": together.wait()}, at_once=2)
    jobs = [store.jobs.add(JobOrder("pair")) for _ in range(2)]
    runner = JobRunner(store, [kind], instant.now, look_seconds=0.01)
    runner.start()
    wait_for(lambda: all(state_of(store, job).status is JobStatus.SUCCEEDED for job in jobs))
    runner.stop()
    store.close()


def test_a_state_that_grows_without_end_is_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path)

    def hoard(context: JobContext) -> None:
        context.save({"everything": "x" * (2 << 20)})

    ended = JobRunner(store, [JobKind("hoard", hoard)], instant.now).run_now(JobOrder("hoard"))
    assert ended.status is JobStatus.FAILED
    store.close()


def test_a_thread_that_looks_for_work_while_its_runner_stops_does_not_sleep_first(
    tmp_path: Path,
) -> None:
    """One thread has seen the end and is gone when the other comes back from its look."""
    looks, comes_back = threading.Event(), threading.Event()

    def clock() -> int:
        if threading.current_thread().name == "pdpp-job-1":
            looks.set()
            assert comes_back.wait(DEADLINE)
        return instant.now()

    store = open_store(tmp_path)
    kind = JobKind("count", lambda _: {})
    runner = JobRunner(store, [kind], clock, look_seconds=3_600)
    runner.start()
    assert looks.wait(DEADLINE)
    stopping = threading.Thread(target=runner.stop)
    stopping.start()
    runner._threads[0].join(DEADLINE)
    comes_back.set()
    runner._threads[1].join(5)
    assert not runner._threads[1].is_alive()
    stopping.join()
    store.close()


def test_what_is_wanted_is_looked_for_at_once_after_the_clock_was_set_back(tmp_path: Path) -> None:
    clock = SetClock()
    store = open_store(tmp_path, clock)
    looks: list[int] = []

    def wanted() -> bool:
        looks.append(clock())
        return False

    kind = JobKind("asks", lambda _: None, every=1.0, wanted=wanted)
    runner = JobRunner(store, [kind], clock, look_seconds=0.01)
    runner.start()
    wait_for(lambda: len(looks) == 1)
    clock.advance(-86_400)
    wait_for(lambda: len(looks) == 2)
    runner.stop()
    store.close()
