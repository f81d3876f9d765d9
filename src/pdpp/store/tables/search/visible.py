"""What a search sees: the blocks of its reaches, cut to what each reach shows.

Every visible record has one *row*, a number from 0 to ``size``; arrays of a search are indexed by
it. Records outside a reach's time or list are no rows at all; of blocks with records that are gone
the rows that must not be seen are ``hidden``.
"""

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import orjson

from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.stop_words import STOP_WORDS
from pdpp.evidence.language.terms import pieces
from pdpp.store.ranking.postings import Bools, Longs, Postings, TermGroup
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.search.block_cache import BlockCache
from pdpp.store.tables.search.blocks import Block
from pdpp.store.tables.search.entry import NO_TIME
from pdpp.store.tables.search.lists import text_places
from pdpp.store.tables.search.parts import Part, listed_slots
from pdpp.store.tables.search.posting_reader import PostingReader

_BLOCKS = """
    SELECT b.id, b.feed, b.spread, b.size, b.first_time, b.last_time, g.slots
    FROM carray(?) AS f CROSS JOIN word_block b ON b.owner = ? AND b.feed = f.value
    LEFT JOIN word_gone g ON g.block = b.id ORDER BY b.feed, b.id
"""

_ONE_BY_ONE = 256
"""Rows up to which each is looked up by itself: they mostly are of as many blocks."""


class Visible:
    """The rows of one search, and their postings."""

    def __init__(
        self,
        db: TableReader,
        cache: BlockCache,
        reaches: Sequence[Reach],
        check: Callable[[], None],
    ) -> None:
        self._db = db
        self._cache = cache
        self._check = check
        self.parts: list[Part] = []
        self._hidden: Bools | None = None
        self.size = 0
        torn = self._place_parts(reaches)
        self._bases = [part.base for part in self.parts]
        self._names: list[frozenset[str]] | None = None
        self._reader = PostingReader(db, cache, reaches, self.parts, torn, self._hidden, self.size)

    def _place_parts(self, reaches: Sequence[Reach]) -> frozenset[int]:
        """Find the visible rows; return the feeds of which some block has none."""
        by_feed = {reach.feed.id: reach for reach in reaches}
        if not by_feed:
            return frozenset()
        torn: set[int] = set()
        listed = {
            feed: self._listed(reach) for feed, reach in by_feed.items() if reach.keys is not None
        }
        feeds = self._db.array(np.array(sorted(by_feed), dtype=np.int64))
        gone: list[tuple[Part, bytes]] = []
        rows: list[Any] = self._db.execute(_BLOCKS, (feeds, OWNER)).fetchall()
        for id, feed, spread, size, first, last, slots in rows:
            reach = by_feed[feed]
            low, high = self._run(reach, id, size, first, last)
            chosen: Longs | None = None
            if low < high and feed in listed:
                chosen = self._among(listed[feed], id, first, last)
                chosen = chosen[(chosen >= low) & (chosen < high)]
            if low >= high or (chosen is not None and not len(chosen)):
                torn.add(feed)
                continue
            part = Part(id, reach, bool(spread), size, (low, high), self.size, chosen)
            self.parts.append(part)
            self.size += part.count
            if slots is not None:
                gone.append((part, slots))
        if gone:
            self._hidden = np.zeros(self.size, dtype=bool)
            for part, slots in gone:
                by_slot = np.zeros(part.size, dtype=bool)
                by_slot[np.frombuffer(slots, "<u4")] = True
                self._hidden[part.base : part.end] = part.take(by_slot)
        return frozenset(torn)

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
        rows: list[Any] = self._db.execute(
            "SELECT time, id FROM record WHERE owner = ? AND feed = ?"
            " AND key IN (SELECT value FROM json_each(?))",
            (OWNER, reach.feed.id, orjson.dumps(sorted(reach.keys or ())).decode()),
        ).fetchall()
        return sorted((NO_TIME if time is None else time, number) for time, number in rows)

    def _among(self, listed: Sequence[tuple[int, int]], id: int, first: int, last: int) -> Longs:
        """Return the slots of a block whose records are listed; one without any is not read."""
        start, end = bisect_left(listed, (first,)), bisect_left(listed, (last + 1,))
        if start == end:
            return np.zeros(0, dtype=np.int64)
        return listed_slots(self._cache.block(self._db, id), listed[start:end])

    @property
    def hidden(self) -> Bools | None:
        """Return which rows must not be seen, None where all may be."""
        return self._hidden

    # What records the rows are

    def part_of(self, row: int) -> Part:
        """Return the part a row is in."""
        return self.parts[bisect_right(self._bases, row) - 1]

    def parts_of(self, rows: Longs) -> list[Part]:
        """Return the parts that some rows, in order, are in."""
        edges = np.searchsorted(rows, np.array([*self._bases, self.size]))
        return [self.parts[at] for at in np.flatnonzero(np.diff(edges)).tolist()]

    def numbers(self, rows: Longs) -> Longs:
        """Return the numbers of the records of some rows."""
        return self._gather(rows, lambda part: self._block(part).numbers)

    def times(self, rows: Longs) -> Longs:
        """Return the event times of rows, 0 where a reach does not show them or there is none."""
        times = self._gather(
            rows, lambda part: self._block(part).times if part.reach.shows_time else None
        )
        times[times == NO_TIME] = 0
        return times

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

    def _gather(self, rows: Longs, of: Callable[[Part], Longs | None]) -> Longs:
        """Return what the arrays of blocks have for some rows, 0 where a part has no array."""
        values = np.zeros(len(rows), dtype=np.int64)
        if len(rows) <= _ONE_BY_ONE:
            for at, row in enumerate(rows.tolist()):
                part = self.part_of(row)
                by_slot = of(part)
                if by_slot is not None:
                    values[at] = by_slot[part.slot_of(row)]
            return values
        for part, chosen in self.by_part(rows):
            by_slot = of(part)
            if by_slot is not None:
                values[chosen] = by_slot[part.slots_of(rows[chosen])]
        return values

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

    def vocabulary(self) -> Iterator[bytes]:
        """Yield the terms of visible fields, sorted lines; some may be of records not visible."""
        for part in self.parts:
            self._check()
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
                    postings = self._block(part).places.get(place)
                    if postings is not None:
                        yield "\n".join(postings.terms).encode()

    def called(self, term: str) -> list[tuple[int, int]]:
        """Return the rows, from and up to, of streams whose name holds a term."""
        if self._names is None:
            self._names = [part.reach.once(_names_of) for part in self.parts]
        return [
            (part.base, part.end)
            for part, names in zip(self.parts, self._names, strict=True)
            if term in names and self._shows_any(part)
        ]

    def _shows_any(self, part: Part) -> bool:
        """Tell whether some row of a part may be seen: a stream without one is not named."""
        if self._hidden is None:
            return True
        return not bool(self._hidden[part.base : part.end].all())


def _names_of(reach: Reach) -> frozenset[str]:
    """Return the terms of what a stream and its account are called."""
    feed = reach.feed
    called = f"{feed.stream.name} {feed.stream.label} {feed.connection.display_name}"
    stems = stems_of("en")
    return frozenset(stems[word] for word in pieces(called) if word not in STOP_WORDS)


def blocks_first_time(since: int | None) -> int:
    """Return the first time that a limit lets through; a record without a time lies before it."""
    return -(1 << 63) + 1 if since is None else since
