"""Reading postings: the lists of some terms, of visible fields and blocks and of no others."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pdpp.store.ranking.postings import (
    Bools,
    FieldPostings,
    Impacts,
    Longs,
    Postings,
    TermGroup,
)
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.numbering import PLACE_BITS
from pdpp.store.tables.search import blocks, packing
from pdpp.store.tables.search.block_cache import BlockCache
from pdpp.store.tables.search.blocks import Words
from pdpp.store.tables.search.lists import (
    RUN_BITS,
    Turn,
    place_at,
    runs_of,
)
from pdpp.store.tables.search.parts import Part

_RUNS = f"""
    SELECT t.rowid, p.list, p.block, p.data
    FROM carray(?) AS t CROSS JOIN carray(?) AS l CROSS JOIN posting p
      ON p.term = t.value AND p.list BETWEEN l.value >> {RUN_BITS}
        AND (l.value >> {RUN_BITS}) + (l.value & {(1 << RUN_BITS) - 1})
"""
_BLOCK_BITS = 34
"""How many low bits of a pair are the id of a block; the upper ones are the list."""
_PAIRS = f"""
    SELECT t.rowid, p.list, p.block, p.data
    FROM carray(?) AS t CROSS JOIN carray(?) AS l CROSS JOIN posting p
      ON p.term = t.value AND p.list = l.value >> {_BLOCK_BITS}
        AND p.block = l.value & {(1 << _BLOCK_BITS) - 1}
"""
"""Of a feed of which a block is hidden each visible list is read by itself: what a limit in time
hides is not even passed over."""
_MANY = 64
"""From which part of all rows on a group of terms has an impact for every row. Measured."""


@dataclass(slots=True)
class _Pieces:
    """The postings of a group of terms in fields of one turn, by where they are kept."""

    spread: list[tuple[Part, bytes]] = field(default_factory=list)
    small: list[tuple[Part, Words]] = field(default_factory=list)


_PiecesByGroup = dict[tuple[int, Turn], _Pieces]
"""Pieces by the place of their group in what was asked for, and by turn."""


class PostingReader:
    """Reads the postings of one search."""

    def __init__(
        self,
        db: TableReader,
        cache: BlockCache,
        reaches: Sequence[Reach],
        parts: Sequence[Part],
        torn: frozenset[int],
        hidden: Bools | None,
        size: int,
    ) -> None:
        self._db = db
        self._cache = cache
        self._parts = parts
        self._hidden = hidden
        self._size = size
        self._by_id = {part.id: part for part in parts if part.spread}
        self._small = [part for part in parts if not part.spread]
        self._bases: dict[Turn, tuple[Impacts, set[int]]] = {}
        runs = runs_of(reach for reach in reaches if reach.feed.id not in torn)
        pairs = _pairs([part for part in self._by_id.values() if part.reach.feed.id in torn])
        self._asked = [
            (sql, self._db.array(packed))
            for sql, packed in ((_RUNS, runs), (_PAIRS, pairs))
            if len(packed)
        ]

    def postings(
        self, groups: Sequence[TermGroup], check: Callable[[], None]
    ) -> dict[TermGroup, Postings]:
        """Return where terms stand in visible fields of visible records, by group."""
        by_group: _PiecesByGroup = defaultdict(_Pieces)
        groups_of: dict[str, list[int]] = {}
        for number, group in enumerate(groups):
            for term in group:
                groups_of.setdefault(term, []).append(number)
        if groups_of:
            self._add_spread(groups_of, by_group)
            check()
            self._add_small(groups_of, by_group)
        postings: dict[TermGroup, Postings] = {}
        for (number, turn), pieces in sorted(by_group.items(), key=lambda item: item[0]):
            several = len(groups[number]) > 1
            field_postings = self._joined(pieces, turn, several=several)
            if field_postings is not None:
                own = postings.setdefault(groups[number], Postings([], []))
                (own.actors if turn.actor else own.texts).append(field_postings)
        return postings

    def _add_spread(self, groups_of: Mapping[str, Sequence[int]], by_group: _PiecesByGroup) -> None:
        names = self._db.array(tuple(groups_of))
        numbers = list(groups_of.values())
        parts = self._by_id
        for sql, packed in self._asked:
            for at, list_, block, data in self._db.execute(sql, (names, packed)):
                part = parts.get(block)
                turn = None if part is None else part.turns.get(list_)
                if part is not None and turn is not None:
                    for number in numbers[at - 1]:
                        by_group[number, turn].spread.append((part, data))

    def _add_small(self, groups_of: Mapping[str, Sequence[int]], by_group: _PiecesByGroup) -> None:
        wanted = frozenset(groups_of)
        for part in self._small:
            first = part.reach.feed.id << PLACE_BITS
            for place, index, postings in self._cache.small(self._db, part.id):
                turn = part.turns.get(first | place)
                if turn is None:
                    continue
                for term in index.keys() & wanted:
                    at = index[term]
                    data = postings.data[postings.starts[at] : postings.starts[at + 1]]
                    for number in groups_of[term]:
                        by_group[number, turn].small.append((part, data))

    # From pieces to rows

    def _joined(self, pieces: _Pieces, turn: Turn, *, several: bool) -> FieldPostings | None:
        """Return the visible postings of some pieces, None where there are none.

        Pieces of ``several`` terms may name a row more than once.
        """
        # A posting takes two bytes of a piece with slots; a dense piece has a byte for each row.
        count = sum([len(data) for _, data in pieces.spread]) // 2
        count += sum([len(data) for _, data in pieces.small])
        if count * _MANY >= self._size and not all(part.narrow for part, _ in pieces.spread):
            return self._by_row(pieces, turn, several=several)
        rows, impacts = self._rows(pieces.spread, pieces.small, turn)
        if self._hidden is not None:
            kept = ~self._hidden[rows]
            rows, impacts = rows[kept], impacts[kept]
        if np.any(rows[1:] < rows[:-1]):
            order = np.argsort(rows, kind="stable")
            rows, impacts = rows[order], impacts[order]
        if several and len(rows):
            firsts = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
            if len(firsts) < len(rows):
                rows, impacts = rows[firsts], np.maximum.reduceat(impacts, firsts)
        return FieldPostings(rows, impacts) if len(rows) else None

    def _by_row(self, pieces: _Pieces, turn: Turn, *, several: bool) -> FieldPostings | None:
        """Return postings with an impact for every row; dense pieces are copied as they are."""
        sparse = []
        dense: dict[int, memoryview] = {}
        for part, data in pieces.spread:
            by_slot = packing.dense_impacts(data, part.size)
            if by_slot is None:
                sparse.append((part, data))
                continue
            visible, other = part.take(by_slot), dense.get(part.id)
            dense[part.id] = (visible if other is None else np.maximum(visible, other)).data
        # Parts lie side by side: to join their bytes takes a fifth of the time of copying each.
        impacts = np.frombuffer(
            bytearray().join([dense.get(part.id) or bytes(part.count) for part in self._parts]),
            np.uint8,
        )
        rows, values = self._rows(sparse, pieces.small, turn)
        if several:
            values = np.maximum(values, impacts[rows])
        impacts[rows] = values
        if several:
            # Of a row that two terms name the last was written; the larger one counts.
            less = np.flatnonzero(impacts[rows] < values)
            np.maximum.at(impacts, rows[less], values[less])
        if self._hidden is not None:
            impacts[self._hidden] = 0
        return FieldPostings(None, impacts) if impacts.any() else None

    def _rows(
        self,
        spread: Sequence[tuple[Part, bytes]],
        small: Sequence[tuple[Part, Words]],
        turn: Turn,
    ) -> tuple[Longs, Impacts]:
        """Return the rows of some pieces, in the order of the pieces, and the impact in each."""
        narrow = [(part, data) for part, data in spread if part.narrow]
        wide = [(part, data) for part, data in spread if not part.narrow] if narrow else spread
        every = [self._from_wide(wide, turn)] if wide else []
        every += [self._from_narrow(part, data, turn) for part, data in narrow]
        runs = [(part, data) for part, data in small if part.slots is None]
        every += [_from_small(runs)] if runs else []
        every += [_from_listed(part, data) for part, data in small if part.slots is not None]
        if len(every) == 1:
            return every[0]
        none = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8)
        rows, impacts = zip(*(every or [none]), strict=True)
        return np.concatenate(rows), np.concatenate(impacts)

    def _from_wide(self, spread: Sequence[tuple[Part, bytes]], turn: Turn) -> tuple[Longs, Impacts]:
        """Return the rows of pieces of which most is visible: all are unpacked together."""
        slots, counts, changed, values = packing.joined_pieces([data for _, data in spread])
        parts = [part for part, _ in spread]
        rows = slots + np.repeat(np.array([part.shift for part in parts], dtype=np.int64), counts)
        bases = self._base_impacts(parts, turn)
        if all(part.whole for part in parts):
            impacts = bases[rows]
            impacts[changed] = values
            return rows, impacts
        lows = np.repeat([part.low for part in parts], counts)
        highs = np.repeat([part.high for part in parts], counts)
        kept = (slots >= lows) & (slots < highs)
        impacts = bases[np.where(kept, rows, 0)]
        impacts[changed] = values
        return rows[kept], impacts[kept]

    def _from_narrow(self, part: Part, data: bytes, turn: Turn) -> tuple[Longs, Impacts]:
        """Return the rows of a piece of which little is visible: only these are looked for."""
        by_slot = packing.dense_impacts(data, part.size)
        if by_slot is None:
            wanted = part.slots
            if wanted is None:
                wanted = np.arange(part.low, part.high, dtype=np.int64)
            bases = self._base_impacts([part], turn)[part.base : part.end]
            impacts = packing.impacts_at(data, wanted, bases)
        else:
            impacts = part.take(by_slot)
        places = np.flatnonzero(impacts)
        return places + part.base, impacts[places]

    def _base_impacts(self, parts: Sequence[Part], turn: Turn) -> Impacts:
        """Return the base of each row in the fields of one turn, as far as some parts have rows."""
        known = self._bases.get(turn)
        if known is None:
            known = self._bases[turn] = np.zeros(self._size, dtype=np.uint8), set()
        bases, filled = known
        if len(filled) == len(self._by_id):
            return bases
        if len(parts) * 2 > len(self._by_id):
            # The next term is as common, and then nothing is left to be looked for.
            parts = list(self._by_id.values())
        for part in parts:
            if part.id not in filled:
                filled.add(part.id)
                place = place_at(part.reach, turn)
                if place is None:
                    continue
                block_bases = self._cache.bases(self._db, part.id, place)
                if len(block_bases):
                    bases[part.base : part.end] = part.take(block_bases)
        return bases


def _pairs(parts: Sequence[Part]) -> Longs:
    """Return the visible lists of some blocks, each with its block."""
    packed = [number << _BLOCK_BITS | part.id for part in parts for number in part.turns]
    return np.array(sorted(packed), dtype=np.int64)


def _from_small(small: Sequence[tuple[Part, Words]]) -> tuple[Longs, Impacts]:
    """Return the rows of postings in small blocks of which runs of slots are visible."""
    counts = [len(data) for _, data in small]
    data = np.concatenate([data for _, data in small])
    slots: Longs = (data >> blocks.SLOT_SHIFT).astype(np.int64)
    rows = slots + np.repeat([part.shift for part, _ in small], counts)
    impacts = data.astype(np.uint8)
    if all(part.whole for part, _ in small):
        return rows, impacts
    lows = np.repeat([part.low for part, _ in small], counts)
    highs = np.repeat([part.high for part, _ in small], counts)
    kept = (slots >= lows) & (slots < highs)
    return rows[kept], impacts[kept]


def _from_listed(part: Part, data: Words) -> tuple[Longs, Impacts]:
    """Return the rows of postings in a small block of which some slots are visible."""
    by_slot = np.zeros(part.size, dtype=np.uint8)
    by_slot[data >> blocks.SLOT_SHIFT] = data.astype(np.uint8)
    impacts = part.take(by_slot)
    places = np.flatnonzero(impacts)
    return places + part.base, impacts[places]
