"""A fleet: what a second worker adds to reads and writes, and how many connections one holds.

A worker, the sessions of the database that work for it, and its callers share one core; two workers
have two cores. On fewer cores than all of them can use, the database would take from the second
worker what it gave to the first, and the ratio would be that of the machine.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from bench import measures
from bench.client import Client
from bench.process import Process, serving
from bench.report import Row
from bench.stock import Stock

_CALLERS = 4
"""How many ask one worker at the same time."""
_MORE = 1.7
_MOST_CONNECTIONS = 5
_ROOT = Path(__file__).parents[1]


class _Throughput(NamedTuple):
    """Answers or records a second, the processors they took, and the most connections of one."""

    rate: float
    processors: float
    connections: int


class _Callers:
    """A process that asks one worker over and over; its core is the worker's."""

    def __init__(self, port: int, core: int | None, requests: Sequence[bytes]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.fleet", str(port), str(core), str(len(requests))],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdin is not None
        for request in requests:
            self.process.stdin.write(len(request).to_bytes(8, "big") + request)
        self.process.stdin.flush()

    def line(self) -> int:
        """Return the next number that it says: how many answers it has had so far."""
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def ask(self) -> int:
        """Return how many answers it has had."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"?")
        self.process.stdin.flush()
        return self.line()

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()


def pin_worker(server: Process, core: int | None) -> None:
    """Keep a worker and the sessions that work for it on a core."""
    for pid in (server.pid, *server.backends()):
        pin(pid, core)


def pin(pid: int, core: int | None) -> None:
    """Keep a process on a core, where one is told."""
    if core is not None:
        for task in _threads(pid):
            with suppress(OSError):  # a connection may be closed meanwhile
                os.sched_setaffinity(task, {core})


def _threads(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    return []


def _throughput(
    folder: Path, requests: Sequence[Sequence[bytes]], seconds: float, cores: Sequence[int | None]
) -> _Throughput:
    """Measure one worker for each list of requests."""
    with ExitStack() as stack:
        servers = [stack.enter_context(serving("product", folder)) for _ in requests]
        callers = []
        for server, asked, core in zip(servers, requests, cores, strict=False):
            with Client(server.port) as client:
                client.ask(asked[0])
            callers.append(_Callers(server.port, core, asked))
            stack.callback(callers[-1].close)
        for one in callers:
            one.line()
        time.sleep(seconds / 3)  # to prepare statements, open connections and fill caches
        for server, core in zip(servers, cores, strict=False):
            pin_worker(server, core)
        time.sleep(seconds / 6)
        began, before = time.perf_counter(), sum(one.ask() for one in callers)
        used = sum(server.cpu_seconds() for server in servers)
        time.sleep(seconds / 2)
        most = max(len(server.backends()) for server in servers)
        time.sleep(seconds / 2)
        answers = sum(one.ask() for one in callers) - before
        took = time.perf_counter() - began
        used = sum(server.cpu_seconds() for server in servers) - used
    return _Throughput(answers / took, used / took, most)


def _compared(
    folder: Path, lists: Sequence[Sequence[bytes]], seconds: float, *, pinned: bool
) -> tuple[_Throughput, _Throughput]:
    """Return what one worker does, and two."""
    available = sorted(os.sched_getaffinity(0))
    cores: Sequence[int | None] = available[:2] if pinned and len(available) > 1 else (None, None)
    one = _throughput(folder, lists[:1], seconds, cores)
    return one, _throughput(folder, lists, seconds, cores)


def fleet_rows(stock: Stock, seconds: float) -> Iterator[Row]:
    """Yield what a second worker adds, and what a worker asks of the database."""
    token = stock.tokens.third
    reads = [*measures.pages(stock, token), *measures.records(stock, token)]
    one, two = _compared(stock.folder, [reads, reads], seconds, pinned=True)
    name = "reads of two workers on two cores against one on one"
    yield _more(name, _MORE, one, two, "pages and records")
    most = max(one.connections, two.connections)
    yield Row("connections of a worker", most, "", _MOST_CONNECTIONS, "while callers ask")
    one, two = _compared(stock.folder, [reads, reads], seconds, pinned=False)
    name = "reads of two workers against one, both on all cores"
    yield _more(name, None, one, two, "pages and records")


def _more(name: str, goal: float | None, one: _Throughput, two: _Throughput, what: str) -> Row:
    note = (
        f"{two.rate:,.0f} {what} a second on {two.processors:.2f} processors, "
        f"one {one.rate:,.0f} on {one.processors:.2f}; with the database and {_CALLERS} callers"
        " a worker on the same machine"
    )
    return Row(name, two.rate / one.rate, "×", goal, note, at_least=True)


# The process that asks


def _read_requests(count: int) -> list[bytes]:
    source = sys.stdin.buffer
    return [source.read(int.from_bytes(source.read(8), "big")) for _ in range(count)]


def _ask(client: Client, requests: Sequence[bytes], first: int, counts: list[int]) -> None:
    coming = cycle([*requests[first:], *requests[:first]])
    while True:
        client.ask(next(coming))
        counts[first] += 1


def main(port: str, core: str, size: str) -> None:
    """Ask a worker over and over; say how often it answered whenever that is asked for."""
    requests = _read_requests(int(size))
    if core != "None":
        os.sched_setaffinity(0, {int(core)})
    counts = [0] * len(requests)
    for number in range(_CALLERS):
        first = number * len(requests) // _CALLERS
        arguments = (Client(int(port)), requests, first, counts)
        threading.Thread(target=_ask, args=arguments, daemon=True).start()
    sys.stdout.write("0\n")
    sys.stdout.flush()
    while sys.stdin.buffer.read(1):
        sys.stdout.write(f"{sum(counts)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
