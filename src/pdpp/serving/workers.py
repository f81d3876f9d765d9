"""Workers: several processes that serve one port and one store."""

import logging
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import c_uint64
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import Any

import click
from starlette.types import ASGIApp

from pdpp.app import make_app
from pdpp.configuration.database import DatabaseAddress
from pdpp.encryption.data_key import DataKey
from pdpp.model import instant
from pdpp.service.settings import Settings
from pdpp.serving.data_folder import open_store
from pdpp.serving.database import open_owners
from pdpp.serving.fleet import heartbeat
from pdpp.serving.owners import OwnerApplications
from pdpp.serving.process import STOP_SECONDS, AnnouncedServer, configure, tune_process
from pdpp.watch.logs import LogOptions, configure_logging
from pdpp.watch.meter import WORDS, Share

log = logging.getLogger("pdpp.workers")

_LOOK_SECONDS = 0.2
_MOST_TRIES = 5
"""How often in a row one worker of a server that has answered may end before it answers."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """What every worker does."""

    data: Path
    settings: Settings
    log: LogOptions
    started: int
    key: DataKey | None = None
    database: DatabaseAddress | None = None
    """The address of the database: given to workers through a pipe, never as an argument."""
    owners: bool = False
    """Whether every owner of the database is served."""
    by_path: bool = False
    """Whether owners have paths below one host name instead of host names."""


class WorkerPool:
    """Starts workers, replaces one that ends unasked, and lets all finish when told to stop."""

    def __init__(self, count: int, listener: socket.socket, work: WorkerOptions) -> None:
        # Spawned, not forked: a fork would copy the locks of threads that run in this process.
        self._context = get_context("spawn")
        self._memory = self._context.RawArray(c_uint64, count * WORDS)
        self._listener = listener
        self._work = work
        self._news, self._teller = self._context.Pipe(duplex=False)
        self._running: dict[int, BaseProcess] = {}
        self._waiting = set(range(count))
        self._tries: Counter[int] = Counter()
        self._announced = self._stopping = False

    def run(self, announce: Callable[[], None]) -> None:
        """Answer until a signal; tell when every worker does."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        try:
            for place in sorted(self._waiting):
                self._start(place)
            while not self._stopping:
                self._look(announce)
        finally:
            self._end()

    def _stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a signal handler
        self._stopping = True

    def _start(self, place: int) -> None:
        arguments = (place, self._listener, self._work, self._memory, self._teller)
        process = self._context.Process(target=answer, args=arguments, name=f"pdpp-{place}")
        process.start()
        self._running[place] = process

    def _look(self, announce: Callable[[], None]) -> None:
        """Wait a moment for news: of a worker that answers now, or of one that ended."""
        sentinels = {process.sentinel: place for place, process in self._running.items()}
        for ready in connection.wait([self._news, *sentinels], _LOOK_SECONDS):
            if ready is self._news:
                answering = self._news.recv()
                self._waiting.discard(answering)
                del self._tries[answering]
                if not self._waiting and not self._announced:
                    self._announced = True
                    announce()
            elif not self._stopping:
                self._replace(sentinels[ready])  # type: ignore[index]

    def _replace(self, place: int) -> None:
        ended = self._running.pop(place)
        ended.join()
        # A worker that never answered would end again for the same reason: stop instead of starting
        # it for ever. One of a server that has answered may have met a database that failed over.
        if place in self._waiting:
            self._tries[place] += 1
        if place in self._waiting and (not self._announced or self._tries[place] >= _MOST_TRIES):
            raise click.ClickException("a worker ended before it could answer; see the log above")
        log.error("worker %s ended with %s; starting it again", place, ended.exitcode)
        self._waiting.add(place)
        self._start(place)

    def _end(self) -> None:
        self._listener.close()
        # All of them first, so that they finish their requests at the same time.
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            process.join(STOP_SECONDS + 5)
            if process.is_alive():
                process.kill()
                process.join()


@contextmanager
def _application(work: WorkerOptions, share: Share) -> Iterator[ASGIApp]:
    if work.owners and work.database is not None:
        with open_owners(work.database, work.data) as open_owner:
            owners = OwnerApplications(
                open_owner,
                work.settings,
                work.data,
                by_path=work.by_path,
                with_work=open_owner.with_work,
                ask=open_owner.fleet.now,
            )
            with heartbeat(open_owner.fleet, owners.running):
                yield owners
        return
    with open_store(work.data, key=work.key, database=work.database) as store:
        app = make_app(store, work.settings, instant.now, share, data=work.data)
        with heartbeat(store.fleet, lambda: [app]):
            yield app


def answer(
    place: int, listener: socket.socket, work: WorkerOptions, memory: Any, news: Any
) -> None:
    """Answer requests until told to stop, or until the process that started this one is gone."""
    # A terminal sends an interrupt to the whole group; the pool alone decides when workers stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    configure_logging(work.log)
    share = Share(memoryview(memory).cast("B").cast("Q"), place, work.started)
    with _application(work, share) as app:
        server = AnnouncedServer(configure(app), lambda: news.send(place))
        # A pool that is killed cannot tell its workers: they would keep the port and the store for
        # ever.
        threading.Thread(target=_follow, args=(server,), daemon=True).start()
        tune_process()
        server.run([listener])


def _follow(server: AnnouncedServer) -> None:
    parent = parent_process()
    if parent is not None:
        with suppress(OSError):
            parent.join()
        server.should_exit = True
