"""Fields that no record fills have no cells, and no answer tells."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine import ENGINE, counted_work, database_of
from tests.store.records import DAY, FEWER, KEYS, MESSAGES
from tests.store.world import NOW, Data, Engine, World, fresh

from pdpp.model.grant import Interval
from pdpp.store.aggregation import AggregateQuery
from pdpp.store.query import PageQuery
from pdpp.store.tables.feeds import reindex_feed
from pdpp.store.tables.positions import cells_of, indexed
from pdpp.store.tables.records.filled import filled_places
from pdpp.store.tables.records.predicate import OWNER

MORE_THAN_FEW = 2_100
"""So many records of a grant are walked in the order of an index, and no longer sorted."""
FACTOR, MORE = (1.3, 400) if ENGINE == "sqlite" else (3.0, 80)
"""By how much two reads that tell nothing by what they cost may differ."""
WRITES = st.dictionaries(KEYS, MESSAGES | st.none(), max_size=8)
"""Batches that delete records too."""


def places(world: World) -> dict[str, int]:
    return {name: place for name, (place, _) in indexed(world.feed()).cells.items()}


def filled(world: World) -> set[str]:
    """Return the fields that have cells."""
    every = places(world)
    found = filled_places(database_of(world.store).reader, world.feed().id, every.values())
    return {name for name, place in every.items() if place in found}


def cells_by_place(world: World) -> dict[int, int]:
    """Return how many cells each field has."""
    rows = database_of(world.store).reader.execute(
        "SELECT field AS place, count(*) FROM cell WHERE owner = ? AND feed = ? GROUP BY field",
        (OWNER, world.feed().id),
    )
    return dict(rows.fetchall())


def keys_by(world: World, sort: str, *, descending: bool = False) -> list[str]:
    query = PageQuery((world.reach(),), 100, sort=sort, descending=descending)
    return [world.key(record) for record in world.store.page(query).records]


def test_a_field_has_cells_from_its_first_value_on_and_for_every_record(world: World) -> None:
    world.put({"b": {"body": "pear"}, "a": {"body": "apple"}})
    assert filled(world) == set()
    before = keys_by(world, "size"), keys_by(world, "size", descending=True)
    assert [sorted(keys) for keys in before] == [["a", "b"]] * 2
    world.put({"c": {"size": 3}})
    assert filled(world) == {"size"}
    assert cells_by_place(world) == {places(world)["size"]: 3}
    assert keys_by(world, "size") == ["c", *before[0]]
    assert keys_by(world, "size", descending=True) == ["c", *before[1]]
    assert list(world.store.check()) == []


def test_a_change_may_bring_the_first_value(world: World) -> None:
    world.put({"a": {"body": "apple"}, "b": {"body": "pear"}})
    world.put({"a": {"body": "apple", "thread": "t"}, "c": {"body": "plum"}})
    assert filled(world) == {"thread"}
    assert cells_by_place(world) == {places(world)["thread"]: 3}
    assert keys_by(world, "thread")[0] == "a"
    assert list(world.store.check()) == []


@pytest.mark.embedded("about cells that are kept as a text")
def test_a_record_whose_own_values_are_damaged_is_in_the_way_of_no_other(world: World) -> None:
    world.put({"a": {"size": 1}, "b": {"body": "pear"}})
    with database_of(world.store).writing() as db:
        db.execute("UPDATE record SET cells = '[1,' WHERE key = 'b'")
    world.put({"c": {"thread": "t"}})
    assert keys_by(world, "thread")[0] == "c"
    assert len(world.store.check()) == 1
    world.store.mend()
    assert list(world.store.check()) == []


def test_a_field_keeps_its_cells_when_its_last_value_goes(world: World) -> None:
    world.put({"a": {"size": 1}, "b": {"body": "pear"}})
    world.put({"a": {"body": "apple"}})
    assert filled(world) == {"size"}
    assert sorted(keys_by(world, "size")) == ["a", "b"]
    world.put({"a": None, "b": None})
    assert filled(world) == set()
    assert list(world.store.check()) == []


def test_a_page_takes_as_long_whether_only_hidden_records_fill_a_field_or_none_does(
    engine: Engine,
) -> None:
    """To find the shortest way takes most of such a page: it is looked for once."""
    work = []
    for hidden in ({"at": "2020-01-01"}, {"at": "2020-01-01", "size": 1}):
        with fresh(engine) as world:
            world.settle()
            shown = {f"k{number}": {"at": "2026-03-01"} for number in range(MORE_THAN_FEW)}
            world.put({**shown, **{f"h{number}": hidden for number in range(2)}})
            reach = world.reach(time=Interval(NOW - DAY, NOW + DAY))
            page = world.store.page(PageQuery((reach,), 9, sort="size"))
            with counted_work(world.store) as counted:
                world.store.page(PageQuery((reach,), 9, sort="size", after=page.next))
            work.append(counted.units)
    unfilled, filled = work
    assert filled / FACTOR - MORE <= unfilled <= FACTOR * filled + MORE


def test_what_no_record_has_is_one_group_of_all(world: World) -> None:
    world.put({"a": {"body": "apple"}, "b": {"body": "pear"}})
    for query in (
        AggregateQuery((world.reach(),), "count", group_by="thread"),
        AggregateQuery((world.reach(),), "sum", "weight"),
        AggregateQuery((world.reach(),), "count_distinct", "subject"),
        AggregateQuery((world.reach(),), "count", bucket_by="day"),
    ):
        bucket = (lambda moment: ("", moment + 1)) if query.bucket_by else None
        groups = world.store.aggregate(query, bucket)
        assert {key: group.count for key, group in groups.items()} == {None: 2}, query
        assert not any(group.distinct or group.total for group in groups.values())


@FEWER
@given(batches=st.lists(WRITES, min_size=1, max_size=4))
def test_after_any_writes_a_field_has_a_cell_for_each_record_or_none_at_all(
    engine: Engine, batches: Sequence[Mapping[str, Data | None]]
) -> None:
    with fresh(engine) as world:
        world.settle()
        records: dict[str, Data] = {}
        for batch in batches:
            world.put(batch)
            for key, data in batch.items():
                records.pop(key, None)
                if data is not None:
                    records[key] = data
            rows: list[Any] = cells_of(indexed(world.feed()).cells)([*records.values()])
            wanted = {
                place
                for place, column in enumerate(zip(*rows, strict=True))
                if any(value is not None for value in column)
            }
            counts = cells_by_place(world)
            assert wanted <= counts.keys()
            assert {*counts.values()} <= {len(records)}
            assert list(world.store.check()) == []
        before = {name: keys_by(world, name) for name in ("size", "thread", "day", "read")}
        with database_of(world.store).writing() as db:
            reindex_feed(db, indexed(world.feed()))
        assert {name: keys_by(world, name) for name in before} == before
        assert cells_by_place(world).keys() == wanted
        assert list(world.store.check()) == []
