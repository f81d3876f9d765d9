"""What a search sees: the blocks of its reaches, cut to what each reach shows.

Every visible record has one *row*, a number from 0 to ``size``; arrays of a search are indexed by
it. Records outside a reach's time or list are no rows at all; of blocks with records that are gone
the rows that must not be seen are ``hidden``.
"""

import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pdpp.store.ranking.postings import Bools, Longs, Postings, TermGroup, TermLines
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.search.block_cache import BlockCache
from pdpp.store.tables.search.blocks import Block
from pdpp.store.tables.search.entry import NO_TIME
from pdpp.store.tables.search.held_parts import HeldParts
from pdpp.store.tables.search.lists import text_places
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.placement import blocks_first_time, placed
from pdpp.store.tables.search.posting_reader import PostingReader
from pdpp.store.tables.search.record_data import RecordsRead

_ONE_BY_ONE = 256
"""Rows up to which each is looked up by itself: they mostly are of as many blocks."""

_MOST_PLACES = 1_024
"""Rows whose places are kept: where texts are looked for phrases, very many are looked up."""

_MOST_KEPT = 4 << 20
"""How many bytes of terms a search keeps unpacked, for a question with several prefixes."""


class _Place(NamedTuple):
    """Where a row stands."""

    part: Part
    block: Block
    slot: int


_place: Callable[[tuple[Part, Block, int]], _Place] = partial(tuple.__new__, _Place)
"""Makes a place of its values in a third of the time that its constructor takes."""


class Visible:
    """The rows of one search, and their postings."""

    def __init__(
        self,
        db: TableReader,
        cache: BlockCache,
        reaches: Sequence[Reach],
        check: Callable[[], None],
        state_of: Callable[[], object],
        read: RecordsRead,
    ) -> None:
        self._db = db
        self._read = read
        self._cache = cache
        self._check = check
        self._vocabulary: Sequence[TermLines] | None = None
        self.placement = placed(db, cache, reaches, state_of)
        self.parts = self.placement.parts
        self.size = self.placement.size
        self._hidden = self.placement.hidden
        self.has_conditions = self.placement.has_conditions
        self._bases = self.placement.bases
        self._places: dict[int, _Place] = {}
        """Where the few rows stand that become hits: each of them is looked at several times."""

        placement = self.placement

        def small_parts() -> HeldParts:
            return placement.small_parts(db, cache, read, check)

        # Not a method: two that know each other are not forgotten with the search.
        self._reader = PostingReader(db, cache, placement, small_parts)

    @property
    def hidden(self) -> Bools | None:
        """Return which rows must not be seen, None where all may be."""
        return self._hidden

    # What records the rows are

    def part_of(self, row: int) -> Part:
        """Return the part a row is in."""
        known = self._places.get(row)
        if known is not None:
            return known.part
        return self.parts[bisect_right(self._bases, row) - 1]

    def parts_of(self, rows: Longs) -> list[Part]:
        """Return the parts that some rows, in order, are in."""
        edges = np.searchsorted(rows, np.array([*self._bases, self.size]))
        return [self.parts[at] for at in np.flatnonzero(np.diff(edges)).tolist()]

    def numbers(self, rows: Longs) -> Longs:
        """Return the numbers of the records of some rows."""
        return self._gather(rows, _numbers)

    def few_numbers(self, rows: Sequence[int]) -> list[int]:
        """Return the numbers of the records of a few rows, of which each is looked up by itself."""
        return [block.numbers.item(slot) for _, block, slot in self._places_of(rows)]

    def numbers_in(self, part: Part, rows: Longs) -> Longs:
        """Return the numbers of the records of some rows of one part."""
        return self._block(part).numbers[part.slots_of(rows)]

    def times(self, rows: Longs) -> Longs:
        """Return the event times of rows, 0 where a reach does not show them or there is none."""
        times = self.moments(rows)
        times[times == NO_TIME] = 0
        return times

    def moments(self, rows: Longs) -> Longs:
        """Return the event times of rows, ``NO_TIME`` where none is shown."""
        return self._gather(rows, _times, NO_TIME)

    def by_part(self, rows: Longs) -> Iterator[tuple[Part, Longs]]:
        """Yield the parts that some rows are in, each with the places of its rows among them."""
        if not len(rows):
            return
        owners = np.searchsorted(np.array(self._bases), rows, side="right") - 1
        order = np.argsort(owners, kind="stable")
        sorted_owners = owners[order]
        edges = np.flatnonzero(np.diff(sorted_owners)) + 1
        firsts = [0, *edges.tolist(), len(rows)]
        for first, last in pairwise(firsts):
            yield self.parts[int(sorted_owners[first])], order[first:last]

    def _gather(
        self, rows: Longs, of: Callable[[Part, Block], Longs | None], otherwise: int = 0
    ) -> Longs:
        """Return what the arrays of blocks have for some rows; a part may have no array."""
        if len(rows) <= _ONE_BY_ONE:
            few: list[int] = []
            for part, block, slot in self._places_of(rows.tolist()):
                by_slot = of(part, block)
                few.append(otherwise if by_slot is None else by_slot.item(slot))
            return np.array(few, dtype=np.int64)
        values = np.full(len(rows), otherwise, dtype=np.int64)
        for part, chosen in self.by_part(rows):
            by_slot = of(part, self._block(part))
            if by_slot is not None:
                values[chosen] = by_slot[part.slots_of(rows[chosen])]
        return values

    def _places_of(self, rows: Sequence[int]) -> list[_Place]:
        """Return where a few rows stand."""
        known, parts, bases = self._places, self.parts, self._bases
        if len(known) > _MOST_PLACES:
            known.clear()
        places: list[_Place] = []
        for row in rows:
            place = known.get(row)
            if place is None:
                part = parts[bisect_right(bases, row) - 1]
                slot = row - part.shift if part.slots is None else part.slot_of(row)
                place = known[row] = _place((part, self._block(part), slot))
            places.append(place)
        return places

    def _block(self, part: Part) -> Block:
        return self._cache.block(self._db, part.id)

    def rows_of(self, reach: Reach, numbers: Sequence[int]) -> dict[int, int]:
        """Return the visible rows of some records of a reach, by the records' numbers."""
        wanted = np.array(numbers, dtype=np.int64)
        row_of: dict[int, int] = {}
        for part in self.parts:
            if part.reach is reach and len(wanted):
                visible_numbers = part.take(self._block(part).numbers)
                for at in np.flatnonzero(np.isin(visible_numbers, wanted)).tolist():
                    row = part.base + at
                    if self._hidden is None or not self._hidden[row]:
                        row_of[int(visible_numbers[at])] = row
        return row_of

    def rows_between(self, part: Part, start: int, end: int) -> tuple[int, int]:
        """Return the rows of a part that lie between two times."""
        times = self.times_of(part)
        low, high = np.searchsorted(times, (start, end))
        return part.base + int(low), part.base + int(high)

    def last_time(self, part: Part) -> int:
        """Return the latest time of a part."""
        return int(self.times_of(part)[-1])

    def first_time(self, part: Part) -> int | None:
        """Return the earliest time of a part, None where no record of it has one."""
        times = self.times_of(part)
        at = int(np.searchsorted(times, blocks_first_time(None)))
        return int(times[at]) if at < len(times) else None

    def times_of(self, part: Part) -> Longs:
        """Return the times of the rows of a part, in order."""
        return part.take(self._block(part).times)

    # Postings

    def postings(self, groups: Sequence[TermGroup]) -> dict[TermGroup, Postings]:
        """Return where terms stand in visible fields of visible records, by group."""
        postings = self._reader.postings(groups, self._check)
        self._check()
        return postings

    def vocabulary(self) -> Iterator[TermLines]:
        """Yield the terms of visible fields, and none of records that a grant hides.

        Those that are not certain may be of records that are gone or not asked for.
        """
        self._check()
        if self._vocabulary is not None:
            yield from self._vocabulary
            return
        kept: list[TermLines] = []
        size = 0
        for some in self._term_lines():
            size += len(some.lines)
            if size <= _MOST_KEPT:
                kept.append(some)
            yield some
        if size <= _MOST_KEPT:
            self._vocabulary = kept

    def _term_lines(self) -> Iterator[TermLines]:
        for part in self.parts:
            self._check()
            if part.shown:
                certain = part.whole and not self._hides_any(part)
                yield from (TermLines(lines, certain) for lines in self._lines_of_block(part))
            else:
                words = self._cache.part_words
                yield from words.lines(
                    part, self._block(part), self._hidden, self._read, self._check
                )

    def _lines_of_block(self, part: Part) -> Iterator[bytes]:
        """Yield the terms of all records of a block in visible fields."""
        for place in text_places(part.reach):
            if part.spread:
                row: Any = next(
                    self._db.execute(
                        "SELECT terms FROM word_list WHERE block = ? AND place = ?",
                        (part.id, place),
                    ),
                    None,
                )
                if row is not None:
                    yield zlib.decompress(row[0])
            else:
                terms = self._cache.small(self._db, part.id).terms_of(place)
                if terms:
                    yield "\n".join(terms).encode()

    def called(self, term: str) -> list[tuple[int, int]]:
        """Return the rows, from and up to, of streams whose name holds a term."""
        parts = self.placement.parts_called(term)
        return [(part.base, part.end) for part in parts if self._shows_any(part)]

    def _hides_any(self, part: Part) -> bool:
        """Tell whether some row of a part must not be seen."""
        return self._hidden is not None and bool(self._hidden[part.base : part.end].any())

    def _shows_any(self, part: Part) -> bool:
        """Tell whether some row of a part may be seen: a stream without one is not named."""
        if self._hidden is None:
            return True
        return not bool(self._hidden[part.base : part.end].all())


def _numbers(_: Part, block: Block) -> Longs:
    return block.numbers


def _times(part: Part, block: Block) -> Longs | None:
    return block.times if part.timed else None
