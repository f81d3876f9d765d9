"""A store goes into a database and back, and nobody who reads from it notices."""

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import httpx
import pytest
from tests.cli.shell import DECLARATION, pdpp_here
from tests.object_store import BUCKET, KEY_ID, KEY_SECRET, end_object_store, object_store, objects
from tests.postgres_server import owned_bytes, server_url
from tests.serving import UNLIMITED, approve, owner, plant, running

from pdpp.app import make_app
from pdpp.configuration.database import DatabaseAddress
from pdpp.model.errors import BlobNotFound, StoreError
from pdpp.serving.data_folder import open_store
from pdpp.serving.moving import StorePlace, move_store
from pdpp.store.port import Store
from pdpp.store.postgres.blobs import PostgresBlobs
from pdpp.store.tables import moving as rows_moving

LONG = "A very long day. " * 600
ENTRIES = [
    {"id": f"e{number}", "title": f"Day {number}", "text": text, "day": "2026-01-31T08:00:00Z"}
    for number, text in enumerate(["Rain", LONG, "With a \0 inside", None, "Snow and rain"] * 5)
]
BOOKMARK = re.compile(r'"next_changes_since":"[^"]*"')
"""No two bookmarks are the same, even of one moment."""

BLOBS = (b"a file", b"a photo " * (1 << 18))
"""A small file, which the database takes, and one that stays a file."""

PATHS = (
    "/v1/streams",
    "/v1/schema",
    "/v1/streams/entries/records?limit=100",
    "/v1/streams/entries/records/e1",
    "/v1/streams/entries/records?changes_since=beginning",
    "/v1/search?q=rain",
)


@pytest.fixture(autouse=True, scope="module")
def ended_store() -> Iterator[None]:
    """End the object store with the last test that asks for one."""
    yield
    end_object_store()


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A data folder with records, a grant and receipts."""
    folder = tmp_path / "data"
    with open_store(folder, create=True) as store:
        plant(store, DECLARATION, {"cin_diary": "My days"}, {("cin_diary", "entries"): ENTRIES})
        for content in BLOBS:
            store.keep_blob(io.BytesIO(content), "text/plain", 1 << 24)
    return folder


def answers(store: Store, token: str) -> dict[str, str]:
    """Return what a client reads, byte for byte."""
    with running(make_app(store, UNLIMITED)) as server:
        client: httpx.Client = server.client(token)
        return {path: BOOKMARK.sub("", client.get(path).text) for path in PATHS}


def content_of(store: Store, blob_id: str) -> bytes:
    with store.open_blob(blob_id) as source:
        return source.read()


def contents(store: Store) -> list[bytes]:
    return [content_of(store, blob.blob_id) for blob in store.blobs()]


def bookmark_of(store: Store, token: str) -> str:
    """Return a bookmark from which a client goes on later."""
    with running(make_app(store, UNLIMITED)) as server:
        answer = server.client(token).get(PATHS[4]).json()
        return str(answer["next_changes_since"])


def unchanged_since(store: Store, token: str, bookmark: str) -> bool:
    """Tell whether a bookmark is good and nothing changed since."""
    with running(make_app(store, UNLIMITED)) as server:
        path = "/v1/streams/entries/records"
        answer = server.client(token).get(path, params={"changes_since": bookmark})
        return answer.status_code == 200 and answer.json()["data"] == []


@pytest.fixture
def place(tmp_path: Path) -> StorePlace:
    """Where the store goes."""
    return StorePlace(tmp_path / "data", DatabaseAddress(server_url(), str(tmp_path)))


@pytest.mark.embedded("on PostgreSQL the environment of every command names a database")
def test_a_token_from_before_reads_the_same_there_and_back(
    filled: Path, place: StorePlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.database is not None
    with open_store(filled) as store:
        tokens = [approve(store).token, owner(store)]
        before = [answers(store, token) for token in tokens]
        bookmark = bookmark_of(store, tokens[0])
        receipts = store.receipts.anchor()
    to = ("--to", place.database.url, "--owner", place.database.owner)
    moved = pdpp_here("move", *to, "--json", data=filled).document
    assert moved["moved"] > len(ENTRIES)

    monkeypatch.setenv("PDPP_DATABASE", place.database.url)
    monkeypatch.setenv("PDPP_OWNER", place.database.owner)
    with open_store(filled) as store:
        assert store.check() == []
        assert store.receipts.hash_of(receipts[0]) == receipts[1]
        assert [answers(store, token) for token in tokens] == before
        assert unchanged_since(store, tokens[0], bookmark)
        assert sorted(contents(store)) == sorted(BLOBS)
    with open_store(tmp_path / "another machine") as store:
        small, large = sorted(store.blobs(), key=lambda blob: blob.size_bytes)
        assert content_of(store, small.blob_id) == BLOBS[0]
        with pytest.raises(BlobNotFound):
            store.open_blob(large.blob_id)
    again = tmp_path / "again"
    assert pdpp_here("move", "--to", again, data=filled).code == 0

    monkeypatch.delenv("PDPP_DATABASE")
    with open_store(again) as store:
        assert store.check() == []
        assert store.receipts.hash_of(receipts[0]) == receipts[1]
        assert [answers(store, token) for token in tokens] == before
        assert sorted(contents(store)) == sorted(BLOBS)


@pytest.mark.embedded("on PostgreSQL the environment of every command names a database")
def test_large_files_move_into_a_bucket_and_back(
    filled: Path, place: StorePlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.database is not None
    prefix = f"{tmp_path.parent.name}/{tmp_path.name}"
    monkeypatch.setenv("PDPP_BLOBS", f"s3://{BUCKET}/{prefix}")
    monkeypatch.setenv("PDPP_BLOBS_ENDPOINT", object_store())
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY_SECRET)
    to = ("--to", place.database.url, "--owner", place.database.owner)
    moved = pdpp_here("move", *to, data=filled)
    assert moved.code == 0, moved.err
    assert len(objects(object_store(), prefix)) == 1

    monkeypatch.setenv("PDPP_DATABASE", place.database.url)
    monkeypatch.setenv("PDPP_OWNER", place.database.owner)
    elsewhere = tmp_path / "another machine"
    assert pdpp_here("check", data=elsewhere).code == 0
    with open_store(elsewhere) as store:
        assert sorted(contents(store)) == sorted(BLOBS)
    again = tmp_path / "again"
    assert pdpp_here("move", "--to", again, data=elsewhere).code == 0
    for name in ("PDPP_DATABASE", "PDPP_BLOBS"):
        monkeypatch.delenv(name)
    with open_store(again) as store:
        assert store.check() == []
        assert sorted(contents(store)) == sorted(BLOBS)


def test_an_interrupted_move_goes_on_and_is_not_served_before_it_has_ended(
    filled: Path,
    place: StorePlace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert place.database is not None
    monkeypatch.setattr(rows_moving, "PIECE", 10)
    pieces = []

    def stop_soon(rows: int) -> None:
        pieces.append(rows)
        if len(pieces) == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move_store(StorePlace(filled), place, stop_soon)
    with (
        pytest.raises(StoreError, match="was interrupted"),
        open_store(filled, database=place.database),
    ):
        pass
    rest: list[int] = []
    moved = move_store(StorePlace(filled), place, rest.append)
    assert sum(rest) + sum(pieces) == moved
    with open_store(filled, database=place.database) as store:
        assert store.check() == []


def test_a_move_that_is_cut_after_every_piece_comes_to_its_end_there_and_back(
    filled: Path, place: StorePlace, tmp_path: Path
) -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with open_store(filled) as store:
        answers(store, approve(store).token)
    again = StorePlace(tmp_path / "again")
    for source, target in ((StorePlace(filled), place), (place, again)):
        for _ in range(100):
            with suppress(KeyboardInterrupt):
                move_store(source, target, stop)
                break
        else:
            pytest.fail("there is always one more piece")
    with open_store(again.folder) as store:
        assert store.check() == []
        assert sorted(contents(store)) == sorted(BLOBS)


def test_a_source_that_changed_meanwhile_is_noticed(filled: Path, place: StorePlace) -> None:
    def change(rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move_store(StorePlace(filled), place, change)
    with open_store(filled) as store:
        store.rename_connection("cin_diary", "Other days")
        store.connect("cin_second", "diary", "Second")
        with store.vault.transaction() as transaction:
            transaction.keep_setting("secret-of-a-test", b"changed")
    # What is declared was moved before it changed; the comparison sees it.
    with pytest.raises(StoreError, match="differs in the table"):
        move_store(StorePlace(filled), place, lambda _: None)


@pytest.mark.embedded("on PostgreSQL the environment of every command names a database")
def test_a_target_that_is_in_use_is_left_alone(
    filled: Path, place: StorePlace, tmp_path: Path
) -> None:
    used = StorePlace(tmp_path / "used", place.database)
    with open_store(used.folder, create=True, database=used.database) as store:
        owner(store)
    with pytest.raises(StoreError, match="choose an empty one"):
        move_store(StorePlace(filled), used, lambda _: None)
    assert not left_behind(used.folder)
    assert BLOBS[0] not in owned_bytes(str(tmp_path))
    other = tmp_path / "other"
    assert "there is no store in" in pdpp_here("move", "--to", server_url(), data=other).failed()
    folder = ("move", "--to", tmp_path / "elsewhere")
    assert "moves into a database" in pdpp_here(*folder, data=filled).err


def left_behind(folder: Path) -> list[Path]:
    """Return the files of a folder that hold a file of the other store."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if any(content in path.read_bytes() for content in BLOBS)]


def test_a_folder_that_is_in_use_gets_no_file_of_a_store_that_was_to_move_there(
    filled: Path, place: StorePlace, tmp_path: Path
) -> None:
    move_store(StorePlace(filled), place, lambda _: None)
    used = tmp_path / "used"
    with open_store(used, create=True) as store:
        owner(store)
    with pytest.raises(StoreError, match="choose an empty one"):
        move_store(place, StorePlace(used), lambda _: None)
    assert not left_behind(used)


def test_a_file_that_comes_while_files_are_moved_is_noticed(
    filled: Path, place: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = PostgresBlobs.keep

    def keep_another(blobs: PostgresBlobs, content: BinaryIO, limit: int) -> tuple[str, int]:
        with open_store(filled) as store:
            store.keep_blob(io.BytesIO(b"a late file"), "text/plain", 100)
        return keep(blobs, content, limit)

    monkeypatch.setattr(PostgresBlobs, "keep", keep_another)
    with pytest.raises(StoreError, match="the source changed while it was moved"):
        move_store(StorePlace(filled), place, lambda _: None)
    monkeypatch.undo()
    move_store(StorePlace(filled), place, lambda _: None)
    with open_store(filled, database=place.database) as store:
        assert store.check() == []
        assert sorted(contents(store)) == sorted([*BLOBS, b"a late file"])


@pytest.mark.embedded("on PostgreSQL the environment of every command names a database")
def test_an_encrypted_store_is_moved_as_plain_rows(
    tmp_path: Path, place: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PDPP_STORE_PASSPHRASE", "a long enough passphrase")
    folder = place.folder
    assert pdpp_here("encryption", "on", data=folder).code == 0
    with open_store(folder) as store:
        plant(store, DECLARATION, {"cin_diary": "My days"}, {("cin_diary", "entries"): ENTRIES})
        kept = store.keep_blob(io.BytesIO(b"a file"), "text/plain", 100)
    assert place.database is not None
    to = ("--to", place.database.url, "--owner", place.database.owner)
    ended = pdpp_here("move", *to, data=folder)
    assert ended.code == 0, ended.err
    with open_store(folder, database=place.database) as store:
        assert store.check() == []
        assert content_of(store, kept.blob_id) == b"a file"
