"""Removing, renaming and merging connections."""

import io
from dataclasses import replace
from decimal import Decimal

import pytest
from tests.engine import database_of
from tests.serving import approve
from tests.store.questions import ask
from tests.store.world import Data, World, all_records, declare, stream

from pdpp.authz.selection import Selection
from pdpp.model import instant
from pdpp.model.errors import Conflict, NotFound
from pdpp.model.grant import Interval
from pdpp.service.accounts import merge_connections
from pdpp.store.batch import canonical
from pdpp.store.catalogue import new_connection_id
from pdpp.store.cell import LONG_CHARS
from pdpp.store.numbers import read_data
from pdpp.store.query import PageQuery, SearchQuery


def fill(world: World, connection_id: str, count: int = 3) -> None:
    world.put({f"k{n}": {"id": f"k{n}", "subject": "kelp"} for n in range(count)}, connection_id)


def delete_all(world: World) -> int:
    pieces = 0
    while world.store.delete_removed():
        pieces += 1
    return pieces


def keep(world: World, content: bytes) -> Data:
    blob = world.store.keep_blob(io.BytesIO(content), "text/plain", 99)
    return {"blob_id": blob.blob_id, "mime_type": "text/plain"}


def test_ids_of_connections_are_random() -> None:
    ids = {new_connection_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(id.startswith("cin_") and len(id) == 16 for id in ids)


def test_what_a_connection_holds_is_told_before_it_goes(world: World) -> None:
    world.settle(None, "c1", "c2")
    fill(world, "c1")
    world.put({"own": {"file": keep(world, b"own")}, "both": {"file": keep(world, b"shared")}})
    world.put({"both": {"file": keep(world, b"shared")}}, "c2")
    held = world.store.connection_contents("c1")
    assert (held.records, held.blobs, held.blob_bytes) == ({"messages": 5}, 1, 3)
    with pytest.raises(NotFound):
        world.store.connection_contents("nowhere")


def size_of(world: World, connection_id: str = "c1") -> int:
    """Return how long the JSON of all records of a connection is, by reading them."""
    records = all_records(world.store, world.reach(connection_id))
    return sum(len(canonical(read_data(record.data))) for record in records)


def test_the_size_of_a_connection_follows_every_write(world: World) -> None:
    world.settle(None, "c1", "c2")
    long = "long " * LONG_CHARS
    writes: list[dict[str, Data | None]] = [
        {"a": {"subject": "kelp"}, "b": {"subject": "é", "body": long}},
        {"a": {"subject": "kelp"}, "b": {"subject": "é", "body": long + "er", "note": long}},
        {"a": {"subject": "more kelp", "weight": 1.5}, "c": {"subject": "new"}},
        {"b": {"subject": "short now"}, "d": {"body": long}},
        {"a": None, "d": None, "nothing": None},
    ]
    for batch in writes:
        world.put(batch)
        assert world.store.connection_contents("c1").record_bytes == size_of(world) > 0
    world.put({"b": {"subject": "short now"}, "e": {"subject": "there"}}, "c2")
    assert world.store.connection_sizes() == {"c1": size_of(world), "c2": size_of(world, "c2")}
    merge(world, "c1", "c2")
    delete_all(world)
    assert world.store.connection_sizes() == {"c2": size_of(world, "c2")}
    world.store.remove_connection("c2")
    assert world.store.connection_sizes() == {}


def test_a_removed_connection_is_out_of_sight_at_once_and_then_deleted(world: World) -> None:
    world.settle(None, "c1", "c2")
    fill(world, "c1", 1_100)
    fill(world, "c2")
    world.store.remove_connection("c1")
    assert world.store.catalogue().connections.keys() == {"c2"}
    assert delete_all(world) == 3
    assert world.store.check() == []
    assert world.keys(world.reach("c2")) == ["k0", "k1", "k2"]
    world.store.connect("c1", "mail", "Again")
    assert world.keys() == []
    query = SearchQuery((world.reach("c1"), world.reach("c2")), ask("kelp"), 9)
    assert len(world.store.search(query).hits) == 3


def test_nothing_is_left_of_what_a_removed_connection_had_deleted_or_merged(world: World) -> None:
    world.settle(None, "c1", "c2")
    world.put({"gone": {"id": "gone"}, "n": {"id": "n", "weight": Decimal("1.2345678901234567")}})
    world.put({"gone": None})
    world.put({"n": {"id": "n"}}, "c2")
    merge(world, "c2", "c1")
    db = database_of(world.store).reader
    tables = ("record", "ghost", "merged_record", "exact_number")

    def rows() -> list[bool]:
        return [db.execute(f"SELECT count(*) FROM {name}").get > 0 for name in tables]

    assert rows() == [True] * 4
    world.store.remove_connection("c1")
    delete_all(world)
    assert rows() == [False] * 4


def test_a_connection_can_be_added_anew_while_the_old_one_is_deleted(world: World) -> None:
    fill(world, "c1")
    world.store.remove_connection("c1")
    world.store.connect("c1", "mail", "Again")
    fill(world, "c1", 2)
    world.store.remove_connection("c1")
    world.store.connect("c1", "mail", "Once more")
    fill(world, "c1", 1)
    delete_all(world)
    assert world.keys() == ["k0"]
    assert world.store.check() == []


def test_a_connection_is_renamed(world: World) -> None:
    world.store.rename_connection("c1", "Other")
    assert world.store.catalogue().connections["c1"].display_name == "Other"
    with pytest.raises(NotFound):
        world.store.rename_connection("nowhere", "Other")


def merge(world: World, source_id: str, target_id: str) -> int:
    """Merge the way the program does; return how many records were written."""
    return merge_connections(world.store, source_id, target_id, world.clock).written


def test_connections_are_merged_with_each_record_once_and_the_newest_kept(world: World) -> None:
    world.settle(None, "c1", "c2")
    world.put({"a": {"subject": "old"}, "b": {"subject": "only here"}}, "c1")
    world.put({"c": {"subject": "old"}}, "c2")
    world.clock.pass_by()
    world.put({"a": {"subject": "new"}, "d": {"subject": "only there"}}, "c2")
    world.put({"c": {"subject": "new"}}, "c1")
    assert merge(world, "c1", "c2") == 2
    assert world.store.catalogue().connections.keys() == {"c2"}
    delete_all(world)
    texts = {r.id: r.data for r in all_records(world.store, world.reach("c2"))}
    assert {key: data.split(b'"')[3] for key, data in texts.items()} == {
        "a": b"new",
        "b": b"only here",
        "c": b"new",
        "d": b"only there",
    }


def test_a_merge_that_is_cut_anywhere_loses_nothing_and_is_finished_by_doing_it_again(
    world: World,
) -> None:
    world.settle(None, "c1", "c2")
    fill(world, "c1", 1_200)
    fill(world, "c2", 10)
    piece = world.store.move_some("c1", "c2")
    assert (piece.records, piece.more) == (500, True)
    assert 490 <= piece.written <= 500
    together = {*world.keys(world.reach("c1")), *world.keys(world.reach("c2"))}
    assert together == {f"k{n}" for n in range(1_200)}
    # An import goes on writing to the account that is on its way out.
    world.put({"late": {"subject": "kelp"}}, "c1")
    merge(world, "c1", "c2")
    delete_all(world)
    assert len(world.keys(world.reach("c2"))) == 1_201
    assert world.store.check() == []
    query = SearchQuery((world.reach("c2"),), ask("kelp"), 2_000)
    assert len(world.store.search(query).hits) == 1_201
    assert merge(world, "c1", "c2") == 0


def test_a_batch_that_was_begun_before_a_merge_goes_into_the_account_that_stays(
    world: World,
) -> None:
    world.settle(None, "c1", "c2")
    fill(world, "c1", 1)
    feed = world.feed("c1")
    batch = world.store.batch(feed)
    batch.keep("late", 1, {"subject": "late kelp"}, None)
    batch.work_ahead()
    merge(world, "c1", "c2")
    assert batch.write().new == 1
    assert world.keys(world.reach("c2")) == ["k0", "late"]
    query = SearchQuery((world.reach("c2"),), ask("kelp"), 9)
    assert len(world.store.search(query).hits) == 2
    world.store.remove_connection("c2")
    gone = world.store.batch(feed)
    gone.keep("later", 1, {}, None)
    with pytest.raises(NotFound):
        gone.write()


def test_what_a_grant_cited_of_a_merged_connection_opens_for_the_owner(world: World) -> None:
    world.settle(None, "c1", "c2", "c3")
    world.put({"both": {"subject": "old"}, "one": {"subject": "one"}}, "c1")
    world.clock.pass_by()
    world.put({"both": {"subject": "new"}}, "c2")
    world.put({"both": {"subject": "newest"}}, "c3")
    approval = approve(world.store, Selection(fields=("subject",)))
    seen = [
        record.id
        for name in ("c1", "c2", "c3")
        for record in all_records(
            world.store, replace(world.reach(name, fields=["subject"]), grant_id=approval.grant_id)
        )
    ]
    assert len(set(seen)) == 4
    merge(world, "c1", "c2")
    merge(world, "c2", "c3")
    owner = world.reach("c3")
    opened = [world.store.cited(owner, id) for id in seen]
    assert sorted(record.id for record in opened if record) == ["both"] * 3 + ["one"]
    assert world.store.catalogue().merged == {"c1": "c3", "c2": "c3"}
    world.store.connect("c1", "mail", "Another")
    assert world.store.catalogue().merged == {"c2": "c3"}
    world.store.remove_connection("c3")
    assert world.store.catalogue().merged == {}


def test_a_stream_that_is_declared_no_more_moves_with_its_records(world: World) -> None:
    world.settle(declare(stream(), stream("drafts")), "c1")
    world.write({"d": {"id": "d"}}, world.feed("c1", "drafts"))
    world.store.register(declare(stream(), version="2"))
    world.store.connect("c2", "mail", "New")
    merge(world, "c1", "c2")
    delete_all(world)
    world.store.register(declare(stream(), stream("drafts"), version="3"))
    assert world.keys(world.reach("c2", "drafts")) == ["d"]


@pytest.mark.parametrize("version", range(6))
def test_records_of_a_stream_that_is_declared_no_more_stay_as_they_were_dated(
    world: World, version: int
) -> None:
    """Of two earlier declarations, whose revisions are in either order, the last one counts."""
    last = stream(thread="thread", consent_time_field="day")
    world.settle(declare(stream(thread_order="size"), version=f"{version} first"), "c1", "c2")
    world.settle(declare(last, version=f"{version} last"), "c1", "c2")
    said = {"at": "2026-03-02T08:00:00Z", "day": "2020-01-01", "thread": "t", "size": 7}
    world.put({"k1": said}, "c1")
    world.store.register(declare(stream("notes"), version="without"))
    merge(world, "c1", "c2")
    world.store.register(declare(last, version="again"))
    assert world.store.check() == []
    in_2020 = Interval(None, instant.parse("2021-01-01T00:00:00Z"))
    assert world.keys(world.reach("c2", time=in_2020)) == ["k1"]


def test_only_connections_of_one_source_are_merged(world: World) -> None:
    with pytest.raises(Conflict):
        merge(world, "c1", "c1")
    with pytest.raises(NotFound):
        merge(world, "c1", "nowhere")


def test_files_that_nothing_refers_to_are_collected(world: World) -> None:
    used, unused = keep(world, b"used"), keep(world, b"unused")
    world.put({"a": {"file": used}})
    assert world.store.collect_blobs(0) is None
    assert world.store.blob(unused["blob_id"]) is not None
    assert world.store.collect_blobs(2**62) is None
    assert world.store.blob(unused["blob_id"]) is None
    assert world.store.blob(used["blob_id"]) is not None
    assert world.store.check() == []


def test_what_is_read_of_a_connection_that_was_just_removed_is_nothing(world: World) -> None:
    fill(world, "c1")
    reach, narrow = world.reach("c1"), world.reach("c1", fields=["subject"])
    page = PageQuery((reach,), 9)
    world.store.remove_connection("c1")
    delete_all(world)
    assert world.store.counts([reach]) == {reach.feed.id: 0}
    assert world.store.count(narrow) == 0
    assert world.store.latest_version(reach) == 0
    assert world.store.page(page).records == ()
    assert world.store.search(SearchQuery((reach,), ask("kelp"), 9)).hits == ()
