"""A worker is killed in the middle of a job: another process continues it, and nothing is lost."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from tests.cli.shell import Served, serving
from tests.postgres_server import server_url

from pdpp.configuration.database import DatabaseAddress
from pdpp.jobs.importing import import_order
from pdpp.serving.data_folder import open_store
from pdpp.store.jobs import JobStatus
from pdpp.store.port import Store
from pdpp.store.postgres.schema import SCHEMA
from pdpp.store.query import ChangePosition, ChangeQuery
from pdpp.store.scope import owner_reaches

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a server from a wheel")

DEADLINE_SECONDS = 60.0
NOTES = 1_500
LEASE = "6s"
"""Long enough for a worker on a busy machine to renew it."""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """An export that takes a while to bring in."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(NOTES):
        text = f"# Note {number}\n\n" + f"About the harbour, page {number}. " * 40
        (folder / f"note-{number:04}.md").write_text(text)
    return folder


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[Store, list[Served]]]:
    """Two servers of one owner, as on two machines, and the owner's store."""
    name = f"elsewhere-{tmp_path}"
    env = {"PDPP_DATABASE": server_url(), "PDPP_OWNER": name, "PDPP_JOB_LEASE": LEASE}
    database = DatabaseAddress(server_url(), name)
    with (
        open_store(tmp_path, create=True, database=database) as store,
        ExitStack() as running,
    ):
        yield (
            store,
            [
                running.enter_context(serving(tmp_path / place, tmp_path / f"{place}-log", env=env))
                for place in ("one", "two")
            ],
        )


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)


def process_of(job_id: str) -> int | None:
    """Return the process that works on a job."""
    with psycopg.connect(server_url()) as session:
        query = f"SELECT worker FROM {SCHEMA}.job WHERE id = %s"
        row = session.execute(query, (job_id,)).fetchone()
    return None if row is None or row[0] is None else int(row[0].split("/")[1])


def versions(store: Store) -> list[tuple[str, str]]:
    """Return every record with its version, as a client that follows changes gets them."""
    changes = []
    for reach in owner_reaches(store.catalogue()):
        beginning = ChangePosition(0, None)
        page = store.changes(ChangeQuery(reach, 10 * NOTES, beginning, 1 << 62, tombstones=False))
        changes += [(change.id, change.version) for change in page.changes]
    return changes


def held(store: Store) -> int:
    return sum(store.counts(owner_reaches(store.catalogue())).values())


def test_an_import_goes_on_in_another_process_after_its_worker_was_killed(
    servers: tuple[Store, list[Served]], notes: Path
) -> None:
    store, processes = servers
    job = store.jobs.add(import_order(notes))
    until(lambda: held(store) > 0)
    worker = process_of(job.id)
    assert worker in {served.process.pid for served in processes}
    os.kill(worker, signal.SIGKILL)
    acknowledged = dict(versions(store))
    assert 0 < len(acknowledged) < NOTES
    until(lambda: process_of(job.id) not in (worker, None))
    (other,) = {served.process.pid for served in processes} - {worker}
    assert process_of(job.id) == other
    until(lambda: (current := store.jobs.get(job.id)) is not None and bool(current.finished_at))
    done = store.jobs.get(job.id)
    assert done is not None
    assert done.status is JobStatus.SUCCEEDED, done.error
    assert done.attempts >= 2
    after = versions(store)
    assert len(after) == len(dict(after)) >= NOTES
    # What was there when the worker died was not written again.
    assert {id: dict(after)[id] for id in acknowledged} == acknowledged
    assert store.check() == []
