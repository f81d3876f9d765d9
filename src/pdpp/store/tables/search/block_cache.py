"""What searches remember of blocks. A block never changes, and its id is never used again."""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pdpp.store.ranking.postings import Impacts
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.search import packing
from pdpp.store.tables.search.blocks import Block, PlacePostings, Words
from pdpp.store.tables.search.common_postings import CommonPostings
from pdpp.store.tables.search.part_words import PartWords, slots_key
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.record_data import RecordsRead
from pdpp.store.tables.search.vector_table import VectorCache
from pdpp.store.tables.search.visible_block import BYTES_A_RECORD, FREE_BYTES, visible_places

_REMEMBERED = 512
_MOST_BASES = 4_096
_MOST_COMMON_BYTES = 48 << 20
"""How much all placements together remember of common words."""


_SPAN_BITS = ((16, "I"), (32, "Q"))
"""How many bits say where a span begins, and as many where it ends; and the numbers that take both.
"""


class SmallField(NamedTuple):
    """The postings of one field of a small block, with a span for each number of a term.

    The lower ``bits`` of a span are where the postings of the term end, those above where they
    begin; it is 0 where the term does not stand in this field.
    """

    place: int
    bits: int
    spans: Sequence[int]
    postings: Words


class SmallBlock(NamedTuple):
    """The terms of a block, numbered, and its fields.

    One table for all fields, and spans beside it, take a quarter of what a table of spans for each
    field takes. Nothing else is kept: a worker remembers hundreds of blocks.
    """

    terms: Mapping[str, int]
    fields: Sequence[SmallField]

    def terms_of(self, place: int) -> list[str]:
        """Return the terms that stand in the field of a place, sorted."""
        spans = next((field.spans for field in self.fields if field.place == place), None)
        if spans is None:
            return []
        return sorted([term for term, number in self.terms.items() if spans[number]])


class BlockCache:
    """Blocks that were read lately; the postings of small ones beside them."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._small: dict[int, SmallBlock] = {}
        self._visible: dict[tuple[int, frozenset[int], tuple[int, int] | bytes], SmallBlock] = {}
        self._numbers: list[int] = []
        self._bases: dict[tuple[int, int], Impacts] = {}
        self._common: OrderedDict[CommonPostings, None] = OrderedDict()
        self._common_lock = Lock()
        self.part_words = PartWords()
        self.vectors = VectorCache()

    def block(self, db: TableReader, id: int) -> Block:
        """Return a block with the times and numbers of its records, and without its postings.

        Times tell whether a grant shows anything of a block: the words of one that is hidden are
        not read.
        """
        known = self._blocks.get(id)
        if known is None:
            sql = "SELECT times, numbers FROM word_block WHERE id = ?"
            times, numbers = next(db.execute(sql, (id,)))
            known = Block(packing.longs(times), packing.longs(numbers), {})
            self._blocks[id] = known
            while len(self._blocks) > _REMEMBERED:
                self._blocks.popitem(last=False)
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

    def small_part(
        self, db: TableReader, part: Part, read: RecordsRead, check: Callable[[], None]
    ) -> SmallBlock:
        """Return the fields of a small block with at least what is visible of it.

        It is unpacked where that costs no more than what is visible, whatever is hidden in it.
        """
        id = part.id
        if part.shown or id in self._small or self._size(db, id) <= _unpacked_bytes(part):
            return self.small(db, id)
        slots = np.arange(part.low, part.high) if part.slots is None else part.slots
        key = id, frozenset(part.turns), slots_key(slots)
        known = self._visible.get(key)
        if known is None:
            places = visible_places(part, self.block(db, id), read, check)
            if len(self._visible) >= _REMEMBERED:
                self._visible.clear()
            known = self._visible[key] = self._numbered(places)
        return known

    def _size(self, db: TableReader, id: int) -> int:
        """Return how many bytes the words of a block have; they are not read for that."""
        return int(db.execute("SELECT length(postings) FROM word_block WHERE id = ?", (id,)).get)

    def small(self, db: TableReader, id: int) -> SmallBlock:
        """Return the fields of a small block, each with where its terms stand."""
        known = self._small.get(id)
        if known is None:
            postings = db.execute("SELECT postings FROM word_block WHERE id = ?", (id,)).get
            if len(self._small) >= _REMEMBERED:
                self._small.clear()
            known = self._small[id] = self._numbered(packing.unpack_places(postings))
        return known

    def _numbered(self, places: Mapping[int, PlacePostings]) -> SmallBlock:
        names = dict.fromkeys(chain.from_iterable(field.terms for field in places.values()))
        # The numbers are the same objects in all blocks: a new one takes as much as its entry.
        self._numbers.extend(range(len(self._numbers), len(names)))
        terms = dict(zip(names, self._numbers, strict=False))
        return SmallBlock(
            terms,
            tuple(
                _small_field(place, field, [terms[term] for term in field.terms], len(terms))
                for place, field in places.items()
            ),
        )


def _unpacked_bytes(part: Part) -> int:
    return FREE_BYTES + BYTES_A_RECORD * part.count


def _small_field(
    place: int, postings: PlacePostings, numbers: Sequence[int], size: int
) -> SmallField:
    """Return a field with a span, one number of the interpreter, for each of its terms.

    A search takes hundreds of them, and a number out of an array of numpy takes as long as a whole
    span.
    """
    starts = postings.starts.astype(np.uint64)
    bits, kind = next(item for item in _SPAN_BITS if int(starts[-1]) >> item[0] == 0)
    spans = np.zeros(size, dtype=np.dtype(kind))
    spans[numbers] = starts[:-1] << np.uint64(bits) | starts[1:]
    return SmallField(place, bits, array(kind, spans.tobytes()), postings.data)
