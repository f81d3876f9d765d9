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


def is_at_most(seconds: float, usual_seconds: float) -> bool:
    """Tell whether something took no longer than it may on a machine of a usual speed.

    How slow this one is takes longer to measure than most of what is measured by it, and matters
    only where the usual time was not enough.
    """
    return seconds <= usual_seconds or seconds <= usual_seconds * slowness()


@contextmanager
def computing_at_most(usual_seconds: float) -> Iterator[None]:
    """Fail where a block computes longer than it may on a machine of a usual speed."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    usual = f"{usual_seconds:.2f} s on a machine of a usual speed"
    assert is_at_most(took, usual_seconds), f"it computed for {took:.2f} s and may for {usual}"


def _loop_seconds() -> float:
    began, total = time.thread_time(), 0
    for number in range(_ROUNDS):
        total += number
    return time.thread_time() - began
