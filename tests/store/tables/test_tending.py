"""Tending in pieces: short transactions, what dies in between, and what is written meanwhile."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from tests.engine import database_of
from tests.store.questions import ask
from tests.store.world import World

from pdpp.store.query import SearchQuery
from pdpp.store.tables.search import index, stored_blocks, tending

COUNT = 40
PIECE = 10


class Killed(Exception):
    """Stands for the end of a process."""


def word(number: int) -> str:
    """Return a word that is like no other one."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:12]


def hits(world: World, q: str) -> int:
    return world.store.search(SearchQuery((world.reach(),), ask(q), 100)).ranked


def tend(world: World) -> None:
    while world.store.tend():
        pass


def rows(world: World, sql: str) -> Any:
    return database_of(world.store).reader.execute(sql).get


@pytest.fixture
def crowded(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world with small blocks that are worth spreading, which takes many pieces."""
    monkeypatch.setattr(tending, "PIECE_ROWS", PIECE)
    monkeypatch.setattr(index, "SPREAD_FROM", 10)
    world.settle()
    for start in range(0, COUNT, 10):
        numbers = range(start, start + 10)
        world.put({f"k{n}": {"body": f"harbour {word(n)} part{n}"} for n in numbers})
    return world


def before(
    monkeypatch: pytest.MonkeyPatch, name: str, turn: int, happen: Callable[[], None]
) -> list[int]:
    """Have something happen before one of the calls that write pieces; return their sizes."""
    usual, sizes = getattr(stored_blocks, name), list[int]()

    def write(*given: Any) -> None:
        sizes.append(len(given[-1]))
        if len(sizes) == turn:
            happen()
        usual(*given)

    monkeypatch.setattr(stored_blocks, name, write)
    return sizes


def die() -> None:
    raise Killed


def test_no_transaction_writes_or_removes_more_than_a_piece(
    crowded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = before(monkeypatch, "insert_postings", 0, die)
    tend(crowded)
    assert len(written) > COUNT // PIECE
    crowded.put({"k7": None})
    removed = before(monkeypatch, "delete_postings", 0, die)
    tend(crowded)
    assert len(removed) > COUNT // PIECE
    assert max(written + removed) <= PIECE
    assert hits(crowded, "harbour") == COUNT - 1
    assert rows(crowded, f"SELECT count(*) FROM posting WHERE term = '{word(7)}'") == 0
    assert list(crowded.store.check()) == []


@pytest.mark.parametrize("call", ["insert_postings", "delete_postings"])
@pytest.mark.parametrize("turn", [1, 3])
def test_a_kill_between_two_pieces_loses_nothing_and_leaves_nothing(
    crowded: World, monkeypatch: pytest.MonkeyPatch, call: str, turn: int
) -> None:
    if call == "delete_postings":
        tend(crowded)
        crowded.put({"k7": None})
    left = hits(crowded, "harbour")
    with pytest.MonkeyPatch.context() as patch:
        before(patch, call, turn, die)
        with pytest.raises(Killed):
            tend(crowded)
    assert hits(crowded, "harbour") == left
    assert list(crowded.store.check()) == []
    crowded.put({"new": {"body": "harbour"}})
    tend(crowded)
    assert hits(crowded, "harbour") == left + 1
    assert rows(crowded, "SELECT count(*) FROM word_block WHERE feed < 0 OR spread > 1") == 0
    assert rows(crowded, "SELECT count(DISTINCT block) FROM posting") == 1
    assert list(crowded.store.check()) == []


def test_what_is_deleted_and_written_meanwhile_is_gone_and_found(
    crowded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = tending._build

    def build(*given: Any) -> int:
        id = usual(*given)
        crowded.put({"k7": None, "k8": {"body": "lighthouse"}, "new": {"body": "harbour"}})
        assert hits(crowded, word(7)) == 0
        return id

    monkeypatch.setattr(tending, "_build", build)
    assert crowded.store.tend()
    monkeypatch.setattr(tending, "_build", usual)
    for _ in range(2):
        assert hits(crowded, "harbour") == COUNT - 1
        assert hits(crowded, "lighthouse") == 1
        assert hits(crowded, word(7)) == hits(crowded, word(8)) == 0
        tend(crowded)
    left = f"SELECT count(*) FROM posting WHERE term IN ('{word(7)}', '{word(8)}')"
    assert rows(crowded, left) == 0
    assert list(crowded.store.check()) == []


def test_a_block_that_goes_meanwhile_is_not_brought_back(
    crowded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = tending._build

    def build(*given: Any) -> int:
        id = usual(*given)
        crowded.store.remove_connection("c1")
        while crowded.store.delete_removed():
            pass
        return id

    monkeypatch.setattr(tending, "_build", build)
    tend(crowded)
    assert rows(crowded, "SELECT count(*) FROM word_block") == 0
    assert rows(crowded, "SELECT count(*) FROM posting") == 0


def test_blocks_that_are_being_replaced_are_not_merged_by_a_write(
    crowded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced = rows(crowded, "SELECT max(id) FROM word_block")
    usual = tending._build

    def build(*given: Any) -> int:
        id = usual(*given)
        for number in range(12):
            crowded.put({f"late{number}": {"body": "harbour"}})
        return id

    monkeypatch.setattr(tending, "_build", build)
    assert crowded.store.tend()
    assert rows(crowded, f"SELECT count(*) FROM word_block WHERE id <= {replaced}") == 0
    assert rows(crowded, "SELECT count(*) FROM word_block WHERE spread = 1 AND feed > 0") == 1
    assert hits(crowded, "harbour") == COUNT + 12


def test_a_batch_leaves_the_spreading_to_tending_unless_too_much_waits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "BLOCK_RECORDS", 20)
    monkeypatch.setattr(index, "MOST_WAITING", 60)
    monkeypatch.setattr(index, "_LITTLE", 0)
    monkeypatch.setattr(index, "SPREAD_FROM", 1)
    world.settle()
    spread = []
    for start in range(0, 60, 10):
        world.put({f"k{n}": {"body": f"harbour {word(n)}"} for n in range(start, start + 10)})
        spread.append(rows(world, "SELECT count(*) FROM word_block WHERE spread = 1"))
    assert spread == [0, 0, 0, 0, 0, 1]
    assert rows(world, "SELECT sum(size) FROM word_block WHERE spread = 1") == 20
    assert rows(world, "SELECT sum(size) FROM word_block WHERE spread = 0") == 40
    assert hits(world, "harbour") == 60
    tend(world)
    assert rows(world, "SELECT count(*) FROM word_block WHERE spread = 0") == 0
    assert hits(world, "harbour") == 60


def test_a_block_that_comes_into_sight_is_not_removed_by_another_who_tends(
    crowded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One has written a block out of sight; another looks for what to remove, and meanwhile the
    # first one puts the block in its place.
    usual, looked = stored_blocks.posting_keys, list[int]()
    feed = crowded.feed().id

    def keys(*given: Any) -> Any:
        if not looked:
            looked.append(given[-1])
            with crowded.store._db.writing() as db:  # type: ignore[attr-defined]
                db.execute("UPDATE word_block SET feed = ? WHERE id = ?", (feed, given[-1]))
                others = db.execute("SELECT id FROM word_block WHERE spread = 0").fetchall()
                stored_blocks.drop(db, feed, [id for (id,) in others])
        return usual(*given)

    replace, built = tending._replace, list[int]()

    def build(database: Any, work: Any, sources: Any, merged: Any) -> None:
        built.append(tending._build(database, work.feed, merged))

    monkeypatch.setattr(tending, "_replace", build)
    assert crowded.store.tend()
    monkeypatch.setattr(tending, "_replace", replace)
    monkeypatch.setattr(stored_blocks, "posting_keys", keys)
    tend(crowded)
    assert looked == built
    assert [hits(crowded, word(n)) for n in range(COUNT)] == [1] * COUNT


def test_what_somebody_else_builds_leaves_nothing_to_merge(
    crowded: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tending, "_remove_hidden", lambda _: False)
    with crowded.store._db.writing() as db:  # type: ignore[attr-defined]
        last = db.execute("SELECT max(id) FROM word_block").get
        copied = "owner, -feed, analyser, 1, size, first_time, last_time, times, numbers, postings"
        db.execute(
            "INSERT INTO word_block (owner, feed, analyser, spread, size, first_time, last_time,"
            f" times, numbers, postings) SELECT {copied} FROM word_block WHERE id = ?",
            (last,),
        )
    assert not crowded.store.tend()
