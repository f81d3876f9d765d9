"""Notices: a worker hears at once what another did, and looks by itself where it cannot hear."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from tests.postgres_server import server_url
from tests.store.postgres.conftest import Opener
from tests.store.world import Clock, World

from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.jobs.runner import JobRunner
from pdpp.model import instant
from pdpp.store.jobs import JobOrder, Json
from pdpp.store.postgres import notices
from pdpp.store.postgres.pool import TurnConnection
from pdpp.store.postgres.store import PostgresStore
from pdpp.store.vault import Token

DEADLINE_SECONDS = 30.0
NEVER_SECONDS = 3_600.0


def until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.002)


@contextmanager
def listening(store: PostgresStore) -> Iterator[threading.Event]:
    """Listen for an owner; yield an event that is set when there may be work."""
    heard = threading.Event()
    assert store.notices is not None
    end = store.notices.subscribe(heard.set)
    until(lambda: store.notices is not None and store.notices.is_listening)
    assert heard.wait(DEADLINE_SECONDS)  # what came before is to be looked for
    heard.clear()
    try:
        yield heard
    finally:
        end()


@contextmanager
def counted_questions(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the reads for which a connection is taken."""
    readers, asked = store._database.connections.readers, [0]
    take = readers.take

    def counting(*arguments: object, **options: object) -> object:
        asked[0] += 1
        return take(*arguments, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(readers, "take", counting)
        yield asked


def backend(store: PostgresStore) -> int:
    with store._database.connections.receipts.session() as db:
        return int(db.raw.info.backend_pid)


def cut(pid: int) -> None:
    with psycopg.connect(server_url(), autocommit=True) as session:
        session.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))


def test_a_write_of_one_worker_is_heard_by_another_without_a_question(
    opened: Opener, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = opened("anna"), opened("anna")
    world = World(one, clock).settle()
    with listening(other):
        before = other.recent_state()
        with counted_questions(other, monkeypatch) as asked:
            assert other.recent_state() == before
            world.put({"a": {"subject": "apple"}})
            until(lambda: other.recent_state() != before)
            assert asked == [0]
    # Whoever does not listen asks.
    assert other.recent_state() == other.state()


def test_a_write_of_another_owner_is_not_heard(opened: Opener, clock: Clock) -> None:
    anna, bert = opened("anna"), opened("bert")
    world = World(bert, clock).settle()
    with listening(anna) as heard, listening(bert):
        before, berts = anna.recent_state(), bert.recent_state()
        world.put({"a": {"subject": "apple"}})
        bert.jobs.add(JobOrder("import"))
        until(lambda: bert.recent_state() != berts)
        anna.vault.keep_token(Token("hash", "owner", "label", 1))
        until(lambda: anna.recent_state() != before)
        assert not heard.is_set()
        # One write, so one notice: those of the other owner came earlier and were not counted.
        assert anna.recent_state() == (before[0], before[1] + 1)  # type: ignore[index]


def test_a_job_that_one_worker_adds_is_begun_by_another_at_once(opened: Opener) -> None:
    one, other = opened("anna"), opened("anna")
    done = threading.Event()

    def run(_context: JobContext) -> Json:
        done.set()
        return {}

    # Without notices it would look for work in an hour.
    runner = JobRunner(other, [JobKind("note", run)], instant.now, look_seconds=NEVER_SECONDS)
    runner.start()
    try:
        until(lambda: other.notices is not None and other.notices.is_listening)
        one.jobs.add(JobOrder("note"))
        assert done.wait(DEADLINE_SECONDS)
    finally:
        runner.stop()


def test_a_cut_connection_is_noticed_and_listened_on_again(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "_AGAIN_SECONDS", 0.01)
    one, other = opened("anna"), opened("anna")
    with listening(other) as heard:
        before = other.recent_state()
        cut(backend(other))
        # What was announced while nobody listened is looked for.
        assert heard.wait(DEADLINE_SECONDS)
        assert other.recent_state() != before
        heard.clear()
        one.jobs.add(JobOrder("import"))
        assert heard.wait(DEADLINE_SECONDS)


def test_a_database_that_cannot_be_reached_is_asked_instead_of_listened_to(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "_AGAIN_SECONDS", 0.01)
    store = opened("anna")
    receipts = store._database.connections.receipts
    with listening(store):
        again = threading.Event()
        opens = receipts._open

        def refused() -> object:
            if again.is_set():
                return opens()
            raise psycopg.OperationalError("no route")

        monkeypatch.setattr(receipts, "_open", refused)
        cut(backend(store))
        until(lambda: store.notices is not None and not store.notices.is_listening)
        before = store.recent_state()
        assert before == store.state()
        store.jobs.add(JobOrder("import"))
        assert store.recent_state() != before
        again.set()
        until(lambda: store.notices is not None and store.notices.is_listening)


def test_listening_takes_no_connection_of_its_own(opened: Opener, clock: Clock) -> None:
    store = opened("anna")
    world = World(store, clock).settle()
    with listening(store):
        store.receipts.begin()
        world.put({"a": {"subject": "apple"}})
        assert world.keys() == ["a"]
        connections = store._database.connections
        with connections.receipts.session() as receipts, connections.writer.session() as writer:
            assert connections.notices._session is receipts
            assert writer is not receipts
        store.receipts.finish()


def test_a_connection_that_nobody_listens_on_collects_no_notices(opened: Opener) -> None:
    store = opened("anna")
    with listening(store):
        pass
    with store._database.connections.receipts.session() as db:
        assert db.rows("SELECT pg_listening_channels()") == []
        store.jobs.add(JobOrder("import"))
        assert db.notices() == []


def test_the_thread_ends_with_the_last_subscriber_and_begins_again(opened: Opener) -> None:
    listener = notices.NoticeListener(TurnConnection(lambda: pytest.fail("nobody listens")))
    listener.close()
    store = opened("anna")
    assert store.notices is not None
    for _ in range(3):
        with listening(store):
            store.notices.subscribe(threading.Event().set)()
            assert store._database.connections.notices._thread is not None
        assert store._database.connections.notices._thread is None
