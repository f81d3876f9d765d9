"""What a search sees: the blocks of its reaches, cut to what each reach shows.

Every visible record has one *row*, a number from 0 to ``size``; arrays of a search are indexed by
it. Records outside a reach's time are no rows at all; of a reach with a list of keys, and of blocks
with records that are gone, the rows that must not be seen are ``hidden``.
"""

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import apsw
import numpy as np
import orjson

from pdpp.store.ranking.postings import Bools, Impacts, Longs, Postings
from pdpp.store.scope import Reach
from pdpp.store.sqlite.numbering import PLACE_BITS
from pdpp.store.sqlite.records.predicate import OWNER
from pdpp.store.sqlite.search import blocks, packing
from pdpp.store.sqlite.search.block_cache import BlockCache
from pdpp.store.sqlite.search.blocks import Block, Words
from pdpp.store.sqlite.search.lists import RUN_BITS, runs_of, visible_lists

_BLOCKS = """
    SELECT b.id, b.feed, b.spread, b.size, b.first_time, b.last_time, g.slots
    FROM carray(?) AS f CROSS JOIN word_block b ON b.owner = ? AND b.feed = f.value
    LEFT JOIN word_gone g ON g.block = b.id ORDER BY b.feed, b.id
"""
_POSTINGS = f"""
    SELECT t.rowid, p.list, p.block, p.data
    FROM carray(?) AS t CROSS JOIN carray(?) AS l CROSS JOIN posting p
      ON p.term = t.value AND p.list BETWEEN l.value >> {RUN_BITS}
        AND (l.value >> {RUN_BITS}) + (l.value & {(1 << RUN_BITS) - 1})
"""


@dataclass(slots=True)
class Part:
    """The visible records of one block: the slots from ``low`` up to ``high``."""

    id: int
    reach: Reach
    spread: bool
    low: int
    high: int
    base: int
    whole: bool

    @property
    def shift(self) -> int:
        """Return what is added to a slot to make it a row."""
        return self.base - self.low


@dataclass(slots=True)
class _Pieces:
    """The postings of one term in fields of one turn, by where they are kept."""

    spread: list[tuple[Part, bytes]] = field(default_factory=list)
    small: list[tuple[Part, Words]] = field(default_factory=list)


_Held = dict[tuple[str, bool, int], _Pieces]
"""Postings by their term, whether they name an actor, and the turn in which they are added up."""


class Visible:
    """The rows of one search, and their postings."""

    def __init__(
        self,
        db: apsw.Connection,
        cache: BlockCache,
        reaches: Sequence[Reach],
        check: Callable[[], None],
    ) -> None:
        self._db = db
        self._cache = cache
        self._check = check
        self._lists = visible_lists(reaches)
        self.parts: list[Part] = []
        self._hidden: Bools | None = None
        self.size = 0
        self._place_parts(reaches)
        self._by_id = {part.id: part for part in self.parts}
        self._bases = np.array([part.base for part in self.parts], dtype=np.int64)
        self._called: dict[str, list[tuple[int, int]]] | None = None
        self._impacts_of: dict[tuple[bool, int], Impacts] = {}
        self._ranges = apsw.carray(runs_of(reaches)) if self._lists else None

    def _place_parts(self, reaches: Sequence[Reach]) -> None:
        by_feed = {reach.feed.id: reach for reach in reaches}
        if not by_feed:
            return
        feeds = apsw.carray(np.array(sorted(by_feed), dtype=np.int64))
        gone: list[tuple[Part, bytes]] = []
        rows: list[Any] = self._db.execute(_BLOCKS, (feeds, OWNER)).fetchall()
        for id, feed, spread, size, first, last, slots in rows:
            reach = by_feed[feed]
            low, high = self._slots(reach, id, size, first, last)
            if low < high:
                whole = low == 0 and high == size
                part = Part(id, reach, bool(spread), low, high, self.size, whole)
                self.parts.append(part)
                self.size += high - low
                if slots is not None:
                    gone.append((part, slots))
        keyed = [part for part in self.parts if part.reach.keys is not None]
        if gone or keyed:
            self._hidden = np.zeros(self.size, dtype=bool)
            for part, slots in gone:
                held = np.frombuffer(slots, "<u4").astype(np.int64)
                held = held[(held >= part.low) & (held < part.high)]
                self._hidden[held + part.shift] = True
            self._hide_unlisted(keyed)

    def _slots(self, reach: Reach, id: int, size: int, first: int, last: int) -> tuple[int, int]:
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

    def _hide_unlisted(self, parts: Sequence[Part]) -> None:
        listed: dict[int, Longs] = {}
        for part in parts:
            reach = part.reach
            if reach.feed.id not in listed:
                rows: list[Any] = self._db.execute(
                    "SELECT id FROM record WHERE owner = ? AND feed = ?"
                    " AND key IN (SELECT value FROM json_each(?))",
                    (OWNER, reach.feed.id, orjson.dumps(sorted(reach.keys or ())).decode()),
                ).fetchall()
                listed[reach.feed.id] = np.array([row[0] for row in rows], dtype=np.int64)
            numbers = self._cache.block(self._db, part.id).numbers[part.low : part.high]
            unlisted = ~np.isin(numbers, listed[reach.feed.id])
            hidden = self._hidden
            if hidden is not None:
                hidden[part.base : part.base + part.high - part.low] |= unlisted

    @property
    def hidden(self) -> Bools | None:
        """Return which rows must not be seen, None where all may be."""
        return self._hidden

    # What records the rows are

    def part_of(self, row: int) -> Part:
        """Return the part a row is in."""
        return self.parts[int(np.searchsorted(self._bases, row, side="right")) - 1]

    def numbers(self, rows: Longs) -> Longs:
        """Return the numbers of the records of some rows."""
        return self._gather(rows, lambda block: block.numbers)

    def times(self, rows: Longs) -> Longs:
        """Return the event times of rows, 0 where a reach does not show them or there is none."""
        found = self._gather(rows, lambda block: block.times)
        found[found == blocks_first_time(None) - 1] = 0
        for part, chosen in self.by_part(rows):
            if not part.reach.shows_time:
                found[chosen] = 0
        return found

    def by_part(self, rows: Longs) -> Iterator[tuple[Part, Longs]]:
        """Yield the parts that some rows are in, each with the places of its rows among them."""
        if not len(rows):
            return
        owners = np.searchsorted(self._bases, rows, side="right") - 1
        order = np.argsort(owners, kind="stable")
        sorted_owners = owners[order]
        edges = np.flatnonzero(np.diff(sorted_owners)) + 1
        firsts = [0, *edges.tolist(), len(rows)]
        for first, last in pairwise(firsts):
            yield self.parts[int(sorted_owners[first])], order[first:last]

    def _gather(self, rows: Longs, of: Callable[[Block], Longs]) -> Longs:
        found = np.empty(len(rows), dtype=np.int64)
        for part, chosen in self.by_part(rows):
            found[chosen] = of(self._cache.block(self._db, part.id))[rows[chosen] - part.shift]
        return found

    def rows_of(self, reach: Reach, numbers: Sequence[int]) -> dict[int, int]:
        """Return the visible rows of some records of a reach, by the records' numbers."""
        wanted = np.array(numbers, dtype=np.int64)
        found: dict[int, int] = {}
        for part in self.parts:
            if part.reach is reach and len(wanted):
                held = self._cache.block(self._db, part.id).numbers[part.low : part.high]
                for at in np.flatnonzero(np.isin(held, wanted)).tolist():
                    row = part.base + at
                    if self._hidden is None or not self._hidden[row]:
                        found[int(held[at])] = row
        return found

    def rows_between(self, part: Part, start: int, end: int) -> tuple[int, int]:
        """Return the rows of a part that lie between two times."""
        times = self._cache.block(self._db, part.id).times[part.low : part.high]
        low, high = np.searchsorted(times, (start, end))
        return part.base + int(low), part.base + int(high)

    def last_time(self, part: Part) -> int:
        """Return the latest time of a part."""
        return int(self._cache.block(self._db, part.id).times[part.high - 1])

    def first_time(self, part: Part) -> int | None:
        """Return the earliest time of a part, None where no record of it has one."""
        times = self._cache.block(self._db, part.id).times[part.low : part.high]
        at = int(np.searchsorted(times, blocks_first_time(None)))
        return int(times[at]) if at < len(times) else None

    # Postings

    def postings(self, terms: Sequence[str]) -> dict[str, Postings]:
        """Return where some terms stand in visible fields of visible records."""
        held: _Held = defaultdict(_Pieces)
        if self._ranges is not None and terms:
            names = apsw.carray(tuple(terms))
            lists, parts = self._lists, self._by_id
            rows = self._db.execute(_POSTINGS, (names, self._ranges))
            for at, list_, block, data in rows:
                known = lists.get(list_)
                part = parts.get(block)
                if known is not None and part is not None:
                    held[terms[at - 1], known.actor, known.order].spread.append((part, data))
        self._check()
        self._add_small(terms, held)
        found: dict[str, Postings] = {}
        for (term, actor, order), some in sorted(held.items(), key=lambda item: item[0]):
            rows_, impacts = self._joined(some, actor, order)
            if len(rows_):
                postings = found.setdefault(term, Postings([], []))
                (postings.actors if actor else postings.texts).append((rows_, impacts))
        return found

    def _add_small(self, terms: Sequence[str], held: "_Held") -> None:
        wanted = frozenset(terms)
        for part in self.parts:
            if part.spread:
                continue
            first = part.reach.feed.id << PLACE_BITS
            for place, index, postings in self._cache.small(self._db, part.id):
                known = self._lists.get(first | place)
                if known is None:
                    continue
                for term in index.keys() & wanted:
                    at = index[term]
                    data = postings.data[postings.starts[at] : postings.starts[at + 1]]
                    held[term, known.actor, known.order].small.append((part, data))

    def _joined(self, held: "_Pieces", actor: bool, order: int) -> tuple[Longs, Impacts]:
        """Return the visible rows of some postings, in order, and the impact in each."""
        rows, impacts = self._from_spread(held.spread, actor, order)
        if held.small:
            more, strengths = self._from_small(held.small)
            rows, impacts = np.concatenate([rows, more]), np.concatenate([impacts, strengths])
        if self._hidden is not None:
            kept = ~self._hidden[rows]
            rows, impacts = rows[kept], impacts[kept]
        if np.any(rows[1:] < rows[:-1]):
            sequence = np.argsort(rows)
            rows, impacts = rows[sequence], impacts[sequence]
        return rows, impacts

    def _from_small(self, small: Sequence[tuple[Part, Words]]) -> tuple[Longs, Impacts]:
        counts = [len(data) for _, data in small]
        data = np.concatenate([data for _, data in small])
        slots = (data >> blocks.SLOT_SHIFT).astype(np.int64)
        parts = [part for part, _ in small]
        kept = _within(parts, slots, counts)
        rows = slots + np.repeat([part.shift for part in parts], counts)
        impacts = data.astype(np.uint8)
        return (rows, impacts) if kept is None else (rows[kept], impacts[kept])

    def _from_spread(
        self, spread: Sequence[tuple[Part, bytes]], actor: bool, order: int
    ) -> tuple[Longs, Impacts]:
        slots, counts, changed, values = packing.joined_pieces([data for _, data in spread])
        parts = [part for part, _ in spread]
        kept = _within(parts, slots, counts)
        rows = slots + np.repeat(np.array([part.shift for part in parts], dtype=np.int64), counts)
        bases = self._base_impacts(actor, order)
        if kept is None:
            impacts = bases[rows]
            impacts[changed] = values
            return rows, impacts
        impacts = bases[np.where(kept, rows, 0)]
        impacts[changed] = values
        return rows[kept], impacts[kept]

    def _base_impacts(self, actor: bool, order: int) -> Impacts:
        """Return the base of each row in the fields that are added up at one turn."""
        known = self._impacts_of.get((actor, order))
        if known is None:
            known = self._impacts_of[actor, order] = np.zeros(self.size, dtype=np.uint8)
            place_of = {
                list_ >> PLACE_BITS: list_ & (1 << PLACE_BITS) - 1
                for list_, (own, kind) in self._lists.items()
                if own == order and kind == actor
            }
            for part in self.parts:
                place = place_of.get(part.reach.feed.id)
                if part.spread and place is not None:
                    held = self._cache.bases(self._db, part.id, place)[part.low : part.high]
                    known[part.base : part.base + len(held)] = held
        return known

    def vocabulary(self) -> Iterator[bytes]:
        """Yield the terms of visible fields, sorted lines; some may be of records not visible."""
        for part in self.parts:
            self._check()
            for place in self.text_places(part.reach.feed.id):
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
                    held = self._cache.block(self._db, part.id).places.get(place)
                    if held is not None:
                        yield "\n".join(held.terms).encode()

    def called(self, term: str) -> list[tuple[int, int]]:
        """Return the rows, from and up to, of streams whose name holds a term."""
        if self._called is None:
            self._called = defaultdict(list)
            for part in self.parts:
                if self._shows_any(part):
                    for name in self._cache.names(part.reach.feed):
                        self._called[name].append((part.base, part.base + part.high - part.low))
        return self._called.get(term, [])

    def _shows_any(self, part: Part) -> bool:
        """Tell whether some row of a part may be seen: a stream without one is not named."""
        if self._hidden is None:
            return True
        return not bool(self._hidden[part.base : part.base + part.high - part.low].all())

    def text_places(self, feed: int) -> list[int]:
        """Return the places of a feed's visible texts."""
        first = feed << PLACE_BITS
        return [
            place
            for place in range(1 << PLACE_BITS)
            if (known := self._lists.get(first | place)) is not None and not known.actor
        ]


def _within(parts: Sequence[Part], slots: Longs, counts: Sequence[int]) -> Bools | None:
    """Return which slots a search sees, None where it sees all of each part."""
    if all(part.whole for part in parts):
        return None
    lows = np.repeat([part.low for part in parts], counts)
    highs = np.repeat([part.high for part in parts], counts)
    return (slots >= lows) & (slots < highs)


def blocks_first_time(since: int | None) -> int:
    """Return the first time that a limit lets through; a record without a time lies before it."""
    return -(1 << 63) + 1 if since is None else since
