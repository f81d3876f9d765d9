"""Aggregates against sums, groups and buckets made in Python."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.records import BATCHES, OPEN, limits, narrow
from tests.store.world import (
    NOW,
    Data,
    Engine,
    World,
    cell,
    declare,
    fresh,
    meaning,
    shown,
    stream,
)

from pdpp.model import instant
from pdpp.store.aggregation import AggregateQuery, GroupTotal
from pdpp.store.cell import CellValue
from pdpp.store.scope import Reach

METRICS = st.sampled_from(
    [
        ("count", None),
        ("sum", "weight"),
        ("min", "size"),
        ("min", "weight"),
        ("max", "weight"),
        ("max", "size"),
        ("min", "at"),
        ("max", "day"),
        ("count_distinct", "subject"),
        ("count_distinct", "size"),
        ("count_distinct", "read"),
        ("count_distinct", "weight"),
    ]
)
GROUPS = st.sampled_from(
    [
        (None, None),
        ("subject", None),
        ("read", None),
        ("size", None),
        ("weight", None),
        (None, "at"),
        (None, "day"),
    ]
)


def day(moment: int) -> tuple[str, int]:
    """Name the UTC day of a moment, and when it ends."""
    start = instant.to_datetime(moment).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        end = instant.of_datetime(start + timedelta(days=1))
    except OverflowError:
        end = 2**62
    return start.date().isoformat(), end


def expected(
    pairs: Sequence[tuple[Reach, Mapping[str, Data]]], query: AggregateQuery
) -> dict[CellValue, list[CellValue]]:
    """Return the measured values of each group, an absent one included."""
    groups: dict[CellValue, list[CellValue]] = {}
    for reach, records in pairs:
        for data in shown(reach, records).values():
            group = cell(reach, query.group_by or query.bucket_by, data)
            if query.bucket_by is not None and group is not None:
                group = day(int(group))[0]
            elif isinstance(group, str):
                # A group is called by all of its text, of which a cell may hold a short form.
                group = data[query.group_by or ""]
            groups.setdefault(group, []).append(cell(reach, query.field, data))
    return groups


def check(tally: GroupTotal, values: list[CellValue], metric: str) -> None:
    present: list[Any] = [value for value in values if value is not None]
    assert tally.count == len(values)
    if metric == "sum":
        assert Fraction(tally.total) == sum((Fraction(str(n)) for n in present), Fraction())
    if metric == "min":
        assert agreeing(tally.least, present) == min(present, default=None)
    if metric == "max":
        assert agreeing(tally.most, present) == max(present, default=None)
    if metric == "count_distinct":
        assert {agreeing(value, present) for value in tally.distinct} == set(present)


@given(BATCHES, BATCHES, st.just(OPEN) | limits(), METRICS, GROUPS)
def test_an_aggregate_adds_up_what_the_reaches_show_group_by_group(
    planner: Engine,
    first: dict[str, Data],
    second: dict[str, Data],
    drawn: Data,
    metric: tuple[str, str | None],
    group: tuple[str | None, str | None],
) -> None:
    drawn = {**drawn, "fields": None}
    with fresh(planner) as world:
        world.settle(None, "c1", "c2")
        kept = {"c1": first, "c2": second}
        for connection_id, batch in kept.items():
            for data in batch.values():
                data["weight"] = _tame(data.get("weight"))
            world.put(batch, connection_id)
        pairs = [(narrow(world, name, drawn), batch) for name, batch in kept.items()]
        reaches = tuple(reach for reach, _ in pairs)
        query = AggregateQuery(reaches, *metric, *group)
        tallies = world.store.aggregate(query, day if query.bucket_by else None)
        wanted = expected(pairs, query)
        if query.group_by is None and query.bucket_by is None:
            wanted = wanted or {None: []}
            tallies = tallies or {None: GroupTotal()}
        if query.group_by == "weight":
            tallies = {meaning(value): tally for value, tally in tallies.items()}
        assert tallies.keys() == wanted.keys()
        for name, values in wanted.items():
            check(tallies[name], values, query.metric)


def agreeing(value: CellValue, present: list[Any]) -> CellValue:
    """Return a number in the form of those it is compared with."""
    return meaning(value) if any(isinstance(other, Decimal) for other in present) else value


def _tame(weight: float | Decimal | None) -> float | Decimal | None:
    """Keep sums inside what a float can hold."""
    return None if weight is None else max(-1e100, min(1e100, weight))


def total(world: World, field: str, *reaches: Reach) -> Decimal:
    query = AggregateQuery(reaches or (world.reach(),), "sum", field)
    return world.store.aggregate(query)[None].total


def test_a_sum_of_whole_numbers_is_whole(world: World) -> None:
    world.put({"a": {"size": 2**53}, "b": {"size": 1}, "c": {}})
    assert total(world, "size") == 2**53 + 1


def test_a_sum_may_pass_the_largest_number_the_engine_holds(world: World) -> None:
    world.put({"a": {"size": 2**63 - 1, "read": True}, "b": {"size": 2**62, "read": True}})
    assert total(world, "size") == 2**63 - 1 + 2**62
    query = AggregateQuery((world.reach(),), "sum", "size", group_by="read")
    assert world.store.aggregate(query)[1].total == 2**63 - 1 + 2**62


def test_a_sum_over_connections_may_pass_the_largest_number_too(world: World) -> None:
    world.settle(declare(), "c2")
    world.put({"a": {"size": 2**63 - 1}}, "c1")
    world.put({"a": {"size": 2**63 - 1}}, "c2")
    assert total(world, "size", world.reach("c1"), world.reach("c2")) == 2**64 - 2


def test_long_values_that_end_apart_are_apart(world: World) -> None:
    long = "long " * 900
    world.put({"a": {"subject": long + "a"}, "b": {"subject": long + "b"}, "c": {}, "d": {}})
    groups = world.store.aggregate(AggregateQuery((world.reach(),), "count", group_by="subject"))
    assert {name: group.count for name, group in groups.items()} == {
        long + "a": 1,
        long + "b": 1,
        None: 2,
    }
    query = AggregateQuery((world.reach(),), "count_distinct", "subject")
    assert world.store.aggregate(query)[None].distinct == {long + "a", long + "b"}


@pytest.mark.parametrize("weight", [1e308, -1e308])
def test_a_sum_past_the_largest_float_is_exact_too(world: World, weight: float) -> None:
    world.put({str(place): {"weight": weight} for place in range(3)})
    assert total(world, "weight") == 3 * int(Decimal(repr(weight)))


@pytest.mark.parametrize("keys", [None, ("a", "b")])
def test_the_last_moment_of_the_calendar_is_in_its_own_bucket(
    world: World, keys: tuple[str, ...] | None
) -> None:
    world.put({"a": {"at": "9999-12-31T23:59:59.999999Z"}, "b": {"at": "0001-01-01T00:00:00Z"}})
    query = AggregateQuery((world.reach(keys=keys),), "count", bucket_by="at")
    tallies = world.store.aggregate(query, day)
    assert {name: tally.count for name, tally in tallies.items()} == {
        "9999-12-31": 1,
        "0001-01-01": 1,
    }


def test_the_calendar_is_asked_about_buckets_not_about_records(world: World) -> None:
    world.put({str(n): {"at": instant.to_text(NOW + n * 3600 * instant.SECOND)} for n in range(48)})
    asked: list[int] = []

    def note(moment: int) -> tuple[str, int]:
        asked.append(moment)
        return day(moment)

    query = AggregateQuery((world.reach(),), "count", bucket_by="at")
    assert {n: t.count for n, t in world.store.aggregate(query, note).items()} == {
        "2026-03-01": 12,
        "2026-03-02": 24,
        "2026-03-03": 12,
    }
    assert len(asked) <= 6


def test_buckets_without_a_name_are_the_minutes(world: World) -> None:
    world.put({"a": {"at": "2026-03-01T12:00:59Z"}, "b": {"at": "2026-03-01T12:00:00Z"}})
    query = AggregateQuery((world.reach(),), "count", bucket_by="at")
    assert {n: t.count for n, t in world.store.aggregate(query).items()} == {NOW: 2}


def test_numbers_and_texts_in_one_field_of_two_sources_have_an_order(world: World) -> None:
    texts = {"id": {"type": "string"}, "at": {"type": "string", "format": "date-time"}}
    numbers = {**texts, "x": {"type": "number"}}
    other = {**texts, "x": {"type": "string"}}
    query = {"aggregations": {"count_distinct": ["x"], "group_by": ["x"]}}
    for key, properties in (("one", numbers), ("two", other)):
        world.settle(declare(stream(properties=properties, query=query), key=key), key)
    world.put({"a": {"x": 3}, "b": {"x": 1.5}}, "one")
    world.put({"a": {"x": "3"}, "b": {"x": "x"}}, "two")
    reaches = (world.reach("one"), world.reach("two"))
    most = world.store.aggregate(AggregateQuery(reaches, "max", "x"))[None]
    assert (most.least, most.most) == (1.5, "x")
    distinct = world.store.aggregate(AggregateQuery(reaches, "count_distinct", "x"))[None]
    assert distinct.distinct == {3, 1.5, "3", "x"}


def test_a_sum_past_64_bits_is_exact(world: World) -> None:
    world.settle(None, "c1", "c2")
    for connection_id in ("c1", "c2"):
        world.put({f"k{n}": {"size": 2**63 - 1} for n in range(3)}, connection_id)
    reaches = (world.reach("c1"), world.reach("c2"))
    totals = world.store.aggregate(AggregateQuery(reaches, "sum", "size"))
    assert totals[None].total == 6 * (2**63 - 1)


def test_sums_of_several_connections_add_up_to_the_cent(world: World) -> None:
    world.settle(None, "c1", "c2")
    world.put({"a": {"weight": 0.1}}, "c1")
    world.put({"a": {"weight": 0.2}}, "c2")
    reaches = (world.reach("c1"), world.reach("c2"))
    assert world.store.aggregate(AggregateQuery(reaches, "sum", "weight"))[None].total == Decimal(
        "0.3"
    )
