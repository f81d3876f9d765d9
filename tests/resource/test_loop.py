"""No request holds the event loop: while it is served, a stranger is answered at once."""

import asyncio
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import orjson
import pytest
from tests.serving import UNLIMITED, grant, owner, planted_store, put

from pdpp.app import make_app
from pdpp.resource.routes import BASE, ROUTES
from pdpp.store.port import Store

HELD_SECONDS = 0.020
MEGABYTE = 1 << 20
BIG = 8 * MEGABYTE
STREAMS = 200

TRIES = 3
"""A request that holds the loop does so each time; what the machine does happens once."""


@pytest.fixture(scope="module", autouse=True)
def frozen_objects() -> Iterator[None]:
    """Keep the test run's own objects from the collector, as the server does at its start.

    The run holds so many that one full collection takes longer than a request may hold the loop.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def declaration() -> dict[str, Any]:
    """Return a source with texts, and with many streams beside them."""
    properties = {
        "id": {"type": "string"},
        "title": {"type": "string", "x_pdpp_role": "primary-title"},
        "body": {"type": "string", "x_pdpp_role": "body"},
        "at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
        **{f"field_{number}": {"type": "string"} for number in range(10)},
    }
    stream = {
        "semantics": "mutable_state",
        "schema": {"type": "object", "properties": properties},
        "primary_key": ["id"],
        "cursor_field": "at",
        "consent_time_field": "at",
        "query": {"search": {"lexical_fields": ["title", "body"]}},
    }
    names = ["texts", "pages", *(f"stream_{number}" for number in range(STREAMS - 2))]
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": "https://sources.example/texts"},
        "connector_key": "texts",
        "declaration_version": "1",
        "publisher": {"id": "https://sources.example"},
        "display": {"name": "Texts"},
        "streams": [{"name": name, **stream} for name in names],
    }


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with five texts of 8 MB that all match, and a page of 100 records of 50 kB."""
    filled = planted_store(tmp_path_factory.mktemp("loop"), declaration(), {"home": "Home"})
    at = "2026-01-01T00:00:00Z"
    text = ("the harbour lay still and the lights went out one by one; " * (BIG // 58))[:BIG]
    for number in range(5):
        put(filled, "home", "texts", {"id": f"t{number}", "title": "Log", "body": text, "at": at})
    rows = [{"id": f"p{n}", "title": "Page", "body": "x" * 50_000, "at": at} for n in range(100)]
    put(filled, "home", "pages", *rows)
    yield filled
    filled.close()


class Watchdog:
    """Measures how late the loop is for a call that is due every millisecond."""

    def __init__(self) -> None:
        self.longest = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        task = asyncio.ensure_future(self._watch())
        try:
            yield
        finally:
            task.cancel()

    async def _watch(self) -> None:
        while True:
            before = time.perf_counter()
            cpu = time.thread_time()
            await asyncio.sleep(0.001)
            # Only what this very thread computed counts: a busy machine may hold up any loop.
            busy = time.thread_time() - cpu
            self.longest = max(self.longest, min(busy, time.perf_counter() - before))


READS: dict[str, list[str]] = {
    "getSchema": ["/schema", "/schema?stream=texts", "/schema?stream=texts&detail=full"],
    "listStreams": ["/streams"],
    "getStream": ["/streams/texts"],
    "listRecords": [
        "/streams/pages/records?limit=100",
        "/streams/texts/records?limit=3",
        "/streams/texts/records?limit=3&fields=title",
        "/streams/texts/records?changes_since=beginning&limit=3",
    ],
    "getRecord": ["/streams/texts/records/t1"],
    "readFieldWindow": [
        "/streams/texts/records/t1/field-window?field=body",
        "/streams/texts/records/t1/field-window?field=body&q=lights",
        "/streams/texts/records/t1/field-window?field=body&q=nowhere",
    ],
    "aggregate": ["/streams/pages/aggregate"],
    "search": ["/search?q=harbour&limit=20", "/search?q=when+did+the+lights+go+out"],
    "searchHybrid": ["/search/hybrid?q=harbour&limit=20"],
    "searchSemantic": ["/search/semantic?q=harbour"],
    "previewRemoval": ["/connections/home/removal"],
    "previewMerge": ["/connections/home/merge?into=elsewhere"],
    "listJobs": ["/jobs"],
    "getJob": ["/jobs/job_x"],
    "readBlob": ["/blobs/{blob_id}"],
    "headBlob": ["/blobs/{blob_id}"],
}
WRITES: dict[str, tuple[str, bytes]] = {
    "ingest": ("/ingest/pages?connection_id=home", b'{"key":"n","data":{"id":"n"}}\n' * 2_000),
    "storeBlob": ("/blobs", b"x" * (32 * MEGABYTE)),
    "deleteRecord": ("/streams/pages/records/p1?connection_id=home", b""),
    "cancelJob": ("/jobs/job_x/cancel", b""),
    "renameConnection": ("/connections/home/rename?display_name=Home", b""),
    "removeConnection": ("/connections/elsewhere", b""),
    "mergeConnections": ("/connections/home/merge?into=elsewhere", b""),
}


def test_every_route_is_tried() -> None:
    assert {route.name for route in ROUTES} == READS.keys() | WRITES.keys()


def cases() -> Iterator[Any]:
    for route in ROUTES:
        for path in READS.get(route.name, ()):
            yield pytest.param(route.method, path, b"", id=f"{route.method} {path}")
        if route.name in WRITES:
            path, body = WRITES[route.name]
            yield pytest.param(route.method, path, body, id=f"{route.method} {path}")


async def answer_watched(
    store: Store, method: str, path: str, body: bytes, token: str, **headers: str
) -> tuple[httpx.Response, float]:
    """Return the answer of a server that has just started, and how long it held its loop."""
    watchdog = Watchdog()
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(make_app(store, UNLIMITED)),
        base_url="http://127.0.0.1:7377",
        headers={"Authorization": f"Bearer {token}", **headers},
    ) as client:
        await client.get("/healthz")
        with watchdog.watching():
            await asyncio.sleep(0.01)
            answer = await client.request(method, path, content=body or None)
            await asyncio.sleep(0.01)
            return answer, watchdog.longest


@pytest.mark.parametrize(("method", "path", "body"), list(cases()))
def test_no_request_holds_the_loop(store: Store, method: str, path: str, body: bytes) -> None:
    blob = next(iter(store.blobs()), None)
    path = path.replace("{blob_id}", blob.blob_id if blob is not None else "0" * 64)
    for _ in range(TRIES):
        watched = answer_watched(store, method, BASE + path, body, owner(store))
        answer, held_seconds = asyncio.run(watched)
        assert answer.status_code in (200, 201, 204, 400, 404), answer.text
        if held_seconds <= HELD_SECONDS:
            return
    pytest.fail(f"{method} {path} held the loop for {held_seconds:.3f} s")


TOOLS: dict[str, dict[str, Any]] = {
    "schema": {},
    "query_records": {"stream": "texts", "limit": 3},
    "aggregate": {"stream": "pages", "metric": "count"},
    "search": {"query": "when did the lights go out"},
    "fetch": {"id": "home/texts:t1"},
    "read_record_field": {"id": "home/texts:t1", "field_path": "body", "query": "lights"},
}


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_holds_the_loop(store: Store, tool: str) -> None:
    params = {"name": tool, "arguments": TOOLS[tool]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for _ in range(TRIES):
        watched = answer_watched(store, "POST", "/mcp", orjson.dumps(call), grant(store), **kinds)
        answer, held_seconds = asyncio.run(watched)
        assert answer.json()["result"].get("isError") is not True, answer.text
        if held_seconds <= HELD_SECONDS:
            return
    pytest.fail(f"{tool} held the loop for {held_seconds:.3f} s")
