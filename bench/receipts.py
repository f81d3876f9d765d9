"""Receipts: what writing down a page costs, against the same server that writes nothing down."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from statistics import median

from bench.client import Client
from bench.measures import Bench, pages
from bench.process import Process, serving
from bench.report import Row

_PAGES, _FEW = 500, 20
"""Pages that are asked for in each round, and in a trial of the benchmark itself."""

_TURN = 20
"""After so many pages it is the other server's turn: the speed of a machine changes within a
second."""

_WRITTEN_SECONDS = 1.5
"""After this long what was read has been written down."""


def receipt_rows(bench: Bench) -> Iterator[Row]:
    """Yield the processor time of a page beyond that of a page that leaves no receipt.

    Both servers are new, so that they differ in nothing else.
    """
    requests = pages(bench.stock, bench.stock.tokens.third)
    trial = bench.rounds == 1
    chosen = [requests[turn % len(requests)] for turn in range(_FEW if trial else _PAGES)]
    with (
        serving("product", bench.stock.folder) as recorded,
        serving("unrecorded", bench.stock.folder) as plain,
    ):
        servers = recorded, plain
        for server in servers:
            server.wait_until_idle(bench.rounds)
        rounds = [_microseconds(servers, chosen) for _ in range(1 if trial else bench.rounds + 1)][
            0 if trial else 1 :
        ]
    without = median(alone for _, alone in rounds)
    note = f"CPU, with the writing; without receipts {without:.0f} µs"
    over = median(with_them - alone for with_them, alone in rounds)
    yield Row("receipts, a page of 25 over one without", over, "µs", 50, note)


def _microseconds(servers: Sequence[Process], requests: Sequence[bytes]) -> list[float]:
    """Return what a request costs each server, with what it does about it a little later."""
    before = [server.cpu_seconds() for server in servers]
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(server.port)) for server in servers]
        for start in range(0, len(requests), _TURN):
            for client in clients:
                for request in requests[start : start + _TURN]:
                    client.ask(request)
    time.sleep(_WRITTEN_SECONDS)
    used = [server.cpu_seconds() - was for server, was in zip(servers, before, strict=True)]
    return [1e6 * seconds / len(requests) for seconds in used]
