"""Receipts: what writing down a page costs, against the same server that writes nothing down."""

import time
from collections.abc import Iterator

from bench.client import Client
from bench.measures import Bench, pages
from bench.process import Process, serving
from bench.report import Row

_PAGES, _FEW = 500, 20
"""Pages that are asked for in each round, and in a trial of the benchmark itself."""

_WRITTEN_SECONDS = 1.5
"""After this long what was read has been written down."""


def receipt_rows(bench: Bench) -> Iterator[Row]:
    """Yield the processor time of a page beyond that of a page that leaves no receipt."""
    requests = pages(bench.stock, bench.stock.tokens.third)
    trial = bench.rounds == 1
    chosen = [requests[turn % len(requests)] for turn in range(_FEW if trial else _PAGES)]
    with serving("unrecorded", bench.stock.folder) as plain:
        plain.wait_until_idle(bench.rounds)
        rounds = [
            (_microseconds(bench.product, chosen), _microseconds(plain, chosen))
            for _ in range(1 if trial else bench.rounds + 1)
        ][0 if trial else 1 :]
    least, without = (min(found) for found in zip(*rounds, strict=True))
    note = f"CPU, with the writing, least of the rounds; without receipts {without:.0f} µs"
    yield Row("receipts, a page of 25 over one without", least - without, "µs", 50, note)


def _microseconds(server: Process, requests: list[bytes]) -> float:
    """Return what a request costs, with what a server does about it a little later."""
    before = server.cpu_seconds()
    with Client(server.port) as client:
        for request in requests:
            client.ask(request)
    time.sleep(_WRITTEN_SECONDS)
    return 1e6 * (server.cpu_seconds() - before) / len(requests)
