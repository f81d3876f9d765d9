"""Parts: the visible records of one block, and where they stand among the rows of a search."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pdpp.store.ranking.postings import Longs
from pdpp.store.scope import Reach
from pdpp.store.sqlite.search.blocks import Block
from pdpp.store.sqlite.search.lists import lists_of

_Scalar = TypeVar("_Scalar", bound=np.generic)

_NARROW = 8


class Part:
    """The visible records of one block: the slots from ``low`` up to ``high``, or some of them.

    The rows of a search from ``base`` up to ``end`` are these slots in their order.
    """

    __slots__ = (
        "base",
        "count",
        "end",
        "high",
        "id",
        "low",
        "narrow",
        "reach",
        "shift",
        "size",
        "slots",
        "spread",
        "turns",
        "whole",
    )

    def __init__(
        self,
        id: int,
        reach: Reach,
        spread: bool,
        size: int,
        visible: "tuple[int, int] | Longs",
        base: int,
    ) -> None:
        self.id = id
        self.reach = reach
        self.spread = spread
        self.size = size
        self.base = base
        self.slots: Longs | None = None
        if isinstance(visible, tuple):
            self.low, self.high = visible
            self.count = self.high - self.low
        else:
            self.low, self.high, self.slots = 0, size, visible
            self.count = len(visible)
        self.end = base + self.count
        self.shift = base - self.low
        """What is added to a slot of a run to make it a row."""
        self.whole = self.slots is None and self.count == size
        self.turns = reach.once(lists_of)
        """When the visible fields are added up, by the numbers of their lists."""
        self.narrow = self.slots is not None or self.count * _NARROW < size
        """Whether so little is visible that it is looked for in each posting list."""

    def take(self, by_slot: NDArray[_Scalar]) -> NDArray[_Scalar]:
        """Return what an array has for the visible slots."""
        return by_slot[self.low : self.high] if self.slots is None else by_slot[self.slots]

    def slot_of(self, row: int) -> int:
        """Return the slot of a row of the part."""
        return row - self.shift if self.slots is None else int(self.slots[row - self.base])

    def slots_of(self, rows: Longs) -> Longs:
        """Return the slots of some rows of the part."""
        return rows - self.shift if self.slots is None else self.slots[rows - self.base]


def listed_slots(block: Block, numbers: Longs, times: Longs) -> Longs:
    """Return the slots of some records, given by number and time, as far as a block has them.

    A block is in the order of times and then of numbers, so that each is found by halving.
    """
    inside = (times >= block.times[0]) & (times <= block.times[-1])
    numbers, times = numbers[inside], times[inside]
    firsts = np.searchsorted(block.times, times, side="left")
    lasts = np.searchsorted(block.times, times, side="right")
    slots = [
        first + int(np.searchsorted(block.numbers[first:last], number))
        for first, last, number in zip(
            firsts.tolist(), lasts.tolist(), numbers.tolist(), strict=True
        )
        if first < last
    ]
    return _holding(block, slots, numbers[firsts < lasts])


def _holding(block: Block, slots: Sequence[int], numbers: Longs) -> Longs:
    """Return the slots at which some numbers really stand, in order."""
    places: Any = np.minimum(np.array(slots, dtype=np.int64), block.size - 1)
    kept: Longs = np.sort(places[block.numbers[places] == numbers])
    return kept
