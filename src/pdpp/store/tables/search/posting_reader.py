"""Reading postings: the lists of some terms, of visible fields and blocks and of no others."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pdpp.store.ranking.postings import FieldPostings, Impacts, Longs, Postings, TermGroup
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.search import blocks, long_postings, packing
from pdpp.store.tables.search.block_cache import BlockCache
from pdpp.store.tables.search.blocks import Words
from pdpp.store.tables.search.common_postings import FieldOfTurn
from pdpp.store.tables.search.held_parts import HeldParts
from pdpp.store.tables.search.lists import RUN_BITS, Turn
from pdpp.store.tables.search.long_postings import REFERENCE_BYTES, Reference
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.placement import BLOCK_BITS, Placement

_RUNS = f"""
    SELECT t.rowid, p.list << {BLOCK_BITS} | p.block, p.data
    FROM carray(?) AS t CROSS JOIN carray(?) AS l CROSS JOIN posting p
      ON p.term = t.value AND p.list BETWEEN l.value >> {RUN_BITS}
        AND (l.value >> {RUN_BITS}) + (l.value & {(1 << RUN_BITS) - 1})
"""
_PAIRS = f"""
    SELECT t.rowid, p.list << {BLOCK_BITS} | p.block, p.data
    FROM carray(?) AS t CROSS JOIN carray(?) AS l CROSS JOIN posting p
      ON p.term = t.value AND p.list = l.value >> {BLOCK_BITS}
        AND p.block = l.value & {(1 << BLOCK_BITS) - 1}
"""
"""Of a feed of which a block is hidden each visible list is read by itself: what a limit in time
hides is not even passed over."""
_MANY = 64
"""From which part of all rows on a group of terms has an impact for every row. Measured."""


class _Pieces:
    """The postings of a group of terms in fields of one turn, by where they are kept.

    Of spread blocks there are the parts, and beside each of them the piece of a term.
    """

    __slots__ = ("data", "parts", "small", "terms")

    def __init__(self) -> None:
        self.terms: set[str] = set()
        """The terms that have pieces: where they are several they may name a row more than once."""
        self.parts: list[Part] = []
        self.data: list[bytes] = []
        self.small: list[tuple[Part, Words]] = []

    def add(self, part: Part, data: bytes) -> None:
        """Add a piece of a spread block."""
        self.parts.append(part)
        self.data.append(data)

    def extend(self, term: str, parts: Sequence[Part], data: Sequence[bytes]) -> None:
        """Add the pieces of a term in spread blocks."""
        self.terms.add(term)
        self.parts += parts
        self.data += data


_PiecesByGroup = dict[tuple[int, Turn], _Pieces]
"""Pieces by the place of their group in what was asked for, and by turn."""


class PostingReader:
    """Reads the postings of one search."""

    def __init__(
        self,
        db: TableReader,
        cache: BlockCache,
        placement: Placement,
        small_parts: Callable[[], HeldParts],
    ) -> None:
        self._db = db
        self._cache = cache
        self._small_parts = small_parts
        self._placement = placement
        self._parts = placement.parts
        self._hidden = placement.hidden
        self._size = placement.size
        self._whole = placement.spread_whole
        self._places = placement.places
        self._common = placement.common
        self._asked = [
            (sql, self._db.array(packed))
            for sql, packed in ((_RUNS, placement.runs), (_PAIRS, placement.pairs))
            if len(packed)
        ]

    def postings(
        self, groups: Sequence[TermGroup], check: Callable[[], None]
    ) -> dict[TermGroup, Postings]:
        """Return where terms stand in visible fields of visible records, by group."""
        postings: dict[TermGroup, Postings] = {}
        unknown: list[TermGroup] = []
        used = False
        for group in groups:
            fields = self._common.find(group, self._bases_of)
            if fields is None:
                unknown.append(group)
            else:
                used = True
                postings[group] = _postings_of(fields)
        for group, fields in self._read(unknown, check).items():
            used |= self._common.offer(group, fields, self._bases_of)
            postings[group] = _postings_of(fields)
        if used:
            self._cache.note_use(self._common)
        return postings

    def _read(
        self, groups: Sequence[TermGroup], check: Callable[[], None]
    ) -> dict[TermGroup, list[FieldOfTurn]]:
        """Return the fields in which terms stand, by group, each in its turn."""
        by_group: _PiecesByGroup = defaultdict(_Pieces)
        groups_of: dict[str, list[int]] = {}
        for number, group in enumerate(groups):
            for term in group:
                groups_of.setdefault(term, []).append(number)
        if groups_of:
            self._add_spread(groups_of, by_group)
            check()
            self._add_small(groups_of, by_group)
        fields: dict[TermGroup, list[FieldOfTurn]] = {}
        for (number, turn), pieces in sorted(by_group.items(), key=lambda item: item[0]):
            field_postings = self._joined(pieces, turn)
            if field_postings is not None:
                fields.setdefault(groups[number], []).append(FieldOfTurn(turn, field_postings))
        return fields

    def _add_spread(self, groups_of: Mapping[str, Sequence[int]], by_group: _PiecesByGroup) -> None:
        terms = tuple(groups_of)
        names = self._db.array(terms)
        places, turns = self._places, self._placement.turns
        for sql, packed in self._asked:
            # A question has some 2,000 pieces: each of them is put beside those of its term and
            # turn, and only these are handed to the groups.
            of_terms: dict[int, list[tuple[list[Part], list[bytes]]]] = {}
            last, of_term = 0, []
            long: list[Reference] = []
            for at, pair, data in self._db.execute(sql, (names, packed)):
                place = places.get(pair)
                if place is None:
                    continue
                if at != last:
                    last, of_term = at, of_terms.setdefault(at, [([], []) for _ in turns])
                part, turn = place
                parts, pieces = of_term[turn]
                parts.append(part)
                if len(data) == REFERENCE_BYTES and long_postings.is_reference(data):
                    long.append(Reference(pieces, len(pieces), part.id))
                pieces.append(data)
            long_postings.fetch(self._db, long)
            for at, of_term in of_terms.items():
                term = terms[at - 1]
                for turn, (parts, pieces) in enumerate(of_term):
                    for number in groups_of[term] if parts else ():
                        by_group[number, turns[turn]].extend(term, parts, pieces)

    def _add_small(self, groups_of: Mapping[str, Sequence[int]], by_group: _PiecesByGroup) -> None:
        by_turn: dict[Turn, dict[str, list[_Pieces]]] = {}
        terms = tuple(groups_of)
        for part, fields, ranks in self._small_parts().having(terms):
            for turn, starts, postings in fields:
                pieces_of = by_turn.setdefault(turn, {})
                for number, rank in ranks:
                    start, end = starts[rank], starts[rank + 1]
                    if start == end:
                        continue
                    term = terms[number]
                    if term not in pieces_of:
                        pieces_of[term] = [by_group[group, turn] for group in groups_of[term]]
                        for pieces in pieces_of[term]:
                            pieces.terms.add(term)
                    item = part, postings[start:end]
                    for pieces in pieces_of[term]:
                        pieces.small.append(item)

    # From pieces to rows

    def _joined(self, pieces: _Pieces, turn: Turn) -> FieldPostings | None:
        """Return the visible postings of some pieces, None where there are none."""
        # A posting takes two bytes of a piece with slots; a dense piece has a byte for each row.
        count = sum(map(len, pieces.data)) // 2
        count += sum([len(data) for _, data in pieces.small])
        if count * _MANY >= self._size and not all(part.narrow for part in pieces.parts):
            return self._by_row(pieces, turn)
        rows, impacts = self._rows(pieces, turn)
        if self._hidden is not None:
            kept = ~self._hidden[rows]
            rows, impacts = rows[kept], impacts[kept]
        if np.any(rows[1:] < rows[:-1]):
            order = np.argsort(rows, kind="stable")
            rows, impacts = rows[order], impacts[order]
        if len(pieces.terms) > 1 and len(rows):
            firsts = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
            if len(firsts) < len(rows):
                rows, impacts = rows[firsts], np.maximum.reduceat(impacts, firsts)
        return FieldPostings(rows, impacts) if len(rows) else None

    def _by_row(self, pieces: _Pieces, turn: Turn) -> FieldPostings | None:
        """Return postings with an impact for every row; dense pieces are copied as they are."""
        sparse, rest = _Pieces(), _Pieces()
        sparse.small = pieces.small
        dense: dict[int, bytes | memoryview] = {}
        for part, data in zip(pieces.parts, pieces.data, strict=True):
            if not packing.is_dense(data):
                rest.add(part, data)
            elif part.whole and part.id not in dense:
                dense[part.id] = packing.dense_bytes(data, part.size)
            else:
                visible = part.take(packing.dense_impacts(data, part.size))
                other = dense.get(part.id)
                if other is not None:
                    visible = np.maximum(visible, np.frombuffer(other, np.uint8))
                dense[part.id] = visible.data
        bits = _one_of_bits_a_part(rest, sparse, taken=set(dense))
        alone = len(pieces.terms) == 1
        impacts = self._from_bits(bits, dense, turn) if bits.parts else self._side_by_side(dense)
        rows, values = self._rows(sparse, turn)
        if alone or not len(rows):
            impacts[rows] = values
        else:
            _raise(impacts, rows, values)
        if self._hidden is not None:
            impacts[self._hidden] = 0
        return FieldPostings(None, impacts) if impacts.any() else None

    def _side_by_side(self, by_part: Mapping[int, bytes | memoryview]) -> Impacts:
        """Return a byte for every row, given those of some parts."""
        if not by_part:
            return np.zeros(self._size, dtype=np.uint8)
        # Parts lie side by side: to join their bytes takes a fifth of the time of copying each.
        return np.frombuffer(
            bytearray().join([by_part.get(part.id) or bytes(part.count) for part in self._parts]),
            np.uint8,
        )

    def _from_bits(
        self, pieces: _Pieces, dense: Mapping[int, bytes | memoryview], turn: Turn
    ) -> Impacts:
        """Return the impacts of every row by pieces of bits, and those of dense pieces as given.

        Of the parts of pieces of bits runs of slots are visible.
        """
        flags, firsts, changed, counts, values = packing.joined_bits(pieces.data)
        places = flags.data
        impacts = self._side_by_side(
            {
                part.id: places[first + part.low : first + part.high]
                for part, first in zip(pieces.parts, firsts, strict=True)
            }
        )
        np.multiply(impacts, self._base_impacts(pieces.parts, turn), out=impacts)
        for id, by_row in dense.items():
            part = self._placement.spread[id]
            impacts[part.base : part.end] = np.frombuffer(by_row, np.uint8)
        rows = changed + np.repeat([part.shift for part in pieces.parts], counts)
        if not self._whole:
            lows = np.repeat([part.low for part in pieces.parts], counts)
            highs = np.repeat([part.high for part in pieces.parts], counts)
            kept = (changed >= lows) & (changed < highs)
            rows, values = rows[kept], values[kept]
        impacts[rows] = values
        return impacts

    def _rows(self, pieces: _Pieces, turn: Turn) -> tuple[Longs, Impacts]:
        """Return the rows of some pieces, in the order of the pieces, and the impact in each."""
        every = []
        if self._whole:
            every += [self._from_wide(pieces.parts, pieces.data, turn)] if pieces.parts else []
        else:
            every += self._from_some(pieces, turn)
        runs = [(part, data) for part, data in pieces.small if part.slots is None]
        every += [_from_small(runs)] if runs else []
        every += [_from_listed(part, data) for part, data in pieces.small if part.slots is not None]
        if len(every) == 1:
            return every[0]
        none = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8)
        rows, impacts = zip(*(every or [none]), strict=True)
        return np.concatenate(rows), np.concatenate(impacts)

    def _from_some(self, pieces: _Pieces, turn: Turn) -> list[tuple[Longs, Impacts]]:
        """Return the rows of pieces of which some may be hidden."""
        pairs = list(zip(pieces.parts, pieces.data, strict=True))
        wide = [(part, data) for part, data in pairs if not part.narrow]
        every = []
        if wide:
            parts, data = zip(*wide, strict=True)
            every.append(self._from_wide(parts, data, turn))
        return every + [self._from_narrow(part, data, turn) for part, data in pairs if part.narrow]

    def _from_wide(
        self, parts: Sequence[Part], data: Sequence[bytes], turn: Turn
    ) -> tuple[Longs, Impacts]:
        """Return the rows of pieces of which most is visible: all are unpacked together."""
        slots, counts, changed, values = packing.joined_pieces(data)
        rows = slots + np.repeat(np.array([part.shift for part in parts], dtype=np.int64), counts)
        bases = self._base_impacts(parts, turn)
        if self._whole:
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
        if not packing.is_dense(data):
            wanted = part.slots
            if wanted is None:
                wanted = np.arange(part.low, part.high, dtype=np.int64)
            bases = self._base_impacts([part], turn)[part.base : part.end]
            impacts = packing.impacts_at(data, wanted, bases)
        else:
            impacts = part.take(packing.dense_impacts(data, part.size))
        places = np.flatnonzero(impacts)
        return places + part.base, impacts[places]

    def _bases_of(self, turn: Turn) -> Impacts:
        """Return the base of each row in the fields of one turn, as far as it was read."""
        return self._base_impacts((), turn)

    def _base_impacts(self, parts: Sequence[Part], turn: Turn) -> Impacts:
        """Return the base of each row in the fields of one turn, as far as some parts have rows."""
        return self._placement.base_impacts(self._db, self._cache, parts, turn)


def _one_of_bits_a_part(pieces: _Pieces, others: _Pieces, taken: set[int]) -> _Pieces:
    """Return one piece of bits for each part that is not taken, and add the rest to the others.

    Pieces of bits are written over the rows of their parts, all in one step. A word has several
    terms, of which mostly one is common enough for bits; a second one in a part only raises what
    the first one wrote. Turned into slots, a word in 20 % of a million records took twice as long.
    """
    bits = _Pieces()
    for part, data in zip(pieces.parts, pieces.data, strict=True):
        if packing.is_bits(data) and not part.narrow and part.id not in taken:
            taken.add(part.id)
            bits.add(part, data)
        else:
            others.add(part, data)
    return bits


def _postings_of(fields: Sequence[FieldOfTurn]) -> Postings:
    return Postings(
        [postings for turn, postings in fields if not turn.actor],
        [postings for turn, postings in fields if turn.actor],
    )


def _raise(impacts: Impacts, rows: Longs, values: Impacts) -> None:
    """Raise the impacts of some rows to some values; of a row named twice the larger one counts."""
    values = np.maximum(values, impacts[rows])
    impacts[rows] = values
    # Of a row that is named twice the last value was written, which may be the smaller one.
    less = np.flatnonzero(impacts[rows] < values)
    np.maximum.at(impacts, rows[less], values[less])


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
