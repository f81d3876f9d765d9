"""Callers with bad manners: a server with limits a test chooses, and sockets that misuse it."""

import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest
from tests.serving import DEADLINE, UNLIMITED, Running, World, listening

from pdpp.app import make_app
from pdpp.serving.process import configure
from pdpp.serving.slow_clients import ClientLimits, GuardedServer
from pdpp.store.port import Store


@contextmanager
def patient(store: Store, limits: ClientLimits) -> Iterator[World]:
    """Serve a store as the program does, under some limits, until the block ends."""
    server = GuardedServer(configure(make_app(store, UNLIMITED)), limits)
    with listening() as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        served = Running(f"http://127.0.0.1:{listener.getsockname()[1]}")
        wait_until(lambda: server.started)
        try:
            yield World(store, served)
        finally:
            served.close()
            server.should_exit = True
            thread.join(DEADLINE)
            store.close()


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def dial(url: str, receive_bytes: int | None = None) -> socket.socket:
    """Return a connection to a server."""
    parts = urlsplit(url)
    made = socket.socket()
    if receive_bytes is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    made.settimeout(DEADLINE)
    made.connect((parts.hostname, parts.port))
    return made


def is_cut(connection: socket.socket) -> bool:
    """Tell whether the other side has ended a connection on which nothing more comes."""
    connection.setblocking(False)
    try:
        return connection.recv(1 << 16) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def crowd(url: str, count: int, stack: ExitStack) -> list[socket.socket]:
    """Return many connections on which nothing is asked."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count + 200:
        if hard not in (-1, resource.RLIM_INFINITY) and hard < count + 200:
            pytest.skip(f"{count} connections need more open files than the {hard} allowed here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + 200, hard))
    return [stack.enter_context(dial(url)) for _ in range(count)]
