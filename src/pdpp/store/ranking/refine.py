"""Refining: the best rows once more, with what stands around them and what kind of answer it is.

A row of a conversation also answers by what its neighbours say; a row that holds a time answers a
question that asks when. Only the best rows and their visible neighbours are looked at.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pdpp.evidence.language.question import Question
from pdpp.store.ranking.postings import Floats, Longs
from pdpp.store.ranking.score import Scores

BEST = 100
NEAR = (0.4, 0.16)
"""What a row gets of its neighbours' words, by their distance."""

_ANSWER_BONUS = 0.06
_ANSWER_LEAST = 0.05
QUESTION_MALUS = 0.03
_LOOKED_AT = 4_000


class Neighbour(NamedTuple):
    """Two rows of one conversation, and how far they are apart: 1 or 2."""

    row: int
    other: int
    distance: int


def spread(scores: Scores, best: Longs, neighbours: Sequence[Neighbour]) -> tuple[Longs, Floats]:
    """Return the best rows with their neighbours, and the score of each by all their words."""
    around = [row for pair in neighbours for row in (pair.row, pair.other)]
    rows = np.unique(np.concatenate([best, np.array(around, dtype=np.int64)]))
    values = scores.at(rows)
    ones = np.searchsorted(rows, [pair.row for pair in neighbours])
    others = np.searchsorted(rows, [pair.other for pair in neighbours])
    parts = np.array([NEAR[pair.distance - 1] for pair in neighbours])
    for unit in scores.units:
        own = unit.at(rows)
        raised = own.copy()
        np.maximum.at(raised, ones, parts * own[others])
        np.maximum.at(raised, others, parts * own[ones])
        values += (raised - own) / scores.norm
    return rows, values


def fit(question: Question, value: float, texts: Iterable[str]) -> float:
    """Return a score with what the kind of its text adds or takes."""
    beginnings = [text[:_LOOKED_AT] for text in texts]
    if question.answer is not None and value > _ANSWER_LEAST:
        value += _ANSWER_BONUS * any(question.answer.search(text) for text in beginnings)
    return value - QUESTION_MALUS * any(text.rstrip().endswith("?") for text in beginnings)


def most_gained(question: Question) -> float:
    """Return what ``fit`` adds to a score at most."""
    return 0.0 if question.answer is None else _ANSWER_BONUS


def needs_refining(question: Question, scores: Scores) -> bool:
    """Tell whether neighbours and kinds of answer can change the order."""
    return len(scores.units) > 1 or question.answer is not None
