"""Callers: many at once, who ask at their own pace whether or not the server keeps up."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count

from bench.client import BadAnswer, Client
from bench.soak_traffic import Ask

CALLERS = 24


@dataclass(slots=True)
class Log:
    """What came of a span of time: milliseconds from when each request was due, and errors."""

    waited: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def add(self, milliseconds: float, error: str | None) -> None:
        """Note one request."""
        self.waited.append(milliseconds)
        if error is not None:
            self.errors.append(error[:300])


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value that a part of a hundred are not above; nothing where there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part / 100))] if ordered else 0.0


Note = Callable[[float, float, str | None], None]
"""Takes when a request was due in seconds from the start, how long it took in ms, any error."""


def call(port: int, asks: Sequence[Ask], seconds: float, rate: float | None, note: Note) -> None:
    """Ask for some seconds; with a rate, the n-th request is due at its n-th part of a second.

    How long a request took is counted from when it was due, so that a server which holds up the
    callers cannot hide it.
    """
    turns, start = count(), time.perf_counter()
    stop = threading.Event()

    def work() -> None:
        with ExitStack() as stack:
            caller = _Caller(port, stack)
            while not stop.is_set():
                turn = next(turns)
                due = time.perf_counter() - start if rate is None else turn / rate
                if due >= seconds:
                    return
                time.sleep(max(0.0, start + due - time.perf_counter()))
                error = caller.ask(asks[turn % len(asks)])
                note(due, 1e3 * (time.perf_counter() - start - due), error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:
        stop.set()


class _Caller:
    """One caller with a kept connection, which it opens again after an error."""

    def __init__(self, port: int, stack: ExitStack) -> None:
        self._port = port
        self._stack = stack
        self._client: Client | None = None

    def ask(self, ask: Ask) -> str | None:
        """Ask once; return what was wrong with the answer."""
        try:
            if self._client is None:
                self._client = self._stack.enter_context(Client(self._port))
            body = self._client.ask(ask.request)
        except (BadAnswer, OSError) as problem:
            self._stack.close()
            self._client = None
            return f"{ask.kind}: {type(problem).__name__}: {problem}"
        return None if ask.is_good(body) else f"{ask.kind}: {body[:300]!r}"
