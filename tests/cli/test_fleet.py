"""The fleet: every process tells how it is, and whoever runs them sees all of them on one page."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.cli.shell import Ended, Served, pdpp, serving
from tests.postgres_server import server_url
from tests.serving import UNLIMITED, owner, running

from pdpp.app import make_app
from pdpp.configuration.database import DatabaseAddress
from pdpp.model.instant import SECOND
from pdpp.serving.data_folder import open_store
from pdpp.serving.fleet import heartbeat, make_report
from pdpp.store.fleet import LATE_SECONDS, Fleet, WorkerReport
from pdpp.store.port import Store
from pdpp.store.postgres.schema import SCHEMA

DEADLINE_SECONDS = 60.0


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    database = DatabaseAddress(server_url(), str(tmp_path))
    with open_store(tmp_path, create=True, database=database) as opened:
        yield opened


def fleet(tmp_path: Path, *options: str) -> Ended:
    return pdpp("fleet", *options, data=tmp_path, env={"PDPP_DATABASE": server_url()})


def known(store: Store) -> dict[int, WorkerReport]:
    """Return the workers by their process."""
    assert store.fleet is not None
    return {int(worker.name.split("/")[1]): worker for worker in store.fleet.workers()}


def test_every_worker_of_every_server_tells_and_one_that_is_killed_is_silent(
    store: Store, tmp_path: Path
) -> None:
    token = owner(store)
    env = {"PDPP_DATABASE": server_url(), "PDPP_OWNER": str(tmp_path)}
    with ExitStack() as stack:
        one, other = (
            stack.enter_context(serving(tmp_path, tmp_path / name, *options, env=env))
            for name, options in (("one", ()), ("two", ("--workers", "2")))
        )
        until(lambda: one.process.pid in known(store) and len(_of(store, one, other)) == 3)
        assert other.process.pid not in known(store)  # it answers nobody itself
        answered = one.get("/v1/streams", token)
        assert answered.status_code == 200
        one.process.send_signal(signal.SIGKILL)
        one.process.wait()
        _age(one.process.pid)
        documents = fleet(tmp_path, "--json").document["workers"]
        states = {worker["name"].split("/")[1]: worker["state"] for worker in documents}
        assert states[str(one.process.pid)] == "silent"
        assert list(states.values()).count("ready") >= 2
        assert "silent" in fleet(tmp_path).out
        numbers = fleet(tmp_path, "--prometheus").out
        name = known(store)[one.process.pid].name
        assert f'pdpp_worker_up{{worker="{name}"}} 0' in numbers
        assert f'pdpp_worker_ready{{worker="{name}"}} 0' in numbers
        # No server tells it: neither to strangers nor to the owner of one store.
        for path in ("/fleet", "/metrics"):
            assert name not in other.get(path, token).text
    # Those that stop in order take leave.
    assert [worker for worker in known(store) if worker == other.process.pid] == []


def _of(store: Store, *servers: Served) -> list[int]:
    """Return the workers that belong to servers: themselves, or processes they started."""
    pids = {served.process.pid for served in servers}
    return [pid for pid in known(store) if pid in pids or _parent(pid) in pids]


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _age(pid: int) -> None:
    """Let a worker have told of itself for the last time long ago."""
    with psycopg.connect(server_url(), autocommit=True) as session:
        text = f"UPDATE {SCHEMA}.worker SET seen_at = seen_at - %s WHERE name LIKE %s"
        session.execute(text, ((LATE_SECONDS + 1) * SECOND, f"%/{pid}/%"))


def test_a_worker_tells_what_it_did_and_what_fails(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(store, UNLIMITED)
    with running(app) as server:
        client = server.client(owner(store))
        for _ in range(3):
            assert client.get("/v1/streams").status_code == 200
        report = make_report("here/1/a", 5, [app])
        assert (report.requests, report.failures, report.in_flight) == (3, 0, 0)
        assert (report.owners, report.failing) == (1, ())
        assert report.memory_bytes > 1 << 20
        app.meter.end("/v1/streams", "GET", 503, 0.1)
        assert make_report("here/1/a", 5, [app]).failures == 1
        monkeypatch.setattr(type(app.service.recorder), "failing", True)
        assert make_report("here/1/a", 5, [app]).failing == ("receipts",)


def test_a_beat_that_fails_is_followed_by_another(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = store.fleet
    assert fleet is not None
    reports: list[WorkerReport] = []

    real: Fleet = fleet

    class Breaking:
        """A fleet that fails at first."""

        def report(self, report: WorkerReport) -> None:
            reports.append(report)
            if len(reports) < 3:
                raise psycopg.OperationalError("no route")
            real.report(report)

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    with heartbeat(Breaking(), list, seconds=0.01):
        until(lambda: len(reports) > 3)
        assert reports[-1].name in {worker.name for worker in fleet.workers()}
    assert reports[-1].name not in {worker.name for worker in fleet.workers()}


@pytest.mark.embedded("on PostgreSQL the environment of every command names a database")
def test_a_folder_has_no_fleet(tmp_path: Path) -> None:
    assert "has no fleet" in pdpp("fleet", data=tmp_path).failed()
