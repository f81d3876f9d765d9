"""Full-text search inside a grant.

Candidates are the newest matching records of each reach, in equal shares of a bounded number.
A score comes from the candidate's own words alone: how often each phrase stands in the fields the
reach shows, and how long these fields are. No statistic of the corpus enters, so that nothing
outside the grant can move a hit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import Any

import apsw

from pdpp.evidence.analyse import Phrase, match_expression
from pdpp.store.port import Hit, HitPage, SearchPosition, SearchQuery
from pdpp.store.scope import Reach
from pdpp.store.sqlite.layout import (
    PLACE_BITS,
    PLACE_MASK,
    feed_of,
    index_row,
    index_span,
    turned,
)
from pdpp.store.sqlite.lens import COLUMNS, Lenses
from pdpp.store.sqlite.predicate import limits_where

CANDIDATES = 2_000
_PROBE = 1_000
_FAR = 256
_FEW_REACHES = 12
_FEW_EQUALS = 25
"""How many hits of equal score are read whole before it is known which of them are shown."""

_SATURATION = 1.2
_LENGTH_WEIGHT = 0.5
_USUAL_LENGTH = 100
_LENGTH_BITS = 40
_LENGTH_MASK = (1 << _LENGTH_BITS) - 1

_ROWS = "SELECT rowid, pdpp_tally(lex) FROM lex WHERE lex MATCH ? AND rowid BETWEEN ? AND ?"

_Scored = tuple[int, int, Reach]
_Posting = tuple[int, int]
"""A row of the index and what ``tally`` told of it."""


def tally(api: Any, *_: Any) -> int:
    """Return how often the query stands in a row of the index and how long it is; an FTS5 function.

    Both in one number, because a function of the engine returns one.
    """
    hits: int = api.inst_count
    length: int = api.column_size(0)
    return hits << _LENGTH_BITS | length


@lru_cache(maxsize=65_536)
def score(told: int) -> int:
    """Return how strongly a phrase marks a text, from what ``tally`` told.

    In millionths, because whole numbers add up to the same in any order.
    """
    hits, length = told >> _LENGTH_BITS, told & _LENGTH_MASK
    damping = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / _USUAL_LENGTH
    return round(1_000_000 * hits * (_SATURATION + 1) / (hits + _SATURATION * damping))


class Searcher:
    """Searches through one connection, under a snapshot its caller holds."""

    def __init__(self, db: apsw.Connection, lens: Lenses, check: Callable[[], None]) -> None:
        self._db = db
        self._lens = lens
        self._check = check

    def search(self, query: SearchQuery) -> HitPage:
        """Return one page of hits, best first."""
        scored, complete = self._candidates(searchable(query.reaches), query.phrases)
        scored.sort(key=lambda item: -item[0])
        hits: list[Hit] = []
        for hit in self._ordered(scored, query.after):
            if len(hits) == query.limit:
                return HitPage(tuple(hits), True, len(scored), complete)
            hits.append(hit)
        return HitPage(tuple(hits), False, len(scored), complete)

    def _candidates(
        self, reaches: tuple[Reach, ...], phrases: tuple[Phrase, ...]
    ) -> tuple[list[_Scored], bool]:
        """Return the scored candidates, and whether they are all that match.

        When a phrase is rare everywhere its rows are read at once; otherwise, and where there are
        few reaches anyway, each reach is walked.
        Both ways give the same whenever all matches fit, which a rare phrase's always do.
        """
        for index, phrase in enumerate(phrases if len(reaches) > _FEW_REACHES else ()):
            rows = self._probe(phrase)
            if rows is not None:
                return self._from_rare(reaches, phrases, index, rows), True
        return self._from_walks(reaches, phrases)

    def _probe(self, phrase: Phrase) -> list[_Posting] | None:
        """Return every row that holds a phrase, or None where there are many."""
        rows: list[Any] = self._db.execute(
            "SELECT rowid, pdpp_tally(lex) FROM lex WHERE lex MATCH ? LIMIT ?",
            (match_expression((phrase,)), _PROBE + 1),
        ).fetchall()
        return rows if len(rows) <= _PROBE else None

    def _from_rare(
        self,
        reaches: tuple[Reach, ...],
        phrases: tuple[Phrase, ...],
        rare: int,
        rows: list[_Posting],
    ) -> list[_Scored]:
        by_feed = _by_feed(reaches)
        others = [phrase for index, phrase in enumerate(phrases) if index != rare]
        totals: dict[int, int] = {}
        for row, told in rows:
            record = turned(row >> PLACE_BITS)
            found = by_feed.get(feed_of(record))
            if found is not None and row & PLACE_MASK in found[1]:
                totals[record] = totals.get(record, 0) + score(told)
        scored: list[_Scored] = []
        for record, total in totals.items():
            reach, places = by_feed[feed_of(record)]
            if not self._shown(reach, record):
                continue
            for phrase in others:
                more = self._score_in(phrase, record, places)
                if not more:
                    break
                total += more
            else:
                scored.append((total, record, reach))
        return scored

    def _score_in(self, phrase: Phrase, record: int, places: Mapping[int, str]) -> int:
        first = index_row(record, 0)
        rows = self._db.execute(_ROWS, (match_expression((phrase,)), first, first | PLACE_MASK))
        return sum(score(told) for row, told in rows if row & PLACE_MASK in places)

    def _from_walks(
        self, reaches: Sequence[Reach], phrases: tuple[Phrase, ...]
    ) -> tuple[list[_Scored], bool]:
        """Take turns among the reaches until the candidates are full or nothing is left."""
        scored: list[_Scored] = []
        walks = [(reach, self._walk(reach, phrases)) for reach in reaches]
        while walks and len(scored) < CANDIDATES:
            share = max(1, (CANDIDATES - len(scored)) // len(walks))
            going = []
            for reach, walk in walks:
                self._check()
                taken = list(islice(walk, min(share, CANDIDATES - len(scored))))
                scored += [(total, record, reach) for record, total in taken]
                if len(taken) == share or len(scored) == CANDIDATES:
                    going.append((reach, walk))
            walks = going
        return scored, all(next(walk, None) is None for _, walk in walks)

    def _walk(self, reach: Reach, phrases: tuple[Phrase, ...]) -> Iterator[tuple[int, int]]:
        """Yield the records of one reach that hold every phrase, newest first, scored."""
        if len(phrases) == 1:
            found = _Postings(self._db, reach, phrases[0]).all()
        else:
            found = self._join([_Postings(self._db, reach, phrase) for phrase in phrases])
        if not reach.restricted and not reach.conditions:
            return found
        return (item for item in found if self._shown(reach, item[0]))

    def _join(self, streams: "Sequence[_Postings]") -> Iterator[tuple[int, int]]:
        """Yield the records that every stream has, each skipping ahead to what the others hold."""
        bound: int | None = None
        while True:
            self._check()
            total = 0
            for stream in streams:
                found = stream.at_or_before(bound)
                if found is None:
                    return
                bound = found[0]
                total += found[1]
            if bound is not None and all(stream.at == bound for stream in streams):
                yield bound, total
                bound -= 1

    def _shown(self, reach: Reach, record: int) -> bool:
        """Tell whether a record is inside what limits the reach."""
        if not reach.restricted and not reach.conditions:
            return True
        where = limits_where(reach)
        sql = f"SELECT 1 FROM record r WHERE r.id = ? {where.text}"
        return next(self._db.execute(sql, (record, *where.values)), None) is not None

    def _ordered(self, scored: list[_Scored], after: SearchPosition | None) -> Iterator[Hit]:
        """Yield hits by score, then newest first, then by handle, from a position on."""
        for score, group in groupby(scored, key=lambda item: item[0]):
            if after is not None and score > after.score:
                continue
            found = list(group)
            if len(found) > _FEW_EQUALS:
                found.sort(key=lambda item: _order(self._position(*item)))
            hits: Iterable[Hit] = (self._hit(*item) for item in found)
            if 1 < len(found) <= _FEW_EQUALS:
                hits = sorted(hits, key=lambda hit: _order(hit.position))
            for hit in hits:
                if after is None or _order(hit.position) > _order(after):
                    yield hit

    def _position(self, score: int, record: int, reach: Reach) -> SearchPosition:
        time, key = next(self._db.execute("SELECT time, key FROM record WHERE id = ?", (record,)))
        return _place(score, time, key, reach)

    def _hit(self, score: int, record: int, reach: Reach) -> Hit:
        row = next(
            self._db.execute(f"SELECT r.time, {COLUMNS} FROM record r WHERE r.id = ?", (record,))
        )
        found = self._lens(reach, None).record(row)
        return Hit(found, _place(score, row[0], found.key, reach))


def _place(score: int, time: int | None, key: str, reach: Reach) -> SearchPosition:
    """Return where a record stands among hits; a time that is hidden counts for nothing."""
    shown = time if reach.shows_time and time is not None else 0
    return SearchPosition(score, shown, (reach.connection_id, reach.stream.name, key))


class _Postings:
    """The records of one reach that hold one phrase, newest first, with a way to skip ahead.

    It owns no method that yields: a generator that knew it would keep its cursor, and with it the
    snapshot, past the end of the search.
    """

    def __init__(self, db: apsw.Connection, reach: Reach, phrase: Phrase) -> None:
        self._db = db
        self._match = match_expression((phrase,))
        self._places = frozenset(reach.lexical_places())
        self._first, self._last = index_span(reach.feed.id)
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

    def all(self) -> Iterator[tuple[int, int]]:
        """Return every record, newest first."""
        return self.from_row(self._first)

    def from_row(self, first: int) -> Iterator[tuple[int, int]]:
        """Return the records from a row of the index on."""
        rows = self._db.execute(_ROWS, (self._match, first, self._last))
        return _by_record(rows, self._places)


def _by_record(
    rows: Iterable[tuple[int, int]], places: frozenset[int]
) -> Iterator[tuple[int, int]]:
    """Yield records, each with the scores of its visible fields added up."""
    current, total = -1, 0
    for row, told in rows:
        if row & PLACE_MASK not in places:
            continue
        if row >> PLACE_BITS == current:
            total += score(told)
            continue
        if current >= 0:
            yield turned(current), total
        current, total = row >> PLACE_BITS, score(told)
    if current >= 0:
        yield turned(current), total


@lru_cache(maxsize=256)
def searchable(reaches: tuple[Reach, ...]) -> tuple[Reach, ...]:
    """Return the reaches that show anything to search."""
    return tuple(reach for reach in reaches if reach.lexical_places())


@lru_cache(maxsize=256)
def _by_feed(reaches: tuple[Reach, ...]) -> Mapping[int, tuple[Reach, Mapping[int, str]]]:
    return {reach.feed.id: (reach, reach.lexical_places()) for reach in reaches}


def _order(position: SearchPosition) -> tuple[Any, ...]:
    return -position.score, -position.time, position.handle


def register(db: apsw.Connection) -> None:
    """Give a connection the scoring function."""
    db.register_fts5_function("pdpp_tally", tally)
