"""Narrowing a grant never adds a byte, and a grant that ended is seen to have ended at once."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.engine import open_store, revoke_grant
from tests.promises.caller import Caller, calling
from tests.promises.letters import MESSAGE_FIELDS, declaration
from tests.promises.sights import BLOBS, INSIDE, OUTSIDE, STRAY_KEYS, VISIBLE_KEYS
from tests.promises.twins import Invention
from tests.serving import UNLIMITED, Approval, SetClock, approve, owner

from pdpp.app import make_app
from pdpp.authz.selection import Selection, resolve
from pdpp.model import instant
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import Interval
from pdpp.model.validation import parse_declaration
from pdpp.resource.routes import ROUTES
from pdpp.store.batch import Line
from pdpp.store.port import Store

CONNECTIONS = ("home", "other", "work")
STREAMS = ("drafts", "messages", "threads")
KEYS = VISIBLE_KEYS + STRAY_KEYS
EDGES = [None, *(instant.parse(moment) for moment in (*INSIDE, *OUTSIDE[:3]) if moment)]

Facts = set[tuple[str, ...]]


@pytest.fixture(scope="module")
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("algebra")


@pytest.fixture(scope="module")
def store(folder: Path, clock: SetClock) -> Iterator[Store]:
    opened = open_store(folder, clock)
    opened.register(parse_declaration(declaration()))
    kept = [opened.keep_blob(io.BytesIO(content), "text/plain", 1 << 20) for content in BLOBS]
    made = Invention("algebra", [blob.blob_id for blob in kept])
    for connection_id in CONNECTIONS:
        opened.connect(connection_id, "letters", connection_id.title())
        for stream in STREAMS:
            feed = opened.catalogue().feeds[(connection_id, stream)]
            kind = stream if stream == "messages" else "threads"
            lines = [
                Line(i, key, clock(), {**made.data(kind), "id": key}) for i, key in enumerate(KEYS)
            ]
            opened.write(feed, lines)
            clock.advance(1)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def caller(store: Store, clock: SetClock) -> Iterator[Caller]:
    with calling(make_app(store, UNLIMITED, clock), owner(store)) as made:
        yield made


def _subset(pool: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(pool), unique=True, max_size=len(pool)).map(tuple)


def _interval(pair: tuple[int | None, int | None]) -> Interval | None:
    since, until = pair
    return None if since is None and until is None else Interval(since, until)


SELECTIONS = st.builds(
    Selection,
    connections=_subset(CONNECTIONS),
    streams=_subset(STREAMS),
    fields=_subset(MESSAGE_FIELDS),
    time=st.tuples(st.sampled_from(EDGES), st.sampled_from(EDGES)).map(_interval),
    keys=_subset(KEYS),
)


def narrower(wide: Selection, by: Selection) -> Selection:
    """Return what both selections show."""
    spans = [span for span in (wide.time, by.time) if span is not None]
    time = spans[0].intersect(spans[-1]) if spans else None
    return Selection(
        connections=_both(wide.connections, by.connections),
        streams=_both(wide.streams, by.streams),
        fields=_both(wide.fields, by.fields),
        time=time,
        keys=_both(wide.keys, by.keys),
    )


def _both(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return what two choices share, where choosing nothing means everything."""
    if not first or not second:
        return first or second
    return tuple(name for name in first if name in second) or ("nothing",)


def facts(caller: Caller) -> tuple[Facts, dict[tuple[str, ...], int]]:
    """Return every value that a token shows, and every count."""
    shown: Facts = set()
    counts: dict[tuple[str, ...], int] = {}
    for row in caller.get("/v1/streams")["data"]:
        place = (row["connection_id"], row["name"])
        counts[place] = row["record_count"]
        path = f"/v1/streams/{row['name']}/records"
        for record in caller.rows(path, connection_id=place[0], limit=100):
            shown.add((*place, record["id"]))
            shown |= {(*place, record["id"], f, _text(v)) for f, v in record["data"].items()}
        counts[(*place, "sum")] = caller.get(
            f"/v1/streams/{row['name']}/aggregate", connection_id=place[0]
        )["value"]
    for query in ("alpha", "beta", "al*"):
        hits = caller.rows("/v1/search", q=query, limit=100)
        counts[("search", query)] = len(hits)
        for hit in hits:
            shown.add(("hit", query, hit["id"]))
            shown |= {("match", query, hit["id"], name) for name in hit["matched_fields"]}
            shown |= {("quote", hit["id"], _text(e)) for e in hit["evidence_excerpts"]}
    return shown, counts


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()


@given(wide=SELECTIONS, by=SELECTIONS)
@example(wide=Selection(fields=("id", "note")), by=Selection(keys=("v1",)))
@settings(max_examples=max(5, settings().max_examples // 2))
def test_narrowing_a_grant_never_adds_anything(
    store: Store, caller: Caller, wide: Selection, by: Selection
) -> None:
    narrow = narrower(wide, by)
    try:
        resolve(narrow, store.catalogue())
    except InvalidRequest:
        return
    wide_facts, wide_counts = facts(caller.under(approve(store, wide).token))
    narrow_facts, narrow_counts = facts(caller.under(approve(store, narrow).token))
    assert narrow_facts <= wide_facts
    assert all(count <= wide_counts.get(what, 0) for what, count in narrow_counts.items())


def test_a_grant_of_everything_shows_what_the_owner_sees(store: Store, caller: Caller) -> None:
    assert facts(caller.under(approve(store).token)) == facts(caller)


def test_narrowing_can_be_noticed(store: Store, caller: Caller) -> None:
    """Every way to narrow takes something away here, so that the comparison means something."""
    everything = len(facts(caller)[0])
    for selection in (
        Selection(connections=("home",)),
        Selection(streams=("messages",)),
        Selection(fields=("id", "note")),
        Selection(time=Interval(EDGES[1], EDGES[2])),
        Selection(keys=("v1",)),
    ):
        assert 0 < len(facts(caller.under(approve(store, selection).token))[0]) < everything


# Endings

READS = [route for route in ROUTES if route.method in ("GET", "HEAD") and not route.owner_only]
_PATH = {"stream": "messages", "record_id": "v1"}
_NEEDS = {
    "readFieldWindow": {"field": "id", "connection_id": "home"},
    "getRecord": {"connection_id": "home"},
    "search": {"q": "alpha"},
    "searchHybrid": {"q": "alpha"},
}


@pytest.fixture
def approval(store: Store, clock: SetClock) -> Approval:
    return approve(store, Selection(connections=("home", "work")), expires_at=clock() + 10**9)


def _blob_id(caller: Caller) -> str:
    rows = caller.rows("/v1/streams/messages/records", limit=100)
    return next(
        str(row["data"]["attachment"]["blob_id"]) for row in rows if row["data"].get("attachment")
    )


@pytest.mark.parametrize("route", READS, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_refuses_a_grant_right_after_it_was_revoked(
    store: Store, caller: Caller, approval: Approval, route: Any
) -> None:
    client = caller.under(approval.token)
    path = "/v1" + route.path.format(**_PATH, blob_id=_blob_id(client))
    params = _NEEDS.get(route.name, {})
    before = client.send(path, params, method=route.method)
    assert before.status_code == (400 if route.name == "searchSemantic" else 200), before.text
    revoke_grant(store, approval.grant_id)
    after = client.send(path, params, method=route.method)
    assert after.status_code == 403
    assert route.method == "HEAD" or after.json()["error"]["code"] == "grant_revoked"


def code(answer: httpx.Response) -> str | None:
    """Return the code of a refusal; a good answer has none."""
    found: str | None = answer.json().get("error", {}).get("code")
    return found


def test_an_open_session_of_pages_ends_with_the_grant(
    store: Store, caller: Caller, approval: Approval
) -> None:
    client = caller.under(approval.token)
    asked = {
        "/v1/streams/messages/records": {"limit": "1"},
        "/v1/streams/threads/records": {
            "limit": "1",
            "changes_since": "beginning",
            "connection_id": "home",
        },
        "/v1/search": {"q": "al*", "limit": "1"},
    }
    cursors = {path: client.get(path, **params)["next_cursor"] for path, params in asked.items()}
    path, params = "/v1/streams/threads/records", {"connection_id": "home"}
    _, bookmark = client.changes(path, "beginning", **params)
    assert client.send(path, {**params, "changes_since": bookmark}).status_code == 200
    revoke_grant(store, approval.grant_id)
    for other, cursor in cursors.items():
        assert code(client.send(other, {**asked[other], "cursor": cursor})) == "grant_revoked"
    late = client.send(path, {**params, "changes_since": bookmark})
    assert code(late) == "grant_revoked"


def test_another_process_revokes_a_grant_and_the_next_request_sees_it(
    folder: Path, caller: Caller, approval: Approval, clock: SetClock
) -> None:
    client = caller.under(approval.token)
    assert client.send("/v1/streams").status_code == 200
    beside = open_store(folder, clock)
    revoke_grant(beside, approval.grant_id)
    beside.close()
    assert code(client.send("/v1/streams")) == "grant_revoked"


def test_a_grant_ends_when_its_time_is_up_and_not_before(
    store: Store, caller: Caller, clock: SetClock
) -> None:
    end = clock() + instant.DAY
    client = caller.under(approve(store, expires_at=end, now=clock()).token)
    started = clock.now
    clock.now = end - 1
    assert client.send("/v1/streams").status_code == 200
    clock.now = end
    assert code(client.send("/v1/streams")) == "grant_expired"
    clock.now = started


def test_a_cursor_of_one_grant_is_worthless_under_another(
    store: Store, caller: Caller, approval: Approval
) -> None:
    path, params = "/v1/streams/messages/records", {"limit": "1"}
    cursor = caller.under(approval.token).get(path, **params)["next_cursor"]
    twin = caller.under(approve(store, Selection(connections=("home", "work"))).token)
    answer = twin.send(path, {**params, "cursor": cursor})
    assert answer.json()["error"]["code"] == "invalid_cursor"
