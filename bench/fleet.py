"""A fleet: how many reads several workers answer together, and how many connections one holds."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from bench import measures
from bench.client import Client
from bench.process import serving
from bench.report import Row
from bench.stock import Stock

_CALLERS = 8
_MORE_READS = 1.7
_MOST_CONNECTIONS = 5


class _Throughput(NamedTuple):
    """Answers a second, the processors they took, and the most connections of one worker."""

    rate: float
    processors: float
    connections: int


def _throughput(
    folder: Path, workers: int, requests: Sequence[bytes], seconds: float
) -> _Throughput:
    with ExitStack() as stack:
        servers = [stack.enter_context(serving("product", folder)) for _ in range(workers)]
        callers = [
            stack.enter_context(Client(servers[number % workers].port))
            for number in range(_CALLERS)
        ]
        coming = cycle(requests)
        turns, used, began = 0, 0.0, 0.0
        for measured in (False, True):  # first a while to prepare statements and fill caches
            turns, began = 0, time.perf_counter()
            used = sum(server.cpu_seconds() for server in servers)
            while time.perf_counter() - began < (seconds if measured else seconds / 3):
                for caller in callers:
                    caller.send(next(coming))
                for caller in callers:
                    caller.receive()
                turns += 1
        took = time.perf_counter() - began
        used = sum(server.cpu_seconds() for server in servers) - used
        held = max(len(server.backends()) for server in servers)
    return _Throughput(turns * _CALLERS / took, used / took, held)


def fleet_rows(stock: Stock, seconds: float) -> Iterator[Row]:
    """Yield what a second worker adds, and what a worker asks of the database."""
    token = stock.tokens.third
    requests = [*measures.pages(stock, token), *measures.records(stock, token)]
    one, two = (_throughput(stock.folder, workers, requests, seconds) for workers in (1, 2))
    note = (
        f"{two.rate:,.0f} pages and records a second on {two.processors:.2f} processors, "
        f"one {one.rate:,.0f} on {one.processors:.2f}; with the database and {_CALLERS} callers"
        " on the same machine"
    )
    name = "reads of two workers against one"
    yield Row(name, two.rate / one.rate, "×", _MORE_READS, note, at_least=True)
    each = two.rate / two.processors / (one.rate / one.processors)
    yield Row("reads for a processor, two workers against one", each, "×", None, "")
    most = max(one.connections, two.connections)
    yield Row("connections of a worker", most, "", _MOST_CONNECTIONS, "while callers ask")
