"""Where the embedded engine stops: candidates of a search, fieldsets, feeds."""

from pathlib import Path

import pytest
from tests.store.world import Clock, World, declare, stream

from pdpp.evidence.analyse import parse_query
from pdpp.model.errors import Conflict
from pdpp.store.port import HitPage, PageQuery, SearchQuery
from pdpp.store.scope import Reach
from pdpp.store.sqlite import feeds, numbering
from pdpp.store.sqlite.search import search
from pdpp.store.sqlite.store import SqliteStore
from pdpp.store.sqlite.write import fieldsets


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "CANDIDATES", 6)
    monkeypatch.setattr(search, "_PROBE", 2)
    monkeypatch.setattr(search, "_FEW_REACHES", 0)


def look(world: World, *reaches: Reach, q: str = "apple", limit: int = 99) -> HitPage:
    return world.store.search(SearchQuery(reaches, parse_query(q), limit))


def fill(world: World, counts: dict[str, int]) -> list[Reach]:
    for connection_id, count in counts.items():
        world.store.connect(connection_id, "mail", connection_id)
        world.put(
            {f"{n:02}": {"subject": "apple", "body": "pear"} for n in range(count)},
            connection_id,
        )
    return [world.reach(connection_id) for connection_id in counts]


@pytest.mark.usefixtures("bounded")
def test_a_search_ranks_the_newest_candidates_up_to_a_bound(world: World) -> None:
    (reach,) = fill(world, {"c1": 9})
    page = look(world, reach)
    assert sorted(world.key(hit.record) for hit in page.hits) == [
        "03",
        "04",
        "05",
        "06",
        "07",
        "08",
    ]
    assert (page.ranked, page.complete, page.has_more) == (6, False, False)
    assert look(world, reach, limit=2).has_more


def test_records_that_match_in_every_field_are_each_ranked_once_and_whole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "CANDIDATES", 3)
    world.put({f"{n:02}": {"subject": "apple", "body": "apple pie"} for n in range(7)})
    both, other = world.reach(), world.reach(fields=["subject"])
    page, half = look(world, both), look(world, other)
    assert [world.key(hit.record) for hit in page.hits] == ["04", "05", "06"]
    assert sorted(world.key(hit.record) for hit in half.hits) == ["04", "05", "06"]
    assert page.hits[0].position.score > half.hits[0].position.score
    assert len({hit.position.score for hit in page.hits}) == 1


def test_a_record_that_matches_in_more_fields_than_are_read_at_once_is_ranked_whole(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "CANDIDATES", 1)
    fields = [f"field{number}" for number in range(9)]
    properties = {name: {"type": "string"} for name in ("id", "at", *fields)}
    query = {"search": {"lexical_fields": fields}}
    world = World(SqliteStore(tmp_path, clock), clock)
    world.settle(declare(stream("messages", properties, query, consent_time_field=None)))
    world.put({key: dict.fromkeys(fields, "apple") for key in ("a", "b")})
    page = look(world, world.reach())
    assert [world.key(hit.record) for hit in page.hits] == ["b"]
    assert (page.ranked, page.complete) == (1, False)
    one = look(world, world.reach(fields=fields[:1])).hits[0].position.score
    assert page.hits[0].position.score == 9 * one
    world.store.close()


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("count", [5, 6])
def test_a_search_that_ranks_all_its_matches_says_so(world: World, count: int) -> None:
    (reach,) = fill(world, {"c1": count})
    page = look(world, reach)
    assert (page.ranked, page.complete) == (count, True)


@pytest.mark.usefixtures("bounded")
def test_what_is_outside_the_reach_takes_no_place_among_the_candidates(world: World) -> None:
    (reach,) = fill(world, {"c1": 9})
    some = world.reach(keys=["00", "01"])
    page = look(world, some)
    assert {world.key(hit.record) for hit in page.hits} == {"00", "01"}
    assert page.complete
    assert not look(world, reach).complete


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize(
    ("counts", "shares"),
    [
        ({"c1": 9, "c2": 9}, {"c1": 3, "c2": 3}),
        ({"c1": 1, "c2": 9}, {"c1": 1, "c2": 5}),
        ({"c1": 9, "c2": 0, "c3": 2}, {"c1": 4, "c3": 2}),
        ({"c1": 9, "c2": 9, "c3": 9, "c4": 9}, {"c1": 2, "c2": 2, "c3": 1, "c4": 1}),
    ],
)
def test_the_reaches_share_the_candidates_fairly(
    world: World, counts: dict[str, int], shares: dict[str, int]
) -> None:
    page = look(world, *fill(world, counts))
    found: dict[str, int] = {}
    for hit in page.hits:
        found[hit.position.handle[0]] = found.get(hit.position.handle[0], 0) + 1
    assert sum(found.values()) == 6
    assert not page.complete
    if len(counts) < 4:
        assert found == shares
    else:
        assert max(found.values()) - min(found.values()) <= 1


@pytest.mark.usefixtures("bounded")
def test_a_rare_phrase_is_found_among_many_common_ones(world: World) -> None:
    (reach,) = fill(world, {"c1": 9})
    world.put({"00": {"subject": "apple", "body": "plum pear"}})
    page = look(world, reach, q="apple plum")
    assert [world.key(hit.record) for hit in page.hits] == ["00"]
    assert page.complete
    assert look(world, reach, q="plum fig").hits == ()


def test_more_sets_of_fields_than_are_numbered_are_still_shown_right(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fieldsets, "_MOST", 1)
    world.put({"a": {"note": "n"}, "b": {"note": "n", "size": 1}, "c": {"note": "n"}})
    page = world.store.page(PageQuery((world.reach(fields=["note"]),), 9))
    assert {record.data for record in page.records} == {b'{"note":"n"}'}
    assert len(page.records) == 3


def test_a_store_holds_so_many_streams_and_no_more(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST_FEEDS", 2)
    store = SqliteStore(tmp_path, clock)
    store.register(declare(stream("a"), stream("b")))
    with pytest.raises(Conflict, match="as many streams"):
        store.connect("c1", "mail", "Work")
    assert not store.catalogue().connections
    store.close()


@pytest.mark.parametrize("feed", [1, numbering.MOST_FEEDS - 1])
@pytest.mark.parametrize("sequence", [0, (1 << numbering.FEED_SHIFT) - 1])
def test_a_row_of_the_index_fits_the_engine_and_leads_back(feed: int, sequence: int) -> None:
    record = numbering.record_number(feed, sequence)
    assert numbering.feed_of(record) == feed
    row = numbering.index_row(record, numbering.MOST_PLACES - 1)
    assert row < 2**63
    assert numbering.turned(row >> numbering.PLACE_BITS) == record
    first, last = numbering.index_span(feed)
    assert first <= row <= last
    assert row & numbering.PLACE_MASK == numbering.MOST_PLACES - 1
