"""Unused space is overwritten: it keeps copies of rows that the engine moved and that went later.

The engine leaves such a copy seldom, and where nobody can foresee. So the tests put copies there.
"""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.sqlite.test_deletion import holders
from tests.store.world import Clock, World

from pdpp.encryption.data_key import DataKey
from pdpp.store.sqlite import scrubbing
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore

pytestmark = pytest.mark.embedded("about the file of the embedded engine")

SECRET = "zanzibarine"
PAGE = 8_192
RECORDS = 400
TREE_PAGES = (2, 5, 10, 13)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def world(folder: Path, clock: Clock) -> Iterator[World]:
    """Return a world in whose file the gap of every page holds a copy of a secret."""
    filled = World(SqliteStore(folder, clock), clock).settle()
    for start in range(0, RECORDS, 100):
        numbers = range(start, start + 100)
        filled.put({f"k{number}": {"thread": f"thread {number}"} for number in numbers})
    while filled.store.tend():
        pass
    filled.store.close()
    assert leave_copies(folder / FILE_NAME) > 10
    world = World(SqliteStore(folder, clock), clock)
    yield world
    world.store.close()


def leave_copies(path: Path) -> int:
    """Write a secret into the gaps of pages as the engine leaves it; return into how many."""
    content = bytearray(path.read_bytes())
    copies = 0
    for at in range(0, len(content), PAGE):
        start = at + (100 if at == 0 else 0)
        if content[start] not in TREE_PAGES:
            continue
        cells = int.from_bytes(content[start + 3 : start + 5], "big")
        content_at = int.from_bytes(content[start + 5 : start + 7], "big")
        end = at + content_at
        if content_at - (start - at) - 12 - 2 * cells > 40:
            content[end - len(SECRET) : end] = SECRET.encode()
            copies += 1
    path.write_bytes(content)
    return copies


def finish(world: World) -> None:
    while world.store.tend():
        pass


def test_the_engine_takes_no_notice_of_copies(world: World) -> None:
    assert world.store.check() == []
    assert len(world.keys()) == RECORDS


def test_copies_are_overwritten_after_something_was_deleted(world: World, folder: Path) -> None:
    world.put({"k7": None})
    finish(world)
    assert holders(folder, SECRET) == []
    assert world.store.check() == []
    assert len(world.keys()) == RECORDS - 1


def test_copies_are_overwritten_after_something_was_rewritten(world: World, folder: Path) -> None:
    world.put({"k7": {"thread": "another"}})
    finish(world)
    assert holders(folder, SECRET) == []


def test_a_page_that_a_writer_remembers_does_not_bring_a_copy_back(
    world: World, folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scrubbing, "_PIECE_PAGES", 1)
    scrubber = scrubbing.Scrubber(folder / FILE_NAME)
    other = World(SqliteStore(folder, clock), clock)
    other.put({"new": {"thread": "more"}})
    world.put({"k7": None})
    added = 0
    while scrubber.step():
        # A record that is added deletes nothing, so that the pass is not begun again for it.
        other.put({f"new{added}": {"thread": f"more {added}"}})
        added += 1
    assert added > 10
    assert holders(folder, SECRET) == []
    other.store.close()


def test_who_reads_is_left_alone_and_the_work_is_done_another_time(
    world: World, folder: Path
) -> None:
    begun, ended = threading.Event(), threading.Event()
    counts: list[int] = []

    def read() -> None:
        with world.store.reading():
            counts.append(len(world.keys()))
            begun.set()
            ended.wait()
            counts.append(len(world.keys()))

    reader = threading.Thread(target=read)
    reader.start()
    begun.wait()
    world.put({"k7": None})
    finish(world)
    left = holders(folder, SECRET)
    ended.set()
    reader.join()
    assert left != []
    assert counts == [RECORDS, RECORDS]
    finish(world)
    assert holders(folder, SECRET) == []


def test_nothing_is_lost_while_another_program_writes(
    world: World, folder: Path, clock: Clock
) -> None:
    other = World(SqliteStore(folder, clock), clock)
    stop = threading.Event()
    written: list[str] = []

    def write() -> None:
        while not stop.is_set():
            written.append(f"n{len(written)}")
            other.put({written[-1]: {"thread": f"new {written[-1]}"}})

    writer = threading.Thread(target=write)
    writer.start()
    for number in range(30):
        world.put({f"k{number}": None})
        world.store.tend()
    stop.set()
    writer.join()
    finish(world)
    assert set(world.keys()) == {*written, *(f"k{number}" for number in range(30, RECORDS))}
    assert world.store.check() == []
    assert holders(folder, SECRET) == []
    other.store.close()


def test_a_store_from_which_nothing_was_deleted_is_left_alone(world: World, folder: Path) -> None:
    world.put({"new": {"thread": "more"}})
    finish(world)
    assert holders(folder, SECRET) != []


def test_an_encrypted_file_is_left_alone(tmp_path: Path, clock: Clock) -> None:
    world = World(SqliteStore(tmp_path, clock, key=DataKey(bytes(32))), clock).settle()
    world.put({"k1": {"thread": SECRET}})
    world.put({"k1": None})
    finish(world)
    assert holders(tmp_path, SECRET) == []
    assert world.store.check() == []
    world.store.close()
