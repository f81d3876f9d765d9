"""Scores: how well each visible row answers a question.

The score of a row is the weighted part of the question's words that it holds, each as strongly as
its impact says, plus what it gets for an actor the question names and for a day it names. It is a
function of the question and of the row's own visible fields.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from pdpp.evidence.language.asked_word import Word
from pdpp.evidence.language.order_words import PLACE_WORDS, Order
from pdpp.evidence.language.question import Question
from pdpp.evidence.language.tables import common_words, frequencies, weight
from pdpp.evidence.language.terms import terms_of
from pdpp.store.ranking.apart import held_together, written_apart
from pdpp.store.ranking.bounds import Bounds, bounds_of
from pdpp.store.ranking.nearest import nearest_terms, terms_beginning
from pdpp.store.ranking.postings import (
    Bools,
    Floats,
    Impacts,
    Index,
    Longs,
    Postings,
    TermGroup,
    joined_rows,
)
from pdpp.store.ranking.unit_score import CHUNK, UnitScore, groups_of

ACTOR_BONUS = 0.20
FURTHER_NAME = 0.10
"""What a row gets for each further name of the question that its actor bears: a first name is
shared by many, a first and a last one by few."""
NAME_NORM = 0.25
"""How much of a name counts as a part of the question that its texts can hold. Measured."""
KIND_BONUS = 0.20
"""What a row gets for being of a stream that the question names: "photos of the kitchen"."""
FURTHER_KIND = 0.10
"""What it gets if several words name its stream: "Reddit comments" are not messages on Reddit."""
_SEVERAL = 2
DATE_WORD = 0.05
"""What a word of a date is worth at most where it stands in a text: the date itself counts more."""
DATE_HELD = 0.15
"""What a day is worth at most, beside its words, where a text holds all of it. So it counts for
less than to have happened then, and for more than to have happened in the week after."""
NAME_PART = 0.5
"""How much a name counts where it stands in a text: it is mostly said of whom, not what. That of a
stream counts as little, because it says where to look."""

FEW = 16
"""Below which part of all rows those that match are kept by their numbers."""

_NO_WORDS = 5.0
_MOST_REPAIRED = 8
_GUESSED_PART = 0.5
"""What a repaired word weighs that public text does not know: often it was no typing error."""
_APART_PART = 0.8
"""What a word weighs that stands in its parts: both may stand there and mean something else."""


@dataclass(slots=True)
class Scores:
    """The scores of rows: by their words, who says them, the stream they are in and their day."""

    size: int
    units: list[UnitScore]
    norm: float
    bonus: "Bonus"
    check: Callable[[], None]
    repaired: dict[str, tuple[str, ...]] = field(default_factory=dict)
    names: tuple[UnitScore, ...] = ()
    """The units that name the actor of a visible row."""
    oldest: bool = False
    """Whether of rows with one score the oldest is asked for, and not the newest."""
    days: Floats | None = None
    """What each row gets for having happened when the question says."""
    _word_bounds: Bounds | None = None

    @property
    def actor_names(self) -> frozenset[str]:
        """Return the words of the question that name the actor of a visible row."""
        return frozenset(word.text for unit in self.names for word in unit.words)

    def candidates(self, *, ranked: bool = True) -> Bools:
        """Return the rows that answer in any way; ``ranked`` says that their best are wanted."""
        flags = self._holding(ranked=ranked)
        flags |= self.bonus.actors()
        if (listed := self.bonus.listed()) is not None:
            flags |= listed
        if self.days is not None:
            flags |= self.days > 0
        return flags

    def _holding(self, *, ranked: bool) -> Bools:
        """Return the rows that hold a word."""
        several = sum([unit.is_common for unit in self.units]) > 1
        if ranked and several and all(unit.weighs for unit in self.units):
            # So many rows match that their bounds are asked for, which say it as well.
            held: Bools = self.word_bounds().steps != 0
            return held
        marks = np.zeros(self.size, dtype=np.uint8)
        for unit in self.units:
            unit.join(marks)
        flags: Bools = marks != 0
        return flags

    def word_bounds(self) -> Bounds:
        """Return what no row gets more than for its words."""
        if self._word_bounds is None:
            self._word_bounds = bounds_of(self.units, self.size, self.check)
        return self._word_bounds

    def few_candidates(self) -> Longs | None:
        """Return the same rows by their numbers, None where they are many or not of words alone."""
        if self.days is not None or self.bonus.names_any() or self.bonus.lists_streams:
            return None
        lists = [rows for unit in self.units for rows in unit.row_lists()]
        few = [rows for rows in lists if rows is not None]
        if not few or len(few) < len(lists) or sum(map(len, few)) * FEW >= self.size:
            return None
        return joined_rows(few)

    def special(self) -> Bools | None:
        """Return the rows that get something for more than their words, None where none do."""
        flags = self.bonus.rows()
        if self.days is None:
            return flags
        return self.days > 0 if flags is None else flags | (self.days > 0)

    def at(self, rows: Longs) -> Floats:
        """Return the scores of some rows, which are in order."""
        total = np.zeros(len(rows))
        for unit in self.units:
            self.check()
            total += unit.at(rows)
        return self._completed(total, rows)

    def all(self) -> Floats:
        """Return the scores of all rows."""
        total = np.zeros(self.size)
        for low in range(0, self.size, CHUNK):
            self.check()
            high = min(low + CHUNK, self.size)
            for unit in self.units:
                unit.add(total[low:high], low, high)
        return self._completed(total, slice(None))

    def _completed(self, total: Floats, rows: Longs | slice) -> Floats:
        total /= self.norm
        self.bonus.give(total, rows)
        if self.days is not None:
            total += self.days[rows]
        return total


class Ranking:
    """Scores the rows of an index for one question."""

    def __init__(self, index: Index, question: Question, check: Callable[[], None]) -> None:
        self._index = index
        self._question = question
        self._check = check
        self._repaired: dict[str, tuple[str, ...]] = {}

    def scores(self) -> Scores:
        """Return the scores of rows, by words and actors."""
        index = self._index
        asked = [self._meant(unit) for unit in self._looked_for()]
        groups = {group.terms for unit in asked for word in unit for group in groups_of(word)}
        groups |= {terms for unit in asked for terms in _other_names(unit)}
        postings = _postings(index, groups)
        asked = [self._mended(unit, postings) for unit in asked]
        # Mostly no word names anybody, and to tell what names a word may be takes a while.
        names_any = any(held.actors for held in postings.values())
        bonus = Bonus(index.size)
        norm, of_names, units, names = 0.0, 0.0, [], []
        only_kinds = bool(asked)
        for words in asked:
            self._check()
            actor = names_any and bonus.add_actors(words, postings)
            kind = bonus.add_kinds(words, index)
            name = kind or actor
            only_kinds &= kind
            units.append(UnitScore(words, postings, NAME_PART if name else 1.0))
            if actor:
                names.append(units[-1])
            if name:
                of_names += max(word.weight for word in words)
            elif not words[0].moment:
                norm += max(word.weight for word in words)
        # Names tell of whom and where, and a score is the part of the other words that is there.
        norm = norm + NAME_NORM * of_names if norm else max(of_names, _NO_WORDS)
        for unit in units:
            if unit.words[0].moment:
                most = DATE_HELD if unit.words[0].is_apart else DATE_WORD
                unit.most = min(unit.most, most * norm)
        bonus.lists_streams = only_kinds and _may_list(self._question)
        if bonus.lists_streams and self._question.order is not None:
            # "My latest orders" asks for the orders, and not for texts that speak of orders.
            units, names = [], []
        oldest = self._question.order is Order.OLDEST
        return Scores(
            index.size, units, norm, bonus, self._check, self._repaired, tuple(names), oldest
        )

    def _looked_for(self) -> list[tuple[Word, ...]]:
        """Return the units of the question without "first" or "last" before a stream's name."""
        units = units_of(self._question.words)
        if self._question.everything or self._question.order is None:
            return units
        return [
            unit
            for at, unit in enumerate(units)
            if not (is_place(unit) and any(map(self._names_stream, units[at + 1 : at + 2])))
        ]

    def _names_stream(self, unit: Sequence[Word]) -> bool:
        return any(self._index.called(term) for word in unit for term in word.same)

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

    def _mended(
        self, unit: tuple[Word, ...], postings: dict[TermGroup, Postings]
    ) -> tuple[Word, ...]:
        """Return a unit in which a word that nothing visible holds is read as something visible."""
        known = any(
            group.itself and group.terms in postings for word in unit for group in groups_of(word)
        )
        word = unit[0]
        if known or len(unit) > 1 or word.prefix is not None or word.required:
            return unit
        if word.moment or len(self._repaired) >= _MOST_REPAIRED:
            return unit
        if word.text in common_words():
            return unit
        apart = written_apart(self._index, word.text)
        if apart is not None:
            self._repaired[word.text] = (apart.words,)
            postings[apart.words,] = apart.postings
            return (word._replace(terms=((apart.words, _APART_PART * word.weight),), guesses=()),)
        return self._respelled(word, postings)

    def _respelled(self, word: Word, postings: dict[TermGroup, Postings]) -> tuple[Word, ...]:
        """Return the nearest visible words to one that nothing visible holds, else this word."""
        unit = (word,)
        if word.has_meaning or any(term in frequencies("en") for term, _ in word.terms):
            # Public text knows the word: it is spelled right, and nothing visible holds it.
            return unit
        near = nearest_terms(self._index, word.own, self._check, word.text)
        if not near:
            return unit
        self._repaired[word.text] = tuple(near)
        table = frequencies("en")
        weights = {term: weight(table[term]) for term in near if term in table}
        guessed = _GUESSED_PART * word.weight
        mended = word._replace(
            terms=tuple((term, weights.get(term, guessed)) for term in near), guesses=()
        )
        postings |= self._index.postings([group.terms for group in groups_of(mended)])
        return (mended,)


class Bonus:
    """What rows get for who says them and for the stream they are in."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._names: Impacts | None = None
        self._kinds: Impacts | None = None
        self.lists_streams = False
        """Whether the streams that the question names are what it asks for."""

    def add_actors(self, unit: Sequence[Word], postings: dict[TermGroup, Postings]) -> bool:
        """Count a name for the rows whose actor bears it; tell whether there are any."""
        # Nobody who asks for a boat means Bo, although Hungarian would cut it so.
        groups = [
            group.terms
            for word in unit
            for group in groups_of(word)
            if group.itself and not group.guessed
        ]
        groups += _other_names(unit)
        every = [field for terms in groups if terms in postings for field in postings[terms].actors]
        if not every:
            return False
        if self._names is None:
            self._names = np.zeros(self._size, dtype=np.uint8)
        borne = np.zeros(self._size, dtype=bool)
        for held in every:
            held.mark(borne)
        self._names += borne
        return True

    def add_kinds(self, unit: Sequence[Word], index: Index) -> bool:
        """Count a word for the rows of streams that it names; tell whether there are any."""
        every = [rows for word in unit for term in word.same for rows in index.called(term)]
        if not every:
            return False
        if self._kinds is None:
            self._kinds = np.zeros(self._size, dtype=np.uint8)
        for low, high in set(every):
            self._kinds[low:high] += self._kinds[low:high] < _SEVERAL
        return True

    def listed(self) -> Bools | None:
        """Return the rows of streams that are themselves asked for, None where none are."""
        return self._of_kinds() if self.lists_streams else None

    def names_any(self) -> bool:
        """Tell whether a name was counted for some row."""
        return self._names is not None

    def named(self, rows: Longs) -> Bools:
        """Tell of each of some rows whether some name was counted for it."""
        return np.zeros(rows.shape, dtype=bool) if self._names is None else self._names[rows] > 0

    def of_one_person(self, names: int) -> bool:
        """Tell whether so many names were counted, and all of them for one row."""
        return self._names is not None and int(self._names.max()) == names

    def actors(self) -> Bools:
        """Return the rows that some name was counted for."""
        return np.zeros(self._size, dtype=bool) if self._names is None else self._names > 0

    def rows(self) -> Bools | None:
        """Return the rows that get anything, None where none do."""
        if self._names is None:
            return self._of_kinds()
        kinds = self._of_kinds()
        return self.actors() if kinds is None else self.actors() | kinds

    def _of_kinds(self) -> Bools | None:
        return None if self._kinds is None else self._kinds > 0

    def of_actors(self, rows: Longs) -> Floats:
        """Return what some rows get for the names that their actors bear."""
        gains = np.zeros(len(rows))
        self._give_actors(gains, rows)
        return gains

    def most_of_actors(self) -> float:
        """Return what a row gets at most for the names that its actor bears."""
        return 0.0 if self._names is None else float(_gain(self._names.max(keepdims=True))[0])

    def give(self, values: Floats, rows: Longs | slice) -> None:
        """Add what some rows get to their scores."""
        self._give_actors(values, rows)
        if self._kinds is not None:
            kinds = self._kinds[rows]
            values[kinds > 0] += KIND_BONUS
            values[kinds == _SEVERAL] += FURTHER_KIND

    def _give_actors(self, values: Floats, rows: Longs | slice) -> None:
        if self._names is not None:
            names = self._names[rows]
            borne = names > 0
            values[borne] += _gain(names[borne])


def _gain(names: Impacts) -> Floats:
    """Return what rows get whose actors bear so many names of the question, one at least."""
    return ACTOR_BONUS - FURTHER_NAME + FURTHER_NAME * names.astype(np.float64)


def _other_names(unit: Sequence[Word]) -> list[TermGroup]:
    """Return the terms of actors who are called by a word alone, if they are not those of the word.

    A name is stemmed in the language of its own words, not in that of the question: "Dana" and
    "Adam" are common words elsewhere, and lose what is an ending there.
    """
    plain = [word for word in unit if word.prefix is None and not word.moment]
    named = [(word, tuple(terms_of(word.text))) for word in plain]
    return [terms for word, terms in named if len(terms) == 1 and not word.is_meant_by(terms[0])]


def _postings(index: Index, groups: Collection[TermGroup]) -> dict[TermGroup, Postings]:
    """Return where groups of terms stand, those that are written apart by all of their parts."""
    apart = sorted(terms[0] for terms in groups if " " in terms[0])
    postings = index.postings(sorted(terms for terms in groups if " " not in terms[0]))
    return postings | {(way.words,): way.postings for way in held_together(index, apart)}


def _may_list(question: Question) -> bool:
    """Tell whether a question that names nothing but streams asks for what is in them.

    Where a time is named, all that happened then answers already.
    """
    demanded = question.everything or any(word.required for word in question.words)
    return not demanded and not question.moments


def is_place(unit: Sequence[Word]) -> bool:
    """Tell whether a unit only asks for an order where a stream is named after it."""
    word = unit[0]
    plain = len(unit) == 1 and word.prefix is None and not word.required and not word.moment
    return plain and word.text in PLACE_WORDS


def units_of(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """Return the words of a question, those joined by OR together."""
    groups: dict[int, list[Word]] = {}
    for at, word in enumerate(words):
        groups.setdefault(word.group or -1 - at, []).append(word)
    return [tuple(group) for group in groups.values()]


def rows_holding(index: Index, words: Sequence[Word]) -> Bools:
    """Return which rows hold one of some words, in a text or as an actor."""
    flags = np.zeros(index.size, dtype=bool)
    terms = [term for word in words for term in word.own]
    terms += [
        t for word in words if word.prefix is not None for t in terms_beginning(index, word.prefix)
    ]
    for postings in index.postings([tuple(sorted(set(terms)))]).values():
        for held in (*postings.texts, *postings.actors):
            held.mark(flags)
    return flags


def rows_by(index: Index, words: Sequence[Word]) -> Bools:
    """Return which rows have an actor that bears one of some names."""
    flags = np.zeros(index.size, dtype=bool)
    terms = sorted({term for word in words for term, _ in word.terms})
    for postings in index.postings([tuple(terms)]).values():
        for held in postings.actors:
            held.mark(flags)
    return flags
