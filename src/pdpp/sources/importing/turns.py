"""Turns: how long the threads of this process go on while others wait, as an import needs it."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_TURN_SECONDS = 0.00005
"""How long the thread that reads goes on when the one that writes wants the interpreter: far less
than usual, because the engine stands still meanwhile. A batch gives the interpreter away some
hundred times, for each statement and each long array, and waits that long to have it back."""


class _Turns:
    """How long the threads of this process take turns: shortly while anybody imports."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._imports = 0
        self._usual = 0.0

    @contextmanager
    def short(self) -> Iterator[None]:
        """Let turns be short until the block ends, and every other such block."""
        with self._lock:
            if not self._imports:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(self._usual, _TURN_SECONDS))
            self._imports += 1
        try:
            yield
        finally:
            with self._lock:
                self._imports -= 1
                if not self._imports:
                    sys.setswitchinterval(self._usual)


# One for the process, as the interpreter has one such setting: of two imports that run at once, the
# one that ends last would otherwise put back what it found, which is what the other had set.
short_turns = _Turns().short
