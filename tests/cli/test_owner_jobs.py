"""Jobs of owners whom nobody visits: some worker does them, and opens no other owner for it."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from tests.postgres_server import server_url
from tests.serving import UNLIMITED, running

from pdpp.configuration.database import DatabaseAddress
from pdpp.model import instant
from pdpp.model.instant import SECOND
from pdpp.serving.data_folder import open_store
from pdpp.serving.database import OwnerStores, open_owners
from pdpp.serving.owners import OwnerApplications
from pdpp.store.jobs import JobLease, JobOrder, JobProgress, JobStatus
from pdpp.store.port import Store
from pdpp.store.postgres.opening import open_session, worker_connections
from pdpp.store.postgres.owner_work import OVERDUE, VISIT, OwnersWithWork

ORDERED = JobOrder("sweep", {"by": "a test"})
DEADLINE_SECONDS = 60.0
LATER = OVERDUE + SECOND


class Owners:
    """Owners of one test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.prefix = f"j{abs(hash(str(folder))):x}-"

    @contextmanager
    def store(self, name: str) -> Iterator[Store]:
        database = DatabaseAddress(server_url(), self.prefix + name)
        with open_store(self._folder, create=True, database=database) as store:
            yield store

    def own(self, names: list[str]) -> list[str]:
        """Return those of some owners who are of this test, as it names them."""
        return [name.removeprefix(self.prefix) for name in names if name.startswith(self.prefix)]


@pytest.fixture
def owners(tmp_path: Path) -> Owners:
    return Owners(tmp_path)


@pytest.fixture
def with_work() -> Iterator[Callable[[int], OwnersWithWork]]:
    """Return what finds owners with work, so many microseconds from now."""
    with closing(worker_connections(server_url())) as connections:
        yield lambda later: OwnersWithWork(connections, lambda: instant.now() + later)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


class RecordingStores:
    """Opens owners as a worker does, and remembers whom."""

    def __init__(self, stores: OwnerStores) -> None:
        self._stores = stores
        self.opened: list[str] = []

    def __call__(self, name: str) -> Store | None:
        self.opened.append(name)
        return self._stores(name)


def test_a_job_of_an_owner_whom_nobody_opened_is_done_by_one_of_two_workers(
    owners: Owners, tmp_path: Path
) -> None:
    for number in range(5):
        with owners.store(f"idle{number}") as store:
            store.jobs.add(JobOrder("sweep", {"by": "a test"}, not_before=1 << 60))
    settings = replace(UNLIMITED, origin="https://data.example", public=True)
    with owners.store("anna") as store, ExitStack() as stack:
        job = store.jobs.add(ORDERED)
        workers: list[tuple[RecordingStores, OwnerApplications]] = []
        for name in ("first", "second"):
            stores = stack.enter_context(
                open_owners(DatabaseAddress(server_url(), "nobody"), tmp_path / name)
            )
            recording = RecordingStores(stores)
            late = OwnersWithWork(stores._connections, lambda: instant.now() + LATER)
            app = OwnerApplications(recording, settings, tmp_path / name, with_work=late)
            stack.enter_context(running(app))
            workers.append((recording, app))

        def is_done() -> bool:
            known = store.jobs.get(job.id)
            return known is not None and known.status is JobStatus.SUCCEEDED

        until(is_done)
        opened = [name for recording, _ in workers for name in owners.own(recording.opened)]
        assert opened == ["anna"], "one worker came, and to nobody who has nothing to do"
        anna = f"{owners.prefix}anna"
        until(lambda: not any(anna in app._running for _, app in workers))


def test_workers_are_sent_to_different_owners_and_first_to_what_somebody_ordered(
    owners: Owners, with_work: Callable[[int], OwnersWithWork]
) -> None:
    for name, order in (("a", ORDERED), ("b", ORDERED), ("c", JobOrder("sweep"))):
        with owners.store(name) as store:
            store.jobs.add(order)
    assert owners.own(with_work(0).take(1_000_000)) == [], "whoever has them open takes them first"
    taken: list[str] = []
    while not taken or taken[-1] != "c":
        for worker in (with_work(LATER), with_work(LATER)):
            taken += owners.own(worker.take(1))
    assert sorted(taken[:2]) == ["a", "b"]
    assert taken[2:] == ["c"], "each of them once"
    assert with_work(LATER).busy([f"{owners.prefix}{name}" for name in "abx"]) == {
        f"{owners.prefix}{name}" for name in "ab"
    }
    again = with_work(LATER + VISIT)
    assert sorted(owners.own(again.take(1_000_000))) == ["a", "b", "c"], "nobody came, so again"


def test_who_has_a_lease_is_left_alone_until_it_ends(
    owners: Owners, with_work: Callable[[int], OwnersWithWork]
) -> None:
    with owners.store("anna") as store:
        job = store.jobs.begin(ORDERED, JobLease("w", instant.now() + 100 * SECOND))
        name = f"{owners.prefix}anna"
        assert name not in with_work(LATER).take(1_000_000)
        assert with_work(LATER).busy([name]) == {name}
        late = LATER + 100 * SECOND
        assert name in with_work(late).take(1_000_000), "its worker was killed"
        store.jobs.finish(job.id, "w", JobStatus.SUCCEEDED, JobProgress(), None)
        assert with_work(late).busy([name]) == set()
        assert name not in with_work(late + 2 * VISIT).take(1_000_000)


def test_a_name_without_an_address_is_passed_over(
    tmp_path: Path, with_work: Callable[[int], OwnersWithWork]
) -> None:
    database = DatabaseAddress(server_url(), f"../{tmp_path.name}")
    with open_store(tmp_path, create=True, database=database) as store:
        store.jobs.add(ORDERED)
    assert not [name for name in with_work(LATER).take(1_000_000) if ".." in name]


def test_a_session_of_an_owner_sees_no_work_of_another(owners: Owners) -> None:
    numbers = []
    for name in ("anna", "bert"):
        with owners.store(name) as store:
            store.jobs.add(ORDERED)
            numbers.append(store._database.owner)  # type: ignore[attr-defined]
    with closing(open_session(server_url())) as session:
        assert session.execute("SELECT * FROM owner_work").fetchall() == []
        session.execute("SELECT set_config('pdpp.owner', %s, false)", (str(numbers[0]),))
        assert session.execute("SELECT owner FROM owner_work").fetchall() == [(numbers[0],)]
        session.execute("UPDATE owner_work SET visited_until = 7")
    with psycopg.connect(server_url()) as session:
        text = "SELECT visited_until FROM pdpp.owner_work WHERE owner = %s"
        assert session.execute(text, (numbers[1],)).fetchall() == [(0,)]


def test_who_is_asked_for_during_a_visit_stays_open(owners: Owners, tmp_path: Path) -> None:
    with owners.store("anna"):
        pass
    anna = f"{owners.prefix}anna"

    async def visit(app: OwnerApplications, *, asked: bool) -> bool:
        await app._open_for_jobs(anna)
        if asked:
            scope = {
                "type": "http",
                "method": "GET",
                "path": "/healthz",
                "raw_path": b"/healthz",
                "query_string": b"",
                "headers": [(b"host", f"{anna}.data.example".encode())],
                "client": ("127.0.0.1", 1),
            }
            await app(scope, _no_body, _ignore)
        await app._close_after_jobs(anna)
        stays = anna in app._running
        if stays:
            await app._end(app._running.pop(anna))
        return stays

    settings = replace(UNLIMITED, origin="https://data.example", public=True)
    with open_owners(DatabaseAddress(server_url(), "nobody"), tmp_path) as stores:
        for asked in (False, True):
            app = OwnerApplications(stores, settings, tmp_path)
            assert asyncio.run(visit(app, asked=asked)) is asked


async def _no_body() -> dict[str, object]:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignore(message: object) -> None:
    pass
