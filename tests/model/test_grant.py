from dataclasses import FrozenInstanceError, replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model.grant import AccessMode, Allowance, Grant, Interval

BOUNDS = st.none() | st.integers(-1000, 1000)
INTERVALS = st.builds(Interval, BOUNDS, BOUNDS)
TEXT = st.text(max_size=8)
ALLOWANCES = st.builds(
    Allowance,
    connection_id=TEXT,
    stream=TEXT,
    revision=TEXT,
    fields=st.lists(TEXT, max_size=4).map(tuple),
    whole=st.booleans(),
    time=st.none() | INTERVALS.filter(lambda each: each != Interval()),
    keys=st.none() | st.frozensets(TEXT, max_size=4),
)


def holds(interval: Interval, moment: int) -> bool:
    after = interval.since is None or interval.since <= moment
    return after and (interval.until is None or moment < interval.until)


def allowance(revision: str = "r1") -> Allowance:
    return Allowance("c1", "messages", revision, ("id", "body"))


@given(INTERVALS, INTERVALS, st.integers(-1001, 1001))
def test_an_intersection_holds_what_both_hold(one: Interval, other: Interval, moment: int) -> None:
    assert holds(one.intersect(other), moment) == (holds(one, moment) and holds(other, moment))


@given(INTERVALS, INTERVALS)
def test_an_intersection_is_the_same_from_both_sides(one: Interval, other: Interval) -> None:
    assert one.intersect(other) == other.intersect(one)


@given(INTERVALS)
def test_an_empty_interval_holds_no_moment(interval: Interval) -> None:
    moments = range(-1001, 1002)
    assert interval.empty == (not any(holds(interval, moment) for moment in moments))


@given(ALLOWANCES)
def test_an_allowance_survives_json(given_allowance: Allowance) -> None:
    encoded = orjson.dumps(given_allowance.as_json())
    assert Allowance.from_json(orjson.loads(encoded)) == given_allowance


def test_no_record_at_all_differs_from_every_record() -> None:
    nothing = replace(allowance(), keys=frozenset())
    assert nothing.as_json()["record_ids"] == []
    assert allowance().as_json()["record_ids"] is None


def test_record_ids_are_written_in_one_order() -> None:
    assert replace(allowance(), keys=frozenset("bca")).as_json()["record_ids"] == ["a", "b", "c"]


def test_a_grant_names_each_revision_once() -> None:
    allowances = (allowance("r2"), allowance("r1"), allowance("r2"))
    grant = Grant("g1", "client", "research", AccessMode.CONTINUOUS, allowances, 0)
    assert list(grant.revisions()) == ["r1", "r2"]


def test_a_grant_cannot_be_changed() -> None:
    grant = Grant("g1", "client", "research", AccessMode.SINGLE_USE, (allowance(),), 0)
    with pytest.raises(FrozenInstanceError):
        grant.purpose = "anything"  # type: ignore[misc]
