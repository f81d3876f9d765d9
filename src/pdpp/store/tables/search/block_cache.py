"""What searches remember of blocks. A block never changes, and its id is never used again."""

from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pdpp.store.ranking.postings import Impacts
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.search import packing
from pdpp.store.tables.search.blocks import Block, PlacePostings, Words
from pdpp.store.tables.search.common_postings import CommonPostings
from pdpp.store.tables.search.part_words import PartWords

_REMEMBERED = 512
_MOST_BASES = 4_096
_MOST_COMMON_BYTES = 48 << 20
"""How much all placements together remember of common words."""


SPAN_BITS = 32
"""How many low bits of a span are where it ends; the upper ones are where it begins."""


class SmallBlock(NamedTuple):
    """The terms of a block, numbered, and its fields: their place, spans and postings.

    Each field has one span for each number, 0 where the term does not stand in it. One table for
    all fields, and spans beside it, take a quarter of what a table of spans for each field takes.
    """

    terms: Mapping[str, int]
    fields: Sequence[tuple[int, Sequence[int], Words]]


class BlockCache:
    """Blocks that were read lately, without the postings of spread ones. A block never changes."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._small: dict[int, SmallBlock] = {}
        self._numbers: list[int] = []
        self._bases: dict[tuple[int, int], Impacts] = {}
        self._common: OrderedDict[CommonPostings, None] = OrderedDict()
        self._common_lock = Lock()
        self.part_words = PartWords()

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

    def note_use(self, common: CommonPostings) -> None:
        """Note that a placement used what it remembers; those used longest ago make room."""
        with self._common_lock:
            self._common[common] = None
            self._common.move_to_end(common)
            total = sum([one.bytes for one in self._common])
            while total > _MOST_COMMON_BYTES and len(self._common) > 1:
                oldest, _ = self._common.popitem(last=False)
                total -= oldest.bytes
                oldest.clear()

    def small(self, db: TableReader, id: int) -> SmallBlock:
        """Return the fields of a small block, each with where its terms stand."""
        known = self._small.get(id)
        if known is None:
            known = self._small[id] = self._numbered(self.block(db, id))
        return known

    def _numbered(self, block: Block) -> SmallBlock:
        names = dict.fromkeys(chain.from_iterable(field.terms for field in block.places.values()))
        # The numbers are the same objects in all blocks: a new one takes as much as its entry.
        self._numbers.extend(range(len(self._numbers), len(names)))
        terms = dict(zip(names, self._numbers, strict=False))
        return SmallBlock(
            terms,
            tuple(
                (
                    place,
                    _spans(field, [terms[term] for term in field.terms], len(terms)),
                    field.data,
                )
                for place, field in block.places.items()
            ),
        )


def _spans(postings: PlacePostings, numbers: Sequence[int], size: int) -> Sequence[int]:
    """Return where the postings of each term begin and end, as one number of the interpreter.

    A search takes hundreds of them, and a number out of an array of numpy takes as long as a whole
    span.
    """
    starts = postings.starts.astype(np.uint64)
    spans = np.zeros(size, dtype=np.uint64)
    spans[numbers] = starts[:-1] << np.uint64(SPAN_BITS) | starts[1:]
    return array("Q", spans.tobytes())
