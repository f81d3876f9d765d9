"""Doses: how many attacks a run makes, few in every run of the tests and many in a soak."""

from tests.soak import SOAK

_TIMES = 40


def dose(few: int) -> int:
    """Return how many examples to make where a run of the tests makes a few."""
    return few * _TIMES if SOAK else few
