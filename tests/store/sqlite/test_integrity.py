from contextlib import closing
from decimal import Decimal
from pathlib import Path

import apsw
import pytest
from tests.engine import ordered_surrogate
from tests.store.questions import ask
from tests.store.world import Clock, World, condition, declare, stream

from pdpp.model.grant import Interval
from pdpp.store.query import SearchQuery
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore
from pdpp.store.tables.mending import ADVICE

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


def test_a_check_finds_a_count_that_does_not_match(tmp_path: Path, clock: Clock) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({"a": {}, "b": {}})
    db = apsw.Connection(str(tmp_path / FILE_NAME))
    db.execute("UPDATE feed SET record_count = 5")
    db.close()
    assert world.store.check() == ["c1/messages counts 5 records and holds 2"]
    world.store.close()


@pytest.mark.parametrize(
    ("break_it", "told"),
    [
        ("DELETE FROM word_block", "3 records are not in the word index as in the store"),
        (
            "INSERT INTO word_gone SELECT id, x'00000000' FROM word_block",
            "1 record is not in the word index as in the store",
        ),
        (
            "INSERT INTO posting VALUES ('kelp', 1, 99, x'00000000')",
            "1 posting of the word index belongs to no block",
        ),
        (
            f"INSERT INTO long_posting VALUES ({99 << 28}, x'00')",
            "1 posting of the word index belongs to no block",
        ),
        (
            "INSERT INTO posting SELECT 'kelp', 1, id, x'0500000000' FROM word_block",
            "1 long posting is missing in the word index",
        ),
    ],
)
def test_a_check_finds_a_word_index_that_is_not_that_of_the_records(
    tmp_path: Path, clock: Clock, break_it: str, told: str
) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({"a": {"subject": "kelp at low tide"}, "b": {"subject": "kelp"}, "c": {}})
    assert world.store.check() == []
    db = apsw.Connection(str(tmp_path / FILE_NAME))
    db.execute(break_it)
    db.close()
    assert world.store.check() == [f"{told}; {ADVICE}"]
    world.store.mend()
    assert world.store.check() == []
    assert world.store.search(SearchQuery((world.reach(),), ask("kelp"), 9)).ranked == 2
    world.store.close()


@pytest.mark.parametrize(
    "break_it",
    [
        "DELETE FROM cell WHERE value = 't1'",
        "UPDATE cell SET value = 't2' WHERE value = 't1'",
        "DELETE FROM dated_cell WHERE mark IN (SELECT min(mark) FROM dated_cell)",
        "UPDATE dated_cell SET time = time + 1",
        "DELETE FROM exact_number",
        "UPDATE thread_place SET ordinal = ordinal + 1",
        "DELETE FROM thread_place",
        "UPDATE record SET time = NULL WHERE key = 'k1'",
        "UPDATE record SET cells = json_set(cells, '$[0]', 'other') WHERE key = 'k1'",
        "UPDATE record SET cells = substr(cells, 1, 5) WHERE key = 'k1'",
        "UPDATE record SET cells = '[[1]]' WHERE key = 'k1'",
        "INSERT INTO blob_use SELECT owner, 'blob_x', feed, 'file', id FROM record LIMIT 1",
    ],
)
def test_a_stream_that_is_not_indexed_as_its_records_are_is_found_and_mended(
    tmp_path: Path, clock: Clock, break_it: str
) -> None:
    world = World(SqliteStore(tmp_path, clock, ordered_surrogate), clock)
    world.settle(declare(stream(thread="thread")))
    exact = Decimal("0.1000000000000000055")
    said = {"at": "2026-03-02", "thread": "t1", "weight": exact, "note": "x" * 9_000}
    world.put({"k1": said, "k2": {"thread": "t1"}, "k3": {}})
    assert world.store.check() == []
    db = apsw.Connection(str(tmp_path / FILE_NAME))
    db.execute(break_it)
    db.close()
    assert world.store.check() == [f"c1/messages is not indexed as its records are; {ADVICE}"]
    world.store.mend()
    assert world.store.check() == []
    reach = world.reach(time=Interval(0))
    assert world.keys(reach.narrowed([condition(reach, "thread", "eq", "t1")])) == ["k1"]
    world.store.close()


@pytest.mark.parametrize("data", ['{"subject": ', '{\t"subject": ', "[1]", "\0"])
def test_a_record_that_is_damaged_is_named_and_its_stream_stays_as_it_is(
    tmp_path: Path, clock: Clock, data: str
) -> None:
    world = World(SqliteStore(tmp_path, clock), clock)
    world.settle(declare(stream(), stream("other")))
    world.put({"a": {"subject": "kelp"}, "b": {"note": "x" * 9_000}})
    world.write({"c": {"subject": "moss"}}, world.store.catalogue().feeds["c1", "other"])
    with closing(apsw.Connection(str(tmp_path / FILE_NAME))) as db:
        db.execute("UPDATE record SET data = ? WHERE key = 'a'", (data.encode(),))
        db.execute("DELETE FROM cell")
    told = "the record 'a' of c1/messages cannot be read; restore a backup"
    assert world.store.check() == [
        told,
        f"c1/other is not indexed as its records are; {ADVICE}",
    ]
    world.store.mend()
    assert world.store.check() == [told]
    assert world.store.search(SearchQuery((world.reach(),), ask("kelp"), 9)).ranked == 1
    world.store.close()


def test_a_count_that_does_not_match_is_mended(tmp_path: Path, clock: Clock) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({"a": {}, "b": {}})
    db = apsw.Connection(str(tmp_path / FILE_NAME))
    db.execute("UPDATE feed SET record_count = 5")
    db.close()
    told: list[int] = []
    world.store.mend(told.append)
    assert (world.store.check(), told) == ([], [2])
    world.store.close()


def test_a_check_finds_a_damaged_page(tmp_path: Path, clock: Clock) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({str(number): {"note": "x" * 200} for number in range(400)})
    world.store.close()
    file = tmp_path / FILE_NAME
    content = bytearray(file.read_bytes())
    with closing(apsw.Connection(str(file))) as db:
        leaves = "SELECT pgoffset, pgsize FROM dbstat WHERE name = 'record' AND pagetype = 'leaf'"
        start, size = next(db.execute(leaves))
    content[start : start + size] = b"\xff" * size
    file.write_bytes(content)
    store = SqliteStore(tmp_path, clock)
    assert store.check()
    store.close()
