"""Postings that lie apart because they are long: found, made anew, and gone without a rest."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.engine import database_of
from tests.store.questions import ask
from tests.store.world import Clock, World

from pdpp.store.query import SearchQuery
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore
from pdpp.store.tables.search import index, long_postings, tending

COUNT = 60
COMMON = ("harbour", "lantern", "timber")


@pytest.fixture
def spread(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose words are spread; those that many records hold count as long."""
    monkeypatch.setattr(long_postings, "LONG", 20)
    monkeypatch.setattr(index, "SPREAD_FROM", 10)
    monkeypatch.setattr(tending, "PIECE_ROWS", 10)
    monkeypatch.setattr(tending, "LONG_ROWS", 2)
    world.settle()
    world.put({f"k{n}": {"body": f"{' '.join(COMMON)} only{n}"} for n in range(COUNT)})
    tend(world)
    return world


def tend(world: World) -> None:
    while world.store.tend():
        pass


def hits(world: World, q: str) -> int:
    return world.store.search(SearchQuery((world.reach(),), ask(q), 100)).ranked


def rows(world: World, sql: str) -> Any:
    return database_of(world.store).reader.execute(sql).get


def test_long_postings_lie_apart_and_are_found(spread: World) -> None:
    assert rows(spread, "SELECT count(*) FROM long_posting") >= len(COMMON)
    assert rows(spread, "SELECT max(length(data)) FROM posting") <= long_postings.LONG
    assert [hits(spread, word) for word in COMMON] == [COUNT] * len(COMMON)
    assert hits(spread, "only7") == 1
    assert list(spread.store.check()) == []


def test_records_that_go_leave_no_long_posting_of_their_block(spread: World) -> None:
    before = set(long_ids(spread))
    spread.put({"k7": None, "k8": {"body": "lantern"}})
    tend(spread)
    assert [hits(spread, word) for word in COMMON] == [COUNT - 2, COUNT - 1, COUNT - 2]
    after = set(long_ids(spread))
    assert after
    assert not before & after
    assert len({long_postings.block_of(id) for id in after}) == 1
    assert list(spread.store.check()) == []


def test_a_connection_that_goes_takes_its_long_postings_along(spread: World) -> None:
    spread.store.remove_connection("c1")
    while spread.store.delete_removed():
        pass
    assert rows(spread, "SELECT count(*) FROM long_posting") == 0
    assert rows(spread, "SELECT count(*) FROM posting") == 0


@pytest.mark.parametrize("call", ["insert", "delete"])
def test_a_kill_among_long_postings_loses_nothing_and_leaves_nothing(
    spread: World, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    spread.put({"k7": None})
    usual, calls = getattr(long_postings, call), list[int]()

    def die(*given: Any) -> None:
        usual(*given)
        calls.append(len(given[-1]))
        if len(calls) > 1:
            raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(long_postings, call, die)
        with pytest.raises(InterruptedError):
            tend(spread)
    assert max(calls) <= tending.LONG_ROWS
    assert hits(spread, "harbour") == COUNT - 1
    assert list(spread.store.check()) == []
    tend(spread)
    assert hits(spread, "harbour") == COUNT - 1
    assert rows(spread, "SELECT count(*) FROM word_block WHERE feed < 0 OR spread > 1") == 0
    assert len({long_postings.block_of(id) for id in long_ids(spread)}) == 1
    assert list(spread.store.check()) == []


def long_ids(world: World) -> Iterator[int]:
    for (id,) in database_of(world.store).reader.execute("SELECT id FROM long_posting"):
        yield id


@pytest.mark.embedded("about the file of the embedded engine")
def test_no_byte_of_a_long_posting_is_left_that_was_made_anew(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_postings, "LONG", 20)
    monkeypatch.setattr(index, "SPREAD_FROM", 10)
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({f"k{n}": {"body": "harbour " * (n % 7 + 1)} for n in range(COUNT)})
    tend(world)
    long = rows(world, "SELECT data FROM long_posting")
    assert is_in_a_file(tmp_path, long)
    world.put({"k7": None})
    tend(world)
    assert rows(world, "SELECT count(*) FROM long_posting") > 0
    assert not is_in_a_file(tmp_path, long)
    world.store.close()
    assert not is_in_a_file(tmp_path, long)


def is_in_a_file(folder: Path, data: bytes) -> bool:
    return any(data in path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.embedded("about the pages of the embedded engine's file")
def test_no_posting_goes_on_in_another_page_than_its_key(tmp_path: Path, clock: Clock) -> None:
    """A comparison reads the whole of a key: 15 µs for each step of a search that meets one."""
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    # Letters of three bytes: a term has 40 of them at most. A bit for each record is just not long.
    longest, count = "ა" * 38, 8 * (long_postings.LONG - 8)
    text = {n: " ".join(f"{longest}{p}" for p in (2, 8, 9, 90) if n % p == 0) for n in range(count)}
    world.put({f"k{n}": {"body": text[n]} for n in range(count)})
    tend(world)
    world.store.close()
    with closing(apsw.Connection(str(tmp_path / FILE_NAME))) as db:
        assert db.execute("SELECT max(length(CAST(term AS BLOB))) FROM posting").get > 100
        lengths = "SELECT max(length(data)) FROM posting"
        assert long_postings.LONG - 10 < db.execute(lengths).get <= long_postings.LONG
        overflow = "SELECT count(*) FROM dbstat WHERE name = ? AND pagetype = 'overflow'"
        assert db.execute(overflow, ("posting",)).get == 0
        assert db.execute(overflow, ("long_posting",)).get > 0
