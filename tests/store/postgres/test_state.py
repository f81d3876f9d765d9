"""A read that assumes a state: it answers in that state, or says that it is over."""

from collections.abc import Callable
from typing import Any

import httpx
import psycopg
import pytest
from tests.cli.shell import DECLARATION, entry
from tests.serving import UNLIMITED, grant, owner, plant, running
from tests.store.postgres.conftest import Opener
from tests.store.world import NOW, Clock, World

from pdpp.app import make_app
from pdpp.authz.authority import Authority
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.store.deadline import Timer
from pdpp.store.postgres.notices import NoticeListener
from pdpp.store.postgres.session import Result, Session
from pdpp.store.postgres.store import PostgresStore
from pdpp.store.query import PageQuery
from pdpp.store.state import StateChanged
from pdpp.store.tables.records import reader

RECORDS = "/v1/streams/entries/records"


def one_statement(store: PostgresStore) -> None:
    """Ask something."""
    store.vault.token("none")


def nothing(_store: PostgresStore) -> None:
    """Ask nothing."""


def a_failure(_store: PostgresStore) -> None:
    """Fail before anything is asked."""
    raise LookupError


@pytest.fixture
def pair(opened: Opener, clock: Clock) -> tuple[PostgresStore, PostgresStore]:
    """Two workers of one owner, who has a record."""
    one, other = opened("anna"), opened("anna")
    World(one, clock).settle().put({"a": {"subject": "apple"}})
    return one, other


Pair = tuple[PostgresStore, PostgresStore]


@pytest.mark.parametrize("ask", [one_statement, nothing, a_failure])
def test_a_read_that_assumes_an_old_state_is_told(
    pair: Pair, clock: Clock, ask: Callable[[PostgresStore], None]
) -> None:
    one, other = pair
    state = other.state()
    World(one, clock).put({"b": {"subject": "pear"}})

    def read() -> None:
        with other.reading(Timer(5), None, state):
            ask(other)

    with pytest.raises(StateChanged):
        read()
    with other.reading(Timer(5), None, other.state()):
        assert World(other, clock).keys() == ["a", "b"]


def test_a_read_that_assumes_the_state_of_now_is_answered(pair: Pair, clock: Clock) -> None:
    _, other = pair
    with other.reading(Timer(5), None, other.state()):
        assert World(other, clock).keys() == ["a"]
    with other.reading(Timer(5), None, other.state()):
        pass


def test_a_read_that_was_refused_in_the_state_of_now_is_refused(pair: Pair) -> None:
    _, other = pair
    with pytest.raises(LookupError), other.reading(Timer(5), None, other.state()):
        a_failure(other)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What sessions are asked, in order."""
    texts: list[str] = []
    ask = Session.ask

    def noted(session: Session, text: str, *values: Any) -> Result:
        texts.append(text)
        return ask(session, text, *values)

    monkeypatch.setattr(Session, "ask", noted)
    return texts


@pytest.mark.parametrize("time", [None, Interval(None, NOW)])
def test_the_page_of_a_grant_is_one_statement_until_something_is_written(
    pair: Pair,
    clock: Clock,
    asked: list[str],
    time: Interval | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All are to be walked along the field that sorts them, as where a grant shows many.
    monkeypatch.setattr(reader, "page_way", lambda *_: None)
    one, other = pair
    known = {"subject": "pear", "at": "2026-01-01T00:00:00Z"}
    World(one, clock).put({"b": known, "c": known})
    reach = World(other, clock).reach(time=time)
    page = PageQuery((reach,), 1, sort="subject")

    def statements(state: object) -> int:
        before = len(asked)
        with other.reading(Timer(5), None, state):
            assert len(other.page(page).records) == 1
        return len(asked) - before

    other.secret()  # made where there is none, which is a write
    state = other.state()
    assert statements(state) > 1
    assert [statements(state) for _ in "ab"] == [1, 1]
    World(one, clock).put({"d": known})
    state = other.state()
    first = statements(state)
    assert first == 1 if time is None else first > 1
    assert statements(state) == 1


def test_a_write_during_a_read_changes_nothing_of_it(pair: Pair, clock: Clock) -> None:
    one, other = pair
    with other.reading(Timer(5), None, other.state()):
        assert World(other, clock).keys() == ["a"]
        World(one, clock).put({"b": {"subject": "pear"}})
        assert World(other, clock).keys() == ["a"]


@pytest.mark.parametrize("ask", [one_statement, nothing])
def test_a_read_on_cut_connections_is_answered_on_a_new_one(
    pair: Pair, ask: Callable[[PostgresStore], None]
) -> None:
    _, other = pair
    state = other.state()
    readers = other._database.connections.readers
    taken = [readers.take(other._database.owner, lambda db: db.run("SELECT 1"))[0] for _ in "ab"]
    for db in taken:
        with psycopg.connect(db.raw.info.dsn) as session:
            session.execute("SELECT pg_terminate_backend(%s)", (db.raw.info.backend_pid,))
        readers.give(db)
    with other.reading(Timer(5), None, state):
        ask(other)
    with other.reading(Timer(5)):
        one_statement(other)


def test_only_the_last_state_that_was_asked_for_is_assumed(pair: Pair, clock: Clock) -> None:
    one, other = pair
    state = other.state()
    assert other.is_assumable(state)
    World(one, clock).put({"b": {"subject": "pear"}})
    assert other.is_assumable(state)
    assert other.is_assumable(other.state())
    assert not other.is_assumable(state)


@pytest.fixture
def unnoticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no worker hear of what another one writes, so that only its reads can find out."""
    monkeypatch.setattr(NoticeListener, "seen", lambda *_: None)


@pytest.mark.usefixtures("unnoticed")
@pytest.mark.scenario("S033")
def test_a_grant_that_one_worker_revokes_opens_nothing_at_the_next_request_to_another(
    opened: Opener,
) -> None:
    one, other = opened("anna"), opened("anna")
    plant(one, DECLARATION, {"cin_diary": "Days"})
    secret = grant(one)
    with running(make_app(other, UNLIMITED)) as server:
        client = server.client(secret)
        for path in (RECORDS, RECORDS, "/v1/streams"):
            assert client.get(path).status_code == 200
        for known in one.vault.grants():
            Authority(one, instant.now).revoke_grant(known.id)
        for path in (RECORDS, f"{RECORDS}?limit=nothing", "/v1/streams/none/records"):
            assert refusal(client.get(path)) == "grant_revoked"


@pytest.mark.usefixtures("unnoticed")
def test_what_one_worker_allows_is_allowed_at_the_next_request_to_another(opened: Opener) -> None:
    one, other = opened("anna"), opened("anna")
    plant(one, DECLARATION, {"cin_diary": "Days"})
    secret = owner(one)
    with running(make_app(one, UNLIMITED)) as first, running(make_app(other, UNLIMITED)) as second:
        reader, writer = second.client(secret), first.client(secret)
        assert reader.get(f"{RECORDS}?connection_id=cin_more").status_code == 403
        one.connect("cin_more", "diary", "More")
        assert reader.get(f"{RECORDS}?connection_id=cin_more").json()["data"] == []
        where = "/v1/ingest/entries?connection_id=cin_more"
        for number in range(3):
            writer.post(where, content=entry(f"k{number}")).raise_for_status()
            rows = reader.get(f"{RECORDS}?connection_id=cin_more").json()["data"]
            assert len(rows) == number + 1


def refusal(answer: httpx.Response) -> str:
    """Return the code of a refusal."""
    code: str = answer.json()["error"]["code"]
    return code
