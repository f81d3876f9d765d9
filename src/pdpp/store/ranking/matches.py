"""Matches: the rows that answer a question, and the scores of those that may be among the best."""

from typing import Self

import numpy as np

from pdpp.store.ranking.leaders import leaders_of, least
from pdpp.store.ranking.postings import Bools, Floats, Longs
from pdpp.store.ranking.score import FEW, Scores

_SAMPLE = 4_096
_SCORED_EACH = 256
"""Rows up to which each is scored: to find out which of them matter takes longer."""


class Matches:
    """Rows and their scores.

    Where all matches are kept by their numbers there are no ``flags``. Else these say which rows
    match, and the scores are either those of every row, or of some rows and a ``bound`` that no
    other row is above: most questions are answered by few rows, and only these need be scored.
    """

    def __init__(self, rows: Longs, values: Floats, flags: Bools | None = None) -> None:
        self._rows = rows
        self._values = values
        self._flags = flags
        self._scores: Scores | None = None
        self._bound = 0.0
        self._changes: list[tuple[Longs, Floats]] = []

    @classmethod
    def of(cls, flags: Bools, scores: Scores, wanted: int, slack: float) -> Self:
        """Return the matches among all rows; the best so many are told even if some lose a little.

        ``slack`` is what a score is mostly lowered by afterwards, at the most.
        """
        count = int(np.count_nonzero(flags))
        if count * FEW < len(flags) or count <= _SCORED_EACH:
            rows = np.flatnonzero(flags)
            return cls(rows, scores.at(rows))
        leaders = leaders_of(scores, flags, wanted, slack)
        if leaders is None:
            return cls(np.zeros(0, dtype=np.int64), scores.all(), flags)
        matches = cls(leaders.rows, leaders.values, flags)
        matches._scores = scores
        matches._bound = leaders.bound
        return matches

    @property
    def count(self) -> int:
        """Return how many rows match."""
        return len(self._rows) if self._flags is None else int(np.count_nonzero(self._flags))

    def among(self, flags: Bools) -> "Matches":
        """Return those of them that are among some rows, given as flags of all."""
        if self._flags is not None and self._scores is None:
            return Matches(self._rows, self._values, self._flags & flags)
        kept = flags[self._rows]
        others = None if self._flags is None else self._flags & flags
        matches = Matches(self._rows[kept], self._values[kept], others)
        matches._scores, matches._bound = self._scores, self._bound
        matches._changes = list(self._changes)
        return matches

    def rows(self) -> Longs:
        """Return the rows that match, in order."""
        return self._rows if self._flags is None else np.flatnonzero(self._flags)

    def every(self) -> tuple[Longs, Floats]:
        """Return the rows that match and the score of each."""
        self._score_all()
        rows = self.rows()
        return rows, self._values if self._flags is None else self._values[rows]

    def best(self, count: int, slack: float = 0.0) -> tuple[Longs, Floats]:
        """Return rows and scores without most of those that are surely not among the best.

        With ``slack`` those are kept that have at most so much less than the last of the best.
        The worst of the best of any sample is no better than the worst of the best of all. Equal
        scores may differ in their last bits, so that a step of rounding is left below.
        """
        if self._scores is not None:
            lowest = least(self._values, count) - slack
            if lowest > self._bound:
                kept = self._values >= lowest
                return self._rows[kept], self._values[kept]
            self._score_all()
        values, flags = self._values, self._flags
        # The same shortcut as for bounds: a sample tells a limit that no row among the best is
        # below.
        step = len(values) // _SAMPLE
        if step < 2:
            return self.every()
        sample = values[::step] if flags is None else values[::step][flags[::step]]
        if len(sample) <= count:
            return self.every()
        lowest = least(sample, count) - slack
        if flags is None:
            kept = values >= lowest
            return self._rows[kept], values[kept]
        rows = np.flatnonzero(flags & (values >= lowest))
        return rows, values[rows]

    def holds(self, rows: Longs) -> Bools:
        """Tell of each of some rows whether it matches."""
        return _among(rows, self._rows) if self._flags is None else self._flags[rows]

    def at(self, rows: Longs) -> Floats:
        """Return the scores of some rows that match."""
        if self._scores is not None:
            self._score_all()
        return self._values[rows if self._flags is not None else np.searchsorted(self._rows, rows)]

    def put(self, rows: Longs, values: Floats) -> None:
        """Set the scores of some rows; each of them matches from now on."""
        if self._flags is not None:
            self._flags[rows] = True
            if self._scores is None:
                self._values[rows] = values
                return
            self._changes.append((rows, values))
        known = _among(rows, self._rows)
        self._values[np.searchsorted(self._rows, rows[known])] = values[known]
        if not known.all():
            every = np.concatenate([self._rows, rows[~known]])
            order = np.argsort(every, kind="stable")
            self._rows = every[order]
            self._values = np.concatenate([self._values, values[~known]])[order]

    def _score_all(self) -> None:
        """Score every row, where only some are scored so far."""
        if self._scores is None:
            return
        self._values = self._scores.all()
        self._scores = None
        # What was set after the first scores were computed holds, in the order in which it was set.
        for rows, values in self._changes:
            self._values[rows] = values


def _among(rows: Longs, many: Longs) -> Bools:
    """Tell of each of some rows whether it is one of many, which are in order."""
    if not len(many):
        return np.zeros(len(rows), dtype=bool)
    places = np.minimum(np.searchsorted(many, rows), len(many) - 1)
    same: Bools = many[places] == rows
    return same
