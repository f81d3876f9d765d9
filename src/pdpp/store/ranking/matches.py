"""Matches: the rows that answer a question, and the score of each."""

from typing import Self

import numpy as np

from pdpp.store.ranking.postings import Bools, Floats, Longs
from pdpp.store.ranking.score import Scores

SCALE = 1_000_000
"""Scores are compared as whole millionths, so that a cursor names one exactly."""
_SAMPLE = 4_096
_FEW = 16
"""Below which part of all rows the matches are kept by their numbers."""


class Matches:
    """Rows and their scores.

    With ``flags`` there is a score for every row, and they say which rows match.
    """

    def __init__(self, rows: Longs, values: Floats, flags: Bools | None = None) -> None:
        self._rows = rows
        self._values = values
        self._flags = flags

    @classmethod
    def of(cls, flags: Bools, scores: Scores) -> Self:
        """Return the matches among all rows, with their scores."""
        if int(np.count_nonzero(flags)) * _FEW < len(flags):
            rows = np.flatnonzero(flags)
            return cls(rows, scores.at(rows))
        return cls(np.zeros(0, dtype=np.int64), scores.all(), flags)

    @property
    def count(self) -> int:
        """Return how many rows match."""
        return len(self._rows) if self._flags is None else int(np.count_nonzero(self._flags))

    def among(self, flags: Bools) -> "Matches":
        """Return those of them that are among some rows, given as flags of all."""
        if self._flags is not None:
            return Matches(self._rows, self._values, self._flags & flags)
        kept = flags[self._rows]
        return Matches(self._rows[kept], self._values[kept])

    def rows(self) -> Longs:
        """Return the rows that match, in order."""
        return self._rows if self._flags is None else np.flatnonzero(self._flags)

    def every(self) -> tuple[Longs, Floats]:
        """Return the rows that match and the score of each."""
        rows = self.rows()
        return rows, self._values if self._flags is None else self._values[rows]

    def best(self, count: int) -> tuple[Longs, Floats]:
        """Return rows and scores without most of those that are surely not among the best.

        The worst of the best of any sample is no better than the worst of the best of all. Equal
        scores may differ in their last bits, so that a step of rounding is left below.
        """
        values, flags = self._values, self._flags
        step = len(values) // _SAMPLE
        if step < 2:
            return self.every()
        sample = values[::step] if flags is None else values[::step][flags[::step]]
        if len(sample) <= count:
            return self.every()
        least = np.partition(sample, len(sample) - count)[len(sample) - count] - 1 / SCALE
        if flags is None:
            kept = values >= least
            return self._rows[kept], values[kept]
        rows = np.flatnonzero(flags & (values >= least))
        return rows, values[rows]

    def holds(self, rows: Longs) -> Bools:
        """Tell of each of some rows whether it matches."""
        return np.isin(rows, self._rows) if self._flags is None else self._flags[rows]

    def at(self, rows: Longs) -> Floats:
        """Return the scores of some rows that match."""
        return self._values[rows if self._flags is not None else np.searchsorted(self._rows, rows)]

    def put(self, rows: Longs, values: Floats) -> None:
        """Set the scores of some rows; each of them matches from now on."""
        if self._flags is not None:
            self._values[rows] = values
            self._flags[rows] = True
            return
        known = np.isin(rows, self._rows)
        self._values[np.searchsorted(self._rows, rows[known])] = values[known]
        if not known.all():
            every = np.concatenate([self._rows, rows[~known]])
            order = np.argsort(every, kind="stable")
            self._rows = every[order]
            self._values = np.concatenate([self._values, values[~known]])[order]
