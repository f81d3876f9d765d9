from pathlib import Path

import apsw
import pytest
from tests.store.world import Clock, World

from pdpp.store.sqlite.store import FILE_NAME, SqliteStore


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
        ("UPDATE length_block SET lengths = zeroblob(2048)", "2 texts have"),
        ("DELETE FROM length_block", "2 texts have"),
        ("DELETE FROM lex WHERE rowid = (SELECT min(rowid) FROM lex)", "1 text has"),
    ],
)
def test_a_check_finds_lengths_that_are_not_those_of_the_index(
    tmp_path: Path, clock: Clock, break_it: str, told: str
) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({"a": {"subject": "kelp at low tide"}, "b": {"subject": "kelp"}, "c": {}})
    assert world.store.check() == []
    db = apsw.Connection(str(tmp_path / FILE_NAME))
    db.execute(break_it)
    db.close()
    assert world.store.check() == [
        f"{told} another length in the index than searches rank by; restore a backup"
    ]
    world.store.close()


def test_a_check_finds_a_damaged_page(tmp_path: Path, clock: Clock) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({str(number): {"note": "x" * 200} for number in range(400)})
    world.store.close()
    file = tmp_path / FILE_NAME
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 8192] = b"\xff" * 8192
    file.write_bytes(content)
    store = SqliteStore(tmp_path, clock)
    assert store.check()
    store.close()
