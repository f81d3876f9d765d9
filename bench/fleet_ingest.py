"""Writes of a fleet: how many records two workers take together, against one."""

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from bench import world
from bench.client import Client, post
from bench.engine import DatabasePlace, put_place
from bench.fleet import pin_worker
from bench.process import serving
from bench.report import Row
from bench.stock import prepare_stock

_GOAL = 1.7
_RECORDS = 20_000
_WORLD = 300_000
"""A world with enough full batches. In one of few records most batches have some tens of them, and
what a request costs hides what a record does."""


def _full_batches(records: int) -> list[world.Batch]:
    batches = world.make_world(_WORLD).batches()
    full = [batch for batch in batches if batch.size == world.BATCH]
    return full[: max(2, records // world.BATCH)]


def _requests(owner: str, batches: Sequence[world.Batch]) -> list[bytes]:
    made = world.make_world(_WORLD)
    return [
        post(
            f"/v1/ingest/{batch.feed.stream}?connection_id={batch.feed.connection_id}",
            owner,
            made.lines(batch),
        )
        for batch in batches
    ]


def _send(port: int, requests: Sequence[bytes]) -> None:
    with Client(port) as client:
        for request in requests:
            client.ask(request)


def _rate(folders: Sequence[Path], records: int) -> float:
    """Return how many records a second go into some stores, by one worker for each."""
    batches = _full_batches(records)
    cores = sorted(os.sched_getaffinity(0))
    with ExitStack() as stack:
        requests, servers = [], []
        for folder in folders:
            requests.append(_requests(prepare_stock(folder).owner, batches))
            servers.append(stack.enter_context(serving("product", folder)))
        for number, (server, sent) in enumerate(zip(servers, requests, strict=True)):
            _send(server.port, sent[:1])
            if len(cores) > 1:
                pin_worker(server, cores[number % 2])
        threads = stack.enter_context(ThreadPoolExecutor(len(folders)))
        began = time.perf_counter()
        turns = [
            threads.submit(_send, server.port, sent[1:])
            for server, sent in zip(servers, requests, strict=True)
        ]
        for turn in turns:
            turn.result()
        took = time.perf_counter() - began
    return len(folders) * (len(batches) - 1) * world.BATCH / took


def fleet_ingest_rows(shelf: Path, url: str, records: int) -> Iterator[Row]:
    """Yield what a second worker adds to writes, where each writes for an owner of its own."""
    size = min(_RECORDS, records)
    stamp = f"{time.time_ns():x}"
    folders = [shelf / f"fleet-{stamp}-{number}" for number in range(3)]
    for folder in folders:
        put_place(folder, DatabasePlace(url, str(folder)))
    try:
        one, two = _rate(folders[:1], size), _rate(folders[1:], size)
    finally:
        for folder in folders:
            shutil.rmtree(folder)
    note = f"{two:,.0f} records a second for two owners, one {one:,.0f}; {size:,} records each,"
    note += f" {world.BATCH:,} a request"
    name = "ingest of two workers on two cores against one on one"
    yield Row(name, two / one, "×", _GOAL, note, at_least=True)
