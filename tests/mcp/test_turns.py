"""One caller's many calls wait for each other, and nobody else waits for them."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serving import UNLIMITED, grant, seeded_store

from pdpp.app import make_app
from pdpp.mcp.kernel.dispatch import Kernel

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def test_a_few_calls_of_one_caller_are_at_work_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = seeded_store(tmp_path)
    greedy, other = grant(store), grant(store)
    at_work: Counter[str] = Counter()
    handle = Kernel.handle

    async def handled_slowly(kernel: Kernel, message: object, **options: Any) -> Any:
        bearer = options["principal"].bearer
        at_work[bearer] += 1
        if bearer == greedy:
            await end.wait()
        return await handle(kernel, message, **options)

    monkeypatch.setattr(Kernel, "handle", handled_slowly)
    end = asyncio.Event()

    async def ask() -> list[httpx.Response]:
        app = httpx.ASGITransport(make_app(store, UNLIMITED))
        async with httpx.AsyncClient(transport=app, base_url="http://127.0.0.1:7377") as client:

            async def call(bearer: str) -> httpx.Response:
                headers = {"Authorization": f"Bearer {bearer}"}
                return await client.post("/mcp", json=PING, headers=headers)

            calls = [asyncio.ensure_future(call(greedy)) for _ in range(20)]
            await asyncio.wait_for(call(other), 20)
            assert at_work == {greedy: 4, other: 1}
            end.set()
            return await asyncio.gather(*calls)

    assert {answer.status_code for answer in asyncio.run(ask())} == {200}
    assert at_work[greedy] == 20
    store.close()
