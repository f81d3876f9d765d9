"""What records are called, when they say they were emitted, and in which order they come."""

from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine import open_store
from tests.store.records import FEWER
from tests.store.world import NOW, Clock, World, all_records, allow, declare, fresh, stream

from pdpp.model.grant import AccessMode, Grant, Interval
from pdpp.model.instant import DAY, SECOND
from pdpp.store.catalogue import Feed
from pdpp.store.query import ChangePosition, ChangeQuery, PageQuery, Record, Tombstone
from pdpp.store.scope import Reach

START = ChangePosition(0, None)
DATED = {"id": "a", "subject": "one", "at": "2026-01-03"}


def granted(world: World, grant_id: str, **limits: object) -> Reach:
    return replace(world.reach(**limits), grant_id=grant_id)  # type: ignore[arg-type]


def only(world: World, reach: Reach) -> Record:
    (record,) = all_records(world.store, reach)
    return record


@pytest.mark.parametrize(
    ("fields", "by_key"), [(None, True), (["id"], True), (["subject"], False), (["at"], False)]
)
def test_an_id_is_the_key_only_where_the_fields_of_the_key_are_shown(
    world: World, fields: list[str] | None, by_key: bool
) -> None:
    world.put({"a": DATED})
    record = only(world, granted(world, "g", fields=fields))
    assert (record.id == "a") is by_key
    assert len(record.id) <= 32
    assert "/" not in record.id


@pytest.mark.parametrize(
    ("fields", "by_key"), [(["id", "subject"], True), (["id"], False), (["subject"], False)]
)
def test_a_key_of_two_fields_is_the_id_only_where_both_are_shown(
    world: World, fields: list[str], by_key: bool
) -> None:
    world.store.register(declare(stream(primary_key=["id", "subject"]), version="2"))
    world.put({"a": DATED})
    assert (only(world, granted(world, "g", fields=fields)).id == "a") is by_key


def test_an_id_opens_the_record_under_its_grant_and_nothing_under_another(world: World) -> None:
    world.put({"a": DATED, "b": {}})
    one = granted(world, "g1", fields=["subject"], keys=["a"])
    other = granted(world, "g2", fields=["subject"])
    record = only(world, one)
    assert world.store.record(one, record.id) == record
    for unknown in (record.id, "a", "nowhere", record.id[:-1]):
        assert world.store.record(other, unknown) is None


def test_an_id_of_a_hidden_record_opens_nothing(world: World) -> None:
    world.put({"a": DATED, "b": {"at": "2025-01-01"}})
    everything = granted(world, "g", fields=["subject"])
    late = granted(world, "g", fields=["subject"], time=Interval(NOW - 90 * DAY, None))
    ids = {record.id for record in all_records(world.store, everything)}
    assert len([id for id in ids if world.store.record(late, id) is not None]) == 1


def test_an_id_stays_when_a_record_is_written_anew_or_comes_back(world: World) -> None:
    reach = granted(world, "g", fields=["subject"])
    world.put({"a": DATED})
    id = only(world, reach).id
    world.put({"a": {**DATED, "subject": "two", "at": "2026-02-03"}})
    assert only(world, reach).id == id
    world.put({"a": None})
    world.put({"a": {**DATED, "weight": 1.5}})
    assert only(world, reach).id == id
    assert world.store.record(reach, id) is not None


def test_a_record_whose_ghost_is_forgotten_comes_back_as_a_new_one(
    tmp_path: Path, clock: Clock
) -> None:
    world = World(open_store(tmp_path, clock), clock).settle()
    reach = granted(world, "g", fields=["subject"])
    world.put({"a": DATED})
    id = only(world, reach).id
    world.put({"a": None})
    world.store.prune(world.clock.now + DAY)
    world.put({"a": DATED})
    assert only(world, reach).id != id
    world.store.close()


def test_a_tombstone_has_the_id_that_the_record_had(world: World) -> None:
    reach = granted(world, "g", fields=["subject"])
    world.put({"a": DATED})
    id = only(world, reach).id
    world.clock.pass_by(3_600)
    world.put({"a": None})
    page = world.store.changes(ChangeQuery(reach, 9, START, world.clock.now, True))
    (change,) = page.changes
    assert isinstance(change, Tombstone)
    assert (change.id, change.emitted_at) == (id, world.clock.now // DAY * DAY)


def test_the_owner_opens_the_ids_of_every_grant_ever_made(world: World) -> None:
    world.put({"a": DATED, "b": {}})
    grant = Grant(
        "grt_1", "client", "p", AccessMode.CONTINUOUS, (allow(world, fields=("subject",)),), NOW
    )
    with world.store.vault.transaction() as ledger:
        ledger.add_grant(grant)
    reach = granted(world, "grt_1", fields=["subject"])
    ids = {record.id for record in all_records(world.store, reach)}
    assert {world.store.cited(world.reach(), id).id for id in ids} == {"a", "b"}  # type: ignore[union-attr]
    with world.store.vault.transaction() as ledger:
        ledger.revoke_grant("grt_1", NOW)
    assert {world.store.cited(world.reach(), id).id for id in ids} == {"a", "b"}  # type: ignore[union-attr]
    assert world.store.cited(world.reach(), "a") is not None
    for unknown in ("nowhere", "A" * 27):
        assert world.store.cited(world.reach(), unknown) is None


# Emission


def emission(world: World, fields: list[str] | None) -> int:
    return only(world, granted(world, "g", fields=fields)).emitted_at


def test_a_record_tells_when_it_was_emitted_only_beside_its_event_time(world: World) -> None:
    world.clock.pass_by(7 * 3_600)
    world.put({"a": DATED})
    assert emission(world, None) == emission(world, ["id", "at"]) == world.clock.now
    assert emission(world, ["id", "subject"]) == world.clock.now // DAY * DAY
    later = world.clock.pass_by(2 * DAY // SECOND)
    world.put({"a": {**DATED, "note": "hidden"}})
    assert emission(world, ["id", "subject"]) == (later - 2 * DAY) // DAY * DAY
    world.put({"a": {**DATED, "subject": "new"}})
    assert emission(world, ["id", "subject"]) == later // DAY * DAY


def _number(numbers: dict[str, int], _: Feed, key: str) -> int:
    return numbers[key]


@FEWER
@given(st.permutations(range(6)), st.permutations(range(6)), st.booleans())
def test_what_a_reach_without_keys_and_times_shows_follows_neither(
    keys: list[int], days: list[int], descending: bool
) -> None:
    """Two worlds with other keys and times, and the same random numbers, answer alike."""
    answers = []
    for world_keys, world_days in ((range(6), range(6)), (keys, days)):
        numbers = {f"k{world_keys[n]}": n * 1_000 for n in range(6)}
        number_of = partial(_number, numbers)
        with fresh(partial(open_store, surrogate_of=number_of)) as w:
            w.settle().store.secret()
            for n in range(6):
                data = {"subject": f"s{n}", "at": f"2026-01-0{world_days[n] + 1}"}
                w.put({f"k{world_keys[n]}": data})
            reach = granted(w, "g", fields=["subject"])
            page = w.store.page(PageQuery((reach,), 9, descending=descending))
            answers.append([(record.data, record.emitted_at) for record in page.records])
    assert answers[0] == answers[1]


def test_new_records_get_numbers_that_follow_nothing(tmp_path: Path, clock: Clock) -> None:
    world = World(open_store(tmp_path, clock), clock).settle()
    for n in range(32):
        world.put({f"{n:02}": {"subject": f"{n:02}", "at": f"2026-01-{n % 28 + 1:02}"}})
    data = [record.data for record in all_records(world.store, world.reach(fields=["subject"]))]
    assert len(set(data)) == 32
    assert data not in (sorted(data), sorted(data, reverse=True))
    world.store.close()


# Moves in time


def test_moves_in_a_hidden_time_are_no_changes_however_many(world: World) -> None:
    world.put({"a": {"subject": "s", "at": "2026-01-01"}})
    timed = granted(world, "g", fields=["subject"], time=Interval(NOW - 400 * DAY, NOW + 400 * DAY))
    untimed = granted(world, "g", fields=["subject"])
    first = {reach: only(world, reach) for reach in (timed, untimed)}
    bookmark = ChangePosition(world.clock.now, None)
    for n in range(90):
        world.clock.pass_by(3_600)
        world.put({"a": {"subject": "s", "at": f"2026-0{n % 3 + 1}-{n % 28 + 1:02}"}})
    for reach in (timed, untimed):
        assert only(world, reach) == first[reach]
        query = ChangeQuery(reach, 9, bookmark, world.clock.now, True)
        assert world.store.changes(query).changes == ()


def test_a_record_that_was_outside_a_stretch_of_time_is_a_change_when_it_comes_in(
    world: World,
) -> None:
    world.put({"a": {"subject": "s", "at": "2026-02-10"}})
    inside = Interval(NOW - 30 * DAY, NOW)
    reach = granted(world, "g", fields=["subject"], time=inside)
    for n in range(40):
        world.clock.pass_by()
        world.put({"a": {"subject": "s", "at": f"2026-02-{n % 19 + 9:02}"}})
    world.put({"a": {"subject": "s", "at": "2020-01-01"}})
    bookmark = ChangePosition(world.clock.now, None)
    for n in range(40):
        world.clock.pass_by()
        world.put({"a": {"subject": "s", "at": f"2026-02-{n % 19 + 9:02}"}})
    query = ChangeQuery(reach, 9, bookmark, world.clock.now, True)
    (change,) = world.store.changes(query).changes
    assert isinstance(change, Record)


# The field that says when a record happened


def dated_by(world: World, field: str | None, version: int) -> None:
    world.settle(declare(stream(consent_time_field=field), version=str(version)))


@pytest.mark.parametrize("between", ["day", None])
def test_what_came_into_a_hidden_time_is_no_older_after_the_time_was_another_field_for_a_while(
    world: World, between: str | None
) -> None:
    outside, inside = ({"subject": "s", "at": at} for at in ("2020-01-01", "2026-02-10"))
    moved = {"subject": "s", "at": "2026-02-12"}
    world.put({"first": outside, "second": inside})
    world.clock.pass_by(2 * DAY // SECOND)
    world.put({"first": inside, "new": inside, "second": moved})

    def seen() -> list[tuple[str, int]]:
        limit = Interval(NOW - 30 * DAY, NOW)
        reach = granted(world, "g", fields=["subject"], time=limit)
        changes = world.store.changes(ChangeQuery(reach, 9, START, world.clock.now, False)).changes
        return [(world.key(change), change.emitted_at) for change in changes]

    before = seen()
    assert {key for key, _ in before} == {"first", "new", "second"}
    dated_by(world, between, 2)
    dated_by(world, "at", 3)
    assert seen() == before


def test_what_came_into_a_time_before_it_was_the_time_is_as_old_as_its_coming(
    world: World,
) -> None:
    world.put({"first": {"subject": "s", "day": "2020-01-01"}})
    world.clock.pass_by(2 * DAY // SECOND)
    inside = {"subject": "s", "day": "2026-02-10"}
    world.put({"first": inside, "new": inside})
    dated_by(world, "day", 2)
    reach = granted(world, "g", fields=["subject"], time=Interval(NOW - 30 * DAY, NOW))
    first, new = all_records(world.store, reach)
    assert first.emitted_at == new.emitted_at == world.clock.now // DAY * DAY
    page = world.store.changes(ChangeQuery(reach, 9, START, world.clock.now, False))
    assert len(page.changes) == 2


@pytest.mark.parametrize("fields", [["subject"], ["id", "subject"], ["subject", "at"], None])
@pytest.mark.parametrize("select", [None, frozenset({"subject", "weight"})])
def test_a_page_shows_each_record_as_it_is_shown_alone(
    world: World, fields: list[str] | None, select: frozenset[str] | None
) -> None:
    reach = granted(world, "g", fields=fields)
    alike = {f"k{n}": {"subject": f"s{n}", "at": f"2026-01-0{n + 1}"} for n in range(6)}
    exact = {"k0": {**alike["k0"], "weight": Decimal("0.300000000000000001")}}
    changed = {"k3": {**alike["k3"], "subject": "new"}}
    other = {"k4": {"subject": "alone"}}
    for written in (alike, changed, other, exact):
        world.put(written)
        page = world.store.page(PageQuery((reach,), 9, select=select))
        assert len({record.id for record in page.records}) == len(alike)
        alone = [world.store.record(reach, record.id, select) for record in page.records]
        assert list(page.records) == alone
