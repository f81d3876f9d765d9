"""Drafts: what was made ready first and replaced later leaves nothing behind but a number."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.store.questions import ask
from tests.store.sqlite.test_work import cells_in
from tests.store.world import Clock, World

from pdpp.store.query import SearchQuery
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


def numbers_in(folder: Path) -> dict[str, int]:
    """Return the number of each record by its key, counted from the first."""
    db = apsw.Connection(str(folder / FILE_NAME))
    rows: list[Any] = db.execute("SELECT key, id & ((1 << 36) - 1) FROM record").fetchall()
    db.close()
    return dict(rows)


def found(world: World, word: str) -> list[str]:
    query = SearchQuery((world.reach(),), ask(word), 10)
    return sorted(world.key(hit.record) for hit in world.store.search(query).hits)


def test_of_one_key_the_last_line_decides_and_its_words_are_found(tmp_path: Path) -> None:
    world = World(SqliteStore(tmp_path, Clock())).settle()
    batch = world.store.batch(world.feed())
    batch.keep("a", 1, {"body": "apple", "size": 1}, None)
    batch.keep("b", 1, {"body": "pear", "thread": "t"}, None)
    batch.keep("a", 2, {"body": "plum"}, None)
    batch.keep("c", 1, {"body": "cherry"}, None)
    batch.drop("c", 2)
    assert batch.write().new == 2
    assert [found(world, word) for word in ("apple", "pear", "plum", "cherry")] == [
        [],
        ["b"],
        ["a"],
        [],
    ]
    assert numbers_in(tmp_path) == {"b": 1, "a": 2}
    assert {(key, value) for (_, key), value in cells_in(tmp_path).items()} == {
        ("a", None),
        ("b", "t"),
    }
    world.store.close()


def test_numbers_go_on_after_a_batch_and_stay_when_nothing_is_new(tmp_path: Path) -> None:
    world = World(SqliteStore(tmp_path, Clock())).settle()
    world.put({"a": {"body": "kelp"}, "b": {"body": "kelp"}})
    world.put({"a": {"body": "plum"}, "b": {"body": "kelp"}})
    world.put({"a": {"body": "plum"}, "c": {"body": "tile"}})
    world.put({"d": {"body": "tile"}})
    assert numbers_in(tmp_path) == {"a": 0, "b": 1, "c": 3, "d": 4}
    assert [found(world, word) for word in ("kelp", "plum", "tile")] == [["b"], ["a"], ["c", "d"]]
    world.store.close()
