"""Stopping: Ctrl-C as a request that long work asks about, so that it ends where it is whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Wanted after the first Ctrl-C; the second one ends the program at once."""

    def __init__(self) -> None:
        self._wanted = threading.Event()

    def __call__(self) -> bool:
        """Tell whether somebody wants to stop."""
        return self._wanted.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait, but no longer than until somebody wants to stop; tell whether that is so."""
        return self._wanted.wait(seconds)

    def _ask(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - signal's form
        self._wanted.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take Ctrl-C as a request for as long as the block runs."""
        before = signal.signal(signal.SIGINT, self._ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
