"""Lists: which lists of postings a search may read, and in which order their fields count."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from pdpp.model.declaration import Role
from pdpp.store.ranking.postings import Longs
from pdpp.store.scope import Reach
from pdpp.store.tables.numbering import PLACE_BITS
from pdpp.store.tables.positions import actor_positions, indexed, searched_positions

RUN_BITS = 16
"""How many low bits of a run say its length."""

_ROLE_ORDER = {Role.TITLE: 0, Role.BODY: 1}


class Turn(NamedTuple):
    """When a visible field is added up: whether it names an actor, and the order among such."""

    actor: bool
    order: int


def place_at(reach: Reach, turn: Turn) -> int | None:
    """Return the place of the field of a reach that is added up at some turn, if there is one."""
    return reach.once(_places_of).get(turn)


def _places_of(reach: Reach) -> dict[Turn, int]:
    places = (1 << PLACE_BITS) - 1
    return {turn: number & places for number, turn in reach.once(lists_of).items()}


def text_places(reach: Reach) -> list[int]:
    """Return the places of the texts of a reach."""
    return sorted(place for turn, place in reach.once(_places_of).items() if not turn.actor)


def lists_of(reach: Reach) -> dict[int, Turn]:
    """Return the visible fields of a reach by their number in the table of postings.

    Fields are added up by role and name, so that their order says nothing about hidden ones.
    """
    first = reach.feed.id << PLACE_BITS
    fields = reach.stream.fields
    named = sorted(
        searched_positions(reach).items(),
        key=lambda item: (_ROLE_ORDER.get(fields[item[1]].role or Role.LINK, 2), item[1]),
    )
    actors = actor_positions(reach)
    texts = [place for place, _ in named if place not in actors]
    turns = {first | place: Turn(False, order) for order, place in enumerate(texts)}
    turns |= {first | place: Turn(True, order) for order, place in enumerate(sorted(actors))}
    return turns


def _spans_of(reach: Reach) -> list[tuple[int, int]]:
    """Return the runs of numbers that hold the lists of a reach, and no hidden one.

    A feed of which every searched field is visible is read with all its numbers, so that such feeds
    that lie side by side are one run.
    """
    first = reach.feed.id << PLACE_BITS
    lists = reach.once(lists_of)
    if all(first | place in lists for place in indexed(reach.feed).lexical.values()):
        return [(first, first | (1 << PLACE_BITS) - 1)]
    return _joined_spans((number, number) for number in lists)


def _joined_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return runs of numbers in order, those that lie side by side as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start == joined[-1][1] + 1 and end - joined[-1][0] < 1 << RUN_BITS:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def runs_of(reaches: Iterable[Reach]) -> Longs:
    """Return the runs of lists to read, the first one above and the length in the low bits.

    A question of many words over many streams takes a seek for each word and run.
    """
    spans = _joined_spans(span for reach in reaches for span in reach.once(_spans_of))
    packed = [first << RUN_BITS | last - first for first, last in spans]
    return np.array(packed, dtype=np.int64)
