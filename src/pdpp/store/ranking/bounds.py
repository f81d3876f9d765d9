"""Bounds: what no row gets more than for its words, in whole steps.

They take a third of the time of the scores, and tell besides which rows hold a word at all.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pdpp.store.ranking.postings import StepKind, Steps
from pdpp.store.ranking.unit_score import QUARTER, UnitScore

_STEPS = 4_000_000
"""What all words of a question are worth together. A row can get at most some parts in a thousand
more by rounding up, far from what 32 bits hold."""
_MOST_IN_16_BITS = 65_000
_LEAST_FACTOR = 4
"""What a quarter of an impact of the heaviest word is worth at least where bounds have 16 bits;
with less they would be so rough that too many rows had to be scored."""


class Bounds(NamedTuple):
    """The bound of every row, 0 where it holds no word, and how many steps a score of 1 is."""

    steps: Steps
    scale: float


def bounds_of(units: Sequence[UnitScore], size: int, check: Callable[[], None]) -> Bounds:
    """Return what no row's score for some words is above, in steps."""
    kind, scale = _precision(units)
    steps: Steps = np.zeros(size, dtype=kind)
    for unit in units:
        check()
        unit.add_bounds(steps, scale)
    return Bounds(steps, scale)


def _precision(units: Sequence[UnitScore]) -> tuple[StepKind, float]:
    """Return the numbers that bounds are kept in, and how many steps a score of 1 is worth.

    Sixteen bits take half the time of 32. Then a step is a whole part of what the heaviest word
    gives for a quarter of an impact, so that its bounds are not rounded.
    """
    heaviest = max((unit.factor for unit in units), default=0.0)
    if not heaviest:
        return np.uint32, 0.0
    one = 1 / (QUARTER * heaviest)
    factor = int(_MOST_IN_16_BITS / sum(unit.highest_bound(one) for unit in units))
    while factor >= _LEAST_FACTOR:
        if sum(unit.highest_bound(factor * one) for unit in units) <= _MOST_IN_16_BITS:
            return np.uint16, factor * one
        factor -= 1
    return np.uint32, _STEPS / sum(unit.most for unit in units)
