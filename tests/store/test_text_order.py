"""Long texts are sorted and compared by all of their bytes, however alike they begin."""

import random
from collections.abc import Iterator

import pytest
from tests.store.world import RANGES, World, condition, shown

from pdpp.store.query import PageQuery, Record
from pdpp.store.scope import Reach

BEGINNING = "a" * 1_999
"""With what tells a text from a number it is as long as an index of PostgreSQL takes."""
TEXTS = [
    "a",
    BEGINNING[:-1],
    BEGINNING,
    f"{BEGINNING}\0",
    f"{BEGINNING}\0b",
    *(f"{BEGINNING}{letter}" for letter in "abyzü\U0001f5ff"),
    *(f"{BEGINNING}{'b' * size}" for size in (2, 700, 3_000)),
    f"{BEGINNING}{'b' * 700}c",
    f"{BEGINNING[:-1]}b",
    "b",
    "ü" * 999 + "v",
    "ü" * 1_000 + "v",
    "ü" * 1_000 + "w",
]


@pytest.fixture
def texts(world: World) -> dict[str, dict[str, str]]:
    """Each text in two records, written in no order."""
    records = {f"{twin}{at}": {"subject": text} for at, text in enumerate(TEXTS) for twin in "xy"}
    keys = random.Random(3).sample(sorted(records), len(records))
    world.put({key: records[key] for key in keys})
    return records


def walked(world: World, reach: Reach, limit: int, *, descending: bool) -> Iterator[Record]:
    after = None
    while True:
        query = PageQuery((reach,), limit, "subject", descending, after)
        page = world.store.page(query)
        yield from page.records
        after = page.next
        if after is None:
            return


@pytest.mark.parametrize("limit", [1, 3, 100])
@pytest.mark.parametrize("descending", [False, True])
def test_pages_follow_the_bytes_of_whole_texts(
    world: World, texts: dict[str, dict[str, str]], limit: int, descending: bool
) -> None:
    records = list(walked(world, world.reach(), limit, descending=descending))
    assert len({record.id for record in records}) == len(texts)
    subjects = [texts[world.key(record)]["subject"].encode() for record in records]
    expected = sorted((text.encode() for text in TEXTS for _ in "xy"), reverse=descending)
    assert subjects == expected


@pytest.mark.parametrize("operation", ["eq", *RANGES])
def test_conditions_compare_whole_texts(
    world: World, texts: dict[str, dict[str, str]], operation: str
) -> None:
    for bound in (*TEXTS, f"{BEGINNING}c", "c"):
        reach = world.reach()
        reach = reach.narrowed([condition(reach, "subject", operation, bound)])
        expected = shown(reach, texts)
        assert world.store.count(reach) == len(expected)
        records = walked(world, reach, 4, descending=False)
        assert sorted(map(world.key, records)) == sorted(expected)


def test_a_long_text_is_rewritten_and_deleted(
    world: World, texts: dict[str, dict[str, str]]
) -> None:
    world.put({"x12": {"subject": TEXTS[13]}, "y12": None, "x13": None})
    reach = world.reach()
    left: dict[str, list[str]] = {TEXTS[12]: [], TEXTS[13]: ["x12", "y13"]}
    for text, keys in left.items():
        found = reach.narrowed([condition(reach, "subject", "eq", text)])
        assert world.keys(found) == keys
    assert world.store.check() == []
