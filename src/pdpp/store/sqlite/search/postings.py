"""Postings: the records of one reach that hold one phrase, newest first.

Each comes as a row of the index and how often the phrase stands there. Where a record has several
such rows the further ones are put aside, by record, until it is known which records are scored.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import Any

import apsw

from pdpp.evidence.analyse import Phrase, match_expression
from pdpp.store.scope import Reach
from pdpp.store.sqlite.numbering import (
    MOST_PLACES,
    PLACE_BITS,
    PLACE_MASK,
    index_row,
    index_span,
    turned,
)

Row = tuple[int, int]
"""A row of the index and how often a phrase stands in its text."""

Further = dict[int, list[Row]]
"""The rows of a record beyond the first, by the record's number as the index has it."""

ROWS = "SELECT rowid, pdpp_hits(lex) FROM lex WHERE lex MATCH ? AND rowid BETWEEN ? AND ?"
_SOME = f"{ROWS} LIMIT ?"

count_hits: Any = attrgetter("inst_count")
"""An FTS5 function; one written in Python would take longer than what it asks for."""

_FAR = 256
_CHUNK = 64
_SPARE = 2
"""How many rows more are read than were asked for: the next turn often asks for just one record,
and looking for the place again costs as much as several rows."""
_PIECE = 16
"""How many rows of a reach are read before the next one is looked for, which costs as much."""


class Walk:
    """Takes records of one reach a few at a time.

    No statement stays open in between: all walks of a search share one, where each would need its
    own made ready.
    """

    def __init__(self, db: apsw.Connection, reach: Reach, match: str, further: Further) -> None:
        self._db = db
        self._match = match
        self._places, self.first, self.last = _bounds(reach)
        self._further = further
        self._held: list[Row] = []
        self._ended = False

    def take(self, count: int) -> list[Row]:
        """Return the next records, as many as there are up to a number."""
        while len(self._held) < count and not self._ended:
            self._read(count - len(self._held) + _SPARE)
        taken = self._held[:count]
        del self._held[:count]
        return taken

    def each(self) -> Iterator[Row]:
        """Yield the records one by one."""
        while taken := self.take(_CHUNK):
            yield from taken

    def _read(self, count: int) -> None:
        asked = (self._match, self.first, self.last, count + 1)
        rows: list[Any] = self._db.execute(_SOME, asked).fetchall()
        if len(rows) <= count:
            self.hold_all(rows)
        elif not self.hold(rows):
            self._read(count + MOST_PLACES)

    def hold_all(self, rows: list[Row]) -> list[Row]:
        """Take all rows that are left of this reach; return those that lie behind it."""
        stop = bisect_left(rows, (self.last + 1, 0))
        self._hold(rows[:stop])
        self._ended = True
        return rows[stop:]

    def hold(self, rows: list[Row]) -> bool:
        """Take the next rows, but for the last record's, of which there may be more."""
        broken = rows[-1][0] >> PLACE_BITS
        self.first = broken << PLACE_BITS
        cut = bisect_left(rows, (self.first, 0))
        self._hold(rows[:cut])
        return cut > 0

    def _hold(self, rows: Sequence[Row]) -> None:
        places = self._places
        firsts = {
            number >> PLACE_BITS: row for row in rows if (number := row[0]) & PLACE_MASK in places
        }
        if len(firsts) < len(rows):  # a record with several rows, or a row that is not shown
            firsts.clear()
            for row in rows:
                record = row[0] >> PLACE_BITS
                if row[0] & PLACE_MASK in places and firsts.setdefault(record, row) is not row:
                    self._further.setdefault(record, []).append(row)
        self._held += firsts.values()


def read_ahead(
    db: apsw.Connection, match: str, walks: Iterable[Walk], count: int, check: Callable[[], None]
) -> None:
    """Let walks have so many records each; those of neighbours in the index are read in one go."""
    size = max(count + _SPARE, _PIECE)
    cursor = db.cursor()
    try:
        for run in _runs(walks):
            at = 0
            while at < len(run):
                check()
                rows: Any = cursor.execute(ROWS, (match, run[at].first, run[-1].last))
                at = _deal(rows, run, at, size)
    finally:
        cursor.close()


def _runs(walks: Iterable[Walk]) -> Iterator[list[Walk]]:
    """Yield walks together whose rows follow each other in the index."""
    run: list[Walk] = []
    for walk in sorted(walks, key=attrgetter("first")):
        if run and run[-1].last + 1 != walk.first:
            yield run
            run = []
        run.append(walk)
    if run:
        yield run


def _deal(rows: Iterator[Row], run: Sequence[Walk], at: int, size: int) -> int:
    """Give rows to the walks they belong to; return which walk is to be read from its start.

    A walk that has a whole piece is left: the rest of it may be long.
    """
    held: list[Row] = []
    while len(piece := list(islice(rows, size))) == size:
        held += piece
        while run[at].last < piece[-1][0]:
            held = run[at].hold_all(held)
            at += 1
        if len(held) >= size:
            run[at].hold(held)
            return at + 1
    held += piece
    for walk in run[at:]:
        held = walk.hold_all(held)
    return len(run)


@lru_cache(maxsize=8_192)
def _bounds(reach: Reach) -> tuple[frozenset[int], int, int]:
    """Return the places in the index that a reach shows, and the rows between which it lies."""
    return (frozenset(reach.lexical_places()), *index_span(reach.feed.id))


class Postings:
    """The records of one reach that hold one phrase, newest first, with a way to skip ahead.

    It owns no method that yields: a generator that knew it would keep its cursor, and with it the
    snapshot, past the end of the search.
    """

    def __init__(self, db: apsw.Connection, reach: Reach, phrase: Phrase) -> None:
        self._db = db
        self._match = match_expression((phrase,))
        self._places, self._first, self._last = _bounds(reach)
        self._records: Iterator[tuple[int, list[Row]]] | None = None
        self._head: tuple[int, list[Row]] | None = None

    @property
    def at(self) -> int | None:
        """Return the record reached so far."""
        return None if self._head is None else self._head[0]

    def at_or_before(self, record: int | None) -> tuple[int, list[Row]] | None:
        """Return the newest record not newer than the given one, with its rows."""
        if self._records is None or (record is not None and self._is_far(record)):
            self._records = self.from_row(self._first if record is None else index_row(record, 0))
            self._head = next(self._records, None)
        while record is not None and self._head is not None and self._head[0] > record:
            self._head = next(self._records, None)
        return self._head

    def _is_far(self, record: int) -> bool:
        return self._head is not None and self._head[0] - record > _FAR

    def from_row(self, first: int) -> Iterator[tuple[int, list[Row]]]:
        """Return the records from a row of the index on."""
        rows = self._db.execute(ROWS, (self._match, first, self._last))
        return _by_record(rows, self._places)


def _by_record(rows: Iterable[Row], places: frozenset[int]) -> Iterator[tuple[int, list[Row]]]:
    """Yield records, each with the rows of its visible fields."""
    current, found = -1, []
    for row in rows:
        if row[0] & PLACE_MASK not in places:
            continue
        if row[0] >> PLACE_BITS == current:
            found.append(row)
            continue
        if found:
            yield turned(current), found
        current, found = row[0] >> PLACE_BITS, [row]
    if found:
        yield turned(current), found


def register(db: apsw.Connection) -> None:
    """Give a connection the function that counts how often a phrase stands in a row."""
    db.register_fts5_function("pdpp_hits", count_hits)
