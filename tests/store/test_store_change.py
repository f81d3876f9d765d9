"""Changes against a client that keeps a copy: whatever happens, a sync ends with what is shown."""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.records import DAY
from tests.store.world import NOW, Clock, Data, Engine, World, fresh, projected, shown

from pdpp.model.grant import Interval
from pdpp.store.query import ChangePage, ChangePosition, ChangeQuery, Record, Tombstone
from pdpp.store.scope import Reach

KEYS = st.sampled_from("abcd")
TIMES = st.sampled_from([None, "2026-02-28", "2026-03-01", "2026-03-02"])
DATA = st.fixed_dictionaries(
    {"at": TIMES},
    optional={"subject": st.sampled_from(["x", "y"]), "note": st.sampled_from(["p", "q"])},
)
EVENTS = st.lists(
    st.dictionaries(KEYS, st.none() | DATA | DATA, min_size=1, max_size=3)
    | st.integers(1, 3)
    | st.just(1),
    max_size=12,
)
REACHES = st.fixed_dictionaries(
    {
        "fields": st.sampled_from([None, ("subject",), ("note", "at"), ("subject", "at"), ("id",)]),
        "time": st.sampled_from(
            [None, Interval(NOW - DAY, NOW + DAY // 2), Interval(NOW, None), Interval(None, NOW)]
        ),
        "keys": st.sampled_from([None, None, ("a", "b"), ("c",)]),
    }
)
START = ChangePosition(0, None)


class Client:
    """Keeps a copy of what a reach shows by reading changes."""

    def __init__(self, world: World, reach: Reach) -> None:
        self._world = world
        self._reach = reach
        self.copy: dict[str, Data] = {}
        self._bookmark: ChangePosition | None = None
        self._session: tuple[ChangePosition, int, bool] | None = None

    def read_page(self, limit: int) -> ChangePage:
        store, clock = self._world.store, self._world.clock
        if self._session is None:
            horizon = max(clock.now, store.latest_version(self._reach))
            self._session = (self._bookmark or START, horizon, self._bookmark is None)
        after, horizon, first = self._session
        page = store.changes(ChangeQuery(self._reach, limit, after, horizon, not first))
        assert len(page.changes) <= limit
        for change in page.changes:
            self._apply(change)
        self._session = (page.last, horizon, first) if page.has_more else None
        if not page.has_more:
            self._bookmark = page.last
        return page

    def _apply(self, change: Record | Tombstone) -> None:
        if isinstance(change, Tombstone):
            self.copy.pop(self._world.key(change), None)
        else:
            self.copy[self._world.key(change)] = orjson.loads(change.data)

    def finish(self, limit: int = 2) -> list[Record | Tombstone]:
        """Read on until a session is over."""
        changes: list[Record | Tombstone] = []
        while True:
            page = self.read_page(limit)
            changes += page.changes
            if not page.has_more:
                return changes


def visible(reach: Reach, kept: dict[str, Data]) -> dict[str, Data]:
    return {key: projected(reach, data) for key, data in shown(reach, kept).items()}


@given(EVENTS, REACHES, st.booleans())
def test_a_client_that_syncs_ends_with_exactly_what_the_reach_shows(
    planner: Engine, events: list[Any], limits: Data, ticking: bool
) -> None:
    with fresh(planner) as world:
        reach = world.settle().reach(**limits)
        client = Client(world, reach)
        kept: dict[str, Data] = {}
        for event in events:
            if isinstance(event, int):
                client.read_page(event)
                continue
            if ticking:
                world.clock.pass_by()
            world.put(event)
            kept = {key: data for key, data in (kept | event).items() if data is not None}
        client.finish()
        client.finish()
        assert client.copy == visible(reach, kept)
        assert client.finish() == []


@given(EVENTS, REACHES, st.dictionaries(KEYS, st.none() | DATA, min_size=1, max_size=3))
def test_a_write_is_a_change_only_where_the_reach_shows_it(
    planner: Engine, events: list[Any], limits: Data, last: dict[str, Data | None]
) -> None:
    with fresh(planner) as world:
        reach = world.settle().reach(**limits)
        client = Client(world, reach)
        kept: dict[str, Any] = {}
        for event in (event for event in events if not isinstance(event, int)):
            world.put(event)
            kept = {key: data for key, data in (kept | event).items() if data is not None}
        client.finish()
        client.finish()
        before = visible(reach, kept)
        world.put(last)
        after = visible(
            reach, {key: data for key, data in (kept | last).items() if data is not None}
        )
        changes = client.finish()
        gone = {world.key(change) for change in changes if isinstance(change, Tombstone)}
        here = {world.key(change) for change in changes if isinstance(change, Record)}
        assert gone == before.keys() - after.keys()
        assert here == {key for key in after if before.get(key) != after[key]}


def changes(
    world: World, reach: Reach, after: ChangePosition = START, limit: int = 99
) -> Sequence[Record | Tombstone]:
    horizon = world.store.latest_version(reach)
    return world.store.changes(ChangeQuery(reach, limit, after, horizon, True)).changes


def test_changes_come_in_the_order_they_were_made(world: World) -> None:
    for key in "cab":
        world.clock.pass_by()
        world.put({key: {"subject": key}})
    world.clock.pass_by()
    world.put({"c": {"subject": "new"}, "a": None})
    found = changes(world, world.reach())
    assert [world.key(change) for change in found] == ["b", "a", "c"]
    assert isinstance(found[1], Tombstone)
    assert found[1].deleted_at == found[1].emitted_at == world.clock.now


def test_a_version_never_goes_back_even_when_the_clock_does(world: World, clock: Clock) -> None:
    versions: list[int] = []
    for step in (0, 0, -3600, 5):
        clock.pass_by(step)
        world.put({"a": {"size": len(versions)}})
        versions.append(world.store.latest_version(world.reach()))
    assert versions == sorted(set(versions))


def test_a_batch_that_changes_nothing_has_no_version(world: World, clock: Clock) -> None:
    world.put({"a": {"size": 1}})
    version = world.store.latest_version(world.reach())
    clock.pass_by()
    world.put({"a": {"size": 1}, "nowhere": None})
    assert world.store.latest_version(world.reach()) == version


def test_the_emission_shown_is_that_of_the_last_visible_change(world: World, clock: Clock) -> None:
    world.put({"a": {"subject": "x", "note": "p"}})
    first = clock.now
    clock.pass_by()
    world.put({"a": {"subject": "x", "note": "q"}})
    hidden = world.store.record(world.reach(fields=["id", "at", "subject"]), "a")
    seen = world.store.record(world.reach(fields=["id", "at", "note"]), "a")
    assert hidden is not None
    assert seen is not None
    assert (hidden.emitted_at, seen.emitted_at) == (first, clock.now)


def test_a_change_carries_only_the_fields_asked_for(world: World) -> None:
    world.put({"a": {"subject": "x", "note": "p"}})
    query = ChangeQuery(world.reach(), 9, START, NOW, True, frozenset({"note"}))
    (change,) = world.store.changes(query).changes
    assert isinstance(change, Record)
    assert orjson.loads(change.data) == {"note": "p"}


def test_a_page_of_changes_tells_whether_more_follow(world: World) -> None:
    world.put({key: {} for key in "abc"})
    first = world.store.changes(ChangeQuery(world.reach(), 2, START, NOW, True))
    assert ([world.key(change) for change in first.changes], first.has_more) == (["a", "b"], True)
    rest = world.store.changes(ChangeQuery(world.reach(), 2, first.last, NOW, True))
    assert ([world.key(change) for change in rest.changes], rest.has_more) == (["c"], False)
    over = world.store.changes(ChangeQuery(world.reach(), 2, rest.last, NOW, True))
    assert (over.changes, over.last, over.has_more) == ((), rest.last, False)


def test_what_is_written_after_the_horizon_waits_for_the_next_session(world: World) -> None:
    world.put({"a": {}})
    horizon = world.clock.now
    world.clock.pass_by()
    world.put({"b": {}, "a": {"size": 1}})
    page = world.store.changes(ChangeQuery(world.reach(), 9, START, horizon, True))
    assert page.changes == ()


@pytest.mark.parametrize("since", ["before", "after"])
def test_pruning_forgets_deletions_older_than_a_moment(world: World, since: str) -> None:
    world.put({"a": {}, "b": {}})
    world.clock.pass_by()
    world.put({"a": None})
    world.clock.pass_by()
    middle = world.clock.now
    world.clock.pass_by()
    world.put({"b": None})
    assert world.store.prune(middle if since == "before" else 0) == (since == "before")
    gone = [world.key(change) for change in changes(world, world.reach())]
    assert gone == (["b"] if since == "before" else ["a", "b"])
