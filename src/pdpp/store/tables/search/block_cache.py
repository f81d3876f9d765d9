"""What searches remember of blocks. A block never changes, and its id is never used again."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pdpp.store.ranking.postings import Impacts
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.search import packing
from pdpp.store.tables.search.blocks import Block
from pdpp.store.tables.search.common_postings import CommonPostings
from pdpp.store.tables.search.held_parts import HeldParts
from pdpp.store.tables.search.part_words import PartWords, slots_key
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.record_data import RecordsRead
from pdpp.store.tables.search.small_blocks import SharedTerms, SmallBlock, SmallBlocks
from pdpp.store.tables.search.vector_table import VectorCache
from pdpp.store.tables.search.visible_block import BYTES_A_RECORD, FREE_BYTES, visible_places

_REMEMBERED = 512
_MOST_BASES = 4_096
_MOST_COMMON_BYTES = 48 << 20
"""How much all placements together remember of common words."""


_VisibleKey = tuple[int, frozenset[int], tuple[int, int] | bytes]
"""A block, the fields that are visible, and the slots."""


class BlockCache:
    """Blocks that were read lately; the postings of small ones beside them."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._small = SmallBlocks[int](_REMEMBERED)
        self._visible = SmallBlocks[_VisibleKey](_REMEMBERED)
        self._bases: dict[tuple[int, int], Impacts] = {}
        self._common: WeakKeyDictionary[CommonPostings, None] = WeakKeyDictionary()
        """Those used last at the end. Each write makes new placements, and the old ones end."""
        self._common_lock = Lock()
        self._held: WeakKeyDictionary[object, HeldParts] = WeakKeyDictionary()
        self._held_of = self._shared
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
            self._common.pop(common, None)
            self._common[common] = None
            # References in one step: another thread may end a placement meanwhile.
            every = [one for known in self._common.keyrefs() if (one := known()) is not None]
            total = sum([one.bytes for one in every])
            for oldest in every[:-1]:
                if total <= _MOST_COMMON_BYTES:
                    break
                total -= oldest.bytes
                del self._common[oldest]
                oldest.clear()

    def held_parts(
        self, owner: object, parts: Sequence[Part], block_of: Callable[[Part], SmallBlock]
    ) -> HeldParts:
        """Return the small parts of a placement that lasts, put side by side.

        Those of no placement are kept longer than the blocks.
        """
        shared = self._shared
        if shared != self._held_of:
            self._held, self._held_of = WeakKeyDictionary(), shared
        held = self._held
        known = held.get(owner)
        if known is None:
            known = HeldParts(parts, block_of)
            # Where blocks were forgotten meanwhile, this is of both those and others.
            if shared == self._shared:
                held[owner] = known
        return known

    @property
    def _shared(self) -> tuple[SharedTerms, SharedTerms]:
        return self._small.shared, self._visible.shared

    def small_part(
        self, db: TableReader, part: Part, read: RecordsRead, check: Callable[[], None]
    ) -> SmallBlock:
        """Return the fields of a small block with at least what is visible of it.

        It is unpacked where that costs no more than what is visible, whatever is hidden in it.
        """
        id = part.id
        if part.shown or self._small.get(id) or self._size(db, id) <= _unpacked_bytes(part):
            return self.small(db, id)
        slots = np.arange(part.low, part.high) if part.slots is None else part.slots
        key = id, frozenset(part.turns), slots_key(slots)
        known = self._visible.get(key)
        if known is None:
            places = visible_places(part, self.block(db, id), read, check)
            known = self._visible.add(key, lambda: places)
        return known

    def _size(self, db: TableReader, id: int) -> int:
        """Return how many bytes the words of a block have; they are not read for that."""
        return int(db.execute("SELECT length(postings) FROM word_block WHERE id = ?", (id,)).get)

    def small(self, db: TableReader, id: int) -> SmallBlock:
        """Return the fields of a small block, each with where its terms stand."""
        known = self._small.get(id)
        if known is None:
            postings = db.execute("SELECT postings FROM word_block WHERE id = ?", (id,)).get
            known = self._small.add(id, lambda: packing.unpack_places(postings))
        return known


def _unpacked_bytes(part: Part) -> int:
    return FREE_BYTES + BYTES_A_RECORD * part.count
