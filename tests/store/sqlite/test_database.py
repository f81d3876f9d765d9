"""What only the embedded engine promises: its file, its modes, its threads."""

import io
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.store.world import Clock, World

from pdpp.model.errors import Overloaded, StoreError
from pdpp.store.sqlite import database
from pdpp.store.sqlite.opening import SqliteConnection, open_connection
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def query(folder: Path, sql: str) -> list[tuple[object, ...]]:
    db = apsw.Connection(str(folder / FILE_NAME))
    try:
        return list(db.execute(sql))
    finally:
        db.close()


def test_a_store_is_opened_by_a_connection_that_writes_and_one_that_reads(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    SqliteStore(tmp_path, clock).close()
    opened: list[Path] = []

    def noted(path: Path, *more: Any, **options: Any) -> SqliteConnection:
        opened.append(path)
        return open_connection(path, *more, **options)

    monkeypatch.setattr(database, "open_connection", noted)
    store = SqliteStore(tmp_path, clock)
    assert opened == [tmp_path / FILE_NAME] * 2
    World(store, clock).settle().put({"a": {}})
    store.close()


def test_everything_a_store_writes_is_for_its_owner_alone(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "data"
    store = SqliteStore(folder, clock)
    World(store, clock).settle().put({"a": {}})
    store.keep_blob(io.BytesIO(b"x"), "text/plain", 9)
    store.backup(tmp_path / "backup")
    assert (folder / f"{FILE_NAME}-wal").is_file()
    wrong = [
        (path.relative_to(tmp_path).as_posix(), oct(mode(path)))
        for root in (folder, tmp_path / "backup")
        for path in [root, *root.rglob("*")]
        if mode(path) != (0o700 if path.is_dir() else 0o600)
    ]
    assert wrong == []
    store.close()


def test_writes_go_to_a_log_that_readers_need_not_wait_for(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore(tmp_path, clock)
    assert query(tmp_path, "PRAGMA journal_mode") == [("wal",)]
    store.close()
    assert not (tmp_path / f"{FILE_NAME}-wal").exists()


def test_a_backup_is_one_file_without_a_log(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore(tmp_path / "data", clock)
    store.backup(tmp_path / "backup")
    assert [path.name for path in (tmp_path / "backup").iterdir()] == [FILE_NAME]
    assert query(tmp_path / "backup", "PRAGMA journal_mode") == [("delete",)]
    store.close()


def test_each_thread_reads_through_a_connection_of_its_own(tmp_path: Path, clock: Clock) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({"a": {}})
    counts: list[int] = []
    with world.store.reading():
        reach = world.reach()
        threads = [
            threading.Thread(target=lambda: counts.append(world.store.count(reach)))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counts == [1, 1, 1]
    assert world.store.state() == world.store.state()
    world.store.close()


def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match="cannot open the database") as refused:
        SqliteStore(tmp_path / "file" / "data", clock)
    assert "\n" not in refused.value.message


def test_readers_cannot_write(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore(tmp_path, clock)
    with pytest.raises(apsw.ReadOnlyError):
        store._db.reader.execute("DELETE FROM setting")
    store.close()


def test_a_failed_write_leaves_no_transaction_open(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore(tmp_path, clock)
    insert = "INSERT INTO setting VALUES (1, 'x', 1)"
    with pytest.raises(apsw.ConstraintError), store._db.writing() as db:
        db.execute(f"{insert}; {insert}")
    with pytest.raises(apsw.SQLError), store._db.writing() as db:
        db.execute("ROLLBACK; SELECT * FROM nowhere")
    assert query(tmp_path, "SELECT * FROM setting WHERE name = 'x'") == []
    World(store, clock).settle().put({"a": {}})
    store.close()


def test_a_read_that_leaves_something_open_does_not_go_on_seeing_the_past(world: World) -> None:
    database = world.store._db  # type: ignore[attr-defined]
    reach = world.reach()
    with world.store.reading():
        left_open = database.reader.execute("SELECT name FROM sqlite_schema")
        next(left_open)
    world.put({"later": {}})
    assert world.store.count(reach) == 1


def writing_elsewhere(folder: Path) -> apsw.Connection:
    """Return a connection in the middle of a write, as another process has one."""
    other = apsw.Connection(str(folder / FILE_NAME))
    other.execute("BEGIN IMMEDIATE")
    return other


def test_a_writer_looks_at_an_even_pace_until_another_process_is_done(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    other, pauses = writing_elsewhere(tmp_path), []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 40:
            other.execute("COMMIT")

    monkeypatch.setattr("pdpp.store.sqlite.database.time.sleep", sleep)
    world.put({"a": {}})
    assert pauses == [database._PAUSE_SECONDS] * 40
    other.close()
    world.store.close()


def test_a_writer_does_not_wait_for_ever(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    other = writing_elsewhere(tmp_path)
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.01)
    with pytest.raises(apsw.BusyError):
        world.put({"a": {}})
    other.close()
    world.store.close()


def test_nothing_is_made_in_the_place_of_a_file_that_was_moved(
    tmp_path: Path, clock: Clock
) -> None:
    store = SqliteStore(tmp_path / "data", clock)
    World(store, clock).settle().put({"a": {}})
    place = tmp_path / "data" / FILE_NAME
    place.rename(tmp_path / "moved")
    uses: list[Callable[[], object]] = [
        lambda: store.vault.grant("g"),
        store.tend,
        lambda: store.backup(tmp_path / "backup"),
    ]
    for use in uses:
        with ThreadPoolExecutor(1) as another, pytest.raises(Overloaded):
            another.submit(use).result()
        assert not place.exists()
    (tmp_path / "moved").rename(place)
    with ThreadPoolExecutor(1) as another:
        assert another.submit(lambda: World(store, clock).keys()).result() == ["a"]
    store.close()


def test_no_thread_goes_on_with_a_file_that_was_in_the_place_for_a_while(
    tmp_path: Path, clock: Clock
) -> None:
    """A thread keeps its connection: it would read the other file when the data is back."""
    stores = {name: SqliteStore(tmp_path / name, clock) for name in ("data", "other")}
    for name, store in stores.items():
        World(store, clock).settle().put({name: {}})
    stores["other"].close()
    folder = tmp_path / "data"
    with ThreadPoolExecutor(1) as another:
        folder.rename(tmp_path / "moved")
        (tmp_path / "other").rename(folder)
        with pytest.raises(Overloaded):
            another.submit(stores["data"].vault.grant, "g").result()
        folder.rename(tmp_path / "other")
        (tmp_path / "moved").rename(folder)
        shown = another.submit(lambda: World(stores["data"], clock).keys()).result()
    assert shown == ["data"]
    stores["data"].close()
