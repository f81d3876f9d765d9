"""The process of a server: how it runs, whatever it serves."""

import gc
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn

from pdpp.serving import COLLECTOR_ROUNDS
from pdpp.serving.memory import share_memory
from pdpp.serving.slow_clients import ClientConnection, GuardedServer

BACKLOG = 2_048
STOP_SECONDS = 10
IDLE_SECONDS = 25
"""How long a connection is kept between two requests: as long as a model may think about one."""

_TURN_SECONDS = 0.001
"""How long a thread computes while another waits for its turn."""


def configure(app: Any) -> uvicorn.Config:
    """Return how a process serves: without logs of requests, and without naming itself."""
    return uvicorn.Config(
        app,
        loop="auto",
        http=ClientConnection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


class AnnouncedServer(GuardedServer):
    """A server that tells when it answers and takes a signal as a request to stop."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer, then say so."""
        await super().startup(sockets)
        self._announce()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal, which uvicorn raises again when it is done; here it ends there."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        super().run(sockets)

    def _stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a signal handler
        self.should_exit = True


def tune_process() -> None:
    """Keep what was loaded at the start out of the collector's rounds, and let these be rare.

    A page of records makes a few hundred short-lived objects. With the usual rounds more than half
    of its time goes into looking for cycles that are not there.

    Threads that write or read for long take shorter turns than usual: every other caller waits
    behind them for the one thread that answers.
    """
    sys.setswitchinterval(_TURN_SECONDS)
    share_memory()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTOR_ROUNDS)
