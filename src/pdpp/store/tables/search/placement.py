"""Placement: where the visible records of some reaches stand among the rows of a search.

It follows from the reaches and from the list of their blocks alone. While that list is the same as
for the last search under the same reaches, their placement is too; the list is read again when
anything was written.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdpp.store.ranking.postings import Bools, Impacts, Longs
from pdpp.store.scope import Reach
from pdpp.store.stream_names import stream_names
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.predicate import OWNER, Sql, keyed_rows
from pdpp.store.tables.search.block_cache import BlockCache
from pdpp.store.tables.search.common_postings import CommonPostings
from pdpp.store.tables.search.entry import NO_TIME
from pdpp.store.tables.search.held_parts import HeldParts
from pdpp.store.tables.search.lists import Turn, place_at, runs_of
from pdpp.store.tables.search.parts import Part, listed_slots
from pdpp.store.tables.search.record_data import RecordsRead
from pdpp.store.tables.search.small_blocks import SmallBlock
from pdpp.store.tables.search.states import KnownStates

_BLOCKS = """
    SELECT b.id, b.feed, b.spread, b.size, b.first_time, b.last_time, g.slots
    FROM carray(?) AS f CROSS JOIN word_block b ON b.owner = ? AND b.feed = f.value
    LEFT JOIN word_gone g ON g.block = b.id ORDER BY b.feed, b.id
"""

BLOCK_BITS = 34
"""How many low bits of a pair are the id of a block; the upper ones are the list."""

_Blocks = list[tuple[Any, ...]]


class RowMonths(NamedTuple):
    """The month of every row of a placement, as a number from 1 among the names; 0 is none."""

    zone: tzinfo
    names: Sequence[str]
    numbers: NDArray[np.uint16]


class Placement:
    """The parts of a search in their order, and what is read of each; that never changes."""

    def __init__(self, parts: Sequence[Part], hidden: Bools | None, whole: Sequence[Reach]) -> None:
        self.parts = parts
        self.bases = [part.base for part in parts]
        self.size = parts[-1].end if parts else 0
        self.hidden = hidden
        self.spread = {part.id: part for part in parts if part.spread}
        self.small = [part for part in parts if not part.spread]
        self.spread_whole = all(part.whole for part in self.spread.values())
        # Some two thousand pieces are read for a question: what is the same for all of a field of
        # a block is looked up with one number, and its turn is one.
        self.turns = sorted({turn for part in self.spread.values() for turn in part.turns.values()})
        order = {turn: at for at, turn in enumerate(self.turns)}
        self.places = {
            number << BLOCK_BITS | part.id: (part, order[turn])
            for part in self.spread.values()
            for number, turn in part.turns.items()
        }
        self.runs = runs_of(whole)
        """The lists of feeds of which every block has visible rows."""
        feeds = {reach.feed.id for reach in whole}
        self.pairs = _pairs(
            [part for part in self.spread.values() if part.reach.feed.id not in feeds]
        )
        self.has_conditions = any(part.reach.conditions for part in parts)
        self.shows_threads = any(part.reach.shows_thread for part in parts)
        """Whether some record's place in a conversation may be seen."""
        self._bases: dict[Turn, tuple[Impacts, set[int]]] = {}
        self._called: dict[str, list[Part]] | None = None
        self.months_zone: tzinfo | None = None
        """The zone in which the months of hits were asked for last."""
        self.row_months: RowMonths | None = None
        """The months of all rows, once they are known."""
        self.common = CommonPostings()
        self.lasts = False
        """Whether the next search under the same reaches has it too."""

    def parts_called(self, term: str) -> Sequence[Part]:
        """Return the parts of streams whose name holds a term."""
        if self._called is None:
            called: dict[str, list[Part]] = {}
            for part in self.parts:
                for name in part.reach.once(stream_names):
                    called.setdefault(name, []).append(part)
            self._called = called
        return self._called.get(term, ())

    def small_parts(
        self, db: TableReader, cache: BlockCache, read: RecordsRead, check: Callable[[], None]
    ) -> HeldParts:
        """Return the small blocks with at least what is visible of them, side by side."""

        def block_of(part: Part) -> SmallBlock:
            return cache.small_part(db, part, read, check)

        if self.lasts:
            return cache.held_parts(self, self.small, block_of)
        return HeldParts(self.small, block_of)

    def base_impacts(
        self, db: TableReader, cache: BlockCache, parts: Sequence[Part], turn: Turn
    ) -> Impacts:
        """Return the base of each row in the fields of one turn, as far as some parts have rows.

        What was read is kept with the placement: the bases of a block never change.
        """
        known = self._bases.get(turn)
        if known is None:
            known = np.zeros(self.size, dtype=np.uint8), set()
            known = self._bases.setdefault(turn, known)
        bases, filled = known
        if len(filled) == len(self.spread):
            return bases
        if len(parts) * 2 > len(self.spread):
            # The next term is as common, and then nothing is left to be looked for.
            parts = list(self.spread.values())
        for part in parts:
            if part.id not in filled:
                place = place_at(part.reach, turn)
                block_bases = None if place is None else cache.bases(db, part.id, place)
                if block_bases is not None and len(block_bases):
                    bases[part.base : part.end] = part.take(block_bases)
                # Another thread may search by the same placement: a part is filled before it is
                # said to be.
                filled.add(part.id)
        return bases


class _KnownPlacement(NamedTuple):
    """A placement, what it followed from, and the states of the database in which that held."""

    cache: BlockCache
    reaches: tuple[Reach, ...]
    blocks: _Blocks
    placement: Placement
    states: KnownStates


class _LastPlacement:
    """The placement of the last search that began with a reach."""

    def __init__(self, _: Reach) -> None:
        self.known: _KnownPlacement | None = None


def placed(
    db: TableReader, cache: BlockCache, reaches: Sequence[Reach], state_of: Callable[[], object]
) -> Placement:
    """Return where the visible records of some reaches stand.

    ``state_of`` tells the state of the database, which differs after every write.
    """
    if not reaches:
        return Placement((), None, ())
    every = tuple(reaches)
    last = every[0].once(_LastPlacement)
    known = last.known
    # Reaches are compared by identity. The cache stands for the store, whose blocks never change,
    # and whose ids are never used again.
    if known is not None and known[:2] != (cache, every):
        known = None
    # Filtered reaches are made anew for each request, and a list of keys is read from the records:
    # what follows from them is not kept, so that it is never known.
    if known is None and any(reach.unfiltered or reach.keys is not None for reach in every):
        return _Placing(db, cache, every).placement(_blocks_of(db, every))
    state = state_of()
    if known is not None and state in known.states:
        return known.placement
    blocks = _blocks_of(db, every)
    if known is not None and known.blocks == blocks:
        known.states.add(state)
        return known.placement
    placement = _Placing(db, cache, every).placement(blocks)
    placement.lasts = True
    last.known = _KnownPlacement(cache, every, blocks, placement, KnownStates(state))
    return placement


def _blocks_of(db: TableReader, reaches: Sequence[Reach]) -> _Blocks:
    feeds = np.array(sorted({reach.feed.id for reach in reaches}), dtype=np.int64)
    return db.execute(_BLOCKS, (db.array(feeds), OWNER)).fetchall()


class _Placing:
    """Cuts blocks to what each reach shows."""

    def __init__(self, db: TableReader, cache: BlockCache, reaches: Sequence[Reach]) -> None:
        self._db = db
        self._cache = cache
        self._reaches = reaches
        self._by_feed = {reach.feed.id: reach for reach in reaches}

    def placement(self, blocks: _Blocks) -> Placement:
        """Return where the visible rows of blocks stand."""
        torn: set[int] = set()
        """The feeds of which some block has no visible row."""
        named = [reach for reach in self._reaches if reach.keys is not None]
        listed = {reach.feed.id: self._listed(reach) for reach in named}
        gone: list[tuple[Part, bytes]] = []
        parts: list[Part] = []
        for id, feed, spread, size, first, last, slots in blocks:
            reach = self._by_feed[feed]
            low, high = self._run(reach, id, size, first, last)
            chosen: Longs | None = None
            if low < high and feed in listed:
                chosen = self._among(listed[feed], id, first, last)
                chosen = chosen[(chosen >= low) & (chosen < high)]
            if low >= high or (chosen is not None and not len(chosen)):
                torn.add(feed)
                continue
            base = parts[-1].end if parts else 0
            shown = self._shows_all(reach, id, size, first, last)
            parts.append(
                Part(id, reach, bool(spread), size, (low, high), base, chosen, shown=shown)
            )
            if slots is not None:
                gone.append((parts[-1], slots))
        whole = [reach for reach in self._reaches if reach.feed.id not in torn]
        return Placement(parts, _hidden(parts, gone), whole)

    def _shows_all(self, reach: Reach, id: int, size: int, first: int, last: int) -> bool:
        """Tell whether a reach shows every record of a block, whatever a request narrows it to."""
        granted = reach.unfiltered or reach
        return granted.keys is None and self._run(granted, id, size, first, last) == (0, size)

    def _run(self, reach: Reach, id: int, size: int, first: int, last: int) -> tuple[int, int]:
        """Return the slots of a block that lie in the time of a reach."""
        if reach.time is None:
            return 0, size
        since = blocks_first_time(reach.time.since)
        until = reach.time.until
        if last < since or (until is not None and first >= until):
            return 0, 0
        if first >= since and (until is None or last < until):
            return 0, size
        times = self._cache.block(self._db, id).times
        high = size if until is None else int(np.searchsorted(times, until))
        return int(np.searchsorted(times, since)), high

    def _listed(self, reach: Reach) -> list[tuple[int, int]]:
        """Return the times and numbers of the records that a reach names, in order."""
        sql = Sql("SELECT r.time, r.id FROM")
        sql += keyed_rows("record", "r", reach.feed.id, reach.keys or ())
        rows: list[Any] = self._db.execute(sql.text, sql.values).fetchall()
        return sorted((NO_TIME if time is None else time, number) for time, number in rows)

    def _among(self, listed: Sequence[tuple[int, int]], id: int, first: int, last: int) -> Longs:
        """Return the slots of a block whose records are listed; one without any is not read."""
        start, end = bisect_left(listed, (first,)), bisect_left(listed, (last + 1,))
        if start == end:
            return np.zeros(0, dtype=np.int64)
        return listed_slots(self._cache.block(self._db, id), listed[start:end])


def _hidden(parts: Sequence[Part], gone: Sequence[tuple[Part, bytes]]) -> Bools | None:
    """Return which rows are of records that are gone, None where none are."""
    if not gone:
        return None
    hidden = np.zeros(parts[-1].end, dtype=bool)
    for part, slots in gone:
        by_slot = np.zeros(part.size, dtype=bool)
        by_slot[np.frombuffer(slots, "<u4")] = True
        hidden[part.base : part.end] = part.take(by_slot)
    hidden.flags.writeable = False
    return hidden


def _pairs(parts: Sequence[Part]) -> Longs:
    """Return the visible lists of some blocks, each with its block."""
    packed = [number << BLOCK_BITS | part.id for part in parts for number in part.turns]
    return np.array(sorted(packed), dtype=np.int64)


def blocks_first_time(since: int | None) -> int:
    """Return the first time that a limit lets through; a record without a time lies before it."""
    return -(1 << 63) + 1 if since is None else since
