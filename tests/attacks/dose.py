"""Doses: how many attacks a run makes, few in every run of the tests and many in a soak."""

from tests.soak import SOAK

_TIMES = 40


def dose(count: int) -> int:
    """Return how many examples to make: a quarter of a dose in every run, forty doses in a soak."""
    return count * _TIMES if SOAK else max(1, count // 4)
