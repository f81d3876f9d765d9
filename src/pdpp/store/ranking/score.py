"""Scores: how well each visible row answers a question.

The score of a row is the weighted part of the question's words that it holds, each as strongly as
its impact says, plus what it gets for an actor the question names and for a day it names. It is a
function of the question and of the row's own visible fields.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pdpp.evidence.language.question import Question, Word
from pdpp.evidence.language.tables import frequencies, weight
from pdpp.store.ranking.impact import LARGEST
from pdpp.store.ranking.nearest import nearest_terms, terms_beginning
from pdpp.store.ranking.postings import Bools, Floats, Index, Longs, Postings, Rows

ACTOR_BONUS = 0.20
NAME_PART = 0.5
"""How much a name counts where it stands in a text: it is mostly said of whom, not what."""

_FURTHER_FIELD = 0.25
_NO_WORDS = 5.0
_MOST_REPAIRED = 8
_GUESSED_PART = 0.5
"""What a repaired word weighs that public text does not know: often it was no typing error."""
_DENSE = 16
"""From which part of all rows on marking them is faster than sorting."""


@dataclass(slots=True)
class UnitScore:
    """One asked word, or several joined by OR: the rows that hold it, and how strongly."""

    words: tuple[Word, ...]
    rows: Longs
    values: Floats
    own: Longs
    """The rows that hold the word itself, and not only one related to it."""


@dataclass(slots=True)
class Scores:
    """The scores of all rows. ``candidates`` are the rows that answer in any way."""

    values: Floats
    candidates: Bools
    units: list[UnitScore]
    norm: float
    actors: Bools
    repaired: dict[str, tuple[str, ...]] = field(default_factory=dict)


class Ranking:
    """Scores the rows of an index for one question."""

    def __init__(self, index: Index, question: Question, check: Callable[[], None]) -> None:
        self._index = index
        self._question = question
        self._check = check
        self._repaired: dict[str, tuple[str, ...]] = {}

    def scores(self) -> Scores:
        """Return the score of each row, by words and actors."""
        index = self._index
        units = [self._meant(unit) for unit in units_of(self._question.words)]
        terms = {term for unit in units for word in unit for term, _ in word.terms + word.related}
        postings = index.postings(sorted(terms))
        units = [self._mended(unit, postings) for unit in units]
        values = np.zeros(index.size)
        actors = np.zeros(index.size, dtype=bool)
        candidates = np.zeros(index.size, dtype=bool)
        spare = np.zeros(index.size)
        norm, scored = 0.0, []
        for unit in units:
            self._check()
            name = self._mark_actors(unit, postings, actors)
            score = _unit_score(unit, postings, spare, NAME_PART if name else 1.0)
            values[score.rows] += score.values
            candidates[score.rows] = True
            norm += 0.0 if name else max(word.weight for word in unit)
            scored.append(score)
        norm = norm or _NO_WORDS
        values /= norm
        values[actors] += ACTOR_BONUS
        candidates |= actors
        return Scores(values, candidates, scored, norm, actors, self._repaired)

    def _meant(self, unit: tuple[Word, ...]) -> tuple[Word, ...]:
        """Return a unit whose prefixes are spelled out."""
        return tuple(
            word
            if word.prefix is None
            else word._replace(
                terms=word.terms
                + tuple((term, word.weight) for term in terms_beginning(self._index, word.prefix))
            )
            for word in unit
        )

    def _mended(self, unit: tuple[Word, ...], postings: dict[str, Postings]) -> tuple[Word, ...]:
        """Return a unit in which a word that nothing visible holds is replaced by the nearest."""
        known = any(term in postings for word in unit for term, _ in word.terms)
        word = unit[0]
        if known or len(unit) > 1 or word.prefix is not None or word.required:
            return unit
        if len(self._repaired) >= _MOST_REPAIRED:
            return unit
        near = nearest_terms(self._index, [term for term, _ in word.terms])
        if not near:
            return unit
        self._repaired[word.text] = tuple(near)
        postings |= self._index.postings(near)
        table = frequencies("en")
        weights = {term: weight(table[term]) for term in near if term in table}
        guessed = _GUESSED_PART * word.weight
        return (word._replace(terms=tuple((t, weights.get(t, guessed)) for t in near)),)

    def _mark_actors(
        self, unit: Sequence[Word], postings: dict[str, Postings], actors: Bools
    ) -> bool:
        """Mark the rows whose actor bears a name of a unit; tell whether there are any."""
        found = False
        for word in unit:
            for term, _ in word.terms:
                for rows, _ in postings[term].actors if term in postings else ():
                    actors[rows] = True
                    found = True
        return found


def units_of(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """Return the words of a question, those joined by OR together."""
    groups: dict[int, list[Word]] = {}
    for at, word in enumerate(words):
        groups.setdefault(word.group or -1 - at, []).append(word)
    return [tuple(group) for group in groups.values()]


def _unit_score(
    unit: Sequence[Word], postings: dict[str, Postings], spare: Floats, part: float
) -> UnitScore:
    """Return how strongly rows hold a word; ``spare`` is all zeros, before and after."""
    touched: list[Longs] = []
    own: list[Longs] = []
    for word in unit:
        pairs = [(term, each, True) for term, each in word.terms]
        if part == 1.0:
            pairs += [(term, each, False) for term, each in word.related]
        for term, each, itself in pairs:
            if term not in postings or not postings[term].texts:
                continue
            rows, strengths = _joined_fields(postings[term].texts, len(spare), together=itself)
            spare[rows] = np.maximum(spare[rows], strengths * (part * each / LARGEST))
            touched.append(rows)
            if itself:
                own.append(rows)
    rows = _union(touched, len(spare))
    values: Floats = np.minimum(spare[rows], part * max(word.weight for word in unit))
    spare[rows] = 0
    return UnitScore(tuple(unit), rows, values, _union(own, len(spare)))


def _joined_fields(texts: Sequence[Rows], size: int, *, together: bool) -> tuple[Longs, Floats]:
    """Return the rows that hold a term in any field, and how strongly all their fields hold it.

    What a row gets comes from its own fields alone, whatever fields of other rows hold the term.
    """
    rows, strengths = texts[0][0], texts[0][1].astype(np.float64)
    for more, impacts in texts[1:]:
        every = _union([rows, more], size)
        first, second = np.zeros(len(every)), np.zeros(len(every))
        first[np.searchsorted(every, rows)] = strengths
        second[np.searchsorted(every, more)] = impacts
        rows, strengths = every, np.maximum(first, second)
        if together:
            strengths += _FURTHER_FIELD * np.minimum(first, second)
    return rows, strengths


def _union(arrays: Sequence[Longs], size: int) -> Longs:
    """Return the rows of some arrays in order, each once."""
    if not arrays:
        return np.zeros(0, dtype=np.int64)
    if len(arrays) == 1:
        return arrays[0]
    every = np.concatenate(arrays)
    if len(every) * _DENSE > size:
        held = np.zeros(size, dtype=bool)
        held[every] = True
        return np.flatnonzero(held)
    every.sort()
    return every[np.concatenate(([True], every[1:] != every[:-1]))]


def rows_holding(index: Index, words: Sequence[Word]) -> Bools:
    """Return which rows hold one of some words, in a text or as an actor."""
    found = np.zeros(index.size, dtype=bool)
    terms = [term for word in words for term, _ in word.terms]
    terms += [
        t for word in words if word.prefix is not None for t in terms_beginning(index, word.prefix)
    ]
    for postings in index.postings(sorted(set(terms))).values():
        for rows, _ in (*postings.texts, *postings.actors):
            found[rows] = True
    return found


def rows_by(index: Index, words: Sequence[Word]) -> Bools:
    """Return which rows have an actor that bears one of some names."""
    found = np.zeros(index.size, dtype=bool)
    terms = sorted({term for word in words for term, _ in word.terms})
    for postings in index.postings(terms).values():
        for rows, _ in postings.actors:
            found[rows] = True
    return found
