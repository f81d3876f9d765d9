"""Pages against a model: every sequence of pages is the sorted list, cut into pieces."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine import ordered_surrogate
from tests.store.records import BATCHES, DAY, FEWER, KEYS, limits, narrow
from tests.store.world import (
    NOW,
    Data,
    Engine,
    World,
    cell,
    condition,
    declare,
    fresh,
    projected,
    shown,
    stream,
)

from pdpp.model.grant import Interval
from pdpp.store.batch import canonical
from pdpp.store.numbers import read_data
from pdpp.store.port import Store
from pdpp.store.query import PagePosition, PageQuery, Record
from pdpp.store.scope import Reach
from pdpp.store.tables.records import predicate, visible_way
from pdpp.store.tables.records.long_values import split

SORTS = st.sampled_from([None, "at", "size", "weight", "subject", "read", "thread", "note"])
Rows = list[tuple[str, str]]


def read_pages(
    store: Store, reaches: Sequence[Reach], limit: int, **query: Any
) -> Iterator[Record]:
    """Yield the records of every page in turn."""
    after: PagePosition | None = None
    while True:
        page = store.page(PageQuery(tuple(reaches), limit, after=after, **query))
        assert len(page.records) <= limit
        yield from page.records
        if page.next is None:
            return
        assert len(page.records) == limit
        after = page.next


def handles(world: World, records: Iterator[Record] | Sequence[Record]) -> Rows:
    return [(record.reach.connection_id, world.key(record)) for record in records]


def expected(
    reaches: Sequence[Reach],
    kept: Mapping[str, Mapping[str, Data]],
    sort: str | None,
    descending: bool,
) -> Rows:
    present: list[tuple[Any, str, int, str]] = []
    absent: list[tuple[str, int, str]] = []
    for reach in reaches:
        by = sort or reach.default_sort()
        by = by if by is not None and reach.compares(by) else None
        for key, data in shown(reach, kept[reach.connection_id]).items():
            value = cell(reach, by, data)
            place = (reach.connection_id, ordered_surrogate(reach.feed, key), key)
            if value is None:
                absent.append(place)
            else:
                present.append((value, *place))
    present.sort(reverse=descending)
    absent.sort(reverse=descending)
    in_order = [*(place[1:] for place in present), *absent]
    return [(connection_id, key) for connection_id, _, key in in_order]


@given(
    first=BATCHES,
    second=BATCHES,
    drawn=limits(),
    sort=SORTS,
    descending=st.booleans(),
    limit=st.integers(1, 5),
)
def test_a_sequence_of_pages_is_the_sorted_list_of_what_the_reaches_show(
    planner: Engine,
    first: dict[str, Data],
    second: dict[str, Data],
    drawn: Data,
    sort: str | None,
    descending: bool,
    limit: int,
) -> None:
    kept = {"c1": first, "c2": second}
    with fresh(planner) as world:
        world.settle(None, *kept)
        for connection_id, batch in kept.items():
            world.put(batch, connection_id)
        reaches = [narrow(world, "c1", drawn), narrow(world, "c2", drawn)]
        wanted = expected(reaches, kept, sort, descending)
        found = read_pages(world.store, reaches, limit, sort=sort, descending=descending)
        assert handles(world, found) == wanted
        single = read_pages(world.store, reaches[:1], limit, sort=sort, descending=descending)
        assert handles(world, single) == [row for row in wanted if row[0] == "c1"]


@FEWER
@given(BATCHES, limits(), st.none() | st.sets(st.sampled_from(["id", "subject", "size", "x"])))
def test_a_record_shows_the_granted_fields_and_of_those_the_ones_asked_for(
    planner: Engine, batch: dict[str, Data], drawn: Data, select: set[str] | None
) -> None:
    with fresh(planner) as world:
        world.settle().put(batch)
        reach = narrow(world, "c1", drawn)
        asked = None if select is None else frozenset(select)
        for record in world.store.page(PageQuery((reach,), 100, select=asked)).records:
            data = batch[world.key(record)]
            assert read_data(record.data) == projected(reach, data, select)
            granted = projected(reach, data)
            text = parts.plain if (parts := split(granted)) else canonical(granted)
            assert record.version == hashlib.sha256(text).hexdigest()[:16]
            assert world.store.record(reach, record.id, asked) == record


@FEWER
@given(
    batch=st.dictionaries(
        KEYS,
        st.fixed_dictionaries(
            {
                "thread": st.sampled_from(["t1", "t1", "t2", None]),
                "size": st.none() | st.integers(-2, 2),
                "weight": st.none() | st.sampled_from([0, 0.1, 0.5]),
                "at": st.sampled_from(["2026-02-28", "2026-02-28", "2026-03-01", None]),
            }
        ),
        min_size=4,
    ),
    by=st.sampled_from(["thread", "time", "both", "note"]),
    sort=st.sampled_from(["size", "weight", "at", "thread"]),
    descending=st.booleans(),
    limit=st.integers(1, 3),
)
def test_pages_of_what_a_filter_leaves_go_on_where_the_last_one_ended(
    planner: Engine,
    batch: dict[str, Data],
    by: str,
    sort: str,
    descending: bool,
    limit: int,
) -> None:
    with fresh(planner) as world:
        world.settle(None, "c1", "c2")
        reaches = []
        for connection_id in ("c1", "c2"):
            world.put({key: {**data, "note": "n"} for key, data in batch.items()}, connection_id)
            time = Interval(NOW - 2 * DAY, NOW) if by in ("time", "both") else None
            reach = world.reach(connection_id, time=time)
            if by in ("thread", "both"):
                reach = reach.narrowed([condition(reach, "thread", "eq", "t1")])
            if by == "note":
                reach = reach.narrowed([condition(reach, "note", "eq", "n")])
            reaches.append(reach)
        kept = {name: {k: {**d, "note": "n"} for k, d in batch.items()} for name in ("c1", "c2")}
        wanted = expected(reaches, kept, sort, descending)
        found = read_pages(world.store, reaches, limit, sort=sort, descending=descending)
        assert handles(world, found) == wanted


def test_an_unindexed_time_is_compared_as_a_moment(world: World) -> None:
    world.settle(declare(stream(query={}), version="2"))
    world.put({"a": {"day": "2026-01-01"}, "b": {"day": "2026-01-02"}, "c": {"day": None}})
    reach = world.reach()
    assert not reach.compares("day")
    asked = condition(reach, "day", "eq", 1_767_225_600_000_000)
    assert world.keys(reach.narrowed([asked])) == ["a"]


def test_pages_are_newest_first_by_the_cursor_field_of_the_stream(world: World) -> None:
    world.settle(declare(stream(cursor_field="size"), version="2"))
    world.put({"a": {"size": 1, "at": "2026-01-03"}, "b": {"size": 2, "at": "2026-01-01"}})
    assert handles(world, read_pages(world.store, [world.reach()], 9)) == [("c1", "b"), ("c1", "a")]


def test_pages_fall_back_to_the_consent_time_and_then_to_random_numbers(world: World) -> None:
    world.settle(declare(stream(cursor_field="size"), version="2"))
    world.put({"a": {"size": 1, "at": "2026-01-03"}, "b": {"size": 2, "at": "2026-01-01"}})
    timed = world.reach(fields=["at"])
    assert handles(world, read_pages(world.store, [timed], 9)) == [("c1", "a"), ("c1", "b")]
    bare = world.reach(fields=["note"])
    assert handles(world, read_pages(world.store, [bare], 9)) == [("c1", "b"), ("c1", "a")]


def test_a_page_goes_on_after_its_last_record_whatever_was_written_between(world: World) -> None:
    world.put({key: {"size": size} for key, size in [("a", 1), ("b", 2), ("c", 3), ("d", 4)]})
    query = PageQuery((world.reach(),), 2, sort="size")
    page = world.store.page(query)
    assert [world.key(record) for record in page.records] == ["d", "c"]
    world.put({"c": None, "new": {"size": 9}, "between": {"size": 2}})
    later = world.store.page(PageQuery((world.reach(),), 9, sort="size", after=page.next))
    assert [world.key(record) for record in later.records] == ["between", "b", "a"]


def test_streams_without_a_common_order_follow_each_other(world: World) -> None:
    undated = stream(consent_time_field=None, query={})
    world.settle(declare(undated, key="notes"), "c0")
    world.put({"n1": {}, "n2": {}}, "c0")
    world.put({"m1": {"at": "2026-01-01"}, "m2": {}})
    reaches = [world.reach("c0"), world.reach("c1")]
    rows = [("c1", "m1"), ("c1", "m2"), ("c0", "n2"), ("c0", "n1")]
    for limit in (1, 2, 3, 9):
        assert handles(world, read_pages(world.store, reaches, limit)) == rows


def test_no_reach_is_an_empty_page(store: Store) -> None:
    assert store.page(PageQuery((), 5)).records == ()


@pytest.mark.parametrize("name", ['say "hi"', "a.b", "a\\b", "naïve", "$", "a b", "0", "it's"])
@pytest.mark.parametrize("indexed", [True, False])
def test_a_field_of_any_name_can_be_compared(world: World, name: str, indexed: bool) -> None:
    query = {"range_filters": {name: ["gt"]}} if indexed else {}
    properties = {"id": {"type": "string"}, name: {"type": "string"}}
    plain = stream(properties=properties, query=query, consent_time_field=None)
    world.settle(declare(plain, key="odd"), "c9")
    world.put({"a": {name: "x"}, "b": {name: "y"}, "c": {}}, "c9")
    reach = world.reach("c9")
    assert world.keys(reach.narrowed([condition(reach, name, "eq", "x")])) == ["a"]


def test_a_grant_compares_a_retyped_field_as_it_was_declared_to_it(world: World) -> None:
    before = world.reach()
    retyped = {**stream()["schema"]["properties"], "size": {"type": ["string", "integer", "null"]}}
    query = {"range_filters": {"at": ["gte"]}}
    world.settle(declare(stream(properties=retyped, query=query), version="2"))
    world.put({"a": {"size": 7}, "b": {"size": "many"}, "c": {"size": 1}})
    reach = Reach(world.feed(), before.stream, None, True)
    asked = condition(reach, "size", "gt", 5)
    assert world.keys(reach.narrowed([asked])) == ["a"]
    assert world.store.count(reach.narrowed([asked])) == 1


@FEWER
@given(BATCHES, st.data())
def test_one_record_is_found_by_id_only_where_the_reach_shows_it(
    planner: Engine, batch: dict[str, Data], data: st.DataObject
) -> None:
    with fresh(planner) as world:
        world.settle().put(batch)
        reach = narrow(world, "c1", data.draw(limits()))
        visible = shown(reach, batch)
        found = {k for k in batch if world.store.record(reach, world.id(reach, k)) is not None}
        assert found == visible.keys()
        assert world.store.record(reach, "nowhere") is None


def test_a_position_does_not_tell_whether_a_hidden_record_holds_a_decimal(world: World) -> None:
    world.put({"a": {"weight": 1.0}, "b": {"weight": 2.5}, "c": {"weight": 1e300}})
    query = PageQuery((world.reach(keys=["a", "b", "c"]),), 1, sort="weight", descending=False)

    def positions() -> list[str]:
        found, after = [], None
        for _ in range(2):
            after = world.store.page(query._replace(after=after)).next
            found.append(repr(after))
        return found

    before = positions()
    world.put({"hidden": {"weight": Decimal("0.300000000000000001")}})
    assert positions() == before


SCARCE: list[Data] = [
    {"time": Interval(None, 1_769_904_000_000_000)},
    {"keys": [f"k{n:02d}" for n in range(9)]},
]
"""Limits of grants that show some records among many hidden ones."""


def everything_read(world: World, limits: Data) -> list[object]:
    """Return what pages in each order, counts and sums show under a grant."""
    answers: list[object] = []
    for fields in (None, ["subject", "size", "thread"]):
        reach = world.reach(**limits, fields=fields)
        some = reach.narrowed([condition(reach, "thread", "eq", "t1")])
        for one in (reach, some):
            for sort in (None, "size", "subject", "at"):
                if sort is not None and not one.compares(sort):
                    continue
                for descending in (True, False):
                    order = {"sort": sort, "descending": descending}
                    answers.append(handles(world, list(read_pages(world.store, [one], 4, **order))))
            answers.append(world.store.count(one))
    return answers


@pytest.mark.parametrize("limits", SCARCE)
def test_records_that_are_scarce_are_read_alike_along_any_way(
    world: World, monkeypatch: pytest.MonkeyPatch, limits: Data
) -> None:
    world.put(
        {
            f"k{n:02d}": {
                "at": f"2026-0{1 + n % 3}-01",
                "size": n % 4 if n % 5 else None,
                "subject": f"s{n % 7}",
                "thread": f"t{n % 2}",
            }
            for n in range(40)
        }
    )
    monkeypatch.setattr(predicate, "_SELECTIVE", 2)
    ways = []
    for part in (1, 1_000):
        monkeypatch.setattr(visible_way, "_PAGE_PART", part)
        monkeypatch.setattr(visible_way, "_SCAN_PART", part)
        ways.append(everything_read(world, limits))
    assert ways[0] == ways[1]
    assert any(ways[0])
