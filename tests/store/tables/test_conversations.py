"""Conversations: who stands beside whom, in an order that a grant shows or in none."""

from random import Random

import pytest
from tests.engine import counted_work, database_of, ordered_surrogate
from tests.store.questions import ask
from tests.store.world import World, declare, stream

from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.store.query import SearchQuery
from pdpp.store.tables.search import conversations
from pdpp.store.tables.search.entry import NO_TIME, hashed, ordinal_of

TIMES = (None, *(f"2026-03-0{day}T00:00:00Z" for day in range(1, 6)))
SPRING = Interval(instant.parse(TIMES[2] or ""), instant.parse(TIMES[5] or ""))
WITHOUT_KEY = ("body", "thread", "at")


@pytest.fixture
def talk(world: World) -> World:
    """A world of one conversation, in which many messages are of one time."""
    return world.settle(declare(stream(thread="thread"), version="2"))


@pytest.mark.parametrize("time", [None, SPRING])
@pytest.mark.parametrize("fields", [None, WITHOUT_KEY])
def test_the_two_on_each_side_are_those_next_in_order(
    talk: World, time: Interval | None, fields: tuple[str, ...] | None
) -> None:
    random = Random(7)
    at = {f"k{number}": random.choice(TIMES) for number in range(40)}
    talk.put({key: {"id": key, "thread": "t", "at": at[key]} for key in at})
    reach = talk.reach(fields=fields, time=time)
    rows = database_of(talk.store).reader.execute("SELECT key, time, surrogate, id FROM record")
    order = sorted(
        (NO_TIME if moment is None else moment, ordinal_of(key) if fields is None else 0, one, id)
        for key, moment, one, id in rows
    )
    assert {one for _, _, one, _ in order} == {ordered_surrogate(reach.feed, key) for key in at}
    shown = [place for place in order if place[0] != NO_TIME and _is_inside(time, place[0])]
    places = [conversations._Place(id, hashed("t"), *place) for *place, id in shown]
    found = set(conversations._around(database_of(talk.store).reader, reach, places))
    assert found == {
        (shown[one][3], shown[other][3], other - one)
        for one in range(len(shown))
        for other in range(max(0, one - 2), min(len(shown), one + 3))
        if other != one
    }


@pytest.mark.parametrize(
    ("key", "number"),
    [
        *[("D3:7", 7), ("chat-0012", 12), ("5", 5), ("chat", 0), ("7a", 0), ("", 0), ("7\n", 0)],
        *[("٣", 0), ("4٣", 0), ("x²", 0), ("a" + "9" * 20, 10**18 - 1)],
    ],
)
def test_a_place_is_the_number_that_a_key_ends_in(key: str, number: int) -> None:
    assert ordinal_of(key) == number


def _is_inside(time: Interval | None, moment: int) -> bool:
    return time is None or (time.since or 0) <= moment < (time.until or 0)


@pytest.mark.embedded("counts the steps of the embedded engine")
def test_messages_of_one_time_are_read_once_where_their_order_is_hidden(talk: World) -> None:
    said = {"thread": "t", "at": "2026-03-02T00:00:00Z"}
    words = {number: "kelp and moss" if number % 50 == 0 else "tide" for number in range(3_000)}
    talk.put({f"k{number}": {**said, "body": body} for number, body in words.items()})
    query = SearchQuery((talk.reach(fields=WITHOUT_KEY),), ask("kelp moss"), 10)
    with counted_work(talk.store) as work:
        assert talk.store.search(query).ranked >= 60
    assert work.units < 100 * len(words)
