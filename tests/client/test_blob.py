"""Blobs through the library: piece by piece, as a file, and when they break off."""

import hashlib
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from tests.serving import World, grant, running

from pdpp import Client
from pdpp.client import ServerUnreachable
from pdpp.client.blob import part_of
from pdpp.model.errors import BlobNotFound, Conflict

CONTENT = bytes(range(256)) * 2_000
BLOB = hashlib.sha256(CONTENT).hexdigest()


def reference(client: Client) -> str:
    for record in client.records("photos"):
        for value in record.data.values():
            if isinstance(value, dict) and "blob_id" in value:
                return str(value["blob_id"])
    raise AssertionError


def test_a_blob_is_read_in_pieces_with_its_type_and_size(client: Client) -> None:
    blob_id = reference(client)
    with client.blob(blob_id) as blob:
        content = b"".join(blob)
    assert hashlib.sha256(content).hexdigest() == blob_id
    assert blob.size_bytes == len(content)
    assert blob.media_type.startswith("image/")
    with client.blob(f"pdpp://blob/{blob_id}", offset=10) as blob:
        assert (b"".join(blob), blob.start, blob.size_bytes) == (content[10:], 10, len(content))


def test_a_blob_is_saved_for_its_owner_alone(client: Client, folder: Path) -> None:
    blob_id = reference(client)
    saved = client.save_blob(blob_id, folder / "a photo.png")
    assert saved.sha256 == blob_id == hashlib.sha256(saved.path.read_bytes()).hexdigest()
    assert saved.size_bytes == saved.path.stat().st_size
    assert saved.path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(folder) == ["a photo.png"]


def test_a_blob_that_is_not_there_leaves_no_file(client: Client, folder: Path) -> None:
    with pytest.raises(BlobNotFound):
        client.save_blob("0" * 64, folder / "nothing")
    assert os.listdir(folder) == []


@contextmanager
def serving(
    *, breaks_at: int | None = None, ranges: bool = True
) -> Iterator[tuple[str, list[str]]]:
    """Serve one blob; a first answer may break off, and ranges may be unknown."""
    asked: list[str] = []

    async def pieces(content: bytes) -> AsyncIterator[bytes]:
        for at in range(0, len(content), 1_000):
            if breaks_at is not None and len(asked) == 1 and at >= breaks_at:
                raise ConnectionError
            yield content[at : at + 1_000]

    async def answer(request: Request) -> Response:
        asked.append(request.headers.get("range", "whole"))
        start = int(asked[-1][6:-1]) if ranges and asked[-1] != "whole" else 0
        headers = {"Content-Length": str(len(CONTENT) - start)}
        if start >= len(CONTENT):
            return Response(b'{"error":{"code":"range_not_satisfiable","message":"m"}}', 416)
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}"
        return StreamingResponse(
            pieces(CONTENT[start:]), 206 if start else 200, headers, "text/plain"
        )

    with running(Starlette(routes=[Route("/v1/blobs/{id}", answer)])) as server:
        yield server.url, asked


@pytest.mark.filterwarnings("ignore")
def test_a_blob_that_breaks_off_leaves_no_file(folder: Path) -> None:
    with (
        serving(breaks_at=100_000) as (url, _),
        pytest.raises(ServerUnreachable, match="The blob broke off"),
    ):
        Client(url, "token").save_blob(BLOB, folder / "f")
    assert os.listdir(folder) == []


@pytest.mark.filterwarnings("ignore")
def test_a_saving_that_may_resume_goes_on_where_it_broke_off(folder: Path) -> None:
    path = folder / "f"
    with serving(breaks_at=100_000) as (url, asked):
        client = Client(url, "token")
        with pytest.raises(ServerUnreachable):
            client.save_blob(BLOB, path, resume=True)
        held = part_of(path).stat().st_size
        assert 0 < held < len(CONTENT)
        saved = client.save_blob(BLOB, path, resume=True)
        assert asked == ["whole", f"bytes={held}-"]
    assert path.read_bytes() == CONTENT
    assert (saved.size_bytes, saved.media_type) == (len(CONTENT), "text/plain; charset=utf-8")
    assert os.listdir(folder) == ["f"]


@pytest.mark.parametrize("ranges", [True, False])
def test_what_is_whole_already_or_cannot_be_gone_on_with_begins_anew(
    folder: Path, ranges: bool
) -> None:
    path = folder / "f"
    part_of(path).write_bytes(CONTENT if ranges else CONTENT[:50])
    with serving(ranges=ranges) as (url, _):
        Client(url, "token").save_blob(BLOB, path, resume=True)
    assert path.read_bytes() == CONTENT


def test_bytes_that_are_not_the_blob_are_not_kept(folder: Path) -> None:
    path = folder / "f"
    part_of(path).write_bytes(b"something else")
    with serving() as (url, _):
        with pytest.raises(Conflict, match="not to its id"):
            Client(url, "token").save_blob(BLOB, path, resume=True)
        assert os.listdir(folder) == []
        Client(url, "token").save_blob("a-name-of-its-own", path)
    assert path.read_bytes() == CONTENT


def test_a_blob_outside_the_grant_is_not_found(demo: World, client: Client) -> None:
    blob_id = reference(client)
    with pytest.raises(BlobNotFound):
        Client(demo.server.url, grant(demo.store, streams=("albums",))).blob(blob_id)
