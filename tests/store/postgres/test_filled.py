"""Which fields have cells in PostgreSQL: told by a look at each, and changed a part at a time."""

from collections import Counter

import psycopg
import pytest
from tests.engine import database_of
from tests.postgres_server import server_url
from tests.store.postgres.conftest import Opener
from tests.store.world import Clock, World

from pdpp.store.port import Store
from pdpp.store.postgres import bulk
from pdpp.store.tables.positions import indexed
from pdpp.store.tables.records.filled import filled_places
from pdpp.store.tables.records.predicate import OWNER

MANY = 3_000
_READ = """
    SELECT sum(pg_stat_get_tuples_returned(oid) + pg_stat_get_blocks_fetched(oid))
    FROM pg_class WHERE relnamespace = 'pdpp'::regnamespace
"""


def read_so_far(store: Store) -> int:
    """Return how many rows and pages the database has gone through."""
    for db in database_of(store).connections.readers._idle:
        db.control("SELECT pg_stat_force_next_flush()")
    with psycopg.connect(server_url(), autocommit=True) as session:
        row = session.execute(_READ).fetchone()
    assert row is not None
    return int(row[0])


def test_whether_a_field_has_cells_is_told_without_a_look_at_all_of_them(
    opened: Opener, clock: Clock
) -> None:
    world = World(opened("anna"), clock).settle()
    world.put({f"k{number}": {"size": number} for number in range(MANY)})
    feed = indexed(world.feed())
    places = {name: place for name, (place, _) in feed.cells.items()}
    reader = database_of(world.store).reader
    filled_places(reader, feed.id, places.values())
    before = read_so_far(world.store)
    assert filled_places(reader, feed.id, places.values()) == {places["size"]}
    assert read_so_far(world.store) - before < MANY / 10


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_however_many_records_a_statement_goes_through_all_get_cells(
    at_once: int, opened: Opener, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "_FILLED_AT_ONCE", at_once)
    world = World(opened("anna"), clock).settle(None, "c1", "c2")
    for connection in ("c1", "c2"):
        world.put({f"k{number}": {"body": "apple"} for number in range(7)}, connection)
    world.put({"k2": None, "k3": {"size": 3}, "late": {"weight": 0.5}})
    cells = database_of(world.store).reader.execute(
        "SELECT feed, field AS place FROM cell WHERE owner = ?", (OWNER,)
    )
    feed = indexed(world.feed())
    places = {name: place for name, (place, _) in feed.cells.items()}
    assert Counter(cells) == {(feed.id, places[name]): 7 for name in ("size", "weight")}
    assert list(world.store.check()) == []
