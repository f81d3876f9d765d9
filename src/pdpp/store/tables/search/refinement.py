"""Refinement: the best rows are scored anew, with their neighbours and by the kinds of texts."""

from collections.abc import Callable, Container, Sequence
from functools import partial

import numpy as np

from pdpp.evidence.analyse import phrase_of
from pdpp.evidence.language.question import Question
from pdpp.store.ranking.leaders import least
from pdpp.store.ranking.matches import Matches
from pdpp.store.ranking.postings import Floats, Longs
from pdpp.store.ranking.refine import (
    BEST,
    LOOKED_AT,
    Neighbour,
    addresses,
    asks,
    counted,
    fit,
    most_gained,
    most_set_aside,
    rows_near_named,
    spread,
)
from pdpp.store.ranking.score import Scores
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.search.conditions import demands
from pdpp.store.tables.search.conversations import neighbours_of
from pdpp.store.tables.search.hit_order import largest
from pdpp.store.tables.search.record_data import RecordsRead
from pdpp.store.tables.search.visible import Visible


class Refinement:
    """Refines the scores of one search.

    The search does not keep it: two that know each other are not forgotten with their answer, nor
    are all their arrays.
    """

    def __init__(
        self,
        db: TableReader,
        visible: Visible,
        records: RecordsRead,
        meeting: Callable[[Visible, Longs], Longs],
        check: Callable[[], None],
    ) -> None:
        self._db = db
        self._visible = visible
        self._records = records
        self._meeting = meeting
        self._check = check
        self._texts: dict[int, tuple[str, ...]] = {}
        """How the texts of the best rows and of their neighbours begin."""
        self.neighbours: list[Neighbour] = []
        self.rows: Longs = np.zeros(0, dtype=np.int64)
        """The rows whose neighbours are known: meaning asks for those of mostly the same rows."""

    def refine(
        self, question: Question, scores: Scores, matches: Matches, wanted: int
    ) -> Callable[[], None]:
        """Score the best rows with their neighbours and by their kind, until so many are sure.

        What is returned does that with those that could not come up to the page.
        """
        visible = self._visible
        scored, values = matches.best(BEST, most_set_aside(scores))
        largest_of = partial(largest, visible=visible, oldest=scores.oldest)
        best = largest_of(scored, counted(scores, scored, values), BEST)
        if len(scores.units) > 1:
            self.neighbours = neighbours_of(self._db, visible, self._records, best)
            self.rows = best
        if self.neighbours:
            candidates, values = self._spread(question, scores, matches, best)
        else:
            # Nothing stands around them, and their scores are known.
            candidates = np.sort(best)
            values = values[np.searchsorted(scored, candidates)]
        self._check()
        chosen = largest_of(candidates, values, BEST)
        places = np.searchsorted(candidates, chosen)
        places = places[np.argsort(-values[places], kind="stable")]
        # The texts of rows that cannot come up to the page any more are not read.
        talking = {row for pair in self.neighbours for row in (pair.row, pair.other)}
        fit_at = partial(self._fit, question, candidates, values, talking)
        others = places
        for start in range(0, len(places), wanted):
            best_left = float(values[places[start]]) + most_gained(question)
            if start and best_left < least(values[places[:start]], wanted):
                break
            others = places[start + wanted :]
            fit_at(places[start : start + wanted])
        matches.put(candidates, values)

        def fit_others() -> None:
            fit_at(others)
            matches.put(candidates, values)

        return fit_others if len(others) else fit_no_others

    def _spread(
        self, question: Question, scores: Scores, matches: Matches, best: Longs
    ) -> tuple[Longs, Floats]:
        """Return the best rows and those near them that match, each with what stands around it."""
        asking, addressing = self._asking(scores), self._addressing(scores)
        around, values = spread(scores, best, self.neighbours, asking, addressing)
        known = matches.holds(around)
        if not demands(question):
            raised = around[~known & (values > scores.at(around))]
            known |= np.isin(around, self._meeting(self._visible, raised))
        return around[known], values[known]

    def _asking(self, scores: Scores) -> set[int]:
        """Return the rows right before another that are questions and hold an asked word."""
        firsts = {pair.first for pair in self.neighbours if abs(pair.distance) == 1}
        rows = np.array(sorted(firsts), dtype=np.int64)
        texts_of = self._texts_of(rows[scores.at(rows) > 0].tolist())
        return {row for row, texts in texts_of.items() if asks(texts)}

    def _addressing(self, scores: Scores) -> set[int]:
        """Return the rows that speak to the one person whom the question names."""
        texts_of = self._texts_of(rows_near_named(scores, self.neighbours).tolist())
        names = [phrase for name in scores.actor_names if (phrase := phrase_of(name, ""))]
        return {row for row, texts in texts_of.items() if addresses(names, texts)}

    def _fit(
        self,
        question: Question,
        rows: Longs,
        values: Floats,
        talking: Container[int],
        places: Longs,
    ) -> None:
        """Give the rows at some places what the kinds of their texts add or take."""
        found = rows[places].tolist()
        texts_of = self._texts_of(found)
        for place, row in zip(places.tolist(), found, strict=True):
            if row in texts_of:
                value = float(values[place])
                values[place] = fit(question, value, texts_of[row], talking=row in talking)

    def _texts_of(self, rows: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """Return how the visible texts of some rows begin, as far as their records are there."""
        visible = self._visible
        unread = [row for row in rows if row not in self._texts]
        numbers = visible.few_numbers(unread)
        records = self._records.of(numbers)
        for row, number in zip(unread, numbers, strict=True):
            if number in records:
                texts = records[number].searched_texts(visible.part_of(row).reach)
                self._texts[row] = tuple(text[:LOOKED_AT] for text in texts)
                # A hundred texts of megabytes must not be in memory at once.
                self._records.forget_long()
        return {row: self._texts[row] for row in rows if row in self._texts}


def fit_no_others() -> None:
    """Do nothing: all rows that could come up to the page were fitted."""
