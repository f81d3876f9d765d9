"""Starts the program in a fork where it can, and otherwise as anybody starts it."""

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.launching.forker import Request, take_terminal

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "pdpp"]
_FORKED = ("pdpp", "bench.serve")
"""Modules that are run as programs: the product, and a server of the benchmark."""

_MOST_BYTES = 100_000
_OPTIONS = {"env", "cwd", "stdin", "stdout", "stderr", "start_new_session", "text"}
_READ_AT_START = (
    "PYTHON",
    "LC_",
    "LANG",
    "LD_",
    "MALLOC_",
    "OPENBLAS_",
    "OMP_",
    "COVERAGE_",
    "MUTANT_",
)
"""Variables that an interpreter reads once: they must be those of the process that forks."""

_SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER``: what loses its parent becomes a child of this process."""


def read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what an interpreter reads of an environment when it starts."""
    return {n: value for n, value in environment.items() if n.startswith(_READ_AT_START)}


class Forker:
    """A process that has imported the program."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.launching.forker"],
                cwd=ROOT,
                env=environment,
                stdin=theirs.fileno(),
            )
        self._lock = threading.Lock()
        assert self._requests.recv(16), "the process that forks did not start"

    def fork(self, message: bytes, streams: Sequence[int]) -> int:
        """Let a fork run the program as a child of this process; return its number."""
        with self._lock:
            _adopt_orphans(True)
            try:
                socket.send_fds(self._requests, [message], streams)
                return int(self._requests.recv(16))
            finally:
                _adopt_orphans(False)

    def end(self) -> None:
        """End the process that forks; what it forked goes on."""
        self._requests.close()
        self._process.wait()


def _adopt_orphans(adopts: bool) -> None:
    ctypes.CDLL(None).prctl(_SUBREAPER, int(adopts), 0, 0, 0)


@cache
def _forker(process: int, at_start: tuple[tuple[str, str], ...]) -> Forker:
    """Return what forks for a process under the variables that are read at the start."""
    others = {n: v for n, v in os.environ.items() if not n.startswith(_READ_AT_START)}
    forker = Forker(others | dict(at_start))
    atexit.register(lambda: forker.end() if os.getpid() == process else None)
    return forker


def _is_known(arguments: Sequence[str]) -> bool:
    """Tell whether a command runs a module that the process which forks has imported."""
    return list(arguments[:2]) == PROGRAM[:2] and arguments[2] in _FORKED


class Program(subprocess.Popen[bytes]):
    """A process of the program, forked where nothing is asked for but streams and surroundings.

    ``takes_terminal`` lets Ctrl-C on the terminal of its standard input reach it, as a shell does.
    """

    def __init__(
        self, arguments: Sequence[str], *, takes_terminal: bool = False, **options: Any
    ) -> None:
        self._environment = dict(options.get("env") or os.environ)
        self._message = b""
        is_plain = _is_known(arguments) and options.keys() <= _OPTIONS
        if is_plain and sys.platform == "linux":
            request: Request = {
                "module": arguments[2],
                "arguments": list(arguments[3:]),
                "environment": self._environment,
                "folder": str(options.get("cwd") or Path.cwd()),
                "begins_session": options.get("start_new_session", False),
                "takes_terminal": takes_terminal,
            }
            self._message = json.dumps(request).encode()
        elif takes_terminal:
            options["preexec_fn"] = take_terminal
        super().__init__(arguments, **options)

    def _execute_child(self, *rest: Any) -> None:
        if not 0 < len(self._message) <= _MOST_BYTES:
            super()._execute_child(*rest)  # type: ignore[misc]
            return
        pipes = rest[10:16]
        given = pipes[0], pipes[3], pipes[5]
        streams = [own if stream == -1 else stream for own, stream in enumerate(given)]
        at_start = tuple(read_at_start(self._environment).items())
        self.pid = _forker(os.getpid(), at_start).fork(self._message, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
