"""Held parts: the small blocks of a placement and their visible fields, put side by side once.

A grant shows some hundred streams with a small block each. To look each of them up takes as long as
to look for a rare word in all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pdpp.store.tables.numbering import PLACE_BITS
from pdpp.store.tables.search.blocks import Words
from pdpp.store.tables.search.lists import Turn
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.small_blocks import BlocksTogether, SmallBlock


class HeldField(NamedTuple):
    """A visible field of a small block: when it is added up, and its postings."""

    turn: Turn
    starts: Sequence[int]
    postings: Words


class HeldParts:
    """The small parts of a placement, each with its visible fields."""

    def __init__(self, parts: Sequence[Part], block_of: Callable[[Part], SmallBlock]) -> None:
        blocks = [block_of(part) for part in parts]
        self._parts = [
            (part, _visible_fields(part, block)) for part, block in zip(parts, blocks, strict=True)
        ]
        self._blocks = BlocksTogether(blocks)

    def having(
        self, terms: Sequence[str]
    ) -> Iterator[tuple[Part, Sequence[HeldField], list[tuple[int, int]]]]:
        """Yield the parts that have some of the terms: each term, and its rank in the block."""
        for at, ranks in self._blocks.having(terms):
            yield (*self._parts[at], ranks)


def _visible_fields(part: Part, block: SmallBlock) -> list[HeldField]:
    first = part.reach.feed.id << PLACE_BITS
    return [
        HeldField(turn, starts, postings)
        for place, starts, postings in block.fields
        if (turn := part.turns.get(first | place)) is not None
    ]
