"""Working ahead: a batch whose words were worked out early is written as any other."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine import database_of, open_store
from tests.store.world import TEXT, Clock, Data, Engine, World, declare, stream

from pdpp.store.batch import RecordBatch, WriteResult

pytestmark = pytest.mark.embedded("compares the rows of two files, their numbers included")

TALKING = {
    "id": {"type": "string"},
    "body": {**TEXT, "x_pdpp_role": "body"},
    "at": {"type": ["string", "null"], "format": "date-time", "x_pdpp_role": "event-time"},
    "thread": TEXT,
}
QUERY = {"search": {"lexical_fields": ["body"]}}
DECLARED = declare(stream(properties=TALKING, query=QUERY, thread="thread"), version="2")


def said(number: int, words: str, *, thread: str = "t1") -> Data:
    """Return a message, an earlier one for a higher number."""
    at = f"2026-03-{28 - number:02}T08:00:00Z"
    return {"id": str(number), "body": words, "at": at, "thread": thread}


FIRST = {f"k{number}": said(number, f"apple word{number}") for number in range(6)}


class Batches:
    """Two stores that are given the same batches, one of which works ahead."""

    def __init__(self, *worlds: World) -> None:
        self.plain, self.ahead = worlds

    def write(self, *pieces: Mapping[str, Data | None]) -> WriteResult:
        """Write a batch of some pieces; one store works ahead after each piece."""
        results = []
        for world in (self.plain, self.ahead):
            batch = world.store.batch(world.feed())
            for records in pieces:
                self._give(batch, records, world.clock.now)
                if world is self.ahead:
                    batch.work_ahead()
            results.append(batch.write())
        assert results[0] == results[1]
        return results[0]

    @staticmethod
    def _give(batch: RecordBatch, records: Mapping[str, Data | None], now: int) -> None:
        for key, data in records.items():
            if data is None:
                batch.drop(key, now)
            else:
                batch.keep(key, now, data, None)

    def check(self) -> None:
        """Check that both have the same words in the same places."""
        rows: list[Any] = []
        for world in (self.plain, self.ahead):
            db = database_of(world.store).reader
            rows.append(
                [
                    sorted(map(tuple, db.execute(f"SELECT {columns} FROM {table}")))
                    for table, columns in (
                        ("word_block", "id, feed, size, times, numbers, postings"),
                        ("word_gone", "block, slots"),
                        ("thread_place", "feed, thread, time, ordinal, surrogate, record"),
                        ("record", "id, key, surrogate, data"),
                    )
                ]
            )
        assert rows[0] == rows[1]
        assert rows[0][0]
        assert rows[0][2]


@pytest.fixture
def batches(world: World, engine: Engine, tmp_path: Path, clock: Clock) -> Any:
    """Both stores, with a stream of messages in conversations."""
    other = engine(tmp_path / "ahead", clock)
    yield Batches(*(each.settle(DECLARED) for each in (world, World(other, clock).settle())))
    other.close()


def test_new_records_have_their_words(batches: Batches) -> None:
    assert batches.write(FIRST).new == 6
    assert batches.write({"k7": said(7, "pear"), "k8": said(8, "plum")}).new == 2
    batches.check()


def test_what_comes_after_has_words_too(batches: Batches) -> None:
    assert batches.write(FIRST, {"k7": said(7, "pear")}).new == 7
    batches.check()


def test_of_what_comes_twice_the_last_one_has_words(batches: Batches) -> None:
    assert batches.write(FIRST, {"k2": said(2, "twice")}).new == 6
    batches.check()


def test_records_that_were_there_are_not_added_again(batches: Batches) -> None:
    batches.write({key: FIRST[key] for key in ("k1", "k3")})
    answer = batches.write({**FIRST, "k3": said(3, "changed")}, {"k5": None})
    assert (answer.new, answer.changed, answer.unchanged) == (3, 1, 2)
    batches.check()
    assert batches.write(FIRST | {"k3": said(3, "changed")}).unchanged == 5
    batches.check()


def test_a_record_that_comes_back_is_the_one_it_was(tmp_path: Path, clock: Clock) -> None:
    store = open_store(tmp_path / "data", clock)
    world = World(store, clock).settle(DECLARED)
    world.put(FIRST)
    world.put({"k1": None, "k2": None})
    batch = store.batch(world.feed())
    for key in ("k1", "k9"):
        batch.keep(key, clock.now, FIRST["k1"], None)
    batch.work_ahead()
    assert batch.write().new == 2
    db = database_of(store).reader
    numbers = set(db.execute("SELECT id, surrogate FROM record"))
    assert set(db.execute("SELECT record, surrogate FROM thread_place")) == numbers
    store.close()


def test_a_batch_that_only_deletes_has_no_words(batches: Batches) -> None:
    batches.write(FIRST)
    assert batches.write({"k1": None}).deleted == 1
    batches.check()
