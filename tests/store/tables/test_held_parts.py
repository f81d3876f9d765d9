"""Small blocks are put side by side once for the reaches of a caller, and not kept beyond them."""

from collections.abc import Sequence

import pytest
from tests.store.questions import ask
from tests.store.world import World

from pdpp.store.query import SearchQuery
from pdpp.store.scope import Reach
from pdpp.store.tables.search import block_cache
from pdpp.store.tables.search.block_cache import BlockCache
from pdpp.store.tables.search.blocks import PlacePostings
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.small_blocks import SmallBlock


def found(world: World, reach: Reach, q: str) -> list[str]:
    page = world.store.search(SearchQuery((reach,), ask(q), 100))
    return sorted(world.key(hit.record) for hit in page.hits)


def test_blocks_are_looked_up_once_until_something_is_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[int] = []
    usual = BlockCache.small_part

    def small_part(cache: BlockCache, db: object, part: Part, *more: object) -> SmallBlock:
        looked_up.append(part.id)
        return usual(cache, db, part, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(BlockCache, "small_part", small_part)
    world.put({"a": {"subject": "a pelican"}, "b": {"body": "a cormorant"}})
    reach = world.reach()
    assert found(world, reach, "pelican") == ["a"]
    assert looked_up
    looked_up.clear()
    assert found(world, reach, "cormorant") == ["b"]
    assert not looked_up
    world.put({"c": {"subject": "another pelican"}, "a": None})
    assert found(world, reach, "pelican") == ["c"]
    assert looked_up


def test_what_only_another_reach_shows_is_not_found(world: World) -> None:
    world.put({"a": {"subject": "a pelican", "body": "a cormorant"}})
    whole, narrow = world.reach(), world.reach(fields=["subject"])
    for _ in range(2):
        assert found(world, whole, "cormorant") == ["a"]
        assert found(world, narrow, "cormorant") == []
        assert found(world, narrow, "pelican") == ["a"]


class Owner:
    """Something for whose parts blocks are held."""


def test_no_blocks_are_held_longer_than_they_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(block_cache, "_REMEMBERED", 1)
    cache, no_parts = BlockCache(), list[Part]()
    one, other = Owner(), Owner()

    def held(owner: Owner, parts: Sequence[Part] = no_parts) -> object:
        return cache.held_parts(owner, parts, lambda part: cache._small._known[part.id])

    first = held(one)
    assert held(one) is first
    assert held(other) is not first
    no_words: dict[int, PlacePostings] = {}
    cache._small.add(1, lambda: no_words)
    assert held(one) is first
    cache._small.add(2, lambda: no_words)
    assert held(other) is not first
    assert list(cache._held) == [other]
    del other
    assert not list(cache._held)
