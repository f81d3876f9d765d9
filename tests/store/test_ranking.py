"""Ranking: people, conversations and days, seen only where a grant shows them."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.store.questions import ask
from tests.store.world import World, declare, stream

from pdpp.store.port import SearchQuery
from pdpp.store.ranking.impact import LARGEST, impacts_of
from pdpp.store.ranking.nearest import distance
from pdpp.store.scope import Reach

TEXT: dict[str, Any] = {"type": ["string", "null"]}
PROPERTIES = {
    "id": {"type": "string"},
    "at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
    "sender": {**TEXT, "x_pdpp_role": "actor"},
    "body": {**TEXT, "x_pdpp_role": "body"},
    "chat": TEXT,
}


def chat(world: World) -> World:
    query = {"search": {"lexical_fields": ["body"]}}
    messages = stream("messages", PROPERTIES, query, thread="chat", cursor_field="at")
    return world.settle(declare(messages, version="2"))


def message(minute: int, sender: str, body: str, chat: str = "home") -> dict[str, Any]:
    return {"at": f"2026-02-01T10:{minute:02}:00Z", "sender": sender, "body": body, "chat": chat}


def scores(world: World, reach: Reach, q: str) -> dict[str, int]:
    page = world.store.search(SearchQuery((reach,), ask(q), 50))
    return {world.key(hit.record): hit.position.score for hit in page.hits}


def test_an_actor_who_bears_a_name_of_the_question_counts(world: World) -> None:
    chat(world).put(
        {
            "a": message(1, "Rui Almeida", "the tiles arrive on Friday"),
            "b": message(30, "Anna Berg", "the tiles are lovely"),
        }
    )
    found = scores(world, world.reach(), "what did Rui say about the tiles")
    assert found["a"] > found["b"]
    hidden = world.reach(fields=["id", "body", "at"])
    alike = scores(world, hidden, "what did Rui say about the tiles")
    assert alike["b"] >= alike["a"]
    by = world.store.search(SearchQuery((world.reach(),), ask("from:rui tiles"), 5))
    assert [world.key(hit.record) for hit in by.hits] == ["a"]
    assert world.store.search(SearchQuery((hidden,), ask("from:rui tiles"), 5)).hits == ()


def test_neighbours_in_a_conversation_lend_their_words(world: World) -> None:
    chat(world).put(
        {
            "asked": message(1, "Anna", "Where did you put the spare key to the boathouse"),
            "told": message(2, "Rui", "Under the blue flower pot"),
            "else": message(3, "Rui", "Under the blue flower pot", chat="work"),
        }
    )
    found = scores(world, world.reach(), "boathouse key flower pot")
    assert found["told"] > found["else"]
    for fields in (["id", "body", "at"], ["id", "body", "chat"]):
        alike = scores(world, world.reach(fields=fields), "boathouse key flower pot")
        assert alike["told"] == alike["else"]


def test_a_hidden_neighbour_lends_nothing(world: World) -> None:
    q = "boathouse key flower pot"
    visible = {
        "told": message(20, "Rui", "Under the blue flower pot"),
        "far": message(40, "Rui", "A flower pot again"),
    }
    chat(world).put(visible)
    from pdpp.model import instant
    from pdpp.model.grant import Interval

    limit = Interval(instant.parse("2026-02-01T10:15:00Z"), None)
    before = scores(world, world.reach(time=limit), q)
    world.put({"asked": message(10, "Anna", "the boathouse key, where is it")})
    assert scores(world, world.reach(time=limit), q) == before
    assert scores(world, world.reach(), q)["told"] > before["told"]
    listed = world.reach(keys=["told", "far"])
    assert scores(world, listed, q)["told"] == scores(world, listed, q)["told"]


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60))
def test_an_impact_grows_with_repetition_and_falls_with_length(terms: list[str]) -> None:
    counts = np.array(sorted(terms.count(name) for name in set(terms)))
    impacts = impacts_of(counts, np.full(len(counts), len(terms)))
    assert impacts.tolist() == sorted(impacts.tolist())
    assert np.all((impacts >= 1) & (impacts <= LARGEST))
    assert np.all(impacts_of(counts, np.full(len(counts), len(terms) + 40)) <= impacts)


def test_distances_count_a_swap_once() -> None:
    assert distance("plubmer", "plumber", 2) == 1
    assert distance("kitchen", "kitten", 2) == 2
    assert distance("kelp", "harbour", 2) == 3
    assert distance("same", "same", 1) == 0
