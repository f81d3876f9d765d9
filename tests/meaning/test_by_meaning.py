"""Search by meaning, from the job that makes vectors to the answer over HTTP."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.serving import UNLIMITED, World, planted_store, running

from pdpp.app import make_app
from pdpp.evidence.language.question import parse_question
from pdpp.jobs.embedding import embed_some
from pdpp.meaning.encoder import LazyEncoder
from pdpp.store.port import Store
from pdpp.store.query import SearchQuery
from pdpp.store.scope import owner_reaches
from pdpp.store.tables.search import nearness, search
from pdpp.store.tables.search.vector_table import VectorTable

TEXT: dict[str, Any] = {"type": ["string", "null"]}
SOURCE: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://notes.example/source"},
    "connector_key": "notes",
    "declaration_version": "1",
    "publisher": {"id": "https://notes.example"},
    "display": {"name": "Notes"},
    "streams": [
        {
            "name": "notes",
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "at": {"type": "string", "format": "date-time"},
                    "body": {**TEXT, "x_pdpp_role": "body"},
                    "diary": TEXT,
                    "secret": {**TEXT, "x_pdpp_sensitive": True},
                },
                "required": ["id"],
            },
            "primary_key": ["id"],
            "consent_time_field": "at",
            "query": {
                "search": {
                    "lexical_fields": ["body", "diary", "secret"],
                    "semantic_fields": ["body", "diary", "secret"],
                }
            },
        }
    ],
}


def note(key: str, day: int, **texts: str) -> dict[str, Any]:
    return {"id": key, "at": f"2026-02-{day:02}T10:00:00Z", **texts}


NOTES = [
    note("lift", 1, body="the lift is out of order"),
    note("cat", 2, body="the cat sleeps on the mat", diary="elevator not working"),
    note("tiles", 3, body="invoice tiles", secret="elevator not working"),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = planted_store(tmp_path, SOURCE, {"c": "Notes"}, {("c", "notes"): NOTES})
    yield store
    store.close()


@pytest.fixture
def world(store: Store, model: Path) -> Iterator[World]:
    encoder = LazyEncoder(model)
    while embed_some(store, encoder):
        pass
    with running(make_app(store, UNLIMITED, data=model)) as server:
        yield World(store, server)


def answer(world: World, mode: str, q: str, **grant: Any) -> dict[str, Any]:
    body: dict[str, Any] = world.client(**grant).get(f"/v1/search/{mode}", params={"q": q}).json()
    return body


def keys(body: dict[str, Any]) -> list[str]:
    return [hit["record_key"] for hit in body["data"]]


def test_the_nearest_text_comes_first_whatever_words_it_holds(world: World) -> None:
    body = answer(world, "semantic", "elevator not working")
    assert keys(body)[0] == "cat"
    assert body["data"][0]["score"]["kind"] == "semantic"
    assert body["meta"]["warnings"] == []
    hybrid = answer(world, "hybrid", "the lift is out of order")
    assert keys(hybrid)[0] == "lift"
    assert hybrid["data"][0]["score"]["kind"] == "hybrid"


def test_the_time_of_a_question_is_no_part_of_its_meaning(store: Store, model: Path) -> None:
    encoder, asked = LazyEncoder(model).load(), list[str]()
    assert encoder is not None

    def encode(text: str) -> bytes:
        asked.append(text)
        return encoder.encode(text)

    reaches = owner_reaches(store.catalogue())
    with store.reading():
        for text in ("the lift on 1 February 2026", "the lift on 1 May 1066", "the lift"):
            question = parse_question(text, date(2026, 3, 1))
            store.search(SearchQuery(reaches, question, 10, meaning=encode))
    assert asked == ["the lift on", "the lift on 1 May 1066", "the lift"]


def test_vectors_count_from_when_they_are_made_until_they_are_deleted(
    store: Store, model: Path
) -> None:
    lazy = LazyEncoder(model)
    encoder = lazy.load()
    assert encoder is not None
    reaches = owner_reaches(store.catalogue())
    question = parse_question("the lift", date(2026, 3, 1))

    def scores() -> dict[str, float]:
        with store.reading():
            page = store.search(SearchQuery(reaches, question, 10, meaning=encoder.encode))
        return {hit.record.id: hit.position.score for hit in page.hits}

    by_words = scores()
    while embed_some(store, lazy):
        pass
    with_vectors = scores()
    assert with_vectors["lift"] > by_words["lift"]
    assert scores() == with_vectors
    store.meaning.turn(("c", "notes"), on=False)
    assert scores() == by_words


def test_what_is_marked_sensitive_gets_no_vector(world: World) -> None:
    assert "tiles" not in keys(answer(world, "semantic", "elevator not working"))[:1]
    schema = world.client().get("/v1/schema", params={"stream": "notes", "detail": "full"}).json()
    [connector] = schema["connectors"]
    fields = connector["streams"][0]["field_capabilities"]
    usable = {name for name, facts in fields.items() if facts["semantic_search"]["usable"]}
    assert usable == {"body", "diary"}


def test_vectors_follow_their_records(store: Store, model: Path) -> None:
    encoder = LazyEncoder(model)
    while embed_some(store, encoder):
        pass
    assert store.meaning.progress() == (3, 3)
    feed = store.catalogue().feeds["c", "notes"]
    batch = store.batch(feed)
    batch.keep("lift", 1, note("lift", 1, body="invoice"), None)
    batch.drop("cat", 1)
    batch.write()
    assert store.meaning.progress() == (1, 2)
    [pending] = store.meaning.pending(10)
    assert pending.texts == {"body": "invoice"}
    assert embed_some(store, encoder) == 1
    assert store.meaning.progress() == (2, 2)


def test_a_text_that_changed_meanwhile_keeps_no_vector_of_what_it_was(
    store: Store, model: Path
) -> None:
    pending = store.meaning.pending(10)
    batch = store.batch(store.catalogue().feeds["c", "notes"])
    batch.keep("lift", 1, note("lift", 1, body="invoice"), None)
    batch.write()
    store.meaning.keep(pending, [])
    assert [item.texts for item in store.meaning.pending(10)] == [{"body": "invoice"}]


def test_a_stream_that_the_owner_turns_off_loses_its_vectors(store: Store, model: Path) -> None:
    while embed_some(store, LazyEncoder(model)):
        pass
    store.meaning.turn(("c", "notes"), on=False)
    assert store.meaning.pending(10) == []
    assert store.meaning.progress()[0] == 0
    store.meaning.turn(("c", "notes"), on=True)
    assert len(store.meaning.pending(10)) == 3


def test_more_than_can_be_scanned_is_refused_with_the_reason(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearness, "MOST_SCANNED", 2)
    monkeypatch.setattr(search, "SCANNED_TOO", 0)
    body = answer(world, "semantic", "elevator")
    assert body["error"]["code"] == "invalid_request"
    assert "mode=hybrid" in body["error"]["message"]
    assert keys(answer(world, "hybrid", "elevator"))


def test_without_a_model_words_answer_and_say_so(store: Store, tmp_path: Path) -> None:
    with running(make_app(store, UNLIMITED, data=tmp_path)) as server:
        body = answer(World(store, server), "semantic", "lift")
    assert keys(body)[0] == "lift"
    assert [warning["code"] for warning in body["meta"]["warnings"]] == ["semantic_unavailable"]
    assert body["data"][0]["score"]["kind"] == "lexical"


def test_a_hidden_field_or_record_brings_nothing_near(world: World) -> None:
    whole = answer(world, "semantic", "elevator not working")
    part = answer(world, "semantic", "elevator not working", fields=["id", "at", "body"])
    score = {hit["record_key"]: hit["score"]["value"] for hit in whole["data"]}
    seen = {hit["record_key"]: hit["score"]["value"] for hit in part["data"]}
    assert score["cat"] > 0.99 > seen.get("cat", 0)
    only = answer(world, "semantic", "elevator not working", keys=["lift"])
    assert keys(only) in ([], ["lift"])


def test_no_bound_counts_records_that_a_grant_does_not_list(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = {"keys": ("lift",)}
    near = answer(world, "semantic", "elevator not working", **listed)
    hybrid = answer(world, "hybrid", "elevator not working", **listed)
    monkeypatch.setattr(nearness, "MOST_SCANNED", 1)
    monkeypatch.setattr(search, "SCANNED_TOO", 1)
    assert keys(answer(world, "semantic", "elevator not working", **listed)) == keys(near)
    assert keys(answer(world, "hybrid", "elevator not working", **listed)) == keys(hybrid)
    assert keys(near) == ["lift"]


def test_a_change_of_a_hidden_text_takes_no_hit_from_a_grant(world: World) -> None:
    client = world.client(fields=("id", "at", "body"))

    def answers() -> list[Any]:
        paths = [f"/v1/search/{mode}?q=the+lift+is+out+of+order" for mode in ("semantic", "hybrid")]
        return [client.get(path).json()["data"] for path in paths]

    before = answers()
    assert before[0][0]["record_key"] == "lift"
    batch = world.store.batch(world.store.catalogue().feeds["c", "notes"])
    batch.keep("lift", 1, {**NOTES[0], "diary": "a day off"}, None)
    batch.write()
    assert answers() == before, "only the text that changed waits for another vector"
    assert [item.texts["diary"] for item in world.store.meaning.pending(10)] == ["a day off"]


def test_no_vector_of_a_hidden_record_or_field_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    products = VectorTable.products

    def counted(table: VectorTable, question: bytes) -> Any:
        compared.append(len(table.rows))
        return products(table, question)

    monkeypatch.setattr(VectorTable, "products", counted)
    answer(world, "semantic", "elevator")
    assert compared == [4], "three bodies and a diary"
    compared.clear()
    answer(world, "semantic", "elevator", keys=frozenset({"cat"}), fields=("id", "body"))
    assert compared == [1]
