"""Vectors in a store that several workers use: whose they are, how long they live, what they order.

A small embedder stands where the model stands; stores, servers and tables are the real ones.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine import database_of, open_store
from tests.promises.reference.embedder import InstalledEncoder
from tests.serving import UNLIMITED, Running, grant, planted_store, put, refused, running

from pdpp.app import make_app
from pdpp.jobs.embedding import embed_some
from pdpp.model.validation import parse_declaration
from pdpp.store.port import Store
from pdpp.store.scope import owner_reaches
from pdpp.store.tables import feeds
from pdpp.store.tables.search import meaning, nearness

TEXT: dict[str, Any] = {"type": ["string", "null"]}
NOTES = ("c", "notes")
ASKED = "elevator not working"


def declaration(
    version: str = "1",
    semantic: tuple[str, ...] = ("body", "diary"),
    diary: Mapping[str, Any] = TEXT,
) -> dict[str, Any]:
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": "https://notes.example/source"},
        "connector_key": "notes",
        "declaration_version": version,
        "publisher": {"id": "https://notes.example"},
        "display": {"name": "Notes"},
        "streams": [
            {
                "name": "notes",
                "semantics": "mutable_state",
                "schema": {
                    "type": "object",
                    "properties": {"id": {"type": "string"}, "body": TEXT, "diary": diary},
                    "required": ["id"],
                },
                "primary_key": ["id"],
                "query": {
                    "search": {"lexical_fields": ["body", "diary"], "semantic_fields": semantic}
                },
            }
        ],
    }


SENSITIVE = declaration("2", diary={**TEXT, "x_pdpp_sensitive": True})
RECORDS = [
    {"id": "lift", "body": "the lift is out of order"},
    {"id": "cat", "body": "the cat sleeps on the mat", "diary": ASKED},
    {"id": "tiles", "body": "invoice for the tiles of the elevator"},
    {"id": "roof", "body": "the roof is leaking"},
]


class IdleEncoder(InstalledEncoder):
    """The embedder of a server whose own job makes no vectors: the test says when there are any."""

    @property
    def installed(self) -> bool:
        """Say to the job that there is none."""
        return False


def embed(store: Store) -> None:
    while embed_some(store, InstalledEncoder()):
        pass


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = planted_store(tmp_path, declaration(), {"c": "Notes"}, {NOTES: RECORDS})
    yield store
    store.close()


@pytest.fixture
def other(store: Store, tmp_path: Path) -> Iterator[Store]:
    """The same store as another worker has it."""
    other = open_store(tmp_path)
    yield other
    other.close()


@pytest.fixture
def server(store: Store) -> Iterator[Running]:
    with running(make_app(store, UNLIMITED, encoder=IdleEncoder())) as server:
        yield server


def scores(server: Running, token: str, mode: str = "semantic") -> dict[str, float]:
    answer = server.client(token).get(f"/v1/search/{mode}", params={"q": ASKED}).json()
    return {hit["record_key"]: hit["score"]["value"] for hit in answer["data"]}


# What gets vectors


def test_a_field_that_becomes_sensitive_loses_its_vectors(store: Store, server: Running) -> None:
    embed(store)
    token = grant(store)
    before = scores(server, token)
    store.register(parse_declaration(SENSITIVE))
    after = scores(server, token)
    assert after.get("cat", 0) < before["cat"], "nothing is ranked by what became sensitive"
    assert {key: after[key] for key in after if key != "cat"} == {
        key: before[key] for key in before if key != "cat"
    }, "the vectors of other texts stay"
    store.register(parse_declaration(declaration("3")))
    assert scores(server, token) == after, "a vector that went does not come back by itself"
    embed(store)
    assert scores(server, token) == before


def test_a_vector_that_a_sensitive_field_has_from_before_orders_nothing(
    store: Store, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed(store)
    monkeypatch.setattr(meaning, "follow_declaration", lambda *_: None)
    store.register(parse_declaration(SENSITIVE))
    assert scores(server, grant(store)).get("cat", 0) < 0.9


def test_a_field_that_is_offered_later_gets_vectors(tmp_path: Path) -> None:
    store = planted_store(
        tmp_path, declaration(semantic=("body",)), {"c": "Notes"}, {NOTES: RECORDS}
    )
    with running(make_app(store, UNLIMITED, encoder=IdleEncoder())) as server:
        embed(store)
        token = grant(store)
        before = scores(server, token)
        store.register(parse_declaration(declaration("2")))
        assert scores(server, token) == before
        embed(store)
        assert scores(server, token)["cat"] > before.get("cat", 0)
    store.close()


def test_vectors_stay_where_a_declaration_has_other_fields_indexed_anew(
    store: Store, server: Running
) -> None:
    embed(store)
    token = grant(store)
    before = scores(server, token)
    for version, search in (("2", ["body", "diary", "more"]), ("3", ["body", "diary"])):
        changed = declaration(version)
        (stream,) = changed["streams"]
        stream["schema"]["properties"] |= {"more": TEXT, "size": {"type": ["integer", "null"]}}
        stream["query"]["search"]["lexical_fields"] = search
        stream["query"]["range_filters"] = {"size": ["gte"]}
        store.register(parse_declaration(changed))
        assert scores(server, token) == before
        assert store.meaning.progress() == (len(RECORDS), len(RECORDS))


def test_no_vector_stays_for_a_field_that_gets_the_place_of_another(
    store: Store, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST_PLACES", 2)
    embed(store)
    changed = declaration("2", semantic=("body", "more"))
    (stream,) = changed["streams"]
    stream["schema"]["properties"]["more"] = TEXT
    stream["query"]["search"]["lexical_fields"] = ["body", "more"]
    store.register(parse_declaration(changed))
    assert scores(server, grant(store)).get("cat", 0) < 0.9, "what its diary says is asked no more"


def _turned_off(other: Store) -> None:
    other.meaning.turn(NOTES, on=False)


def _made_sensitive(other: Store) -> None:
    other.register(parse_declaration(SENSITIVE))


@pytest.mark.parametrize("change", [_turned_off, _made_sensitive])
def test_what_another_worker_keeps_out_at_the_last_moment_gets_no_vector(
    store: Store,
    other: Store,
    change: Callable[[Store], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database = database_of(store)
    writing = database.writing

    def late() -> Any:
        monkeypatch.undo()
        change(other)
        return writing()

    monkeypatch.setattr(database, "writing", late)
    embed_some(store, InstalledEncoder())
    # Served from now on: a server writes by itself, and what it wrote would come first.
    with running(make_app(store, UNLIMITED, encoder=IdleEncoder())) as server:
        assert scores(server, grant(store)).get("cat", 0) < 0.9, "its diary says what is asked"


def test_a_stream_that_is_kept_out_stays_out_when_its_account_becomes_part_of_another(
    store: Store,
) -> None:
    store.connect("d", "notes", "More notes")
    put(store, "d", "notes", {"id": "late", "body": ASKED})
    embed(store)
    store.meaning.turn(NOTES, on=False)
    while store.move_some("c", "d").more:
        assert ("d", "notes") in store.meaning.off()
    embed(store)
    assert store.meaning.progress() == (0, 0), "also what was there before goes"
    assert store.count(owner_reaches(store.catalogue())[0]) == len(RECORDS) + 1
    store.meaning.turn(("d", "notes"), on=True)
    embed(store)
    assert store.meaning.progress() == (len(RECORDS) + 1,) * 2


# Pages


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_what_keeps_its_vector_is_shown_once_while_others_get_and_lose_theirs(
    store: Store, other: Store, server: Running, mode: str
) -> None:
    put(store, *NOTES, *({"id": f"n{at}", "body": f"the elevator {at} works"} for at in range(12)))
    embed(store)
    token = grant(store)
    client = server.client(token)
    asked: dict[str, Any] = {"q": ASKED, "limit": 2}
    before = scores(server, token, mode)
    changed = {"lift", "n1", "n4", "n8", "late"}
    changes: Iterator[Callable[[], None]] = iter(
        (
            lambda: put(other, *NOTES, {"id": "n1", "body": "nothing at all"}),
            lambda: put(other, *NOTES, {"id": "n4", "body": ASKED}),
            lambda: embed(other),
            lambda: _drop(other, "lift", "n8"),
            lambda: put(other, *NOTES, {"id": "late", "body": "the elevator is late"}),
            lambda: embed(other),
        )
    )
    seen: list[str] = []
    while True:
        page = client.get(f"/v1/search/{mode}", params=asked).json()
        seen += [hit["record_key"] for hit in page["data"]]
        if not page["has_more"]:
            break
        asked["cursor"] = page["next_cursor"]
        next(changes, lambda: None)()
    assert next(changes, None) is None, "all of them came between two pages"
    stayed = before.keys() - changed
    if mode == "hybrid":
        # What a word weighs follows from all records that are seen.
        after = scores(server, token, mode)
        stayed = {key for key in stayed if before[key] == after[key]}
    assert len(stayed) > 5
    assert sorted(key for key in seen if key in stayed) == sorted(stayed)


# Workers


def test_a_list_goes_on_as_it_began_on_a_worker_with_or_without_the_model(
    store: Store, other: Store, server: Running
) -> None:
    embed(store)
    token = grant(store)
    route = "/v1/search/hybrid"
    asked: dict[str, Any] = {"q": "the elevator", "limit": 1}
    with running(make_app(other, UNLIMITED)) as without_model:
        by_meaning, by_words = server.client(token), without_model.client(token)
        whole = by_words.get(route, params={**asked, "limit": 100}).json()["data"]
        assert [hit["record_key"] for hit in whole] != [
            hit["record_key"]
            for hit in by_meaning.get(route, params={**asked, "limit": 100}).json()["data"]
        ]
        first = by_words.get(route, params=asked).json()
        seen, cursor = [first["data"][0]], first["next_cursor"]
        for client in (by_meaning, by_words) * len(whole):
            page = client.get(route, params={**asked, "cursor": cursor}).json()
            assert [warning["code"] for warning in page["meta"]["warnings"]] == [
                "semantic_unavailable"
            ]
            seen += page["data"]
            cursor = page.get("next_cursor")
            if cursor is None:
                break
        assert seen == whole, "each hit once, in the order of the first page"
        cursor = by_meaning.get(route, params=asked).json()["next_cursor"]
        expired = by_words.get(route, params={**asked, "cursor": cursor})
        refused(expired, 410, "cursor_expired")
        assert by_meaning.get(route, params={**asked, "cursor": cursor}).status_code == 200


def _write(other: Store) -> None:
    put(other, *NOTES, {"id": "roof", "body": ASKED})


def _drop(other: Store, *keys: str) -> None:
    batch = other.batch(other.catalogue().feeds[NOTES])
    for key in keys:
        batch.drop(key, 1)
    batch.write()


def _delete(other: Store) -> None:
    _drop(other, "tiles")


def test_no_worker_answers_by_what_it_remembers_from_before_a_write(
    store: Store, other: Store, server: Running
) -> None:
    token = grant(store)

    def answers(asked: Running) -> list[bytes]:
        """Ask as often as a worker has threads, each of which reads for itself."""
        client = asked.client(token)
        routes = [f"/v1/search/{mode}" for mode in ("semantic", "hybrid") * 3]
        return [_shown(client.get(route, params={"q": ASKED})) for route in routes]

    answers(server)
    for change in (embed, _write, embed, _delete, _turned_off):
        before = answers(server)
        change(other)
        with running(make_app(other, UNLIMITED, encoder=IdleEncoder())) as fresh:
            now = answers(server)
            assert now == answers(fresh), change.__name__
            assert now != before, change.__name__


def test_few_records_and_many_are_ordered_alike_by_meaning(
    store: Store, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed(store)
    token = grant(store)
    few = scores(server, token)
    # Of many records the vectors are read piece by piece, and none is remembered.
    monkeypatch.setattr(f"{nearness.__package__}.search.SCANNED_TOO", 0)
    assert scores(server, token) == few != {}


def _shown(answer: Any) -> bytes:
    assert answer.status_code == 200, answer.text
    return bytes(answer.content)
