"""The bytes of small blobs are in the database, those of large ones in files beside it."""

import io
import os
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.store.world import Clock, World

from pdpp.store.blobs import Blob
from pdpp.store.sqlite.blobs import MOST_IN_DATABASE
from pdpp.store.sqlite.database import SqliteDatabase
from pdpp.store.sqlite.opening import SqliteConnection
from pdpp.store.sqlite.store import SqliteStore


def keep(store: SqliteStore, content: bytes) -> Blob:
    return store.keep_blob(io.BytesIO(content), "text/plain", 1 << 24)


def files_of(folder: Path) -> list[Path]:
    return [path for path in (folder / "blobs").rglob("*") if path.is_file()]


def content_of(store: SqliteStore, blob: Blob) -> bytes:
    with store.open_blob(blob.blob_id) as source:
        return source.read()


@pytest.mark.parametrize(
    ("size", "files"), [(0, 0), (MOST_IN_DATABASE, 0), (MOST_IN_DATABASE + 1, 1)]
)
def test_only_a_large_blob_is_a_file(tmp_path: Path, size: int, files: int) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        blob = keep(store, b"x" * size)
        assert len(files_of(tmp_path)) == files
        assert content_of(store, blob) == b"x" * size
        assert store.check() == []


def test_a_batch_of_small_files_makes_no_file_and_is_one_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []
    with closing(SqliteStore(tmp_path)) as store, closing(store.blob_batch()) as batch:
        kept = [batch.keep(io.BytesIO(b"file %d" % n), "text/plain", 100) for n in range(9)]
        monkeypatch.setattr(os, "fsync", lambda _: pytest.fail("a file was synced"))
        monkeypatch.setattr(os, "replace", lambda *_: pytest.fail("a file was named"))
        writing = SqliteDatabase.writing

        def counted(db: SqliteDatabase) -> AbstractContextManager[SqliteConnection]:
            begun.append(1)
            return writing(db)

        monkeypatch.setattr(SqliteDatabase, "writing", counted)
        batch.settle()
        assert begun == [1]
        assert [content_of(store, blob) for blob in kept] == [b"file %d" % n for n in range(9)]


def test_what_is_rolled_back_leaves_no_bytes(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        with suppress(RuntimeError), store._database.writing():
            store._blobs.keep(io.BytesIO(b"lost"), 99)
            raise RuntimeError
        assert store._database.reader.execute("SELECT count(*) FROM blob_content").get == 0
        store._blobs.keep(io.BytesIO(b"kept"), 99)
        assert store._database.reader.execute("SELECT count(*) FROM blob_content").get == 1


def test_a_small_blob_that_no_record_has_is_removed_with_its_bytes(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        blob = keep(store, b"unused")
        store.collect_blobs(0)
        assert store.blob(blob.blob_id) == blob, "it was kept since"
        store.collect_blobs(2**62)
        assert store.blob(blob.blob_id) is None
        assert store._database.reader.execute("SELECT count(*) FROM blob_content").get == 0


def test_what_is_in_the_database_is_counted_once(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        keep(store, b"x" * MOST_IN_DATABASE)
        keep(store, b"x" * 100_000)
        db, parts = store._database.reader, store.occupied()
        pages = db.pragma("page_count") * db.pragma("page_size")
        assert parts["blobs"] == MOST_IN_DATABASE + 100_000
        assert parts["database"] == pages - MOST_IN_DATABASE


def test_a_backup_has_the_files_of_its_moment_whatever_goes_and_comes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    folder, copied = tmp_path / "data", tmp_path / "copy"
    store = SqliteStore(folder, clock)
    world = World(store, clock).settle(None, "c1")
    contents = [mark * 20_000 for mark in (b"first", b"given up", b"late")]
    first, given_up = (keep(store, content) for content in contents[:2])
    world.put({"k": {"file": {"blob_id": first.blob_id}}}, "c1")
    copy_rows = SqliteDatabase.backup

    def slowly(database: SqliteDatabase, *given: Any) -> None:
        store._blobs.remove(given_up.blob_id, 2**62)
        database._writer.execute("DELETE FROM blob WHERE blob_id = ?", (given_up.blob_id,))
        copy_rows(database, *given)
        world.put({"k": None}, "c1")
        store.collect_blobs(2**62)
        late = keep(store, contents[2])
        world.put({"l": {"file": {"blob_id": late.blob_id}}}, "c1")

    monkeypatch.setattr(SqliteDatabase, "backup", slowly)
    store.backup(copied)
    monkeypatch.undo()
    with closing(store), closing(SqliteStore(copied, clock)) as copy:
        assert store.blob(first.blob_id) is None
        assert copy.check() == []
        assert [content_of(copy, blob) for blob in copy.blobs()] == contents[:1]
        assert len(files_of(copied)) == 1


def test_a_backup_has_small_and_large_blobs(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "data")) as store:
        blobs = [keep(store, b"small"), keep(store, b"large" * 20_000)]
        store.backup(tmp_path / "copy")
    with closing(SqliteStore(tmp_path / "copy")) as copy:
        assert [content_of(copy, blob) for blob in blobs] == [b"small", b"large" * 20_000]
        assert copy.check() == []
