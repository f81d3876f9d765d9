"""Refining: the best rows once more, with what stands around them and what kind of answer it is.

A row of a conversation also answers by what its neighbours say, most by a question right before it;
a row that holds a time answers a question that asks when; a name by which somebody is spoken to
tells nothing of what they said. Only the best rows and their visible neighbours are looked at.
"""

import re
from collections.abc import Collection, Container, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pdpp.evidence.analyse import Phrase, find
from pdpp.evidence.language.question import Question
from pdpp.store.ranking.distinct import each_once
from pdpp.store.ranking.postings import Floats, Longs
from pdpp.store.ranking.score import Scores

BEST = 100
CHOSEN_BY_ACTOR = 0.25
"""How much of what a row gets for its actor counts where the best rows are chosen. Half of a chat
is by the person asked for: these rows would leave no room for those that hold an asked word, which
their neighbours get a part of. Measured."""
NEAR = (0.4, 0.16)
"""What a row gets of its neighbours' words, by their distance."""
REPLY = 0.6
"""What a row gets of the words of a question right before it, because it mostly answers that. So
"what do you play?" finds "the drums". Measured."""

_ANSWER_BONUS = 0.06
_ANSWER_LEAST = 0.05
QUESTION_MALUS = 0.03
"""What most scores lose at most, so that mostly the leading rows are enough. Short messages lose
more: where that takes one below other rows, all are scored."""
_SHORT_MALUS = 0.07
_SHORT = 80
"""Below how many bytes a message says little: "Take care!" Bytes, because a letter of Chinese says
as much as several of English. Measured."""
LOOKED_AT = 4_000
"""How much of the beginning of a text tells what kind it is of."""
_SET_OFF = re.compile(r"[^\S\n]*(?:$|[^\w\s'’&/@+(-])", re.MULTILINE)
"""What follows a name by which somebody is spoken to: the end of a line, or a mark or a smile that
joins it with nothing. "Hi Maya!" speaks to Maya, "Maya's car" does not."""


class Neighbour(NamedTuple):
    """Two rows of one conversation, and how many places the other stands after it: -2 to 2."""

    row: int
    other: int
    distance: int

    @property
    def first(self) -> int:
        """Return which of the two stands before the other."""
        return self.row if self.distance > 0 else self.other


def most_set_aside(scores: Scores) -> float:
    """Return what does not count of a score, at the most, where the best rows are chosen."""
    return (1 - CHOSEN_BY_ACTOR) * scores.bonus.most_of_actors()


def counted(scores: Scores, rows: Longs, values: Floats) -> Floats:
    """Return the scores of some rows by which the best are chosen."""
    return values - (1 - CHOSEN_BY_ACTOR) * scores.bonus.of_actors(rows)


def spread(
    scores: Scores,
    best: Longs,
    neighbours: Sequence[Neighbour],
    asking: Container[int],
    addressing: Collection[int],
) -> tuple[Longs, Floats]:
    """Return the best rows with their neighbours, and the score of each by all their words.

    ``asking`` are the rows that are questions, ``addressing`` those in which names count nothing.
    """
    around = [row for pair in neighbours for row in (pair.row, pair.other)]
    rows = each_once(np.concatenate([best, np.array(around, dtype=np.int64)]))
    values = scores.at(rows)
    firsts = np.searchsorted(rows, [pair.first for pair in neighbours])
    lasts = np.searchsorted(rows, [_last(pair) for pair in neighbours])
    back = np.array([NEAR[abs(pair.distance) - 1] for pair in neighbours])
    replies = [abs(pair.distance) == 1 and pair.first in asking for pair in neighbours]
    on = np.where(replies, REPLY, back)
    addressed = np.isin(rows, list(addressing))
    for unit in scores.units:
        held = unit.at(rows)
        own = np.where(addressed, 0.0, held) if unit in scores.names else held
        raised = own.copy()
        np.maximum.at(raised, firsts, back * own[lasts])
        np.maximum.at(raised, lasts, on * own[firsts])
        values += (raised - held) / scores.norm
    return rows, values


def rows_near_named(scores: Scores, neighbours: Sequence[Neighbour]) -> Longs:
    """Return the rows that hold the name of the one person asked for, who speaks near them.

    Where several are asked for, a name tells to whom something was said.
    """
    if not neighbours or not scores.bonus.of_one_person(len(scores.names)):
        return np.zeros(0, dtype=np.int64)
    pairs = np.array([(pair.row, pair.other) for pair in neighbours])
    theirs = scores.bonus.named(pairs)
    rows = each_once(pairs[theirs[:, ::-1]])
    held: Floats = sum((unit.at(rows) for unit in scores.names), np.zeros(len(rows)))
    return rows[held > 0]


def addresses(names: Sequence[Phrase], texts: Iterable[str]) -> bool:
    """Tell whether the texts of a row set a name off from their sentences: "Thanks, Maya!"."""
    beginnings = [text[:LOOKED_AT] for text in texts]
    return any(
        _SET_OFF.match(text, place.end) for text in beginnings for place in find(text, names)
    )


def fit(question: Question, value: float, texts: Sequence[str], *, talking: bool) -> float:
    """Return a score with what the kind of its text adds or takes.

    ``talking`` says that the row is a message among others of a conversation.
    """
    beginnings = [text[:LOOKED_AT] for text in texts]
    if question.answer is not None and value > _ANSWER_LEAST:
        value += _ANSWER_BONUS * any(question.answer.search(text) for text in beginnings)
    if talking:
        value -= _SHORT_MALUS * max(0.0, 1 - _size(beginnings) / _SHORT)
    return value - QUESTION_MALUS * asks(beginnings)


def asks(texts: Iterable[str]) -> bool:
    """Tell whether the texts of a row are a question."""
    return any(text[:LOOKED_AT].rstrip().endswith("?") for text in texts)


def _size(texts: Iterable[str]) -> int:
    return sum(len(text[:_SHORT].encode(errors="replace")) for text in texts)


def _last(pair: Neighbour) -> int:
    return pair.other if pair.distance > 0 else pair.row


def most_gained(question: Question) -> float:
    """Return what ``fit`` adds to a score at most."""
    return 0.0 if question.answer is None else _ANSWER_BONUS


def needs_refining(question: Question, scores: Scores) -> bool:
    """Tell whether neighbours and kinds of answer can change the order."""
    return len(scores.units) > 1 or question.answer is not None
