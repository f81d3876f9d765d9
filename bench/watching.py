"""Watching: what counting a request costs the event loop."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from bench.report import Row
from pdpp.watch.meter import Meter
from pdpp.watch.observer import Observer

_REQUESTS = 20_000

Message = MutableMapping[str, Any]


def watching_rows(rounds: int) -> Iterator[Row]:
    """Yield what the observer adds to a request that does nothing else."""
    cost = asyncio.run(_cost(max(3, rounds)))
    yield Row("watching a request", cost, "µs", 2, "processor time, least of the rounds")


async def _cost(rounds: int) -> float:
    watched = Observer(_answer, Meter())
    pairs = [(await _time(watched), await _time(_answer)) for _ in range(rounds)]
    return min(ours for ours, _ in pairs) - min(bare for _, bare in pairs)


async def _time(app: Any) -> float:
    scope = {"type": "http", "method": "GET"}
    started = time.process_time()
    for _ in range(_REQUESTS):
        await app(scope, None, _send)
    return (time.process_time() - started) / _REQUESTS * 1e6


async def _answer(
    _scope: Message, _receive: Any, send: Callable[[Message], Awaitable[None]]
) -> None:
    headers = [(b"request-id", b"req_0"), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}"})


async def _send(_message: Message) -> None:
    return None
