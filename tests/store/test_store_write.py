"""Writing: what a batch does, told apart from what it says."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine import database_of
from tests.store.records import FEWER, KEYS, MESSAGES
from tests.store.world import Clock, Data, Engine, World, all_records, cell, declare, fresh, stream

from pdpp.store.aggregation import AggregateQuery
from pdpp.store.batch import Line, WriteResult
from pdpp.store.numbers import read_data
from pdpp.store.query import PageQuery
from pdpp.store.scope import owner_reaches
from pdpp.store.tables.numbering import LAST_SEQUENCE
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.search.packing import longs


def data_of(world: World, key: str) -> Data:
    record = world.store.record(world.reach(), key)
    assert record is not None
    found = orjson.loads(record.data)
    assert isinstance(found, dict)
    return found


def test_a_batch_tells_what_it_did(world: World) -> None:
    assert world.put({"a": {"size": 1}, "b": {"size": 2}, "c": {}}) == WriteResult(new=3)
    assert world.put({"a": {"size": 1}, "b": {"size": 3}, "c": None, "d": {}}) == WriteResult(
        new=1, changed=1, unchanged=1, deleted=1
    )


def test_the_same_batch_twice_changes_nothing(world: World) -> None:
    batch: dict[str, Data | None] = {"a": {"size": 1}, "b": None}
    world.put(batch)
    assert world.put(batch) == WriteResult(unchanged=2)


def test_an_empty_batch_does_nothing(world: World) -> None:
    assert world.store.write(world.feed(), []) == WriteResult()


def test_the_last_line_of_a_key_wins(world: World) -> None:
    lines = [
        Line(0, "a", 1, {"size": 1}),
        Line(1, "b", 1, {"size": 1}),
        Line(2, "a", 2, {"size": 2}),
        Line(3, "b", 2, None),
    ]
    assert world.store.write(world.feed(), lines) == WriteResult(new=1, unchanged=1)
    assert data_of(world, "a") == {"size": 2}
    assert world.keys() == ["a"]


def test_a_record_is_kept_as_canonical_json(world: World) -> None:
    world.put({"a": {"subject": "é", "file": {"z": 1, "a": [1, {"y": 1, "x": 2}]}, "at": None}})
    record = world.store.record(world.reach(), "a")
    assert record is not None
    assert record.data == (
        '{"at":null,"file":{"a":[1,{"x":2,"y":1}],"z":1},"subject":"é"}'.encode()
    )


def test_the_order_of_members_is_no_change(world: World) -> None:
    world.put({"a": {"subject": "x", "file": {"p": 1, "q": 2}}})
    assert world.put({"a": {"file": {"q": 2, "p": 1}, "subject": "x"}}) == WriteResult(unchanged=1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"weight": 1}, {"weight": 1.0}),
        ({"read": None}, {}),
        ({"read": True}, {"read": 1}),
        ({"subject": ""}, {"subject": None}),
    ],
)
def test_values_of_another_kind_are_a_change(world: World, before: Data, after: Data) -> None:
    world.put({"a": before})
    assert world.put({"a": after}) == WriteResult(changed=1)
    assert data_of(world, "a") == after


@pytest.mark.parametrize("size", [2**63 - 1, 2**63, 2**64 - 1, -(2**63), 0])
def test_large_whole_numbers_are_kept_exactly_and_compared(world: World, size: int) -> None:
    world.put({"a": {"size": size}, "b": {"size": 1}})
    assert data_of(world, "a") == {"size": size}
    [kept] = world.store.newest_of([(world.reach(keys=["a"]), "size")])
    assert kept == pytest.approx(size, rel=1e-15)
    world.put({"a": None})
    page = world.store.page(PageQuery((world.reach(),), 9, sort="size"))
    assert [world.key(record) for record in page.records] == ["b"]


def test_a_batch_is_written_whole_or_not_at_all(world: World) -> None:
    world.put({"a": {"size": 1}})
    lines = [Line(0, "a", 1, {"size": 2}), Line(1, "b", 1, {"size": 2**70})]
    with pytest.raises(TypeError):
        world.store.write(world.feed(), lines)
    assert data_of(world, "a") == {"size": 1}
    assert world.keys() == ["a"]
    assert world.store.count(world.reach()) == 1


def test_a_value_of_another_kind_is_absent_where_records_are_compared(world: World) -> None:
    world.put({"a": {"size": True}, "b": {"size": "7"}, "c": {"size": 1}})
    values = world.store.aggregate(AggregateQuery((world.reach(),), "count_distinct", "size"))
    assert values[None].distinct == {1}
    assert values[None].count == 3


def test_emission_alone_is_no_change(world: World, clock: Clock) -> None:
    first = clock.now
    world.put({"a": {"size": 1}})
    clock.pass_by()
    assert world.put({"a": {"size": 1}}) == WriteResult(unchanged=1)
    record = world.store.record(world.reach(), "a")
    assert record is not None
    assert record.emitted_at == first


@FEWER
@given(st.lists(st.dictionaries(KEYS, st.none() | MESSAGES, max_size=4), max_size=5))
def test_a_history_of_batches_leaves_what_the_last_line_of_each_key_says(
    engine: Engine, batches: list[dict[str, Data | None]]
) -> None:
    with fresh(engine) as world:
        world.settle()
        kept: dict[str, Data] = {}
        for batch in batches:
            written = world.put(batch)
            before, kept = kept, _after(kept, batch)
            assert written.new == len(kept.keys() - before.keys())
            assert written.deleted == len(before.keys() - kept.keys())
            assert written.new + written.changed + written.unchanged + written.deleted == len(batch)
        page = world.store.page(PageQuery((world.reach(),), 99))
        assert {world.key(record): read_data(record.data) for record in page.records} == kept
        # What stands beside a record to compare it by has gone through the same history.
        reach = world.reach()
        by_weight = world.store.page(PageQuery((reach,), 99, sort="weight", descending=False))
        weights = [cell(reach, "weight", kept[world.key(row)]) for row in by_weight.records]
        present: list[Any] = [weight for weight in weights if weight is not None]
        assert present == sorted(present)
        for name in ("subject", "size", "weight", "at"):
            order = world.store.page(PageQuery((world.reach(),), 99, sort=name))
            assert {world.key(record) for record in order.records} == kept.keys()
        assert world.store.check() == []


def _after(kept: dict[str, Data], batch: dict[str, Data | None]) -> dict[str, Data]:
    return {key: data for key, data in {**kept, **batch}.items() if data is not None}


def test_connections_with_the_same_keys_do_not_meet(world: World) -> None:
    world.settle(declare(), "c2")
    world.put({"a": {"subject": "one"}}, "c1")
    world.put({"a": {"subject": "two"}}, "c2")
    world.put({"a": None}, "c1")
    left = owner_reaches(world.store.catalogue())
    assert [len(world.keys(reach)) for reach in left] == [0, 1]


def test_a_batch_that_keeps_what_is_newer_leaves_it_to_no_earlier_state(world: World) -> None:
    texts = {"id": {"type": "string"}, "text": {"type": "string"}}
    edited = {"type": ["string", "null"], "format": "date-time"}
    notes = stream(
        "notes",
        {**texts, "edited_at": edited},
        {},
        consent_time_field=None,
    )
    world.settle(declare(stream(), notes, version="2"))
    feed = world.feed("c1", "notes")

    def put(text: str, moment: str | None, *, keep_newer: bool = True) -> WriteResult:
        batch = world.store.batch(feed, keep_newer=keep_newer)
        batch.keep("n", world.clock.pass_by(), {"id": "n", "text": text, "edited_at": moment}, None)
        return batch.write()

    assert put("first", "2026-02-01T10:00:00Z").new == 1
    assert put("second", "2026-02-01T12:00:00+01:00").changed == 1
    assert put("first", "2026-02-01T10:00:00Z").unchanged == 1
    assert put("before any edit", None).unchanged == 1
    assert b"second" in all_records(world.store, world.reach("c1", "notes"))[0].data
    assert put("third", "2026-02-01T11:00:00Z").changed == 1
    assert put("first", "2026-02-01T10:00:00Z", keep_newer=False).changed == 1
    # Both states in one batch, as two months of an export in one folder are.
    batch = world.store.batch(feed, keep_newer=True)
    for text, moment in (("fifth", "2026-02-05T10:00:00Z"), ("fourth", "2026-02-04T10:00:00Z")):
        data = {"id": "n", "text": text, "edited_at": moment}
        batch.keep("n", world.clock.pass_by(), data, None)
    assert batch.write() == WriteResult(changed=1)
    assert b"fifth" in all_records(world.store, world.reach("c1", "notes"))[0].data


def test_a_talk_that_ended_earlier_is_an_earlier_state_of_it(world: World) -> None:
    fields = {
        "id": {"type": "string"},
        "message_count": {"type": "integer"},
        "ended_at": {"type": "string", "format": "date-time"},
    }
    world.settle(declare(stream(), stream("talks", fields, {}, consent_time_field=None)))
    feed = world.feed("c1", "talks")
    for count, moment in ((3, "2026-02-01T12:00:00Z"), (2, "2026-02-01T11:00:00Z")):
        batch = world.store.batch(feed, keep_newer=True)
        data = {"id": "t", "message_count": count, "ended_at": moment}
        batch.keep("t", world.clock.pass_by(), data, None)
        batch.write()
    [talk] = all_records(world.store, world.reach("c1", "talks"))
    assert read_data(talk.data)["message_count"] == 3


def test_a_record_that_stands_lower_in_its_talk_and_is_the_same_else_is_no_later_state(
    world: World,
) -> None:
    fields = {
        "id": {"type": "string"},
        "talk": {"type": "string"},
        "text": {"type": "string"},
        "place": {"type": "integer"},
    }
    order = {"thread": "talk", "thread_order": "place", "consent_time_field": None}
    world.settle(declare(stream(), stream("said", fields, {}, **order)))
    feed = world.feed("c1", "said")
    for text, place, kept in (("a", 3, 3), ("a", 1, 3), ("a", 4, 4), ("b", 2, 2)):
        batch = world.store.batch(feed, keep_newer=True)
        data = {"id": "m", "talk": "t", "text": text, "place": place}
        batch.keep("m", world.clock.pass_by(), data, None)
        batch.write()
        [said] = all_records(world.store, world.reach("c1", "said"))
        assert read_data(said.data)["place"] == kept


def test_a_part_of_a_talk_that_ends_where_the_whole_does_is_no_later_state(world: World) -> None:
    fields = {
        "id": {"type": "string"},
        "message_count": {"type": "integer"},
        "updated_at": {"type": "string", "format": "date-time"},
    }
    world.settle(declare(stream(), stream("talks", fields, {}, consent_time_field=None)))
    feed = world.feed("c1", "talks")
    for count, day in ((3, 1), (2, 1), (1, 2)):
        batch = world.store.batch(feed, keep_newer=True)
        data = {"id": "t", "message_count": count, "updated_at": f"2026-02-0{day}T12:00:00Z"}
        batch.keep("t", world.clock.pass_by(), data, None)
        batch.write()
        [talk] = all_records(world.store, world.reach("c1", "talks"))
        assert read_data(talk.data)["message_count"] == (3 if day == 1 else 1)


def test_words_that_were_worked_out_before_are_written_as_those_that_were_not(
    world: World,
) -> None:
    world.settle(None, "c1", "c2")
    for connection in ("c1", "c2"):
        world.put({"old": {"body": "an old harbour"}}, connection)
    batches = [
        {f"n{at}": {"body": f"harbour {at % 7} boat{at}", "subject": "sea"} for at in range(40)},
        # Words of nothing but new records are taken as they are: these two were there.
        {"old": {"body": "a new lighthouse"}, "n3": {"body": "the same again"}, "n99": {}},
        {"one": {"body": "a single buoy"}},
    ]
    for records in batches:
        for connection in ("c1", "c2"):
            batch = world.store.batch(world.feed(connection))
            batch.keep("n0", 1, {"body": "an earlier state of the first"}, None)
            for key, data in records.items():
                batch.keep(key, 1, data, None)
            if connection == "c1":
                batch.work_ahead()
            batch.write()
    written = []
    for connection in ("c1", "c2"):
        blocks: Any = database_of(world.store).reader.execute(
            "SELECT size, first_time, last_time, times, numbers, postings FROM word_block"
            " WHERE owner = ? AND feed = ? ORDER BY id",
            (OWNER, world.feed(connection).id),
        )
        written.append(
            [
                (*row, (longs(bytes(numbers)) & LAST_SEQUENCE).tolist(), bytes(postings))
                for *row, _, numbers, postings in blocks
            ]
        )
    assert len(written[0]) == 4
    assert written[0] == written[1]
    assert not world.store.check()


def test_a_batch_of_which_nothing_is_left_is_made_ready_too(world: World) -> None:
    batch = world.store.batch(world.feed())
    batch.keep("a", 1, {"body": "pear"}, None)
    batch.work_ahead()
    batch.drop("a", 2)
    batch.work_ahead()
    assert batch.write() == WriteResult(unchanged=1)
    assert world.keys() == []
    assert not world.store.check()
