"""Dated cells: filters under a time find what records hold now, whatever happened to them."""

from random import Random
from typing import Any

import orjson
import pytest
from tests.engine import database_of
from tests.store.world import QUERY, Data, World, condition, declare, stream

from pdpp.model import instant
from pdpp.model.declaration import Declaration
from pdpp.model.grant import Interval
from pdpp.service.accounts import merge_connections
from pdpp.store.tables.catalogue_version import raise_version
from pdpp.store.tables.mending import ADVICE
from pdpp.store.tables.positions import indexed
from pdpp.store.tables.records import dated, predicate
from pdpp.store.tables.records.dated import dated_columns, dated_rows, mark_of

SPRING = Interval(instant.parse("2026-03-01T00:00:00Z"), instant.parse("2026-06-01T00:00:00Z"))
COUNTED = {**QUERY, "range_filters": {}}
TIMES = (None, "2026-01-05", "2026-03-01T00:00:00Z", "2026-05-31T23:59:59.999999Z", "2026-06-01")
THREADS = (None, "t1", "t2", "long " * 40)


def found(world: World, *, time: Interval = SPRING, **fields: str | int) -> list[str]:
    """Return the keys of the records inside a time whose fields have some values."""
    reach = world.reach(time=time)
    asked = [condition(reach, name, "eq", value) for name, value in fields.items()]
    return world.keys(reach.narrowed(asked))


def counted(version: str = "2", **members: Any) -> Declaration:
    """Return a declaration in which a number is no measure."""
    return declare(stream(query=COUNTED, **members), version=version)


def rows_of(world: World) -> tuple[set[Any], set[Any]]:
    """Return the dated cells that are kept, and those that the records come to."""
    db = database_of(world.store).reader
    kept = set(db.execute("SELECT feed, mark, time, sequence FROM dated_cell"))
    wanted = set()
    feeds = {feed.id: indexed(feed) for feed in world.store.catalogue().feeds.values()}
    for number, feed, cells, time in db.execute("SELECT id, feed, cells, time FROM record"):
        rows = dated_rows(feeds[feed], orjson.loads(cells), time, number)
        wanted |= {(feed, *row) for row in rows}
    return kept, wanted


def test_a_record_is_found_by_what_it_says_now(world: World) -> None:
    world.put({"a": {"at": "2026-03-02", "thread": "t1"}, "b": {"at": "2026-03-02"}})
    assert found(world, thread="t1") == ["a"]
    world.put({"b": {"at": "2026-04-01", "thread": "t1"}, "a": {"at": "2026-03-02"}})
    assert found(world, thread="t1") == ["b"]
    world.put({"b": None})
    assert found(world, thread="t1") == []


def test_a_record_is_found_where_its_time_is_now(world: World) -> None:
    world.put({"a": {"at": "2026-03-02", "thread": "t1"}})
    for at, keys in (("2026-07-01", []), ("2026-05-01", ["a"]), (None, []), ("2026-03-01", ["a"])):
        world.put({"a": {"at": at, "thread": "t1"}})
        assert found(world, thread="t1") == keys, at


def test_a_time_that_ends_inside_a_second_ends_there(world: World) -> None:
    world.put({f"k{at}": {"at": f"2026-03-01T00:00:00.{at}Z", "thread": "t"} for at in range(10)})
    start = instant.parse("2026-03-01T00:00:00Z") or 0
    inside = Interval(start + 300_000, start + 600_000)
    assert found(world, time=inside, thread="t") == ["k3", "k4", "k5"]


def test_times_before_1970_are_found(world: World) -> None:
    world.put({"a": {"at": "1969-12-31T23:59:59.5Z", "thread": "t"}})
    assert found(world, time=Interval(-700_000, -400_000), thread="t") == ["a"]
    assert found(world, time=Interval(-400_000, 0), thread="t") == []


def test_a_condition_on_the_time_narrows_what_is_found(world: World) -> None:
    days = range(1, 10)
    world.put({f"k{day}": {"at": f"2026-03-0{day}", "thread": "t"} for day in days})
    reach = world.reach(time=SPRING)
    fifth = instant.parse("2026-03-05T00:00:00Z") or 0
    named = reach.narrowed([condition(reach, "thread", "eq", "t")])
    wanted = {"eq": days[4:5], "gte": days[4:], "gt": days[5:], "lte": days[:5], "lt": days[:4]}
    for operation, kept in wanted.items():
        narrowed = named.narrowed([condition(reach, "at", operation, fifth)])
        assert world.keys(narrowed) == [f"k{day}" for day in kept], operation
        assert world.store.count(narrowed) == len(kept)


def test_equal_numbers_are_found_however_they_were_written(world: World) -> None:
    world.settle(counted())
    world.put({"a": {"at": "2026-03-02", "size": 1}, "b": {"at": "2026-03-02", "size": 1.0}})
    assert found(world, size=1) == ["a", "b"]
    world.put({"a": {"at": "2026-03-02", "size": 1.0}, "b": {"at": "2026-03-02", "size": 2}})
    assert (found(world, size=1), found(world, size=2)) == (["a"], ["b"])
    kept, wanted = rows_of(world)
    assert kept == wanted


def test_what_is_no_measure_is_found_by_time(world: World) -> None:
    def names() -> set[str]:
        feed = indexed(world.feed())
        return {name for name, (place, _) in feed.cells.items() if place in feed.dated}

    assert names() == {"subject", "read", "thread"}
    world.settle(counted())
    assert names() == {"subject", "read", "thread", "size"}
    world.settle(declare(stream(consent_time_field=None), version="3"))
    assert names() == set()


def test_a_later_declaration_dates_values_anew(world: World) -> None:
    world.put({"a": {"at": "2026-03-02", "day": "2026-07-01", "size": 4, "thread": "t"}})
    world.settle(counted())
    assert found(world, size=4, thread="t") == ["a"]
    world.settle(counted("3", consent_time_field="day"))
    assert found(world, thread="t") == []
    assert found(world, time=Interval(SPRING.until), size=4) == ["a"]
    kept, wanted = rows_of(world)
    assert kept == wanted


def test_values_that_share_a_mark_are_told_apart(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (dated, predicate):
        monkeypatch.setattr(module, "mark_of", lambda *_: 7)
    world.put({key: {"at": "2026-03-02", "thread": key, "subject": key} for key in "ab"})
    assert found(world, thread="a") == ["a"]
    world.put({"b": {"at": "2026-03-03", "thread": "a", "subject": None}})
    related = world.store.related(world.reach(time=SPRING), "thread")
    assert [world.key(record) for record in related.first("a", 9).records] == ["a", "b"]
    assert related.first("b", 9).records == ()
    assert world.store.count(world.reach(time=SPRING)) == 2
    world.put({"a": None, "b": None})
    assert rows_of(world) == (set(), set())


def test_marks_tell_fields_and_kinds_apart() -> None:
    values: list[str | int] = ["", "1", "\ud800", 1, 0, 2**62]
    marks = {mark_of(place, value) for place in range(3) for value in values}
    assert len(marks) == 3 * len(values)
    assert all(-(2**31) <= mark < 2**31 for mark in marks)


def test_dated_cells_follow_every_write(world: World) -> None:
    random = Random(7)
    world.settle(None, "c1", "c2")

    def data() -> Data:
        return {
            "at": random.choice(TIMES),
            "thread": random.choice(THREADS),
            "read": random.choice((None, True, False)),
            "subject": "same",
        }

    for _ in range(30):
        some = {
            f"k{random.randrange(12)}": data() if random.random() < 0.8 else None for _ in "abc"
        }
        world.put(some, random.choice(("c1", "c2")))
    kept, wanted = rows_of(world)
    assert kept == wanted != set()
    merge_connections(world.store, "c1", "c2", world.clock)
    kept, wanted = rows_of(world)
    assert kept == wanted != set()
    assert world.store.check() == []
    with database_of(world.store).writing() as db:
        db.execute("DELETE FROM dated_cell")
    assert world.store.check() == [f"c2/messages is not indexed as its records are; {ADVICE}"]
    world.store.mend()
    assert world.store.check() == []
    world.store.remove_connection("c2")
    while world.store.delete_removed():
        pass
    assert rows_of(world) == (set(), set())


def test_a_feed_from_before_dated_cells_is_filtered_without_them(world: World) -> None:
    world.put(
        {"a": {"at": "2026-03-02", "thread": "t1"}, "b": {"at": "2026-01-02", "thread": "t1"}}
    )
    with database_of(world.store).writing() as db:
        (places,) = next(db.execute("SELECT places FROM feed"))
        before = {name: value for name, value in orjson.loads(places).items() if name != "dated"}
        db.execute("UPDATE feed SET places = ?", (orjson.dumps(before).decode(),))
        raise_version(db)
        db.execute("DELETE FROM dated_cell")
    assert indexed(world.feed()).dated == ()
    assert found(world, thread="t1") == ["a"]
    world.settle(declare(version="2"))
    assert indexed(world.feed()).dated
    assert found(world, thread="t1") == ["a"]


def test_many_records_have_the_rows_that_each_has_alone() -> None:
    random = Random(5)
    fields = ((None,), ("same",), (0,), (None, "same"), (0, 1), ("a", "b", "c", None))
    cells = [tuple(random.choice(values) for values in fields) for _ in range(60)]
    places = (0, 1, 2, 3, 5)
    for times in ([7] * 60, [None] * 60, [random.choice((None, -1, 5_000_000)) for _ in cells]):
        together = dated_columns(places, cells, times, range(60)).rows()
        alone = [
            [*dated_columns(places, [values], [time], [number]).rows()]
            for number, (values, time) in enumerate(zip(cells, times, strict=True))
        ]
        assert sorted(together) == sorted(row for rows in alone for row in rows)
