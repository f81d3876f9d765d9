"""The process that forks: ``python -m tests.launching.forker``, with a socket as its stdin.

It forks twice and lets the process between end, so that whoever asked becomes the parent of the
program and can wait for it. Each fork leaves the loop and runs its module as ``python -m`` does,
and ends as the interpreter would.
"""

import atexit
import gc
import io
import json
import os
import runpy
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import TypedDict

from tests.counting.importing import count_this_fork
from tests.launching.fork_safety import require_one_thread
from tests.launching.imports import import_for, import_program
from tests.launching.spawning import fork_workers

_MOST_BYTES = 1 << 20


class Request(TypedDict):
    """What a program is started with, beside its streams."""

    module: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    begins_session: bool
    takes_terminal: bool


def take_terminal() -> None:
    """Let the terminal of the standard input be the one that commands this session."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def serve_forks(requests: socket.socket) -> str:
    """Fork for each request; return in a fork what it runs, end where nobody asks any more."""
    while True:
        message, streams, _, _ = socket.recv_fds(requests, _MOST_BYTES, 3)
        if not message:
            os._exit(0)
        request: Request = json.loads(message)
        import_for(request["module"], request["arguments"])
        if _forked(requests):
            _become(request, streams)
            return request["module"]
        for stream in streams:
            os.close(stream)


def _forked(requests: socket.socket) -> bool:
    """Fork twice; tell the one that goes on as the program, and tell who asked its number."""
    number_read, number_write = os.pipe()
    ended_read, ended_write = os.pipe()
    between = os.fork()
    if between:
        os.close(number_write)
        os.close(ended_read)
        os.close(ended_write)
        number = os.read(number_read, 16)
        os.close(number_read)
        os.waitpid(between, 0)
        requests.sendall(number)
        return False
    program = os.fork()
    if program:
        os.write(number_write, b"%16d" % program)
        os._exit(0)
    requests.close()
    os.close(number_read)
    os.close(number_write)
    os.close(ended_write)
    # Nothing is written: the pipe ends with the process between, and then the parent is the asker.
    os.read(ended_read, 1)
    os.close(ended_read)
    return True


def _become(request: Request, streams: list[int]) -> None:
    """Take the arguments, the streams, the session, the environment and the folder of a request."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    if request["begins_session"]:
        os.setsid()
    if request["takes_terminal"]:
        take_terminal()
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["folder"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = sys.__stdin__ = _reader()  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _writer(1)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _writer(2)  # type: ignore[misc]
    sys.argv[1:] = request["arguments"]
    count_this_fork()
    fork_workers()


def _reader() -> io.TextIOWrapper:
    """Return the standard input, named as the interpreter names it."""
    raw = io.FileIO(0, closefd=False)
    raw.name = "<stdin>"
    return io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8")


def _writer(number: int) -> io.TextIOWrapper:
    """Return what the interpreter makes of a stream: errors by the line, output on a terminal."""
    errors, at_once = ("backslashreplace", True) if number == 2 else ("strict", os.isatty(number))
    buffered = open(number, "wb", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(buffered, "utf-8", errors, line_buffering=at_once)


def main() -> None:
    """Import the program, say that it is there, and run it in each fork."""
    requests = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import_program()
    require_one_thread()
    gc.collect()
    gc.freeze()
    requests.sendall(b"%16d" % os.getpid())
    module = serve_forks(requests)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if type(ended.code) is int:
            _end_well(ended.code)
        raise


def _end_well(code: int) -> None:
    """End as an interpreter does, but for the modules: to take them apart copies their memory."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with suppress(OSError):  # else the interpreter tells of it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
