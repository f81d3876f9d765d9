"""Positions: where the fields of a feed stand in the indexes, and what a reach may use of them."""

import pytest
from tests.store.world import World

from pdpp.model.declaration import Kind
from pdpp.store.catalogue import Feed
from pdpp.store.tables.positions import cell_position, cells_of, indexed, searched_positions


def test_cells_stand_at_their_positions_with_gaps_left_empty() -> None:
    positions = {"b": (3, Kind.INTEGER), "a": (0, Kind.TEXT)}
    assert cells_of(positions)([{"a": "x", "b": 2, "c": 9}]) == [("x", None, None, 2)]
    assert cells_of({})([{"a": 1}]) == [()]


def test_a_hidden_field_has_no_position(world: World) -> None:
    assert cell_position(world.reach(), "size") is not None
    assert cell_position(world.reach(fields=["at"]), "size") is None
    assert set(searched_positions(world.reach(fields=["body"])).values()) == {"body"}


def test_a_feed_of_another_engine_is_refused(world: World) -> None:
    feed = world.feed()
    foreign = Feed(feed.id, feed.connection, feed.stream, feed.compared, feed.searched, feed.blobs)
    assert indexed(feed) is feed
    with pytest.raises(TypeError, match="not from the catalogue"):
        indexed(foreign)
