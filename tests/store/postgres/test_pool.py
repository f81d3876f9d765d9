"""The connections of a worker: few, healthy, and never anybody else's."""

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.postgres_server import server_url
from tests.store.postgres.conftest import Opener
from tests.store.world import Clock, World

from pdpp.model.errors import Overloaded
from pdpp.store.deadline import DeadlinePassed, Timer
from pdpp.store.postgres import pool
from pdpp.store.postgres.opening import worker_connections
from pdpp.store.postgres.store import PostgresStore


def test_many_threads_share_few_connections(opened: Opener, clock: Clock) -> None:
    store = opened("anna")
    world = World(store, clock).settle()
    world.put({"a": {"subject": "apple"}})
    before = sessions()
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda _: world.keys(), range(64)))
    assert answers == [["a"]] * 64
    assert sessions() - before <= 5


def sessions() -> int:
    with psycopg.connect(server_url()) as session:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pdpp'"
        row = session.execute(asked).fetchone()
        assert row is not None
        return int(row[0])


def test_a_read_that_finds_no_connection_waits_for_its_deadline_only(opened: Opener) -> None:
    readers = opened("anna")._database.connections.readers
    taken = [readers.take(1, lambda _: None)[0] for _ in range(pool.READERS)]
    with pytest.raises(DeadlinePassed):
        readers.take(1, lambda _: None, Timer(0.02))
    for db in taken:
        readers.give(db)


def test_a_read_without_a_deadline_is_refused_in_the_end(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_WAIT_SECONDS", 0.02)
    readers = opened("anna")._database.connections.readers
    taken = [readers.take(1, lambda _: None)[0] for _ in range(pool.READERS)]
    with pytest.raises(Overloaded, match="busy with long requests"):
        readers.take(1, lambda _: None)
    for db in taken:
        readers.give(db)


def test_a_connection_that_is_given_back_serves_who_waits(opened: Opener) -> None:
    readers = opened("anna")._database.connections.readers
    taken = [readers.take(1, lambda _: None)[0] for _ in range(pool.READERS)]
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(readers.take, 1, lambda _: None, Timer(20))
        readers.give(taken[0])
        assert waiting.result()[0] is taken[0]
    for db in taken:
        readers.give(db)


def test_long_reads_leave_a_connection_to_short_ones(opened: Opener) -> None:
    store = opened("anna")
    ready, end = threading.Barrier(pool.READERS), threading.Event()

    def read_long() -> None:
        with store.reading(Timer(60)):
            ready.wait()
            end.wait()

    with ThreadPoolExecutor(pool.READERS) as threads:
        for _ in range(pool.READERS - 1):
            threads.submit(read_long)
        ready.wait()
        try:
            assert store.state() is not None
            with store.reading(Timer(0.5)):
                assert store.vault.token("none") is None
            with pytest.raises(DeadlinePassed), store._database.reading(_Passed()):
                pass
        finally:
            end.set()


class _Passed(Timer):
    """A deadline of a long read that has just passed."""

    def __init__(self) -> None:
        super().__init__(-1)

    def left(self) -> float:
        return 60.0


def test_a_statement_ends_with_the_time_of_its_read(opened: Opener) -> None:
    store = opened("anna")

    def read_slowly() -> None:
        with store.reading(Timer(0.05)):
            store._database.reader.run("SELECT pg_sleep(20)")

    with pytest.raises(DeadlinePassed) as ended:
        read_slowly()
    # Had it slept to its end, the look at the clock after it would have ended the read.
    assert isinstance(ended.value.__cause__, psycopg.errors.QueryCanceled)
    # The time of that read is over; the next one has its own, on the same connection.
    with store.reading():
        assert store._database.reader.run("SELECT 1 FROM pg_sleep(0.1)").get == 1


def test_one_connection_serves_one_owner_after_another(clock: Clock, opened: Opener) -> None:
    connections = worker_connections(server_url())
    folder = opened("nobody")._blobs.path("x").parents[2]
    stores = [
        PostgresStore(
            server_url(), folder, clock, owner=f"{folder}/{name}", connections=connections
        )
        for name in ("anna", "bert")
    ]
    try:
        for store, key in zip(stores, "ab", strict=True):
            World(store, clock).settle().put({key: {"subject": "apple"}})
        for _ in range(3):
            assert [World(store, clock).keys() for store in stores] == [["a"], ["b"]]
        assert connections.readers._count <= pool.READERS
    finally:
        for store in stores:
            store.close()
        connections.close()


def test_a_connection_inside_a_transaction_is_not_handed_on(opened: Opener) -> None:
    readers = opened("anna")._database.connections.readers
    db, _ = readers.take(1, lambda db: db.control("BEGIN"))
    readers.give(db)
    assert db.raw.closed


def test_a_snapshot_whose_end_failed_does_not_fail_the_next_read(opened: Opener) -> None:
    readers = opened("anna")._database.connections.readers
    db, _ = readers.take(1, lambda db: db.control("BEGIN"))
    # As the end of a read does whose time is up: it is cancelled, and nobody waits for it.
    db._session.end("SELECT 1 / 0")
    readers.give(db)
    same, answer = readers.take(1, lambda db: db.run("SELECT 1").get)
    assert (same, answer) == (db, 1)
    readers.give(same)
