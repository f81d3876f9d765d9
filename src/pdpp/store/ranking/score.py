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
from pdpp.store.ranking.postings import Bools, Floats, Impacts, Index, Longs, Postings, Rows

ACTOR_BONUS = 0.20
FURTHER_NAME = 0.10
"""What a row gets for each further name of the question that its actor bears: a first name is
shared by many, a first and a last one by few."""
NAME_NORM = 0.25
"""How much of a name counts as a part of the question that its texts can hold. Measured."""
KIND_BONUS = 0.20
"""What a row gets for being of a stream that the question names: "photos of the kitchen"."""
DATE_WORD = 0.05
"""What a word of a date is worth at most where it stands in a text: the date itself counts more."""
NAME_PART = 0.5
"""How much a name counts where it stands in a text: it is mostly said of whom, not what. That of a
stream counts as little, because it says where to look."""

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
        bonus = _Bonus(index.size)
        candidates = np.zeros(index.size, dtype=bool)
        spare = np.zeros(index.size)
        norm, of_names, scored = 0.0, 0.0, []
        for unit in units:
            self._check()
            name = bonus.add_actors(unit, postings) | bonus.add_kinds(unit, index)
            score = _unit_score(unit, postings, spare, NAME_PART if name else 1.0)
            candidates[score.rows] = True
            if name:
                of_names += max(word.weight for word in unit)
            elif not unit[0].moment:
                norm += max(word.weight for word in unit)
            scored.append(score)
        # Names tell of whom and where, and a score is the part of the other words that is there.
        norm = norm + NAME_NORM * of_names if norm else max(of_names, _NO_WORDS)
        for score in scored:
            if score.words[0].moment:
                score.values = np.minimum(score.values, DATE_WORD * norm)
            values[score.rows] += score.values
        values /= norm
        candidates |= bonus.actors()
        bonus.give(values)
        return Scores(values, candidates, scored, norm, self._repaired)

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
        if word.moment or len(self._repaired) >= _MOST_REPAIRED:
            return unit
        if any(term in frequencies("en") for term, _ in word.terms):
            # Public text knows the word: it is spelled right, and nothing visible holds it.
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


class _Bonus:
    """What rows get for who says them and for the stream they are in."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._names: Floats | None = None
        self._kinds: Bools | None = None

    def add_actors(self, unit: Sequence[Word], postings: dict[str, Postings]) -> bool:
        """Count a name for the rows whose actor bears it; tell whether there are any."""
        terms = {term for word in unit for term, _ in word.terms if term in postings}
        every = [rows for term in terms for rows, _ in postings[term].actors]
        if not every:
            return False
        if self._names is None:
            self._names = np.zeros(self._size)
        self._names[_union(every, self._size)] += 1
        return True

    def add_kinds(self, unit: Sequence[Word], index: Index) -> bool:
        """Mark the rows of streams that a word names; tell whether there are any."""
        every = [rows for word in unit for term in word.same for rows in index.called(term)]
        if not every:
            return False
        if self._kinds is None:
            self._kinds = np.zeros(self._size, dtype=bool)
        for low, high in every:
            self._kinds[low:high] = True
        return True

    def actors(self) -> Bools:
        """Return the rows that some name was counted for."""
        return np.zeros(self._size, dtype=bool) if self._names is None else self._names > 0

    def give(self, values: Floats) -> None:
        """Add what the rows get to their scores."""
        if self._names is not None:
            borne = self._names > 0
            values[borne] += ACTOR_BONUS - FURTHER_NAME + FURTHER_NAME * self._names[borne]
        if self._kinds is not None:
            values[self._kinds] += KIND_BONUS


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
            rows, strengths = _joined_fields(postings[term].texts, together=itself)
            spare[rows] = np.maximum(spare[rows], strengths * (part * each / LARGEST))
            touched.append(rows)
            if itself:
                own.append(rows)
    rows = _union(touched, len(spare))
    values: Floats = np.minimum(spare[rows], part * max(word.weight for word in unit))
    spare[rows] = 0
    return UnitScore(tuple(unit), rows, values, _union(own, len(spare)))


def _joined_fields(texts: Sequence[Rows], *, together: bool) -> tuple[Longs, Floats]:
    """Return the rows that hold a term in any field, and how strongly all their fields hold it.

    What a row gets comes from its own fields alone, whatever fields of other rows hold the term.
    """
    rows, strengths = texts[0][0], texts[0][1].astype(np.float64)
    more: Longs
    impacts: Impacts | Floats
    for more, impacts in texts[1:]:
        if len(more) > len(rows):
            rows, strengths, more, impacts = more, impacts.astype(np.float64), rows, strengths
        # Few rows are looked for among many: of a title among bodies.
        places = np.minimum(np.searchsorted(rows, more), len(rows) - 1)
        both = rows[places] == more
        places, second = places[both], impacts[both].astype(np.float64)
        first = strengths[places]
        strengths[places] = np.maximum(first, second)
        if together:
            strengths[places] += _FURTHER_FIELD * np.minimum(first, second)
        if not both.all():
            rows = np.concatenate([rows, more[~both]])
            order = np.argsort(rows, kind="stable")
            rows, strengths = rows[order], np.concatenate([strengths, impacts[~both]])[order]
    return rows, strengths


def _union(arrays: Sequence[Longs], size: int) -> Longs:
    """Return the rows of some arrays in order, each once."""
    if not arrays:
        return np.zeros(0, dtype=np.int64)
    if len(arrays) == 1:
        return arrays[0]
    every = np.concatenate(arrays)
    if len(every) * _DENSE > size:
        mask = np.zeros(size, dtype=bool)
        mask[every] = True
        return np.flatnonzero(mask)
    every.sort()
    return every[np.concatenate(([True], every[1:] != every[:-1]))]


def rows_holding(index: Index, words: Sequence[Word]) -> Bools:
    """Return which rows hold one of some words, in a text or as an actor."""
    mask = np.zeros(index.size, dtype=bool)
    terms = [term for word in words for term, _ in word.terms]
    terms += [
        t for word in words if word.prefix is not None for t in terms_beginning(index, word.prefix)
    ]
    for postings in index.postings(sorted(set(terms))).values():
        for rows, _ in (*postings.texts, *postings.actors):
            mask[rows] = True
    return mask


def rows_by(index: Index, words: Sequence[Word]) -> Bools:
    """Return which rows have an actor that bears one of some names."""
    mask = np.zeros(index.size, dtype=bool)
    terms = sorted({term for word in words for term, _ in word.terms})
    for postings in index.postings(terms).values():
        for rows, _ in postings.actors:
            mask[rows] = True
    return mask
