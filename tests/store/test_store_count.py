from hypothesis import given
from hypothesis import strategies as st
from tests.store.records import BATCHES, FEWER, limits, narrow
from tests.store.world import Data, Engine, World, cell, declare, fresh, meaning, shown

from pdpp.store.cell import CellValue


@FEWER
@given(BATCHES, BATCHES, limits(), st.sampled_from(["at", "size", "weight", "subject", "note"]))
def test_counts_and_the_newest_value_are_those_of_what_a_reach_shows(
    planner: Engine, first: dict[str, Data], second: dict[str, Data], drawn: Data, field: str
) -> None:
    with fresh(planner) as world:
        world.settle(None, "c1", "c2")
        world.put(first, "c1")
        world.put(second, "c2")
        reach, other = narrow(world, "c1", drawn), world.reach("c2")
        visible = shown(reach, first)
        assert world.store.count(reach) == len(visible)
        assert world.store.counts([reach, other]) == {
            reach.feed.id: len(visible),
            other.feed.id: len(second),
        }
        values: list[CellValue] = [cell(reach, field, data) for data in visible.values()]
        present = [value for value in values if value is not None]
        newest = max(present, default=None) if reach.compares(field) else None
        [kept] = world.store.newest_of([(reach, field)])
        assert (meaning(kept) if field == "weight" else kept) == newest
        below = [value for value in present if isinstance(value, int) and value < 3]
        if reach.compares(field) and field in ("at", "size"):
            asked = [(reach, field), (other, field), (reach, field)]
            whole = [cell(other, field, data) for data in second.values()]
            others = max((value for value in whole if value is not None), default=None)
            assert world.store.newest_of(asked) == [newest, others, newest]
            assert world.store.newest_of(asked[:1], 3) == [max(below, default=None)]


def test_a_count_follows_every_kind_of_write(world: World) -> None:
    assert world.store.count(world.reach()) == 0
    world.put({"a": {}, "b": {}, "c": {}})
    world.put({"a": None, "b": {"size": 1}, "nowhere": None})
    world.put({"b": {"size": 1}})
    assert world.store.count(world.reach()) == 2
    assert world.store.counts([world.reach()]) == {world.feed().id: 2}


def test_each_connection_counts_alone(world: World) -> None:
    world.settle(declare(), "c2")
    world.put({"a": {}}, "c2")
    assert world.store.count(world.reach("c1")) == 0
    assert world.store.count(world.reach("c2")) == 1
