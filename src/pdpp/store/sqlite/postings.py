"""Postings: the records of one reach that hold one phrase, newest first, each with its score."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import apsw

from pdpp.evidence.analyse import Phrase, match_expression
from pdpp.store.scope import Reach
from pdpp.store.sqlite.layout import (
    MOST_PLACES,
    PLACE_BITS,
    PLACE_MASK,
    index_row,
    index_span,
    turned,
)

ROWS = "SELECT rowid, pdpp_mark(lex) FROM lex WHERE lex MATCH ? AND rowid BETWEEN ? AND ?"
_SOME = f"{ROWS} LIMIT ?"
Scored = tuple[int, int, Reach]
"""How well a record matches, its number, and the reach it was found through."""

_FAR = 256
_CHUNK = 64
_SPARE = 2
"""How many rows more are read than were asked for: the next turn often asks for just one record,
and looking for the place again costs as much as several rows."""

_SATURATION = 1.2
_LENGTH_WEIGHT = 0.5
_USUAL_LENGTH = 100


def mark(api: Any, *_: Any) -> int:
    """Return how strongly the query marks a row of the index; an FTS5 function."""
    return score(api.inst_count, api.column_size(0))


@lru_cache(maxsize=65_536)
def score(hits: int, length: int) -> int:
    """Return how strongly a phrase marks a text, by how often it stands there and how long it is.

    In millionths, because whole numbers add up to the same in any order.
    """
    damping = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / _USUAL_LENGTH
    return round(1_000_000 * hits * (_SATURATION + 1) / (hits + _SATURATION * damping))


class Walk:
    """Takes records a few at a time, each as its score, its number and the reach it is of.

    No statement stays open in between: all walks of a search share one, where each would need its
    own made ready.
    """

    def __init__(self, db: apsw.Connection, reach: Reach, phrase: Phrase) -> None:
        self._db = db
        self._reach = reach
        self._match = match_expression((phrase,))
        self._places, self._first, self._last = _bounds(reach)
        self._held: list[Scored] = []
        self._ended = False

    def take(self, count: int) -> list[Scored]:
        """Return the next records, as many as there are up to a number."""
        held = self._held
        while len(held) < count and not self._ended:
            held += self._added(self._read(count - len(held) + _SPARE))
        self._held = held[count:]
        return held[:count]

    def each(self) -> Iterator[Scored]:
        """Yield the records one by one."""
        while taken := self.take(_CHUNK):
            yield from taken

    def _added(self, rows: Sequence[tuple[int, int]]) -> list[Scored]:
        """Return the records of some rows, the scores of their visible fields added up."""
        places, reach = self._places, self._reach
        totals = {row >> PLACE_BITS: points for row, points in rows if row & PLACE_MASK in places}
        if len(totals) < len(rows):  # a record with several rows, or a row that is not shown
            totals.clear()
            for row, points in rows:
                if row & PLACE_MASK in places:
                    record = row >> PLACE_BITS
                    totals[record] = totals.get(record, 0) + points
        return [(total, turned(record), reach) for record, total in totals.items()]

    def _read(self, count: int) -> list[tuple[int, int]]:
        """Return the next rows; those of a record come together, or not yet."""
        asked = (self._match, self._first, self._last, count + 1)
        rows: list[Any] = self._db.execute(_SOME, asked).fetchall()
        if len(rows) <= count:
            self._ended = True
            return rows
        broken = rows[-1][0] >> PLACE_BITS
        while rows and rows[-1][0] >> PLACE_BITS == broken:
            rows.pop()
        if not rows:
            return self._read(count + MOST_PLACES)
        self._first = broken << PLACE_BITS
        return rows


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
        self._records: Iterator[tuple[int, int]] | None = None
        self._head: tuple[int, int] | None = None

    @property
    def at(self) -> int | None:
        """Return the record reached so far."""
        return None if self._head is None else self._head[0]

    def at_or_before(self, record: int | None) -> tuple[int, int] | None:
        """Return the newest record not newer than the given one, with its score."""
        if self._records is None or (record is not None and self._is_far(record)):
            self._records = self.from_row(self._first if record is None else index_row(record, 0))
            self._head = next(self._records, None)
        while record is not None and self._head is not None and self._head[0] > record:
            self._head = next(self._records, None)
        return self._head

    def _is_far(self, record: int) -> bool:
        return self._head is not None and self._head[0] - record > _FAR

    def from_row(self, first: int) -> Iterator[tuple[int, int]]:
        """Return the records from a row of the index on."""
        rows = self._db.execute(ROWS, (self._match, first, self._last))
        return _by_record(rows, self._places)


def _by_record(
    rows: Iterable[tuple[int, int]], places: frozenset[int]
) -> Iterator[tuple[int, int]]:
    """Yield records, each with the scores of its visible fields added up."""
    current, total = -1, 0
    for row, points in rows:
        if row & PLACE_MASK not in places:
            continue
        if row >> PLACE_BITS == current:
            total += points
            continue
        if current >= 0:
            yield turned(current), total
        current, total = row >> PLACE_BITS, points
    if current >= 0:
        yield turned(current), total


def register(db: apsw.Connection) -> None:
    """Give a connection the scoring function."""
    db.register_fts5_function("pdpp_mark", mark)
