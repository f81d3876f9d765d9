"""Parts: the visible records of one block, and where they stand among the rows of a search."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pdpp.store.ranking.postings import Longs
from pdpp.store.scope import Reach
from pdpp.store.tables.search.blocks import Block
from pdpp.store.tables.search.lists import lists_of

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
        "shown",
        "size",
        "slots",
        "spread",
        "timed",
        "turns",
        "whole",
    )

    def __init__(
        self,
        id: int,
        reach: Reach,
        spread: bool,
        size: int,
        run: tuple[int, int],
        base: int,
        slots: Longs | None = None,
        *,
        shown: bool,
    ) -> None:
        self.id = id
        self.reach = reach
        self.spread = spread
        self.size = size
        self.base = base
        self.low, self.high = run
        self.slots = slots
        self.count = self.high - self.low if slots is None else len(slots)
        self.end = base + self.count
        self.shift = base - self.low
        """What is added to a slot of a run to make it a row."""
        self.whole = self.slots is None and self.count == size
        self.shown = shown
        """Whether the grant shows every record of the block, also those not asked for."""
        self.turns = reach.once(lists_of)
        """When the visible fields are added up, by the numbers of their lists."""
        self.timed = reach.shows_time
        """Whether the times of the records may be seen."""
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


def listed_slots(block: Block, listed: Sequence[tuple[int, int]]) -> Longs:
    """Return the slots of some records, given by time and number, as far as a block has them.

    A block is in the order of times and then of numbers, so that each is found by halving.
    """
    times = np.array([time for time, _ in listed], dtype=np.int64)
    firsts = np.searchsorted(block.times, times, side="left").tolist()
    lasts = np.searchsorted(block.times, times, side="right").tolist()
    slots = []
    for first, last, (_, number) in zip(firsts, lasts, listed, strict=True):
        slot = first + int(np.searchsorted(block.numbers[first:last], number))
        if slot < last and block.numbers[slot] == number:
            slots.append(slot)
    return np.array(sorted(slots), dtype=np.int64)
