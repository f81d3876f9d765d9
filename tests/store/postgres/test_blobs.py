"""Blobs: small ones are in the database, so that workers need no folder in common."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from tests.postgres_server import server_url
from tests.store.world import Clock, World

from pdpp.model.errors import BlobNotFound, PayloadTooLarge
from pdpp.store.blobs import Blob
from pdpp.store.postgres.blobs import MOST_IN_DATABASE
from pdpp.store.postgres.store import PostgresStore

SMALL = bytes(range(256)) * (MOST_IN_DATABASE // 256)
LARGE = SMALL + b"!"
LATE = 1 << 62

Machine = Callable[[str, str], PostgresStore]


@pytest.fixture
def machine(tmp_path: Path, clock: Clock) -> Iterator[Machine]:
    """Open the store of an owner on a machine with a folder of its own."""
    stores: list[PostgresStore] = []

    def open_one(name: str, owner: str = "anna") -> PostgresStore:
        folder = tmp_path / name
        stores.append(PostgresStore(server_url(), folder, clock, owner=f"{tmp_path}/{owner}"))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


def keep(store: PostgresStore, content: bytes) -> Blob:
    return store.keep_blob(io.BytesIO(content), "image/png", 1 << 24)


def read(store: PostgresStore, blob: Blob, start: int = 0) -> bytes:
    with store.open_blob(blob.blob_id, start) as source:
        return source.read()


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def in_database(blob: Blob) -> int:
    """Return how many owners have the bytes of a blob in the database."""
    with psycopg.connect(server_url()) as session:
        text = "SELECT count(*) FROM pdpp.blob_content WHERE blob_id = %s"
        row = session.execute(text, (blob.blob_id,)).fetchone()
        assert row is not None
        return int(row[0])


def test_a_small_blob_is_read_on_a_machine_that_shares_no_folder(
    machine: Machine, tmp_path: Path
) -> None:
    here, there = machine("here", "anna"), machine("there", "anna")
    kept = keep(here, SMALL)
    assert read(there, kept) == SMALL
    assert read(there, kept, len(SMALL) - 7) == SMALL[-7:]
    assert read(there, kept, len(SMALL)) == b""
    assert there.check() == []
    assert files(tmp_path) == []


def test_a_larger_blob_is_a_file_and_is_missed_where_the_file_is_not(machine: Machine) -> None:
    here, there = machine("here", "anna"), machine("there", "anna")
    kept = keep(here, LARGE)
    assert in_database(kept) == 0
    assert read(here, kept, 1) == LARGE[1:]
    with pytest.raises(BlobNotFound):
        there.open_blob(kept.blob_id)
    assert [problem for problem in there.check() if kept.blob_id in problem]
    with pytest.raises(PayloadTooLarge):
        here.keep_blob(io.BytesIO(LARGE), "image/png", len(LARGE) - 1)


def test_a_blob_of_one_owner_is_not_there_for_another(machine: Machine) -> None:
    anna, bert = machine("here", "anna"), machine("here", "bert")
    kept = keep(anna, b"of anna alone")
    with pytest.raises(BlobNotFound):
        bert.open_blob(kept.blob_id)
    assert keep(bert, b"of anna alone").blob_id == kept.blob_id
    assert in_database(kept) == 2
    assert bert.collect_blobs(LATE) is None
    assert in_database(kept) == 1
    assert read(anna, kept) == b"of anna alone"


def test_the_bytes_go_when_no_record_uses_them_for_long(machine: Machine, clock: Clock) -> None:
    store = machine("here", "anna")
    world = World(store, clock).settle()
    used, unused = keep(store, b"used here"), keep(store, b"unused here")
    world.put({"a": {"file": {"blob_id": used.blob_id}}})
    store.collect_blobs(0)
    assert [in_database(used), in_database(unused)] == [1, 1], "kept a moment ago"
    store.collect_blobs(LATE)
    assert [in_database(used), in_database(unused)] == [1, 0]
    assert list(store.blobs()) == [used]
    world.put({"a": None})
    store.collect_blobs(LATE)
    assert in_database(used) == 0


def test_what_a_killed_upload_left_is_swept(machine: Machine) -> None:
    store = machine("here", "anna")
    kept = keep(store, b"named here")
    left, _ = store._blobs.keep(io.BytesIO(b"never named"), 100)
    assert store.sweep_blobs(0) == 0
    assert store.sweep_blobs(LATE) == 1
    with pytest.raises(BlobNotFound):
        store.open_blob(left)
    assert read(store, kept) == b"named here"


def test_a_blob_that_is_removed_while_it_is_read_is_not_cut_short_in_silence(
    machine: Machine,
) -> None:
    store = machine("here", "anna")
    kept = keep(store, SMALL)
    with store.open_blob(kept.blob_id) as source:
        assert source.read(10) == SMALL[:10]
        store.collect_blobs(LATE)
        with pytest.raises(OSError, match="removed while it was read"):
            source.read()


def test_a_part_of_a_blob_is_read_without_the_rest(machine: Machine) -> None:
    store = machine("here", "anna")
    keep(store, SMALL)
    with psycopg.connect(server_url()) as session:
        rows = session.execute(
            "SELECT DISTINCT a.attstorage FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
            " WHERE c.relname LIKE 'blob_content%' AND c.relkind = 'r' AND a.attname = 'content'"
        ).fetchall()
    assert rows == [("e",)], "kept as it is, beside the row"
