"""Leaders: the rows that can be among the best, found without the exact score of all that match.

Every row gets a bound in whole steps, which takes a fraction of the time of its score and is never
below it. The rows with the highest bounds are scored; what the best of them have tells which bounds
are too low to matter. What is returned is exact, and only the work is less.
"""

from typing import NamedTuple

import numpy as np

from pdpp.store.ranking.bounds import Bounds
from pdpp.store.ranking.postings import Bools, Floats, Longs, Steps
from pdpp.store.ranking.score import Scores

SCALE = 1_000_000
"""Scores are compared as whole millionths, so that a cursor names one exactly."""

_SAMPLE = 4_096
_AMPLE = 3
"""How many times the rows that are wanted a limit by few of a sample lets through, about."""
_MOST = 4
"""Which part of all rows may be scored one by one; of more it is dearer than to score them all."""


class Leaders(NamedTuple):
    """Rows that match, in order, their scores, and what no other row is above."""

    rows: Longs
    values: Floats
    bound: float


def leaders_of(scores: Scores, flags: Bools, count: int, slack: float) -> Leaders | None:
    """Return rows among which the best so many are, None where that takes most of all rows.

    All rows are returned that have at most ``slack`` less than the last of these.
    """
    bounds, scale = _bounds(scores)
    first = _highest(bounds, flags, 2 * count)
    if len(first) < count or len(first) * _MOST > scores.size:
        return None
    bound = least(scores.at(first), count) - slack
    # Rounded down, while bounds are rounded up: a row at the limit is never lost.
    limit = min(int(bound * scores.norm * scale), np.iinfo(bounds.dtype).max)
    if limit < 1:
        return None
    rows = _reaching(bounds, flags, limit)
    if len(rows) * _MOST > scores.size:
        return None
    return Leaders(rows, scores.at(rows), bound - 1 / SCALE)


def least(values: Floats, count: int) -> float:
    """Return what the best so many have at least, a step of rounding below; below all if fewer."""
    if len(values) < count:
        return -1.0
    return float(np.partition(values, len(values) - count)[len(values) - count]) - 2 / SCALE


def _bounds(scores: Scores) -> Bounds:
    """Return what no row's score is above, in steps."""
    words, special = scores.word_bounds(), scores.special()
    if special is None:
        return words
    # Rows with a bonus for an actor or a kind are few; they are always scored instead of bounded.
    steps = words.steps.copy()
    steps[special] = np.iinfo(steps.dtype).max
    return words._replace(steps=steps)


def _reaching(bounds: Steps, flags: Bools, limit: int) -> Longs:
    """Return the rows that match and whose bound is not below a limit."""
    rows = np.flatnonzero(bounds >= limit)
    return rows[flags[rows]]


def _highest(bounds: Steps, flags: Bools, count: int) -> Longs:
    """Return the matches with the highest bounds, in order: so many, or more if some are equal.

    The worst of the best of a sample is no better than the worst of the best of all. Mostly far
    fewer of a sample tell a limit that is low enough, and then fewer rows are looked at.
    """
    # Partitioning a million bounds takes about ten milliseconds, a sample of 4,096 a few hundredths
    # of one.
    step = max(1, len(bounds) // _SAMPLE)
    sample = bounds[::step][flags[::step]]
    for wanted in (-(-_AMPLE * count // step), count):
        if len(sample) <= wanted:
            continue
        lowest = max(1, int(np.partition(sample, len(sample) - wanted)[len(sample) - wanted]))
        rows = _reaching(bounds, flags, lowest)
        if len(rows) > count:
            high = bounds[rows]
            lowest = int(np.partition(high, len(high) - count)[len(high) - count])
            return rows[high >= lowest]
        if wanted == count:
            return rows
    return np.flatnonzero(flags)
