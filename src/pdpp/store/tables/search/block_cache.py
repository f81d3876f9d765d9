"""What searches remember of blocks. A block never changes, and its id is never used again."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from pdpp.store.ranking.postings import Impacts
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.search import packing
from pdpp.store.tables.search.blocks import Block, PlacePostings, Words

_REMEMBERED = 512
_MOST_BASES = 4_096


SPAN_BITS = 32
"""How many low bits of a span are where it ends; the upper ones are where it begins."""


class SmallBlock(NamedTuple):
    """The terms of a block, and its fields: the place, the spans of its terms, and its postings."""

    terms: frozenset[str]
    fields: Sequence[tuple[int, Mapping[str, int], Words]]


class BlockCache:
    """Blocks that were read lately, without the postings of spread ones. A block never changes."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._small: dict[int, SmallBlock] = {}
        self._bases: dict[tuple[int, int], Impacts] = {}

    def block(self, db: TableReader, id: int) -> Block:
        """Return a block; of a spread one only the times and numbers of its records."""
        known = self._blocks.get(id)
        if known is None:
            row = next(
                db.execute("SELECT times, numbers, postings FROM word_block WHERE id = ?", (id,))
            )
            known = self._blocks[id] = packing.unpack(*row)
            while len(self._blocks) > _REMEMBERED:
                self._blocks.popitem(last=False)
                self._small.clear()
        return known

    def bases(self, db: TableReader, id: int, place: int) -> Impacts:
        """Return the least impact of each record of a spread block in one field."""
        known = self._bases.get((id, place))
        if known is None:
            row: Any = next(
                db.execute(
                    "SELECT bases FROM word_list WHERE block = ? AND place = ?", (id, place)
                ),
                None,
            )
            if len(self._bases) >= _MOST_BASES:
                self._bases.clear()
            packed = b"" if row is None else row[0]
            known = self._bases[id, place] = np.frombuffer(packed, np.uint8)
        return known

    def small(self, db: TableReader, id: int) -> SmallBlock:
        """Return the fields of a small block, each with where its terms stand."""
        known = self._small.get(id)
        if known is None:
            places = self.block(db, id).places.items()
            fields = tuple(
                (place, dict(zip(postings.terms, _spans(postings), strict=True)), postings.data)
                for place, postings in places
            )
            terms = frozenset(chain.from_iterable(index for _, index, _ in fields))
            known = self._small[id] = SmallBlock(terms, fields)
        return known


def _spans(postings: PlacePostings) -> list[int]:
    """Return where the postings of each term begin and end, as one number of the interpreter.

    A search takes hundreds of them, and a number out of an array takes as long as a whole span.
    """
    starts = postings.starts
    spans: list[int] = (starts[:-1] << SPAN_BITS | starts[1:]).tolist()
    return spans
