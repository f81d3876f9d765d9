"""Watches the event loop of a server while a request is answered, over a store of long texts."""

import asyncio
import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serving import UNLIMITED, planted_store, put
from tests.yardstick import is_at_most

from pdpp.app import make_app
from pdpp.pages import template
from pdpp.store.port import Store

BASE_URL = "http://127.0.0.1:7377"
HELD_SECONDS = 0.020
"""How long a request may hold the loop of a machine of a usual speed."""
MEGABYTE = 1 << 20
BIG = 8 * MEGABYTE
STREAMS = 200

TRIES = 3
"""A request that holds the loop does so each time; what the machine does happens once."""


@contextmanager
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
        "query": {
            "search": {"lexical_fields": ["title", "body"]},
            "range_filters": {"at": ["gte", "gt", "lte", "lt"]},
            "aggregations": {"count": True, "group_by_time": ["at"]},
        },
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


def long_store(folder: Path) -> Store:
    """Return a store with five texts of 8 MB that all match, and 100 records of 50 kB."""
    filled = planted_store(folder, declaration(), {"home": "Home"})
    at = "2026-01-01T00:00:00Z"
    text = ("the harbour lay still and the lights went out one by one; " * (BIG // 58))[:BIG]
    for number in range(5):
        put(filled, "home", "texts", {"id": f"t{number}", "title": "Log", "body": text, "at": at})
    rows = [{"id": f"p{n}", "title": "Page", "body": "x" * 50_000, "at": at} for n in range(100)]
    put(filled, "home", "pages", *rows)
    return filled


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


async def answer_watched(
    store: Store,
    method: str,
    path: str,
    body: bytes,
    headers: Mapping[str, str],
    data: Path | None = None,
    before: Sequence[str] = (),
) -> tuple[httpx.Response, float]:
    """Return the answer of a server that has just started, and how long it held its loop.

    ``before`` are paths that the same client has read from it.
    """
    watchdog = Watchdog()
    template._environment.cache_clear()  # its templates are compiled again, too
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(make_app(store, UNLIMITED, data=data)),
        base_url=BASE_URL,
        headers=headers,
    ) as client:
        for path_before in ("/healthz", *before):
            await client.get(path_before)
        # The client writes its request before it is watched: it shares the loop with the server.
        request = client.build_request(method, path, content=body or None)
        with watchdog.watching():
            await asyncio.sleep(0.01)
            answer = await client.send(request)
            await asyncio.sleep(0.01)
            return answer, watchdog.longest


def must_not_hold_the_loop(
    store: Store,
    method: str,
    path: str,
    body: bytes,
    headers: Mapping[str, str],
    data: Path | None = None,
    before: Sequence[str] = (),
) -> httpx.Response:
    """Return the answer to a request that let the loop go on."""
    for _ in range(TRIES):
        watched = answer_watched(store, method, path, body, headers, data, before)
        answer, held_seconds = asyncio.run(watched)
        if is_at_most(held_seconds, HELD_SECONDS):
            return answer
    pytest.fail(f"{method} {path} held the loop for {held_seconds:.3f} s")
