"""An import runs in the background as it does in the foreground, and goes on after a cut."""

import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.cli.shell import pdpp_here, started
from tests.engine import database_of, open_store
from tests.sources.formats.test_claude_ai import zips_of

from pdpp.jobs.context import JobContext
from pdpp.jobs.import_run import run_import
from pdpp.jobs.importing import IMPORT, import_kind, import_order
from pdpp.jobs.kind import JobKind
from pdpp.jobs.runner import JobRunner
from pdpp.model import instant
from pdpp.model.errors import StoreError
from pdpp.service.settings import Settings
from pdpp.sources.formats.claude_ai.source import ClaudeAi
from pdpp.sources.importing.by_account import by_account
from pdpp.sources.importing.destination import Destination, find_destination
from pdpp.sources.importing.discovery import discover
from pdpp.sources.importing.state import ImportState
from pdpp.sources.source import OwnerChoices
from pdpp.store.jobs import Job, JobLease, JobStatus, Json
from pdpp.store.port import Store
from pdpp.store.scope import owner_reaches

NOTES = 400


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(NOTES):
        text = f"# Note {number}\n\nAbout the harbour, page {number}.\n"
        (folder / f"note-{number:04}.md").write_text(text)
    return folder


def held(store: Store) -> int:
    return sum(store.counts(owner_reaches(store.catalogue())).values())


def ended(store: Store, job: Job) -> Job:
    deadline = time.monotonic() + 60
    while (found := store.jobs.get(job.id)) is None or found.finished_at is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def test_an_import_in_the_background_brings_everything_in_and_reports(
    tmp_path: Path, notes: Path
) -> None:
    store = open_store(tmp_path / "data")
    runner = JobRunner(store, [import_kind(store, tmp_path / "data", Settings())], instant.now)
    job = store.jobs.add(import_order(notes))
    runner.start()
    done = ended(store, job)
    runner.stop()
    assert done.status is JobStatus.SUCCEEDED, done.error
    assert (done.result or {})["counts"]["new"] == NOTES
    assert held(store) >= NOTES
    assert done.progress.done == done.progress.total > 0
    assert "records read" in done.progress.note
    store.close()


def test_an_import_that_was_handed_back_goes_on_and_reads_nothing_twice(
    tmp_path: Path, notes: Path
) -> None:
    data = tmp_path / "data"
    store = open_store(data)
    begun: list[JobRunner] = []

    def stopping(context: JobContext) -> Json:
        """Import, and have the server stop once some of it is read."""
        noted = context.progress

        def progress(done: int, total: int = 0, note: str = "") -> None:
            noted(done, total, note)
            if done > total // 3:
                begun[0]._stopping.set()

        context.progress = progress  # type: ignore[method-assign]
        return run_import(store, data, Settings(), context)

    begun.append(JobRunner(store, [JobKind(IMPORT, stopping)], instant.now))
    cut = begun[0].run_now(import_order(notes))
    assert cut.status is JobStatus.QUEUED
    read_before = held(store)
    runner = JobRunner(store, [import_kind(store, data, Settings())], instant.now)
    runner.start()
    done = ended(store, cut)
    runner.stop()
    assert done.status is JobStatus.SUCCEEDED, done.error
    counts = (done.result or {})["counts"]
    assert held(store) >= NOTES
    assert counts["new"] + read_before >= NOTES
    assert counts["read"] < NOTES or read_before == 0
    store.close()


def test_a_path_that_is_not_there_fails_with_the_reason(tmp_path: Path) -> None:
    store = open_store(tmp_path / "data")
    runner = JobRunner(store, [import_kind(store, tmp_path / "data", Settings())], instant.now)
    failed = runner.run_now(import_order(tmp_path / "nothing"))
    assert failed.status is JobStatus.FAILED
    assert failed.error is not None
    assert failed.error["message"]
    store.close()


@pytest.mark.embedded("about the disk that a file is on")
def test_an_import_that_a_full_disk_stops_says_what_is_kept(
    tmp_path: Path, notes: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Most of it may be in the store: to say that nothing was kept would be wrong."""
    data = tmp_path / "data"
    store = open_store(data)
    kind = import_kind(store, data, Settings())
    writer = database_of(store)._writer
    job = store.jobs.begin(import_order(notes), JobLease("w", instant.now() + 60 * instant.SECOND))
    writer.pragma("max_page_count", writer.pragma("page_count") + 4)
    with pytest.raises(StoreError, match="make room; what came in before is kept"):
        kind.run(JobContext(job, store.jobs, "w", lambda: False))
    assert f"{data}/pdpp.sqlite3: there is no room on its disk" in caplog.text
    assert "by itself" not in caplog.text
    writer.pragma("max_page_count", 1_000_000)
    done = JobRunner(store, [kind], instant.now).run_now(import_order(notes))
    assert done.status is JobStatus.SUCCEEDED
    assert held(store) == NOTES
    store.close()


def test_an_import_in_the_foreground_is_a_job_that_others_see(tmp_path: Path, notes: Path) -> None:
    data = tmp_path / "data"
    program = pdpp_here("import", notes, "--yes", "--json", data=data)
    assert program.code == 0, program.err
    store = open_store(data)
    (job,) = store.jobs.recent(10)
    assert (job.kind, job.status) == (IMPORT, JobStatus.SUCCEEDED)
    assert job.parameters["path"] == str(notes.resolve())
    assert (job.result or {})["counts"]["new"] == NOTES
    store.close()


def test_a_server_goes_on_with_an_import_whose_program_was_killed(
    tmp_path: Path, notes: Path
) -> None:
    data = tmp_path / "data"
    store = open_store(data)
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with started("import", notes, "--yes", "--data", data, **silent):
        deadline = time.monotonic() + 60
        while not store.jobs.recent(1):
            assert time.monotonic() < deadline
            time.sleep(0.001)
    (job,) = store.jobs.recent(1)
    late = [instant.now() + 3_600 * instant.SECOND]
    store.close()
    store = open_store(data, lambda: late[0])
    kind = import_kind(store, data, Settings())
    runner = JobRunner(store, [kind], lambda: late[0])
    runner.start()
    done = ended(store, job)
    runner.stop()
    assert done.status is JobStatus.SUCCEEDED, done.error
    assert held(store) >= NOTES
    store.close()


def accounts(store: Store) -> list[str]:
    return list(store.catalogue().connections)


def test_one_export_that_is_imported_by_two_programs_at_once_is_one_account(
    tmp_path: Path, notes: Path
) -> None:
    data = tmp_path / "data"
    open_store(data).close()
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with ExitStack() as stack:
        programs = [
            stack.enter_context(started("import", notes, "--yes", "--data", data, **piped))
            for _ in range(3)
        ]
        notes_of = [program.communicate(timeout=120)[1] for program in programs]
    assert [program.returncode for program in programs] == [0, 0, 0], notes_of
    store = open_store(data)
    assert len(accounts(store)) == 1
    assert held(store) == NOTES
    store.close()


def test_one_export_that_was_planned_twice_before_it_was_imported_is_one_account(
    tmp_path: Path, notes: Path
) -> None:
    data = tmp_path / "data"
    store = open_store(data)
    runner = JobRunner(store, [import_kind(store, data, Settings())], instant.now)
    planned = [Destination(name, "Notes", is_new=True) for name in ("cin_one", "cin_two")]
    orders = [import_order(notes, destination=destination) for destination in planned]
    ended_as = [runner.run_now(order) for order in orders]
    assert [job.status for job in ended_as] == [JobStatus.SUCCEEDED] * 2
    assert accounts(store) == ["cin_one"]
    assert (ended_as[1].result or {})["counts"].get("new", 0) == 0
    store.close()


def test_an_import_that_waits_for_another_says_so_and_can_be_stopped(
    tmp_path: Path, notes: Path
) -> None:
    data = tmp_path / "data"
    store = open_store(data)
    order = ("import", notes, "--yes", "--data", data)
    with (
        store.turn("import markdown", lambda: pytest.fail("somebody has the turn")),
        started(*order, stderr=subprocess.PIPE) as program,
    ):
        assert program.stderr is not None
        said = next(line for line in program.stderr if b"Another import" in line)
        program.send_signal(signal.SIGINT)
        rest = program.stderr.read()
    assert b"begins when it has ended" in said
    assert b"Stopped while another import of Markdown notes was running" in rest
    assert program.returncode not in (0, -signal.SIGINT)
    assert accounts(store) == []
    store.close()


def test_exports_of_two_people_that_have_one_path_come_in_both(tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "Downloads"
    zips_of(folder, "nora")
    zips_of(folder, "otto", " (1)")
    store = open_store(data)
    state, choices = ImportState(data), OwnerChoices()
    found = by_account(store, state, choices, discover(folder, choices, [ClaudeAi()]).exports)
    runner = JobRunner(store, [import_kind(store, data, Settings())], instant.now)
    for one in found:
        key, place = (
            one.export.source.connector_key,
            find_destination(store, state, one.tree, one.export, None),
        )
        order = import_order(one.tree.path, key, place, within=folder, files=one.files)
        assert runner.run_now(order).status is JobStatus.SUCCEEDED
    names = {made.display_name for made in store.catalogue().connections.values()}
    assert names == {f"Claude ({who}@example.org)" for who in ("nora", "otto")}
    assert held(store) == 10
    store.close()
