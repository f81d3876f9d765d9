"""Whether a process can be forked."""

import os
import sys
import threading


class CannotFork(Exception):
    """A process runs more than one thread."""


def require_one_thread() -> None:
    """Refuse to be forked beside other threads, of libraries too: a fork can wait for one for ever.

    Those of numpy end before every fork and begin again when they are needed, so we count after
    a fork that does nothing.
    """
    if sys.platform != "linux":
        return
    if (fork := os.fork()) == 0:
        os.kill(os.getpid(), 9)  # whatever a process does at its end is left to its parent
    os.waitpid(fork, 0)
    count = len(os.listdir("/proc/self/task"))
    if count > 1:
        named = [thread.name for thread in threading.enumerate()]
        raise CannotFork(f"What was imported has started {count - 1} threads beside {named}.")
