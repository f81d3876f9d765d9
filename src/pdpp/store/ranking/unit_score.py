"""The score of one asked word: how strongly rows hold it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pdpp.evidence.language.question import Word
from pdpp.store.ranking.impact import LARGEST
from pdpp.store.ranking.postings import (
    Bools,
    FieldPostings,
    Floats,
    Impacts,
    Longs,
    Postings,
)

_FURTHER_FIELD = 0.25
_QUARTERS = 4
_FEW = 16
"""Below which part of all rows those of a word are scored one by one."""


class _Term(NamedTuple):
    """A term that means the word: its fields, its weight for an impact of 1, and how they count."""

    fields: Sequence[FieldPostings]
    factor: float
    itself: bool
    """Whether it is the word itself; several fields of a related term count no more than one."""

    def by_number(self) -> tuple[list[FieldPostings], list[FieldPostings]]:
        """Return the fields in which many rows hold the term, and those in which few do."""
        few = [field for field in self.fields if field.rows is not None]
        return [field for field in self.fields if field.rows is None], few


class UnitScore:
    """One asked word, or several joined by OR. What a row gets comes from its own fields alone."""

    def __init__(
        self, words: tuple[Word, ...], postings: dict[str, Postings], part: float, size: int
    ) -> None:
        self.words = words
        self.most = part * max(word.weight for word in words)
        """What a row gets at most."""
        self._size = size
        self._terms = list(_terms(words, postings, part))
        self._rows: tuple[Longs, Floats] | None = None
        fields = [field for term in self._terms for field in term.fields]
        counts = [size if field.rows is None else len(field.rows) for field in fields]
        self._few = sum(counts) * _FEW < size

    def at(self, rows: Longs) -> Floats:
        """Return what each of some rows gets; the rows are in order."""
        if not self._terms:
            return np.zeros(len(rows))
        impacts = ([field.at(rows) for field in term.fields] for term in self._terms)
        return self._best(list(map(_strengths, impacts, self._terms)))

    def add(self, total: Floats, low: int, high: int) -> None:
        """Add what each row from ``low`` up to ``high`` gets to its total."""
        if self._few:
            rows, values = self._scored()
            first, last = np.searchsorted(rows, (low, high)).tolist()
            total[rows[first:last] - low] += values[first:last]
        else:
            total += self._between(low, high)

    def _between(self, low: int, high: int) -> Floats:
        """Return what each row from ``low`` up to ``high`` gets, where many hold the word."""
        best: Floats | None = None
        for term in self._terms:
            many, few = term.by_number()
            if many:
                values = _strengths([field.between(low, high) for field in many], term)
                best = values if best is None else np.maximum(best, values, out=best)
            if best is None:
                best = np.zeros(high - low)
            for field in few:
                # Mostly many bodies and few titles hold a term: the few are put right by number.
                rows, impacts = field.part(low, high)
                together = [impacts if other is field else other.at(rows) for other in term.fields]
                places = rows - low
                best[places] = np.maximum(best[places], _strengths(together, term))
        return np.zeros(high - low) if best is None else np.minimum(best, self.most, out=best)

    def _scored(self) -> tuple[Longs, Floats]:
        """Return the rows that hold the word, and what each gets."""
        if self._rows is None:
            every = [field.held() for term in self._terms for field in term.fields]
            rows = np.unique(np.concatenate(every)) if every else np.zeros(0, dtype=np.int64)
            self._rows = rows, self.at(rows)
        return self._rows

    def mark(self, flags: Bools) -> None:
        """Set the flags of the rows that hold the word or one related to it."""
        for term in self._terms:
            for field in term.fields:
                field.mark(flags)

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


def _terms(words: Sequence[Word], postings: dict[str, Postings], part: float) -> "list[_Term]":
    terms = []
    for word in words:
        pairs = [(term, weight, True) for term, weight in word.terms]
        if part == 1.0:
            pairs += [(term, weight, False) for term, weight in word.related]
        for term, weight, itself in pairs:
            if term in postings and postings[term].texts:
                factor = part * weight / LARGEST
                terms.append(_Term(postings[term].texts, factor, itself))
    return terms


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
