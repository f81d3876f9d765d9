"""The score of one asked word: how strongly rows hold it."""

from collections.abc import Iterator, Sequence
from functools import reduce
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from pdpp.evidence.language.asked_word import Word
from pdpp.store.ranking.impact import LARGEST
from pdpp.store.ranking.postings import (
    Bools,
    FieldPostings,
    Floats,
    Impacts,
    Longs,
    Postings,
    Steps,
    TermGroup,
    joined_rows,
)

CHUNK = 1 << 17
"""Rows that are scored together: their numbers stay in a processor's own memory, and a step over
them takes much longer than to begin it. Measured."""

_FURTHER_FIELD = QUARTER = 0.25
_QUARTERS = 4


class WeightedGroup(NamedTuple):
    """Terms that mean a word, each with the same weight: its own stems, or one related term."""

    terms: TermGroup
    weight: float
    itself: bool
    guessed: bool = False
    """Whether these are stems by a language that the question may or may not be in."""


def groups_of(word: Word) -> list[WeightedGroup]:
    """Return the terms that mean a word: its own together, so far as they weigh alike."""
    # No term twice: its rows would be hits twice. A prefix can be a term by itself, and both the
    # stem of what was asked for and a term that begins so.
    by_weight: dict[tuple[float, bool, str], dict[str, None]] = {}
    for guessed, terms in ((False, word.terms), (True, word.guesses)):
        for term, weight in terms:
            # What is written apart has postings of its own: where all its parts stand.
            apart = term if " " in term else ""
            by_weight.setdefault((weight, guessed, apart), {})[term] = None
    own = [
        WeightedGroup(tuple(terms), weight, True, guessed)
        for (weight, guessed, _), terms in by_weight.items()
    ]
    return own + [WeightedGroup((term,), weight, False) for term, weight in word.related]


class _Term(NamedTuple):
    """A group that means the word: its fields, its weight for an impact of 1, how they count."""

    fields: Sequence[FieldPostings]
    factor: float
    itself: bool
    """Whether it is the word itself; several fields of a related term count no more than one."""


class UnitScore:
    """One asked word, or several joined by OR. What a row gets comes from its own fields alone."""

    def __init__(
        self, words: tuple[Word, ...], postings: dict[TermGroup, Postings], part: float
    ) -> None:
        self.words = words
        self.most = part * max(word.weight for word in words)
        """What a row gets at most."""
        self._terms = list(_terms(words, postings, part))
        self._rows: tuple[Longs, Floats] | None = None
        self._common = [
            (term, many)
            for term in self._terms
            if (many := [held for held in term.fields if held.rows is None])
        ]
        """The terms that many rows hold in some field, with these fields."""

    def at(self, rows: Longs) -> Floats:
        """Return what each of some rows gets; the rows are in order."""
        if not self._terms:
            return np.zeros(len(rows))
        if self._rows is not None:
            return self._known_at(*self._rows, rows)
        impacts = ([field.at(rows) for field in term.fields] for term in self._terms)
        return self._best(list(map(_strengths, impacts, self._terms)))

    def _known_at(self, held: Longs, values: Floats, rows: Longs) -> Floats:
        """Return the same where the rows that few hold are scored: one look for all fields."""
        common = [
            _strengths([field.impacts[rows] for field in many], term) for term, many in self._common
        ]
        best = self._best(common) if common else np.zeros(len(rows))
        if len(held):
            places = np.minimum(held.searchsorted(rows), len(held) - 1)
            same = held[places] == rows
            best[same] = values[places[same]]
        return best

    def add(self, total: Floats, low: int, high: int) -> None:
        """Add what each row from ``low`` up to ``high`` gets to its total."""
        if not self._common:
            rows, values = self._scored()
            first, last = np.searchsorted(rows, (low, high)).tolist()
            total[rows[first:last] - low] += values[first:last]
        else:
            total += self._between(low, high)

    @property
    def is_common(self) -> bool:
        """Tell whether many rows hold the word in some field."""
        return bool(self._common)

    @property
    def weighs(self) -> bool:
        """Tell whether each row that holds the word gets something for it."""
        return self.most > 0 and all(term.factor > 0 for term in self._terms)

    @property
    def factor(self) -> float:
        """Return what an impact of 1 gives by the heaviest of the terms."""
        return max((term.factor for term in self._terms), default=0.0)

    def highest_bound(self, scale: float) -> int:
        """Return what no bound of the word is above, in so many steps for 1."""
        largest = 0
        for term in self._terms:
            every = len(term.fields) * LARGEST * ceil(term.factor * scale)
            two = (_QUARTERS + 1) * LARGEST * ceil(_FURTHER_FIELD * term.factor * scale)
            largest = max(largest, every, two if len(term.fields) > 1 else 0)
        # The few that are scored are rounded up once more.
        return largest + 1

    def add_bounds(self, bounds: Steps, scale: float) -> None:
        """Add, in so many steps for 1, at least what each row gets to its bound."""
        rows, values = self._scored()
        steps: Steps = np.ceil(values * scale).astype(bounds.dtype)
        if not self._common:
            bounds[rows] += steps
            return
        before = bounds[rows]
        for low in range(0, len(bounds), CHUNK):
            high = min(low + CHUNK, len(bounds))
            every = (
                _stepped([held.between(low, high) for held in many], term, scale, bounds.dtype)
                for term, many in self._common
            )
            # The best of the terms, as in the score itself; a sum would be a bound too, but a
            # looser one.
            bounds[low:high] += reduce(np.maximum, every)
        # What the few get is exact, and at least what the fields of all rows say.
        bounds[rows] = before + steps

    def _between(self, low: int, high: int) -> Floats:
        """Return what each row from ``low`` up to ``high`` gets, where many hold the word."""
        best = self._best(
            [
                _strengths([field.between(low, high) for field in many], term)
                for term, many in self._common
            ]
        )
        rows, values = self._scored()
        first, last = np.searchsorted(rows, (low, high)).tolist()
        best[rows[first:last] - low] = values[first:last]
        return best

    def _scored(self) -> tuple[Longs, Floats]:
        """Return the rows of the fields in which few hold the word, and what each gets in all.

        Mostly many bodies and few titles hold a common word: the few are put right by number.
        """
        if self._rows is None:
            rows = joined_rows(
                [held.rows for term in self._terms for held in term.fields if held.rows is not None]
            )
            few = len(self._terms) == 1 or not len(rows)
            self._rows = rows, self.at(rows) if few else self._by_term(rows)
        return self._rows

    def _by_term(self, rows: Longs) -> Floats:
        """Return what each of the rows of all terms gets: a term is looked for in its own alone."""
        first = int(rows[0])
        place_of = np.zeros(int(rows[-1]) + 1 - first, dtype=np.int32)
        place_of[rows - first] = np.arange(len(rows), dtype=np.int32)
        best = np.zeros(len(rows))
        for term in self._terms:
            lists = [field.rows for field in term.fields if field.rows is not None]
            own = joined_rows(lists) if len(lists) == len(term.fields) else rows
            values = _strengths([field.at(own) for field in term.fields], term)
            places = place_of[own - first]
            best[places] = np.maximum(best[places], values)
        return np.minimum(best, self.most, out=best)

    def join(self, marks: Impacts) -> None:
        """Make the marks of the rows that hold the word, or one related to it, other than 0."""
        for term in self._terms:
            for field in term.fields:
                field.join(marks)

    def row_lists(self) -> Iterator[Longs | None]:
        """Yield the rows of each field that holds the word; None where there are many."""
        for term in self._terms:
            for field in term.fields:
                yield field.rows

    def mark_own(self, flags: Bools) -> None:
        """Set the flags of the rows that hold the word itself."""
        for term in self._terms:
            for field in term.fields if term.itself else ():
                field.mark(flags)

    def _best(self, values: Sequence[Floats]) -> Floats:
        """Return what rows get by the best of the terms."""
        best = values[0]
        for others in values[1:]:
            np.maximum(best, others, out=best)
        return np.minimum(best, self.most, out=best)


def _terms(
    words: Sequence[Word], postings: dict[TermGroup, Postings], part: float
) -> "list[_Term]":
    terms = []
    for group in (group for word in words for group in groups_of(word)):
        if (group.itself or part == 1.0) and group.terms in postings:
            fields = postings[group.terms].texts
            if fields:
                terms.append(_Term(fields, part * group.weight / LARGEST, group.itself))
    return terms


def _stepped(impacts: Sequence[Impacts], term: _Term, scale: float, kind: Any) -> Steps:
    """Return in steps what rows do not hold a term more strongly than."""
    steps: Steps
    if len(impacts) == 2:
        # Numbers of 16 bits hold the quarters and take half the time.
        quarters = np.maximum(impacts[0], impacts[1]).astype(np.uint16)
        quarters *= _QUARTERS
        quarters += np.minimum(impacts[0], impacts[1])
        steps = quarters.astype(kind, copy=False)
        steps *= ceil(_FURTHER_FIELD * term.factor * scale)
        return steps
    steps = impacts[0].astype(kind)
    for more in impacts[1:]:
        steps += more
    steps *= ceil(term.factor * scale)
    return steps


def _strengths(impacts: Sequence[Impacts], term: _Term) -> Floats:
    """Return how strongly rows hold a term, all fields of each row together."""
    if len(impacts) == 1:
        strengths = impacts[0].astype(np.float64)
        strengths *= term.factor
        return strengths
    if len(impacts) == 2:
        most = np.maximum(impacts[0], impacts[1])
        if not term.itself:
            return most.astype(np.float64) * term.factor
        # In quarters sums are whole and small; a quarter of a number has the same digits.
        quarters = most.astype(np.uint16)
        quarters *= _QUARTERS
        quarters += np.minimum(impacts[0], impacts[1])
        return quarters.astype(np.float64) * (_FURTHER_FIELD * term.factor)
    strengths = impacts[0].astype(np.float64)
    for more in impacts[1:]:
        least = np.minimum(strengths, more)
        np.maximum(strengths, more, out=strengths)
        if term.itself:
            strengths += _FURTHER_FIELD * least
    strengths *= term.factor
    return strengths
