"""The months of all records that answer, whatever days the question names."""

from collections import Counter
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.questions import ask
from tests.store.world import Engine, World, declare, fresh, stream

from pdpp.model.grant import Interval
from pdpp.store.query import HitPage, SearchQuery

ZONE = ZoneInfo("America/Los_Angeles")
MOMENTS = {
    "2025-12-31T12:00:00Z": "2025-12",
    "2026-01-31T23:30:00Z": "2026-01",
    "2026-02-01T07:59:59Z": "2026-01",
    "2026-02-01T08:00:00Z": "2026-02",
    "2026-02-28T23:00:00Z": "2026-02",
    "1999-07-01T00:00:00Z": "1999-06",
    "1970-01-01T00:00:00Z": "1969-12",
}
"""Moments, with the month that each is of where the owner lives."""


def search(world: World, q: str, time: Interval | None = None, zone: ZoneInfo = ZONE) -> HitPage:
    reaches = tuple(world.reach(name, time=time) for name in ("c1", "c2"))
    query = SearchQuery(reaches, ask(q), 100, zone=zone, months=True)
    with world.store.reading():
        return world.store.search(query)


@settings(max_examples=settings().max_examples // 2)
@given(times=st.lists(st.none() | st.sampled_from(list(MOMENTS)), min_size=1, max_size=12))
def test_each_month_counts_the_records_of_its_days(
    planner: Engine, times: list[str | None]
) -> None:
    with fresh(planner) as world:
        world.settle(None, "c1", "c2")
        for number, moment in enumerate(times):
            record = {"subject": "apple", "at": moment}
            world.put({f"k{number}": record}, "c1" if number % 3 else "c2")
        world.put({"other": {"subject": "pear", "at": "2026-02-28T23:00:00Z"}})
        counts = Counter(MOMENTS[moment] for moment in times if moment is not None)
        whole = search(world, "apple")
        assert whole.months == dict(counts)
        assert whole.ranked == len(times)
        within = search(world, "apple on:2026-02")
        assert within.months == dict(counts)
        assert within.ranked == len(within.hits) == counts["2026-02"]
        assert search(world, "apple on:2026-02", time=Interval(0, 0)).months == {}


@settings(max_examples=12)
@given(times=st.lists(st.none() | st.sampled_from(list(MOMENTS)), min_size=1, max_size=4))
def test_months_that_are_remembered_follow_writes_and_zones(
    planner: Engine, times: list[str | None]
) -> None:
    """The second search under the same reaches remembers the months of all their rows."""
    with fresh(planner) as world:
        world.settle(None, "c1", "c2")
        lasting = tuple(world.reach(name) for name in ("c1", "c2"))

        def months(word: str, zone: str) -> dict[str, int]:
            query = SearchQuery(lasting, ask(word), 100, zone=ZoneInfo(zone), months=True)
            with world.store.reading():
                return dict(world.store.search(query).months)

        for number, moment in enumerate(times):
            word = ("apple", "pear")[number % 2]
            world.put({f"k{number}": {"subject": word, "at": moment}}, "c1" if number % 3 else "c2")
            for zone in ("America/Los_Angeles", "UTC"):
                for asked in ("apple", "pear"):
                    answers = [months(asked, zone) for _ in range(3)]
                    assert answers == [dict(search(world, asked, zone=ZoneInfo(zone)).months)] * 3


def test_a_search_that_finds_nothing_has_no_months(world: World) -> None:
    world.settle(None, "c1", "c2")
    world.put({"a": {"subject": "pear", "at": "2026-02-28T23:00:00Z"}})
    assert search(world, "apple").months == {}


def test_a_record_that_went_away_moves_no_month(world: World) -> None:
    world.settle(None, "c1", "c2")
    here = {"subject": "apple", "at": "2026-02-28T23:00:00Z"}
    far = {"subject": "apple", "at": "9999-01-15T00:00:00Z"}
    world.put({"far": far, **{f"k{number}": here for number in range(600)}})
    world.put({"far": None})
    assert search(world, "apple").months == {"2026-02": 600}


@pytest.mark.parametrize(
    ("moment", "zone", "month"),
    [
        ("9999-12-31T23:59:59Z", "Pacific/Auckland", "9999-12"),
        ("0001-01-01T00:00:00Z", "America/Los_Angeles", "0001-01"),
        ("0001-01-01T00:00:00Z", "Pacific/Auckland", "0001-01"),
    ],
)
def test_the_first_and_the_last_day_of_all_years_have_a_month(
    world: World, moment: str, zone: str, month: str
) -> None:
    world.settle(None, "c1", "c2")
    world.put({"edge": {"subject": "apple", "at": moment}})
    assert search(world, "apple", zone=ZoneInfo(zone)).months == {month: 1}


def test_what_stands_near_a_hit_keeps_to_the_days_of_a_search_with_months(world: World) -> None:
    world.settle(declare(stream(thread="thread")), "c1", "c2")
    texts = {"03-03": "nothing", "03-05": "apple pear", "03-06": "of course"}
    records = {
        day: {"subject": text, "thread": "t1", "at": f"2026-{day}T12:00:00Z"}
        for day, text in texts.items()
    }
    world.put(records)
    page = search(world, "apple pear after:2026-03-04")
    assert sorted(hit.record.id for hit in page.hits) == ["03-05", "03-06"]
