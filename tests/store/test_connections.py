"""Removing, renaming and merging connections."""

import io

import pytest
from tests.store.questions import ask
from tests.store.world import Data, World, all_records

from pdpp.model.errors import Conflict, NotFound
from pdpp.store.catalogue import new_connection_id
from pdpp.store.merging import merge_connections
from pdpp.store.port import SearchQuery


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


def test_connections_are_merged_with_each_record_once_and_the_newest_kept(world: World) -> None:
    world.settle(None, "c1", "c2")
    world.put({"a": {"subject": "old"}, "b": {"subject": "only here"}}, "c1")
    world.put({"c": {"subject": "old"}}, "c2")
    world.clock.pass_by()
    world.put({"a": {"subject": "new"}, "d": {"subject": "only there"}}, "c2")
    world.put({"c": {"subject": "new"}}, "c1")
    assert merge_connections(world.store, "c1", "c2") == 2
    assert world.store.catalogue().connections.keys() == {"c2"}
    delete_all(world)
    texts = {r.id: r.data for r in all_records(world.store, world.reach("c2"))}
    assert {key: data.split(b'"')[3] for key, data in texts.items()} == {
        "a": b"new",
        "b": b"only here",
        "c": b"new",
        "d": b"only there",
    }


def test_only_connections_of_one_source_are_merged(world: World) -> None:
    with pytest.raises(Conflict):
        merge_connections(world.store, "c1", "c1")
    with pytest.raises(NotFound):
        merge_connections(world.store, "c1", "nowhere")


def test_files_that_nothing_refers_to_are_collected(world: World) -> None:
    used, unused = keep(world, b"used"), keep(world, b"unused")
    world.put({"a": {"file": used}})
    assert world.store.collect_blobs(0) is None
    assert world.store.blob(unused["blob_id"]) is not None
    assert world.store.collect_blobs(2**62) is None
    assert world.store.blob(unused["blob_id"]) is None
    assert world.store.blob(used["blob_id"]) is not None
    assert world.store.check() == []
