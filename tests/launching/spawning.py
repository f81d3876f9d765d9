"""Workers of a forked program, forked too: one that is spawned would import all of it again.

What a worker is given still goes through the pipe of ``multiprocessing``, as to a spawned one.
"""

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing import context, spawn, util
from typing import Any, NoReturn

from tests.counting.importing import count_this_fork

_PIPE = re.compile(r"spawn_main\(.*\bpipe_handle=(\d+)")

Spawn = Callable[[bytes, Sequence[Any], Sequence[int]], int]

SPAWNED = {"PDPP_TEST_SPAWNS": "1"}
"""The environment of a program whose workers are spawned all the same."""


def fork_workers() -> None:
    """Let this process fork what it would spawn, unless its environment says otherwise."""
    if SPAWNED.items() <= os.environ.items():
        return
    util.spawnv_passfds = _forking(util.spawnv_passfds)  # type: ignore[assignment]


def _forking(spawnv: Spawn) -> Spawn:
    def start(path: bytes, arguments: Sequence[Any], handles: Sequence[int]) -> int:
        pipe = _PIPE.search(" ".join(map(os.fsdecode, arguments)))
        # A fork beside other threads can wait for one of their locks for ever.
        if pipe is None or threading.active_count() > 1:
            return spawnv(path, arguments, handles)
        return os.fork() or _become_worker(int(pipe[1]), handles)

    return start


def _become_worker(pipe: int, handles: Sequence[int]) -> NoReturn:
    """Do what a new interpreter does: take the worker from the pipe, run it, and end."""
    context.set_spawning_popen(None)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _let_go({0, 1, 2, *handles})
    count_this_fork()
    code = spawn._main(pipe, os.dup(pipe))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _let_go(kept: set[int]) -> None:
    """Let go of all files but some; the others' numbers stay taken, because objects know them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in map(int, os.listdir("/proc/self/fd")):
        if number not in kept and number != nothing:
            os.dup2(nothing, number, inheritable=False)
