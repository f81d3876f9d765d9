import hashlib
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.engine import damage_blob
from tests.resource.library import COVER, HOME_BOOKS, LEAFLET, book, library_store
from tests.serving import UNLIMITED, World, keep, living, refused

from pdpp.authz.selection import Selection
from pdpp.model import instant
from pdpp.model.grant import Interval

COVER_ID = hashlib.sha256(COVER).hexdigest()
LEAFLET_ID = hashlib.sha256(LEAFLET.encode()).hexdigest()
PATH = f"/v1/blobs/{COVER_ID}"
LENGTH = len(COVER)


@pytest.mark.scenario("S052")
@pytest.mark.scenario("S006")
def test_a_blob_is_read_with_the_token_that_showed_its_record(reader: httpx.Client) -> None:
    record = reader.get("/v1/streams/books/records/b1?connection_id=home").json()
    reference = record["data"]["cover"]
    assert reference == {
        "blob_id": COVER_ID,
        "mime_type": "image/png",
        "size_bytes": LENGTH,
        "sha256": COVER_ID,
    }
    answer = reader.get(f"/v1/blobs/{reference['blob_id']}")
    assert answer.status_code == 200
    assert answer.content == COVER


def test_a_blob_is_neither_kept_nor_run_by_what_reads_it(reader: httpx.Client) -> None:
    headers = reader.get(PATH).headers
    assert headers["cache-control"] == "private, no-store"
    assert headers["content-type"] == "image/png"
    assert headers["content-length"] == str(LENGTH)
    assert headers["accept-ranges"] == "bytes"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-disposition"] == "attachment"
    assert "sandbox" in headers["content-security-policy"]
    assert headers["etag"] == f'"{COVER_ID}"'
    assert headers["request-id"].startswith("req_")
    assert headers["pdpp-version"] == "2026-04-06"


def test_the_head_of_a_blob_has_its_headers_and_no_bytes(reader: httpx.Client) -> None:
    head, whole = reader.head(PATH), reader.get(PATH)
    assert head.status_code == 200
    assert head.content == b""
    for name in ("content-length", "content-type", "etag", "cache-control", "accept-ranges"):
        assert head.headers[name] == whole.headers[name]
    part = reader.head(PATH, headers={"Range": "bytes=0-9"})
    assert part.status_code == 206
    assert part.headers["content-length"] == "10"


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-9", 0, 10),
        ("bytes=5-", 5, LENGTH),
        ("bytes=-4", LENGTH - 4, LENGTH),
        (f"bytes={LENGTH - 1}-", LENGTH - 1, LENGTH),
        ("bytes=1000-99999999", 1000, LENGTH),
    ],
)
def test_a_range_is_the_bytes_asked_for(
    reader: httpx.Client, asked: str, start: int, end: int
) -> None:
    answer = reader.get(PATH, headers={"Range": asked})
    assert answer.status_code == 206
    assert answer.content == COVER[start:end]
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{LENGTH}"
    assert answer.headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize("asked", ["bytes=0-", f"bytes=-{LENGTH * 2}", f"bytes=0-{LENGTH}"])
def test_a_range_over_everything_is_everything(reader: httpx.Client, asked: str) -> None:
    answer = reader.get(PATH, headers={"Range": asked})
    assert answer.status_code in (200, 206)
    assert answer.content == COVER


@pytest.mark.parametrize("asked", [f"bytes={LENGTH}-", "bytes=-0", "bytes=9-3"])
def test_a_range_outside_the_blob_cannot_be_satisfied(reader: httpx.Client, asked: str) -> None:
    answer = reader.get(PATH, headers={"Range": asked})
    refused(answer, 416, "range_not_satisfiable")
    assert answer.headers["content-range"] == f"bytes */{LENGTH}"


@pytest.mark.parametrize(
    "asked", ["bytes=0-1,4-5", "lines=1-2", "bytes=-", "bytes=a-b", "bytes=٣-"]
)
def test_a_form_of_range_that_is_not_served_means_the_whole(
    reader: httpx.Client, asked: str
) -> None:
    answer = reader.get(PATH, headers={b"Range": asked.encode()})
    assert answer.status_code == 200
    assert answer.content == COVER


def test_an_empty_blob_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with living(library_store(tmp_path)) as world:
        empty = keep(world.store, b"", "text/plain")
        world.put("home", "books", book("b7", 7, cover=empty))
        client = world.client()
        for _ in range(2):
            answer = client.get(f"/v1/blobs/{empty['blob_id']}")
            assert (answer.status_code, answer.content) == (200, b"")
            assert answer.headers["content-length"] == "0"
    assert [record.getMessage() for record in caplog.records] == []


@pytest.mark.scenario("S052")
@pytest.mark.parametrize(
    "selection",
    [
        Selection(streams=("books",), fields=("id", "title", "text")),
        Selection(streams=("books",), keys=("b2",)),
        Selection(streams=("books",), connections=("work",)),
        Selection(streams=("authors", "reviews")),
        Selection(streams=("books",), time=Interval(instant.parse("2026-01-02"), None)),
    ],
)
def test_a_blob_is_not_there_without_a_visible_record_and_field(
    library: World, selection: Selection
) -> None:
    client = library.granted(selection)
    hidden = refused(client.get(PATH), 404, "blob_not_found")
    absent = refused(client.get(f"/v1/blobs/{'0' * 64}"), 404, "blob_not_found")
    assert hidden["message"] == absent["message"]
    assert client.head(PATH).status_code == 404


@pytest.mark.parametrize("name", ["x", "..", COVER_ID.upper(), COVER_ID[:-1], f"{COVER_ID}%0a"])
def test_a_name_that_is_no_blob_is_not_found(reader: httpx.Client, name: str) -> None:
    assert reader.get(f"/v1/blobs/{name}").status_code == 404


def test_a_blob_goes_with_the_last_record_that_has_it(shelf: World) -> None:
    client, owner = shelf.client(), shelf.owner()
    assert client.get(f"/v1/blobs/{LEAFLET_ID}").status_code == 200
    shelf.put("home", "books", HOME_BOOKS[1])
    refused(client.get(f"/v1/blobs/{LEAFLET_ID}"), 404, "blob_not_found")
    assert client.get(PATH).status_code == 200
    owner.delete("/v1/streams/books/records/b1?connection_id=home")
    refused(client.get(PATH), 404, "blob_not_found")
    assert owner.get(PATH).content == COVER


def test_a_blob_whose_file_is_gone_is_not_found(shelf: World) -> None:
    blob = shelf.store.blob(COVER_ID)
    assert blob is not None
    damage_blob(shelf.store, blob, None)
    refused(shelf.client().get(PATH), 404, "blob_not_found")


def test_a_stored_blob_is_named_by_its_hash_and_kept_once(shelf: World) -> None:
    owner = shelf.owner()
    content = b"a new file" * 100_000
    name = hashlib.sha256(content).hexdigest()
    headers = {"Content-Type": "application/pdf"}
    first = owner.post("/v1/blobs", content=content, headers=headers)
    assert first.status_code == 201
    assert first.json() == {
        "object": "blob",
        "blob_id": name,
        "mime_type": "application/pdf",
        "size_bytes": len(content),
        "sha256": name,
    }
    again = owner.post(f"/v1/blobs?sha256={name.upper()}", content=content, headers=headers)
    assert again.json() == first.json()
    assert owner.get(f"/v1/blobs/{name}").content == content


def test_a_blob_that_hashes_to_something_else_is_refused(shelf: World) -> None:
    answer = shelf.owner().post(f"/v1/blobs?sha256={'0' * 64}", content=b"other")
    error = refused(answer, 422, "unprocessable")
    assert error["param"] == "sha256"
    name = hashlib.sha256(b"other").hexdigest()
    assert shelf.owner().get(f"/v1/blobs/{name}").status_code == 404


@pytest.mark.parametrize("media_type", ["png", "image/png\x7f", "a" * 300 + "/b", "a/b; c"])
def test_a_blob_has_a_media_type(shelf: World, media_type: str) -> None:
    headers = {"Content-Type": media_type}
    answer = shelf.owner().post("/v1/blobs", content=b"x", headers=headers)
    assert answer.status_code == 400


def test_a_blob_without_a_media_type_is_octets(shelf: World) -> None:
    answer = shelf.owner().post("/v1/blobs", content=b"x")
    assert answer.json()["mime_type"] == "application/octet-stream"


def test_only_the_owner_stores_blobs(library: World) -> None:
    answer = library.client().post("/v1/blobs", content=b"x")
    refused(answer, 403, "insufficient_scope")


def test_a_blob_above_the_limit_is_refused(tmp_path: Path) -> None:
    with living(library_store(tmp_path), replace(UNLIMITED, blob_bytes=10)) as world:
        owner = world.owner()
        refused(owner.post("/v1/blobs", content=b"x" * 11), 413, "payload_too_large")
        chunked = owner.post("/v1/blobs", content=iter([b"x" * 6, b"x" * 6]))
        refused(chunked, 413, "payload_too_large")
        assert owner.post("/v1/blobs", content=b"x" * 10).status_code == 201


def test_the_type_of_a_file_does_not_follow_the_order_in_which_its_records_came(
    tmp_path: Path,
) -> None:
    told = set()
    for order in (("y1", "y2"), ("y2", "y1")):
        with living(library_store(tmp_path / order[0])) as world:
            reference = keep(world.store, b"one file, two types", "text/plain")
            types = {"y1": "text/markdown", "y2": "text/csv"}
            for key in order:
                cover = {**reference, "mime_type": types[key]}
                world.put("home", "books", book(key, 2, cover=cover))
            answer = world.client().head(f"/v1/blobs/{reference['blob_id']}")
            told.add(answer.headers["content-type"])
    assert len(told) == 1
