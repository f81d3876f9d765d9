"""Large blobs in an object store: sealed, found by every machine, and removed when unused."""

import io
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import obstore
import psycopg
import pytest
from tests.object_store import (
    BUCKET,
    KEY_ID,
    KEY_SECRET,
    client,
    end_object_store,
    object_store,
    objects,
)
from tests.postgres_server import server_url
from tests.store.world import Clock, World

from pdpp.model.errors import BlobNotFound, Overloaded, StoreError
from pdpp.store.blobs import Blob
from pdpp.store.bucket import BucketAddress
from pdpp.store.postgres.blobs import MOST_IN_DATABASE
from pdpp.store.postgres.bucket import Bucket
from pdpp.store.postgres.store import PostgresStore

LARGE = bytes(range(256)) * (MOST_IN_DATABASE // 256) + b"of more than one piece"
PARTS = LARGE * 10
"""So large that it is sent in several parts."""
LATE = 1 << 62

Machine = Callable[..., PostgresStore]


@pytest.fixture(autouse=True, scope="module")
def ended_store() -> Iterator[None]:
    """End the object store with the last test that asks for one."""
    yield
    end_object_store()


@pytest.fixture
def address(tmp_path: Path) -> BucketAddress:
    """A prefix of its own in the bucket of the tests."""
    prefix = f"{tmp_path.parent.name}/{tmp_path.name}"
    return BucketAddress(BUCKET, prefix, object_store(), "us-east-1", KEY_ID, KEY_SECRET)


@pytest.fixture
def machine(tmp_path: Path, clock: Clock, address: BucketAddress) -> Iterator[Machine]:
    """Open the store of an owner on a machine with a folder of its own."""
    stores: list[PostgresStore] = []

    def open_one(
        name: str, place: BucketAddress | None = address, owner: str = "anna"
    ) -> PostgresStore:
        bucket = None if place is None else Bucket(place)
        stores.append(
            PostgresStore(
                server_url(), tmp_path / name, clock, owner=f"{tmp_path}/{owner}", bucket=bucket
            )
        )
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


def keep(store: PostgresStore, content: bytes) -> Blob:
    return store.keep_blob(io.BytesIO(content), "image/png", 1 << 26)


def read(store: PostgresStore, blob: Blob, start: int = 0) -> bytes:
    with store.open_blob(blob.blob_id, start) as source:
        return source.read()


def stored(address: BucketAddress) -> dict[str, bytes]:
    assert address.endpoint is not None
    return objects(address.endpoint, address.prefix)


def rows(tmp_path: Path, owner: str = "anna") -> int:
    """Return how many objects the database names for an owner."""
    with psycopg.connect(server_url()) as session:
        text = """
            SELECT count(*) FROM pdpp.blob_content b JOIN pdpp.owner_name n ON n.id = b.owner
            WHERE n.name = %s AND b.content IS NULL
        """
        row = session.execute(text, (f"{tmp_path}/{owner}",)).fetchone()
        assert row is not None
        return int(row[0])


class Wire:
    """Forwards connections to the object store until so many bytes went through; then it is cut."""

    def __init__(self, endpoint: str) -> None:
        host, _, port = endpoint.removeprefix("http://").partition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.left: float = float("inf")
        self._ends: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self.left <= 0:
                near.close()
                continue
            far = socket.create_connection(self._target)
            self._ends += [near, far]
            for source, target in ((near, far), (far, near)):
                thread = threading.Thread(target=self._forward, args=(source, target))
                thread.start()
                self._threads.append(thread)

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while content := source.recv(1 << 16):
                self.left -= len(content)
                if self.left <= 0:
                    break
                target.sendall(content)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Cut everything."""
        self.left = 0
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()


@pytest.fixture
def wire(address: BucketAddress) -> Iterator[Wire]:
    assert address.endpoint is not None
    wire = Wire(address.endpoint)
    yield wire
    wire.close()


def test_a_large_blob_is_read_on_a_machine_that_shares_no_folder(
    machine: Machine, tmp_path: Path
) -> None:
    here, there = machine("here"), machine("there")
    kept = keep(here, PARTS)
    assert kept.size_bytes == len(PARTS)
    assert read(there, kept) == PARTS
    for start in (1, 65_535, 65_536, 1 << 20, len(PARTS) - 7, len(PARTS)):
        assert read(there, kept, start) == PARTS[start:]
    assert there.check() == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_leaves_the_machine_is_sealed_and_its_name_tells_nothing(
    machine: Machine, address: BucketAddress
) -> None:
    anna, bert = machine("here"), machine("here", owner="bert")
    kept = keep(anna, LARGE)
    assert keep(bert, LARGE) == kept
    kept_objects = stored(address)
    assert len(kept_objects) == 2, "nobody sees that two owners have the same file"
    for name, content in kept_objects.items():
        assert kept.blob_id not in name
        assert bytes(range(256)) not in content
    names = list(kept_objects)
    obstore.put(client(object_store()), names[0], kept_objects[names[1]])
    with pytest.raises(OSError, match="sealed under another key"):
        [read(anna, kept), read(bert, kept)]


def test_a_small_blob_stays_in_the_database(machine: Machine, address: BucketAddress) -> None:
    store = machine("here")
    kept = keep(store, LARGE[:MOST_IN_DATABASE])
    assert read(store, kept) == LARGE[:MOST_IN_DATABASE]
    assert stored(address) == {}


def test_an_object_that_is_missing_is_told(machine: Machine, address: BucketAddress) -> None:
    store = machine("here")
    kept = keep(store, LARGE)
    with store.open_blob(kept.blob_id) as source:
        assert source.read(10) == LARGE[:10]
        for name in stored(address):
            obstore.delete(client(object_store()), name)
        with pytest.raises(OSError, match="removed while it was read"):
            source.read()
    with pytest.raises(BlobNotFound):
        store.open_blob(kept.blob_id)
    assert [problem for problem in store.check() if kept.blob_id in problem]
    assert keep(store, LARGE) == kept
    assert store.check() == [], "the same bytes, kept again, are there again"


def test_a_wrong_key_is_refused_in_words_and_never_shown(
    machine: Machine, address: BucketAddress, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = replace(address, key_secret="another-secret-that-is-wrong")
    store = machine("here", wrong)
    with caplog.at_level(logging.DEBUG), pytest.raises(Overloaded, match="refuses the key"):
        keep(store, LARGE)
    assert list(store.blobs()) == []
    assert str(address) in caplog.text
    for secret in (wrong.key_secret, KEY_SECRET, KEY_ID):
        assert secret is not None
        assert secret not in caplog.text
        assert secret not in repr(wrong)
    assert stored(address) == {}


def test_a_store_that_is_gone_in_the_middle_of_an_upload_keeps_nothing(
    machine: Machine, address: BucketAddress, wire: Wire, tmp_path: Path
) -> None:
    store = machine("here", replace(address, endpoint=wire.endpoint))
    wire.left = 2 << 20
    with pytest.raises(Overloaded, match="cannot reach its object store"):
        keep(store, PARTS)
    assert list(store.blobs()) == []
    assert stored(address) == {}
    assert rows(tmp_path) == 1, "named before it was sent"
    wire.left = float("inf")
    kept = keep(store, PARTS)
    assert read(store, kept) == PARTS


def test_a_store_that_is_gone_in_the_middle_of_a_read_ends_it_with_an_error(
    machine: Machine, address: BucketAddress, wire: Wire
) -> None:
    store = machine("here", replace(address, endpoint=wire.endpoint))
    kept = keep(store, PARTS)
    with store.open_blob(kept.blob_id) as source:
        wire.left = 3 << 20
        with pytest.raises(Overloaded, match="cannot reach its object store"):
            source.read()
        wire.left = float("inf")
        source.seek(0)
        assert source.read() == PARTS, "a read goes on when the store is back"


def test_two_machines_keep_the_same_bytes_at_the_same_time(
    machine: Machine, address: BucketAddress, tmp_path: Path
) -> None:
    stores = [machine("here"), machine("there")]
    barrier = threading.Barrier(len(stores))
    outcomes: list[Blob] = []

    def work(store: PostgresStore) -> None:
        barrier.wait()
        outcomes.append(keep(store, LARGE))

    threads = [threading.Thread(target=work, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes[0] == outcomes[1]
    assert [read(store, outcomes[0]) == LARGE for store in stores] == [True, True]
    assert (len(stored(address)), rows(tmp_path)) == (1, 1)


def test_a_blob_that_is_collected_while_it_is_kept_again_is_there_afterwards(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = machine("here"), machine("there")
    keep(here, LARGE)
    bucket: Any = here._blobs._bucket  # type: ignore[attr-defined]
    upload = bucket._upload

    def upload_and_collect(*given: Any) -> None:
        upload(*given)
        monkeypatch.setattr(bucket, "_upload", upload)
        there.collect_blobs(LATE)

    monkeypatch.setattr(bucket, "_upload", upload_and_collect)
    kept = keep(here, LARGE)
    assert read(there, kept) == LARGE


def test_objects_go_when_no_record_uses_them_for_long(
    machine: Machine, clock: Clock, address: BucketAddress, tmp_path: Path
) -> None:
    store = machine("here")
    world = World(store, clock).settle()
    used, unused = keep(store, LARGE), keep(store, LARGE + b"unused")
    world.put({"a": {"file": {"blob_id": used.blob_id}}})
    store.collect_blobs(0)
    assert len(stored(address)) == 2, "kept a moment ago"
    machine("elsewhere", None).collect_blobs(LATE)
    assert len(stored(address)) == 2, "who does not know the bucket removes nothing"
    store.collect_blobs(LATE)
    assert (len(stored(address)), rows(tmp_path)) == (1, 1)
    assert list(store.blobs()) == [used]
    assert read(store, used) == LARGE
    with pytest.raises(BlobNotFound):
        store.open_blob(unused.blob_id)


def test_what_a_killed_upload_left_is_swept(
    machine: Machine, address: BucketAddress, tmp_path: Path
) -> None:
    store = machine("here")
    kept = keep(store, LARGE)
    with store._blobs.received(iter([LARGE, b"never named"]), 1 << 24):
        pass
    assert len(stored(address)) == 2
    assert store.sweep_blobs(0) == 0
    assert store.sweep_blobs(LATE) == 1
    assert (len(stored(address)), rows(tmp_path)) == (1, 1)
    assert read(store, kept) == LARGE


def test_blobs_from_before_the_bucket_are_read_where_their_files_are(machine: Machine) -> None:
    before = machine("here", None)
    old = keep(before, LARGE)
    after = machine("here")
    new = keep(after, LARGE + b"new")
    assert read(after, old) == LARGE
    assert after.check() == []
    with pytest.raises(BlobNotFound, match="setting blobs"):
        before.open_blob(new.blob_id)


def test_a_server_without_the_client_says_what_to_install(
    address: BucketAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(StoreError, match=r"pip install 'pdpp-server\[s3\]'"):
        Bucket(address)
