"""Sources, connections, streams, and re-indexing when a declaration changes."""

import pytest
from tests.store.questions import ask
from tests.store.world import MESSAGE, QUERY, Data, World, allow, condition, declare, stream

from pdpp.model.declaration import Kind
from pdpp.model.errors import Conflict, NotFound
from pdpp.model.grant import AccessMode, Grant, Interval
from pdpp.store.aggregation import AggregateQuery
from pdpp.store.port import Store
from pdpp.store.query import ChangePosition, ChangeQuery, PageQuery, SearchQuery
from pdpp.store.scope import Reach, grant_reaches


def searched(world: World, q: str, reach: Reach | None = None) -> list[str]:
    page = world.store.search(SearchQuery((reach or world.reach(),), ask(q), 99))
    return sorted(world.key(hit.record) for hit in page.hits)


def sorted_by(world: World, name: str) -> list[str]:
    page = world.store.page(PageQuery((world.reach(),), 99, sort=name, descending=False))
    return [world.key(record) for record in page.records]


def with_query(**changes: Data) -> Data:
    return stream(query={**QUERY, **changes})


def test_an_empty_store_declares_nothing(store: Store) -> None:
    catalogue = store.catalogue()
    assert not catalogue.sources
    assert not catalogue.connections
    assert not catalogue.feeds


def test_a_connection_has_a_feed_for_each_stream_of_its_source(store: Store) -> None:
    declaration = declare(stream("messages"), stream("threads"))
    store.register(declaration)
    store.connect("c1", "mail", "Work")
    catalogue = store.catalogue()
    assert catalogue.sources == {"mail": declaration}
    assert catalogue.connections["c1"].display_name == "Work"
    assert catalogue.feeds.keys() == {("c1", "messages"), ("c1", "threads")}
    assert catalogue.feeds["c1", "messages"].compared["at"] is Kind.DATE_TIME
    assert "note" not in catalogue.feeds["c1", "messages"].compared
    assert set(catalogue.feeds["c1", "messages"].searched) == {"subject", "body"}


def test_connecting_again_renames(world: World) -> None:
    world.put({"a": {}})
    world.store.connect("c1", "mail", "Home")
    assert world.store.catalogue().connections["c1"].display_name == "Home"
    assert world.keys() == ["a"]


def test_a_connection_needs_a_source(store: Store) -> None:
    with pytest.raises(NotFound, match="'mail'"):
        store.connect("c1", "mail", "Work")


def test_a_connection_stays_with_its_source(world: World) -> None:
    world.store.register(declare(key="notes"))
    with pytest.raises(Conflict, match="'mail'"):
        world.store.connect("c1", "notes", "Work")


def test_a_connector_key_stays_with_its_source(world: World) -> None:
    before = world.store.catalogue()
    with pytest.raises(Conflict, match="'mail'"):
        world.store.register(declare(source="https://example.org/other"))
    assert world.store.catalogue() == before


def test_the_catalogue_is_one_value_until_it_changes(world: World) -> None:
    before = world.store.catalogue()
    assert world.store.catalogue() is before
    world.store.connect("c2", "mail", "Other")
    after = world.store.catalogue()
    assert after.version > before.version
    assert after.sources["mail"] is before.sources["mail"]


def test_a_change_of_one_account_is_read_in_its_own_feeds_and_leaves_the_others(
    world: World,
) -> None:
    world.store.connect("c2", "mail", "Second")
    before = world.store.catalogue().feeds
    world.store.connect("c1", "mail", "Renamed")
    after = world.store.catalogue().feeds
    assert after["c1", "messages"].connection.display_name == "Renamed"
    assert after["c2", "messages"] is before["c2", "messages"]
    declaration = declare(with_query(range_filters={}))
    world.store.register(declaration)
    for feed in world.store.catalogue().feeds.values():
        assert feed.stream == declaration.streams["messages"]
        assert feed.stream != after[feed.address].stream


def test_every_revision_of_a_declaration_is_kept(world: World) -> None:
    first = world.store.catalogue().sources["mail"]
    second = declare(version="2")
    world.store.register(second)
    catalogue = world.store.catalogue()
    assert catalogue.sources["mail"] == second
    assert catalogue.revisions == {first.revision: first, second.revision: second}
    world.store.register(first)
    assert world.store.catalogue().sources["mail"] == first


def test_a_stream_that_is_no_longer_declared_is_hidden_and_comes_back_whole(world: World) -> None:
    world.put({"a": {"subject": "apple"}})
    world.settle(declare(stream("threads"), version="2"))
    assert world.store.catalogue().feeds.keys() == {("c1", "threads")}
    world.settle(declare(stream(), stream("threads"), version="3"))
    assert world.keys() == ["a"]
    assert searched(world, "apple") == ["a"]


def test_a_new_stream_reaches_the_connections_there_are(world: World) -> None:
    world.store.register(declare(stream(), stream("threads"), version="2"))
    assert ("c1", "threads") in world.store.catalogue().feeds


def test_a_field_can_be_sorted_by_from_the_moment_it_is_indexed(world: World) -> None:
    world.settle(declare(stream(query={}), version="0"))
    world.put({"a": {"size": 3}, "b": {"size": 1}, "c": {}})
    assert not world.reach().compares("size")
    world.settle(declare(version="2"))
    assert sorted_by(world, "size") == ["b", "a", "c"]
    reach = world.reach()
    assert world.keys(reach.narrowed([condition(reach, "size", "gte", 2)])) == ["a"]


def test_a_field_that_is_no_longer_indexed_leaves_the_others_as_they_were(world: World) -> None:
    world.put({"a": {"size": 3, "weight": 1}, "b": {"size": 1, "weight": 2}})
    kept = {"range_filters": {"weight": ["gt"]}}
    world.settle(declare(stream(query=kept), version="2"))
    assert not world.reach().compares("size")
    assert sorted_by(world, "weight") == ["a", "b"]
    world.put({"a": {"size": 1, "weight": 3}, "c": {"weight": 0}, "b": None})
    assert sorted_by(world, "weight") == ["c", "a"]
    world.settle(declare(version="3"))
    assert sorted_by(world, "size") == ["a", "c"]


def test_a_retyped_field_is_compared_as_its_new_kind(world: World) -> None:
    texts = stream(properties={**MESSAGE, "size": {"type": ["string", "integer"]}}, query={})
    world.settle(declare(texts, version="0"))
    world.put({"a": {"size": 3}, "b": {"size": "10"}, "c": {"size": "9"}})
    text = {**MESSAGE, "size": {"type": "string"}}
    as_text = stream(properties=text, query={"range_filters": {"size": ["gt"]}})
    world.settle(declare(as_text, version="2"))
    assert sorted_by(world, "size") == ["b", "c", "a"]
    world.settle(declare(version="3"))
    assert sorted_by(world, "size") == ["a", "b", "c"]
    assert world.store.newest_of([(world.reach(), "size")]) == [3]


def test_a_newly_searchable_field_is_searched_in_old_records(world: World) -> None:
    world.put({"a": {"subject": "apple", "note": "pear"}})
    assert searched(world, "pear") == []
    both = {"lexical_fields": ["note", "subject"]}
    world.settle(declare(with_query(search=both), version="2"))
    assert searched(world, "pear") == ["a"]
    assert searched(world, "apple") == ["a"]


def test_a_field_that_is_no_longer_searchable_is_not_searched(world: World) -> None:
    world.put({"a": {"subject": "apple", "body": "pear"}})
    world.settle(declare(with_query(search={"lexical_fields": ["body"]}), version="2"))
    assert searched(world, "apple") == []
    assert searched(world, "pear") == ["a"]
    world.put({"a": {"subject": "plum", "body": "pear"}, "b": {"subject": "apple"}})
    world.settle(declare(version="3"))
    assert searched(world, "apple") == ["b"]
    assert searched(world, "plum") == ["a"]


def test_searchable_fields_may_come_and_go_more_often_than_there_are_places(world: World) -> None:
    names = [f"f{number}" for number in range(200)]
    properties = {"id": {"type": "string"}} | {name: {"type": "string"} for name in names}
    world.settle(declare(stream("s", properties, {}, consent_time_field=None), key="odd"), "c9")
    feed = world.feed("c9", "s")
    world.write({name: {name: f"word {name}"} for name in names}, feed)
    for start in (0, 60, 120, 0):
        chosen = names[start : start + 60]
        query = {"search": {"lexical_fields": chosen}}
        declaration = stream("s", properties, query, consent_time_field=None)
        world.settle(declare(declaration, key="odd", version=f"v{start}"), "c9")
        reach = world.reach("c9", "s")
        assert searched(world, "word", reach) == sorted(chosen)
        assert searched(world, chosen[-1], reach) == [chosen[-1]]


def test_progress_is_told_while_records_are_indexed_again(world: World) -> None:
    world.settle(declare(stream(query={}), version="0"))
    world.put({str(number): {"size": number} for number in range(1_500)})
    told: list[int] = []
    world.store.register(declare(version="2"), progress=told.append)
    assert told == [1_000, 1_500]
    assert world.store.newest_of([(world.reach(), "size")]) == [1_499]
    world.store.register(declare(version="3"), progress=told.append)
    assert told == [1_000, 1_500]


def test_a_changed_consent_time_limits_new_grants_by_the_new_field(world: World) -> None:
    world.put({"a": {"at": "2026-01-01", "day": "2026-02-01"}, "b": {"at": "2026-02-01"}})
    world.settle(declare(stream(consent_time_field="day"), version="2"))
    since = Interval(1_769_731_200_000_000, None)
    assert world.keys(world.reach(time=since)) == ["a"]
    world.put({"b": {"day": "2026-02-02"}, "c": {"day": "2025-01-01"}})
    assert world.keys(world.reach(time=since)) == ["a", "b"]


def test_a_stream_may_lose_its_consent_time(world: World) -> None:
    world.put({"a": {"at": "2026-01-01"}})
    world.settle(declare(stream(consent_time_field=None), version="2"))
    world.put({"b": {"at": "2026-01-02"}})
    assert world.keys() == ["a", "b"]


def test_a_record_deleted_before_the_consent_time_changed_is_no_news_to_a_new_grant(
    world: World,
) -> None:
    world.put({"a": {"at": "2026-02-01", "day": "2020-01-01"}})
    world.put({"a": None})
    world.settle(declare(stream(consent_time_field="day"), version="2"))
    reach = world.reach(time=Interval(1_769_731_200_000_000, None))
    horizon = world.store.latest_version(reach)
    assert (
        world.store.changes(ChangeQuery(reach, 9, ChangePosition(0, None), horizon, True)).changes
        == ()
    )


def test_a_write_with_an_older_catalogue_is_indexed_as_declared_now(world: World) -> None:
    world.settle(declare(stream(query={}), version="0"))
    stale = world.feed()
    world.settle(declare(version="2"))
    world.write({"a": {"size": 1, "subject": "apple"}}, stale)
    assert sorted_by(world, "size") == ["a"]
    assert searched(world, "apple") == ["a"]
    sums = world.store.aggregate(AggregateQuery((world.reach(),), "sum", "size"))
    assert sums[None].total == 1


def test_a_write_to_a_stream_that_is_gone_is_refused(world: World) -> None:
    stale = world.feed()
    world.settle(declare(stream("threads"), version="2"))
    with pytest.raises(NotFound, match="no longer a stream"):
        world.write({"a": {}}, stale)


def test_a_stale_catalogue_keeps_reading_what_it_knew(world: World) -> None:
    world.put({"a": {"size": 1, "weight": 2, "subject": "apple"}})
    stale = world.reach()
    world.settle(declare(with_query(search={"lexical_fields": ["note"]}), version="2"))
    world.put({"b": {"size": 2, "weight": 1, "note": "apple"}})
    page = world.store.page(PageQuery((stale,), 9, sort="weight"))
    assert [world.key(record) for record in page.records] == ["a", "b"]


def test_an_older_grant_never_sees_a_field_declared_later(world: World) -> None:
    grant = Grant("g", "c", "p", AccessMode.CONTINUOUS, (allow(world),), 0)
    wider = {**MESSAGE, "secret": {"type": "string"}}
    search = {**QUERY, "search": {"lexical_fields": ["subject", "secret"]}}
    world.settle(declare(stream(properties=wider, query=search), version="2"))
    world.put({"a": {"subject": "x", "secret": "apple"}})
    (reach,) = grant_reaches(grant, world.store.catalogue())
    assert searched(world, "apple", reach) == []
    record = world.store.record(reach, "a")
    assert record is not None
    assert record.data == b'{"subject":"x"}'
