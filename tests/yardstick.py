"""Limits of time that hold on slow machines too: they are multiples of what a plain loop takes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

_ROUNDS = 200_000
_USUAL_SECONDS = 0.02
"""What the loop takes on a machine of a usual speed, rounded up."""
_TRIES = 3


def slowness() -> float:
    """Return how many times slower than usual this machine is at the moment, and never below 1."""
    return max(1.0, min(_loop_seconds() for _ in range(_TRIES)) / _USUAL_SECONDS)


@contextmanager
def computing_at_most(usual_seconds: float) -> Iterator[None]:
    """Fail where a block computes longer than it may on a machine of a usual speed."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    allowed = usual_seconds * slowness()
    assert took < allowed, f"it computed for {took:.2f} s, and {allowed:.2f} s are allowed"


def _loop_seconds() -> float:
    began, total = time.thread_time(), 0
    for number in range(_ROUNDS):
        total += number
    return time.thread_time() - began
