"""A library that is served, read from, and closed: what its log holds then is all there is."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
from tests.engine import open_store
from tests.resource.library import library_store
from tests.serving import UNLIMITED, World, living

from pdpp.model import instant
from pdpp.receipts.recorder import ReceiptPolicy
from pdpp.service.settings import Settings
from pdpp.store.receipts import Receipt, ReceiptQuery

QUICK = replace(UNLIMITED, receipts=ReceiptPolicy(seconds=0.02))
"""Settings under which receipts are written almost at once."""


def receipts_after(
    folder: Path,
    act: Callable[[World], Any],
    settings: Settings = UNLIMITED,
    clock: instant.Clock = instant.now,
) -> list[Receipt]:
    """Serve a library, let something read it, and return the receipts in order."""
    with living(library_store(folder, clock), settings, clock) as world:
        act(world)
    return kept(folder)


def kept(folder: Path) -> list[Receipt]:
    """Return the receipts of a folder in order, of a log that must be whole."""
    store = open_store(folder)
    try:
        assert store.receipts.verify().problems == ()
        return [entry.receipt for entry in store.receipts.receipts(ReceiptQuery())][::-1]
    finally:
        store.close()


def good(answer: httpx.Response) -> httpx.Response:
    """Return an answer that must be good."""
    assert answer.is_success, answer.text
    return answer


def characters(*values: Any) -> int:
    """Return how many characters the JSON of some values has."""
    return sum(len(orjson.dumps(value).decode()) for value in values)


def tool(client: httpx.Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Call one of the hosted tools and return its structured half."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }
    result = good(client.post("/mcp", json=message)).json()["result"]
    assert not result["isError"], result
    structured: dict[str, Any] = result["structuredContent"]
    return structured
