"""A replica answers only where it is as recent as the read needs, and never decides who may read.

It is a real one, which follows the tests' PostgreSQL by streaming and is held back where a test
needs it to be behind.
"""

import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from tests.cli.shell import DECLARATION, entry
from tests.engine import revoke_grant
from tests.postgres_replica import DEADLINE_SECONDS, catch_up, held_back, replica_url
from tests.postgres_server import server_url
from tests.serving import UNLIMITED, Running, approve, owner, plant, running

from pdpp.app import make_app
from pdpp.configuration.database import DatabaseAddress
from pdpp.serving.data_folder import open_store
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.opening import open_session, prepare
from pdpp.store.postgres.pool import WorkerConnections
from pdpp.store.postgres.replica import ReplicaReaders
from pdpp.store.postgres.store import PostgresStore
from pdpp.store.replica import ReplicaUse

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a server from a wheel")

PAGE = "/v1/streams/entries/records?limit=100"
WHERE = "/v1/ingest/entries?connection_id=cin_diary"
TOLERANT = {"PDPP-Max-Lag": "60"}
MOST_LAG = 10.0


class Ticking:
    """A clock of seconds that a test moves."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Served:
    """A server with a replica, whose clock stands still."""

    store: PostgresStore
    server: Running
    clock: Ticking
    owner_token: str
    approved: Any

    def get(self, token: str | None = None, **headers: str) -> httpx.Response:
        answer = self.server.client(token or self.approved.token, **headers).get(PAGE)
        assert answer.status_code == 200, answer.text
        return answer

    def ids(self, token: str | None = None, **headers: str) -> set[str]:
        return {record["id"] for record in self.get(token, **headers).json()["data"]}

    def put(self, key: str) -> None:
        answer = self.server.client(self.owner_token).post(WHERE, content=entry(key))
        assert answer.status_code == 200, answer.text

    def answered_by_replica(self, token: str | None = None) -> set[str]:
        """Read until the replica answers: jobs of the server write now and then, too."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            assert time.monotonic() < deadline, self.use()
            catch_up()
            before = self.use().answered
            ids = self.ids(token)
            if self.use().answered > before:
                return ids

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Hold the replica back where it has all that this worker knows to be on the primary."""
        is_known = False
        while not is_known:
            with held_back():
                before = self.use().answered
                self.ids()
                is_known = self.use().answered > before
                if is_known:
                    yield

    @contextmanager
    def used(self, *outcomes: str) -> Iterator[None]:
        """Check which outcomes of asking the replica there are in the block: these and no others.

        How many is another matter: a read that takes long begins again in a thread.
        """
        before = self.use()
        yield
        after = self.use()
        names = ("answered", "behind", "failures")
        assert [name for name in names if getattr(after, name) > getattr(before, name)] == [
            *outcomes
        ]

    def use(self) -> ReplicaUse:
        use = self.store.replica_use()
        assert use is not None
        return use


@contextmanager
def opened(folder: Path, clock: Ticking) -> Iterator[PostgresStore]:
    """Open a store as a worker of a server with a replica does."""
    prepare(server_url())
    replica = ReplicaReaders(
        lambda: PostgresConnection(open_session(replica_url())), MOST_LAG, clock
    )
    connections = WorkerConnections(lambda: PostgresConnection(open_session(server_url())), replica)
    store = PostgresStore(server_url(), folder, owner=str(folder), connections=connections)
    try:
        yield store
    finally:
        store.close()
        connections.close()


def working(store: PostgresStore) -> AbstractContextManager[Running]:
    return running(make_app(store, replace(UNLIMITED, read_lag_seconds=MOST_LAG)))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    clock = Ticking()
    with opened(tmp_path, clock) as store:
        plant(store, DECLARATION, {"cin_diary": "Days"})
        token, approved = owner(store), approve(store)
        catch_up()
        with working(store) as server:
            world = Served(store, server, clock, token, approved)
            world.put("a")
            catch_up()
            yield world


def test_a_replica_that_has_everything_answers(served: Served) -> None:
    assert served.answered_by_replica() == {"a"}
    assert served.answered_by_replica(served.owner_token) == {"a"}


def test_a_read_after_the_clients_own_write_has_it(served: Served) -> None:
    with held_back(), served.used("behind"):
        served.put("b")
        assert served.ids(served.owner_token) == {"a", "b"}
        # Also whoever tolerates no lag sees at once what others wrote.
        assert served.ids() == {"a", "b"}
    assert served.answered_by_replica(served.owner_token) == {"a", "b"}


def test_who_tolerates_lag_is_answered_by_a_replica_that_is_behind_within_the_bound(
    served: Served,
) -> None:
    with served.held_back():
        served.put("b")
        with served.used("answered"):
            answer = served.get(**TOLERANT)
            assert {record["id"] for record in answer.json()["data"]} == {"a"}
            # The bound is told, and not how far behind the replica is.
            assert answer.headers["PDPP-Lag-Bound"] == "10"
        served.clock.now += MOST_LAG + 1
        with served.used("behind"):
            assert served.ids(**TOLERANT) == {"a", "b"}
        # Now it is known to be behind for longer than anybody tolerates.
        served.put("c")
        with served.used("behind"):
            assert served.ids(**TOLERANT) == {"a", "b", "c"}


def test_a_client_may_tolerate_less_than_the_server(served: Served) -> None:
    with served.held_back():
        served.put("b")
        served.clock.now += 3
        assert served.ids(**{"PDPP-Max-Lag": "4"}) == {"a"}
        assert served.ids(**{"PDPP-Max-Lag": "2"}) == {"a", "b"}
        assert served.ids(**{"PDPP-Max-Lag": "0"}) == {"a", "b"}


@pytest.mark.parametrize("lag", ["-1", "1.5", "soon", "3601", "99999999999", "²", ""])
def test_a_lag_that_is_none_is_refused(served: Served, lag: str) -> None:
    client = served.server.client(served.approved.token)
    answer = client.get(PAGE, headers={b"PDPP-Max-Lag": lag.encode()})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == "PDPP-Max-Lag"


def test_a_revocation_holds_at_once_although_the_replica_does_not_know_of_it(
    served: Served,
) -> None:
    with served.held_back():
        assert revoke_grant(served.store, served.approved.grant_id)
        client = served.server.client(served.approved.token, **TOLERANT)
        assert client.get(PAGE).json()["error"]["code"] == "grant_revoked"


def test_a_revocation_holds_at_the_next_request_of_every_worker_while_clients_read(
    served: Served, tmp_path: Path
) -> None:
    revoked, all_read = threading.Event(), threading.Barrier(5)

    def read_on(server: Running) -> httpx.Response:
        """Read until it is refused, or is answered although the grant was revoked before."""
        client = server.client(served.approved.token, **TOLERANT)
        assert client.get(PAGE).status_code == 200
        all_read.wait(DEADLINE_SECONDS)
        while True:
            is_last = revoked.is_set()
            answer = client.get(PAGE)
            if is_last or answer.status_code != 200:
                return answer

    with (
        opened(tmp_path, Ticking()) as store,
        working(store) as another,
        served.held_back(),
        ThreadPoolExecutor(4) as pool,
    ):
        served.put("b")
        with served.used("answered"):
            assert served.ids(**TOLERANT) == {"a"}
        answers = [pool.submit(read_on, server) for server in [served.server, another] * 2]
        all_read.wait(DEADLINE_SECONDS)
        assert revoke_grant(served.store, served.approved.grant_id)
        revoked.set()
        codes = [answer.result().json().get("error", {}).get("code") for answer in answers]
        assert codes == ["grant_revoked"] * 4


def test_another_catalogue_is_not_read_with_places_of_this_one(served: Served) -> None:
    with served.held_back():
        served.store.connect("cin_diary", "diary", "Other days")
        with served.used("behind"):
            answer = served.get(**TOLERANT).json()
            assert answer["data"][0]["display_name"] == "Other days"


def test_a_replica_that_fails_in_a_read_is_left_alone_and_the_primary_answers(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert served.ids() == {"a"}
    page, store = type(served.store).page, served.store

    def cut_page(self: PostgresStore, *query: Any) -> Any:
        """Cut the replica's connection before the rows are asked for."""
        if self._database._thread.from_replica is not None:
            db = self._database._thread.snapshot
            assert db is not None
            with psycopg.connect(replica_url(), autocommit=True) as session:
                session.execute("SELECT pg_terminate_backend(%s)", (db.raw.info.backend_pid,))
        return page(self, *query)

    monkeypatch.setattr(type(store), "page", cut_page)
    failures = served.use().failures
    assert served.answered_by_replica() == {"a"}
    assert served.use().failures > failures
    with served.used():
        assert served.ids() == {"a"}
    served.clock.now += 60
    monkeypatch.undo()
    assert served.answered_by_replica() == {"a"}


def test_a_replica_that_is_not_there_slows_nobody_down(tmp_path: Path) -> None:
    prepare(server_url())
    asked = []

    def unreachable() -> PostgresConnection:
        asked.append(1)
        raise psycopg.OperationalError("no route")

    connections = WorkerConnections(
        lambda: PostgresConnection(open_session(server_url())),
        ReplicaReaders(unreachable, 1.0, Ticking()),
    )
    store = PostgresStore(server_url(), tmp_path, owner=str(tmp_path), connections=connections)
    try:
        plant(store, DECLARATION, {"cin_diary": "Days"})
        token = approve(store).token
        with running(make_app(store, UNLIMITED)) as server:
            for _ in range(5):
                assert server.client(token).get(PAGE).status_code == 200
            assert server.client(token).get("/readyz").status_code == 200
    finally:
        store.close()
        connections.close()
    assert len(asked) == 1


def test_the_owner_sees_how_the_replica_is_used(served: Served) -> None:
    assert served.answered_by_replica() == {"a"}
    text = served.server.client(served.owner_token).get("/metrics").text
    assert f'pdpp_replica_reads_total{{outcome="replica"}} {served.use().answered}' in text
    assert "pdpp_replica_lag_seconds 0" in text


def test_the_lag_of_an_owner_whom_nobody_asked_about_is_unknown() -> None:
    clock = Ticking()
    replica = ReplicaReaders(lambda: pytest.fail("nobody reads"), MOST_LAG, clock)
    assert replica.lag(1, 5) is None
    replica.see(1, 5, clock.now)
    assert replica.lag(1, 5) == 0
    assert replica.lag(1, 6) is None, "nobody saw that the primary had such a number"
    assert replica.lag(1, 4) is None
    clock.now += 2
    replica.see(1, 5, clock.now)
    clock.now += 2
    replica.see(1, 5, clock.now - 3)  # asked for early and told late
    replica.see(1, 7, clock.now)
    replica.see(1, 6, clock.now)
    clock.now += 1
    assert replica.lag(1, 7) == 0
    assert replica.lag(1, 6) is None, "a replica that went another way may have such a number"
    assert replica.lag(1, 5) == 3
    assert replica.lag(2, 7) is None


def test_what_was_seen_of_a_primary_that_is_none_any_more_counts_no_more() -> None:
    clock = Ticking()
    replica = ReplicaReaders(lambda: pytest.fail("nobody reads"), MOST_LAG, clock)
    asked = replica.now()
    clock.now += 1
    prepare(server_url())
    with closing(PostgresConnection(open_session(server_url()))) as db:
        replica.forget(db)
    clock.now += 1
    replica.see(1, 9, asked)
    replica.see(1, 5, replica.now())
    assert replica.lag(1, 9) is None
    assert replica.lag(1, 5) == 0


def test_a_server_that_is_told_of_a_replica_uses_it(tmp_path: Path) -> None:
    name = str(tmp_path)
    with open_store(tmp_path, create=True, database=DatabaseAddress(server_url(), name)) as store:
        assert store.replica_use() is None
    database = DatabaseAddress(server_url(), name, replica_url(), 5.0)
    with open_store(tmp_path, database=database) as store:
        store.state()
        catch_up()
        with store.reading(lag=0.0):
            assert dict(store.catalogue().feeds) == {}
        use = store.replica_use()
        assert use is not None
        assert use.answered >= 1
