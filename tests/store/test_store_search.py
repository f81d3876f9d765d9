"""Search against a model that reads every word of every record."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.records import FEWER, INTERVALS
from tests.store.world import Data, Engine, World, cell, condition, declare, fresh, shown, stream

from pdpp.evidence.analyse import Phrase, parse_query, tokens
from pdpp.model.grant import Interval
from pdpp.store.port import Hit, SearchPosition, SearchQuery, Store
from pdpp.store.scope import Reach

WORDS = st.sampled_from(
    [
        "apple",
        "Apples",
        "apply",
        "pear",
        "PEAR",
        "犬",
        "猫犬",
        "東京",
        "café",
        "cafe",
        "10",
        "x-y",
        "…",
    ]
)
TEXTS = st.none() | st.lists(WORDS, max_size=6).map(" ".join)
RECORDS = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d", "e", "f"]),
    st.fixed_dictionaries(
        {"subject": TEXTS, "body": TEXTS},
        optional={
            "at": st.sampled_from(["2026-02-28", "2026-03-01", "2026-02-27"]),
            "note": st.just("apple"),
            "size": st.integers(0, 2),
        },
    ),
    max_size=6,
)
QUERIES = st.sampled_from(
    [
        "apple",
        "app*",
        "apple pear",
        '"apple pear"',
        '"apple apple"',
        '"pear app"*',
        "犬",
        "猫",
        '"猫犬"',
        "東京 apple",
        "cafe",
        "x-y",
        "10 x",
        "apple app* cafe",
        "nowhere",
    ]
)
SHOWN = st.sampled_from([None, ("subject",), ("body",), ("subject", "body", "at"), ("note",)])
Place = tuple[int, int, tuple[str, str, str]]


def occurrences(phrase: Phrase, words: Sequence[str]) -> int:
    size = len(phrase.words)
    return sum(_stands(phrase, words[i : i + size]) for i in range(len(words) - size + 1))


def _stands(phrase: Phrase, words: Sequence[str]) -> bool:
    *head, last = phrase.words
    ending = words[-1].startswith(last) if phrase.prefix else words[-1] == last
    return list(words[:-1]) == head and ending


def score(hits: int, length: int) -> int:
    """Return the documented score: saturating in hits, damped by length, in millionths."""
    return round(1_000_000 * hits * 2.2 / (hits + 1.2 * (0.5 + 0.5 * length / 100)))


def complete_handle(
    world: World, reach: Reach, key: str, data: Data, phrases: Sequence[Phrase]
) -> Place | None:
    total = 0
    for phrase in phrases:
        found = 0
        for name in ("subject", "body"):
            words = [token.word for token in tokens(data.get(name) or "")]
            hits = occurrences(phrase, words) if reach.shows(name) else 0
            found += score(hits, len(words)) if hits else 0
        if not found:
            return None
        total += found
    time = cell(reach, "at", data) if reach.shows("at") else None
    return -total, -int(time or 0), (reach.connection_id, "messages", world.id(reach, key))


def expected(
    world: World, pairs: Sequence[tuple[Reach, Mapping[str, Data]]], phrases: Sequence[Phrase]
) -> list[Place]:
    return sorted(
        place
        for reach, records in pairs
        for key, data in shown(reach, records).items()
        if (place := complete_handle(world, reach, key, data, phrases)) is not None
    )


def found(store: Store, reaches: Sequence[Reach], q: str, limit: int) -> list[Place]:
    hits: list[Hit] = []
    after: SearchPosition | None = None
    while True:
        page = store.search(SearchQuery(tuple(reaches), parse_query(q), limit, after))
        assert page.complete
        assert len(page.hits) <= limit
        hits += page.hits
        if not page.has_more:
            break
        assert len(page.hits) == limit
        after = page.hits[-1].position
    for hit in hits:
        assert (hit.record.reach.connection_id, hit.record.id) == hit.position.handle[::2]
    assert page.ranked == len(hits)
    return [(-hit.position.score, -hit.position.time, hit.position.handle) for hit in hits]


@given(
    first=RECORDS,
    second=RECORDS,
    q=QUERIES,
    fields=SHOWN,
    time=st.none() | INTERVALS,
    size=st.none() | st.integers(0, 2),
    limit=st.integers(1, 4),
)
def test_hits_are_the_records_that_hold_every_phrase_where_the_reaches_show_it(
    planner: Engine,
    first: dict[str, Data],
    second: dict[str, Data],
    q: str,
    fields: tuple[str, ...] | None,
    time: Interval | None,
    size: int | None,
    limit: int,
) -> None:
    with fresh(planner) as world:
        world.settle(None, "c1", "c2")
        world.put(first, "c1")
        world.put(second, "c2")
        narrowed = world.reach("c1", fields=fields, time=time)
        if size is not None and narrowed.shows("size"):
            narrowed = narrowed.narrowed([condition(narrowed, "size", "eq", size)])
        whole = world.reach("c2")
        wanted = expected(world, [(narrowed, first), (whole, second)], parse_query(q))
        assert found(world.store, [narrowed, whole], q, limit) == wanted
        alone = [place for place in wanted if place[2][0] == "c1"]
        assert found(world.store, [narrowed], q, limit) == alone


@FEWER
@given(st.lists(RECORDS, max_size=4), st.lists(st.sampled_from("abcdef"), max_size=3), QUERIES)
def test_the_index_follows_every_edit_and_deletion(
    planner: Engine, batches: list[dict[str, Data]], deleted: list[str], q: str
) -> None:
    with fresh(planner) as world:
        world.settle()
        kept: dict[str, Data] = {}
        for batch in batches:
            kept |= batch
            world.put(batch)
        world.put(dict.fromkeys(deleted))
        left = {key: data for key, data in kept.items() if key not in deleted}
        reach = world.reach()
        assert found(world.store, [reach], q, 9) == expected(world, [(reach, left)], parse_query(q))


def test_nothing_outside_a_reach_moves_a_hit(world: World) -> None:
    world.settle(declare(), "c2")
    world.put({"a": {"subject": "apple", "body": "pear"}, "b": {"subject": "apple apple"}})
    reach = world.reach(fields=["subject"])
    before = found(world.store, [reach], "apple", 9)
    world.put({str(n): {"subject": "apple apple", "body": "apple"} for n in range(50)}, "c2")
    world.put({"a": {"subject": "apple", "body": "apple apple apple"}})
    assert found(world.store, [reach], "apple", 9) == before


def test_a_stream_without_searchable_fields_has_no_hits(world: World) -> None:
    world.settle(declare(stream(query={}), key="plain"), "c2")
    world.put({"a": {"subject": "apple"}}, "c2")
    page = world.store.search(SearchQuery((world.reach("c2"),), parse_query("apple"), 5))
    assert (page.hits, page.ranked, page.complete) == ((), 0, True)


@pytest.mark.parametrize("value", [None, 7, ["apple"], ""])
def test_what_is_not_text_is_not_searched(world: World, value: object) -> None:
    world.put({"a": {"subject": value}})
    assert found(world.store, [world.reach()], "apple", 5) == []


@contextmanager
def no_collector() -> Iterator[None]:
    """Switch off the collector of cycles, which would hide a snapshot that is held too long."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "query", ["kelp", "kelp tide", '"kelp tide" drift', "ke* ti*", "kelp nothing"]
)
def test_a_search_holds_its_snapshot_no_longer_than_it_takes(world: World, query: str) -> None:
    world.put({f"k{n}": {"body": f"kelp tide drift {n}"} for n in range(40)})
    reach = world.reach()
    with no_collector():
        for limit in (1, 100):
            with world.store.reading():
                world.store.search(SearchQuery((reach,), parse_query(query), limit))
            before = world.store.count(reach)
            world.put({f"more{limit}": {"body": "one more"}})
            assert world.store.count(reach) == before + 1
