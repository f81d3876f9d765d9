"""Writes of a fleet: how many records two workers take together, against one.

One worker with its callers, its sessions and everything else that the database does has one core,
two workers have two. They take turns: one alone, both, the other alone, both. What the machine does
otherwise, and what a store that grows costs, hits them alike.
"""

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple, Protocol

import psycopg

from bench import world
from bench.client import Client, post
from bench.engine import DatabasePlace, put_place
from bench.fleet import pin_worker
from bench.fleet_floor import BareWriter
from bench.process import Process, serving
from bench.report import Row
from bench.stock import prepare_stock

_GOAL = 1.7
_WORLD = 300_000
"""A world with enough full batches. In one of few records most batches have some tens of them, and
what a request costs hides what a record does."""
_TURNS = 6
"""How often each of one worker and both takes a turn."""
_BATCHES = 3
"""How many batches a worker takes in a turn: shorter than the pause after which it tends its index.
"""


class Writes(Protocol):
    """What is compared: it writes, and takes processor time."""

    def write(self, batches: int) -> None:
        """Write batches."""

    def cpu_seconds(self) -> float:
        """Return the processor time that was used for it."""


class HasCores(Protocol):
    """What is kept on the cores that a turn is about."""

    def keep_on(self, cores: Sequence[int]) -> None:
        """Let it use some cores only."""


class Writer:
    """Takes batches for one worker, on a core of its own."""

    def __init__(self, server: Process, requests: Sequence[bytes], core: int | None) -> None:
        self.server = server
        self._core = core
        self._requests = iter(requests)
        self._client = Client(server.port)
        self._client.ask(next(self._requests))
        pin_worker(server, core)

    def write(self, batches: int) -> None:
        """Send batches, one after the other, from the core of the worker."""
        if self._core is not None:
            os.sched_setaffinity(0, {self._core})
        for _ in range(batches):
            self._client.ask(next(self._requests))

    def cpu_seconds(self) -> float:
        """Return the processor time that was used for it."""
        return self.server.cpu_seconds()


class Turn(NamedTuple):
    """Batches a second, and how many processors the writers took."""

    rate: float
    processors: float


class DatabaseProcesses:
    """What a database does beside its sessions: it writes its log and its pages, and cleans up."""

    def __init__(self, url: str) -> None:
        with psycopg.connect(url) as session:
            rows = session.execute(
                "SELECT pid FROM pg_stat_activity WHERE backend_type <> 'client backend'"
            )
            self._pids = [pid for (pid,) in rows]

    def keep_on(self, cores: Sequence[int]) -> None:
        """Let it use some cores only."""
        for pid in self._pids:
            with suppress(OSError):  # what cleaned up may have ended
                os.sched_setaffinity(pid, set(cores))


def _turn(writers: Sequence[Writes], database: HasCores, cores: Sequence[int], size: int) -> Turn:
    """Let writers take a number of batches each, all at the same time."""
    database.keep_on(cores)
    used = sum(writer.cpu_seconds() for writer in writers)
    with ThreadPoolExecutor(len(writers)) as threads:
        began = time.perf_counter()
        for turn in [threads.submit(writer.write, size) for writer in writers]:
            turn.result()
        took = time.perf_counter() - began
    used = sum(writer.cpu_seconds() for writer in writers) - used
    return Turn(len(writers) * size / took, used / took)


class Comparison(NamedTuple):
    """The turns of one writer, and of both."""

    one: Sequence[Turn]
    two: Sequence[Turn]

    @property
    def ratio(self) -> float:
        """Return what two write against one, in turns that follow each other."""
        return median(two.rate / one.rate for one, two in zip(self.one, self.two, strict=True))

    def __str__(self) -> str:
        return f"{_said(self.two)}, one {_said(self.one)}"


def _said(turns: Sequence[Turn]) -> str:
    """Return how many records were written in some turns, and on how many processors."""
    rate = world.BATCH * median(turn.rate for turn in turns)
    return f"{rate:,.0f} a second on {median(turn.processors for turn in turns):.2f} processors"


def compared(
    writers: Sequence[Writes], database: HasCores, cores: Sequence[int], size: int
) -> Comparison:
    """Let one writer and both take turns; which one is alone changes."""
    one, two = [], []
    for number in range(_TURNS):
        alone = number % 2
        one.append(_turn([writers[alone]], database, cores[alone : alone + 1] or cores, size))
        two.append(_turn(writers, database, cores, size))
    return Comparison(one, two)


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


def _full_batches(count: int) -> list[world.Batch]:
    batches = world.make_world(_WORLD).batches()
    return [batch for batch in batches if batch.size == world.BATCH][:count]


def fleet_ingest_rows(shelf: Path, url: str, records: int) -> Iterator[Row]:
    """Yield what a second worker adds to writes, where each writes for an owner of its own."""
    size = max(1, min(_BATCHES, records // (2 * _TURNS * world.BATCH)))
    batches = _full_batches(1 + 2 * _TURNS * size)
    available, database = sorted(os.sched_getaffinity(0)), DatabaseProcesses(url)
    cores = available[:2]
    pins: Sequence[int | None] = cores if len(cores) > 1 else (None, None)
    stamp = f"{time.time_ns():x}"
    folders = [shelf / f"fleet-{stamp}-{number}" for number in range(2)]
    try:
        with ExitStack() as stack:
            writers = []
            for folder, core in zip(folders, pins, strict=True):
                put_place(folder, DatabasePlace(url, str(folder)))
                requests = _requests(prepare_stock(folder).owner, batches)
                server = stack.enter_context(serving("product", folder))
                writers.append(Writer(server, requests, core))
            ours = compared(writers, database, cores, size)
        with ExitStack() as stack:
            lines = [world.make_world(_WORLD).lines(batch) for batch in batches]
            bare = [
                stack.enter_context(
                    closing(BareWriter(url, f"floor_{stamp}_{number}", lines, core))
                )
                for number, core in enumerate(pins)
            ]
            floor = compared(bare, database, cores, size)
    finally:
        database.keep_on(available)
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    note = (
        f"for an owner each {ours}; {world.BATCH:,} records a request;"
        f" bare COPY of the same lines {floor.ratio:.2f} ×: {floor}"
    )
    name = "ingest of two workers on two cores against one on one"
    yield Row(name, ours.ratio, "×", _GOAL, note, at_least=True)
