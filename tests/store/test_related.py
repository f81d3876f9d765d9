"""Related records, by either way to them: all visible records, or all that have the value."""

import pytest
from tests.store.world import Data, World

from pdpp.model.grant import Interval
from pdpp.store.query import RelatedPage
from pdpp.store.scope import Reach
from pdpp.store.tables.records import visible_way

FEBRUARY = 1_769_904_000_000_000


OTHERS = [f"other{number}" for number in range(30)]


@pytest.fixture(params=[1, visible_way._FEW], ids=["by value", "by what is visible"])
def either_way(
    world: World, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> World:
    """Let the records at a value be the fewer ones, or let all visible ones be walked."""
    world.put({key: {"thread": "other", "at": "2026-01-02"} for key in OTHERS})
    monkeypatch.setattr(visible_way, "_FEW", request.param)
    return world


def first(
    world: World, reach: Reach, value: str | int, limit: int = 9, field: str = "thread"
) -> RelatedPage:
    return world.store.related(reach, field).first(value, limit)


def keys(world: World, page: RelatedPage) -> list[str]:
    return [world.key(record) for record in page.records]


def dated(**days: str) -> dict[str, Data | None]:
    return {key: {"thread": "t1", "at": f"2026-{day}"} for key, day in days.items()}


def test_related_records_come_by_time_then_key_up_to_a_limit(world: World) -> None:
    world.put(dated(a="01-03", b="01-01", c="01-02", d="01-01"))
    world.put({"e": {"thread": "t2", "at": "2026-01-01"}, "f": {"at": "2026-01-01"}})
    every = first(world, world.reach(), "t1")
    assert (keys(world, every), every.more) == (["b", "d", "c", "a"], False)
    some = first(world, world.reach(), "t1", 2)
    assert (keys(world, some), some.more) == (["b", "d"], True)
    undated = first(world, world.reach(fields=["thread"]), "t1")
    assert keys(world, undated) == ["a", "b", "c", "d"]
    world.put({"g": {"thread": "t1"}})
    assert keys(world, first(world, world.reach(), "t1", 2)) == ["g", "b"]


def test_related_records_stay_inside_the_time_of_a_grant(either_way: World) -> None:
    world = either_way
    world.put(dated(a="01-03", b="01-01", c="02-01", d="03-01", e="01-01"))
    world.put({"f": {"thread": "t1"}, "g": {"thread": "t2", "at": "2026-01-01"}})
    reach = world.reach(time=Interval(None, FEBRUARY))
    assert keys(world, first(world, reach, "t1")) == ["b", "e", "a"]
    some = first(world, reach, "t1", 2)
    assert (keys(world, some), some.more) == (["b", "e"], True)
    assert first(world, reach, "t3") == ((), False)
    undated = world.reach(fields=["thread"], time=Interval(None, FEBRUARY))
    assert keys(world, first(world, undated, "t1")) == ["a", "b", "e"]


def test_related_records_stay_inside_the_list_of_a_grant(either_way: World) -> None:
    world = either_way
    world.put(dated(a="01-03", b="01-01", c="01-02", d="01-01"))
    listed = world.reach(keys=["a", "c", *OTHERS])
    assert keys(world, first(world, listed, "t1")) == ["c", "a"]
    both = world.reach(
        keys=["a", "c", "d", *OTHERS], time=Interval(None, FEBRUARY - 28 * 86_400_000_000)
    )
    assert keys(world, first(world, both, "t1")) == ["d", "c", "a"]


def test_one_reader_serves_many_values_one_after_another(either_way: World) -> None:
    world = either_way
    threads: dict[str, Data | None] = {
        f"k{at:02d}": {"thread": f"t{at % 5}", "at": f"2026-0{1 + at % 2}-01", "size": at % 3}
        for at in range(100)
    }
    world.put(threads)
    reach = world.reach(time=Interval(None, FEBRUARY))
    related = world.store.related(reach, "thread")
    for at in (3, 0, 3, 1, 9, 4, 2):
        expected = [f"k{n:02d}" for n in range(0, 100, 2) if n % 5 == at]
        assert keys(world, related.first(f"t{at}", 50)) == expected
    sizes = [f"k{n:02d}" for n in range(0, 100, 2) if n % 3 == 2]
    assert keys(world, first(world, reach, 2, 50, "size")) == sizes


def test_long_values_relate_too(either_way: World) -> None:
    world = either_way
    long, other = "x" * 9_000, "x" * 8_999 + "y"
    at = "2026-01-01"
    world.put({"a": {"thread": long, "at": at}, "b": {"thread": other, "at": at}})
    reach = world.reach(time=Interval(None, FEBRUARY))
    assert keys(world, first(world, reach, long)) == ["a"]
    assert keys(world, first(world, reach, other)) == ["b"]


def test_nothing_is_related_by_what_a_reach_does_not_compare(world: World) -> None:
    world.put(dated(a="01-03", b="01-01"))
    nothing = ((), False)
    assert first(world, world.reach(fields=["at"]), "t1") == nothing
    assert first(world, world.reach(), "t1", field="note") == nothing
    assert first(world, world.reach(), "t1", field="size") == nothing
