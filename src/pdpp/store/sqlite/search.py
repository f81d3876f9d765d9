"""Full-text search inside a grant.

Candidates are the newest matching records of each reach, in equal shares of a bounded number.
A score comes from the candidate's own words alone: how often each phrase stands in the fields the
reach shows, and how long these fields are. No statistic of the corpus enters, so that nothing
outside the grant can move a hit.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

import apsw

from pdpp.evidence.analyse import Phrase, match_expression
from pdpp.store.port import Hit, HitPage, Record, SearchPosition, SearchQuery
from pdpp.store.scope import Reach
from pdpp.store.sqlite.layout import FEED_SHIFT, PLACE_BITS, PLACE_MASK, feed_of
from pdpp.store.sqlite.predicate import limits_where
from pdpp.store.sqlite.records import COLUMNS, Shapes, make_record

CANDIDATES = 2_000
_PROBE = 1_000
_FAR = 256

_SATURATION = 1.2
_LENGTH_WEIGHT = 0.5
_USUAL_LENGTH = 100

_Scored = tuple[int, int, Reach]
_Posting = tuple[int, int, int]


def tally(api: Any, *_: Any) -> int:
    """Score one row of the index from its own words; an FTS5 function."""
    hits = sum(len(column) for column in api.phrase_locations(0))
    return term_score(hits, api.column_size(0))


def term_score(hits: int, length: int) -> int:
    """Return how strongly a phrase that stands ``hits`` times marks a text of ``length`` words.

    In millionths, because whole numbers add up to the same in any order.
    """
    damping = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / _USUAL_LENGTH
    return round(1_000_000 * hits * (_SATURATION + 1) / (hits + _SATURATION * damping))


class Searcher:
    """Searches through one connection, under a snapshot its caller holds."""

    def __init__(self, db: apsw.Connection, shapes: Shapes, check: Callable[[], None]) -> None:
        self._db = db
        self._shapes = shapes
        self._check = check

    def search(self, query: SearchQuery) -> HitPage:
        """Return one page of hits, best first."""
        reaches = [reach for reach in query.reaches if reach.lexical_places()]
        scored, complete = self._candidates(reaches, query.phrases)
        scored.sort(key=lambda item: -item[0])
        hits: list[Hit] = []
        for hit in self._ordered(scored, query.after):
            if len(hits) == query.limit:
                return HitPage(tuple(hits), True, len(scored), complete)
            hits.append(hit)
        return HitPage(tuple(hits), False, len(scored), complete)

    def _candidates(
        self, reaches: Sequence[Reach], phrases: tuple[Phrase, ...]
    ) -> tuple[list[_Scored], bool]:
        """Return the scored candidates, and whether they are all that match.

        When a phrase is rare everywhere its rows are read at once; otherwise each reach is walked.
        Both ways give the same whenever all matches fit, which a rare phrase's always do.
        """
        for index, phrase in enumerate(phrases):
            rows = self._probe(phrase)
            if rows is not None:
                return self._from_rare(reaches, phrases, index, rows), True
        return self._from_walks(reaches, phrases)

    def _probe(self, phrase: Phrase) -> list[_Posting] | None:
        """Return every row that holds a phrase, or None where there are many."""
        rows = self._db.execute(
            "SELECT rowid, pdpp_tally(lex) FROM lex WHERE lex MATCH ? ORDER BY rowid DESC LIMIT ?",
            (match_expression((phrase,)), _PROBE + 1),
        )
        found = [(row >> PLACE_BITS, row & PLACE_MASK, score) for row, score in rows]
        return None if len(found) > _PROBE else found

    def _from_rare(
        self,
        reaches: Sequence[Reach],
        phrases: tuple[Phrase, ...],
        rare: int,
        rows: list[_Posting],
    ) -> list[_Scored]:
        by_feed = {reach.feed.id: (reach, reach.lexical_places()) for reach in reaches}
        others = [phrase for index, phrase in enumerate(phrases) if index != rare]
        scored: list[_Scored] = []
        for record, postings in groupby(rows, key=lambda row: row[0]):
            reach, places = by_feed.get(feed_of(record), (None, {}))
            score = sum(score for _, place, score in postings if place in places)
            if reach is None or not score or not self._shown(reach, record):
                continue
            for phrase in others:
                more = self._score_in(phrase, record, places)
                if not more:
                    break
                score += more
            else:
                scored.append((score, record, reach))
        return scored

    def _score_in(self, phrase: Phrase, record: int, places: dict[int, str]) -> int:
        rows = self._db.execute(
            "SELECT rowid, pdpp_tally(lex) FROM lex WHERE lex MATCH ? AND rowid BETWEEN ? AND ?",
            (match_expression((phrase,)), record << PLACE_BITS, record << PLACE_BITS | PLACE_MASK),
        )
        return sum(score for row, score in rows if row & PLACE_MASK in places)

    def _from_walks(
        self, reaches: Sequence[Reach], phrases: tuple[Phrase, ...]
    ) -> tuple[list[_Scored], bool]:
        """Take turns among the reaches until the candidates are full or nothing is left."""
        scored: list[_Scored] = []
        open_walks = deque((reach, self._walk(reach, phrases)) for reach in reaches)
        while open_walks and len(scored) < CANDIDATES:
            share = max(1, (CANDIDATES - len(scored)) // len(open_walks))
            for _ in range(len(open_walks)):
                reach, walk = open_walks.popleft()
                if self._take(reach, walk, min(share, CANDIDATES - len(scored)), scored):
                    open_walks.append((reach, walk))
        complete = all(next(walk, None) is None for _, walk in open_walks)
        return scored, complete

    def _take(
        self, reach: Reach, walk: Iterator[tuple[int, int]], share: int, into: list[_Scored]
    ) -> bool:
        """Move up to a share of a walk's records over; tell whether it may have more."""
        for _ in range(share):
            item = next(walk, None)
            if item is None:
                return False
            into.append((item[1], item[0], reach))
        return True

    def _walk(self, reach: Reach, phrases: tuple[Phrase, ...]) -> Iterator[tuple[int, int]]:
        """Yield the records of one reach that hold every phrase, newest first, scored."""
        streams = [_Postings(self._db, reach, phrase) for phrase in phrases]
        bound = (reach.feed.id + 1 << FEED_SHIFT) - 1
        while True:
            self._check()
            total = 0
            for stream in streams:
                found = stream.at_or_before(bound)
                if found is None:
                    return
                if found[0] < bound:
                    bound, total = found[0], 0
                    if stream is not streams[0]:
                        break
                total += found[1]
            else:
                if self._shown(reach, bound):
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
            placed = [
                (self._position(score, record, reach), record, reach) for _, record, reach in group
            ]
            for position, record, reach in sorted(placed, key=lambda item: _order(item[0])):
                if after is None or _order(position) > _order(after):
                    yield Hit(self._record(record, reach), position)

    def _position(self, score: int, record: int, reach: Reach) -> SearchPosition:
        time, key = next(self._db.execute("SELECT time, key FROM record WHERE id = ?", (record,)))
        handle = (reach.connection_id, reach.stream.name, key)
        shown = time if reach.shows_time and time is not None else 0
        return SearchPosition(score, shown, handle)

    def _record(self, record: int, reach: Reach) -> Record:
        row = next(self._db.execute(f"SELECT {COLUMNS} FROM record r WHERE r.id = ?", (record,)))
        return make_record(reach, row, self._shapes, None)


class _Postings:
    """The records of one reach that hold one phrase, newest first, with a way to skip ahead."""

    def __init__(self, db: apsw.Connection, reach: Reach, phrase: Phrase) -> None:
        self._db = db
        self._match = match_expression((phrase,))
        self._places = frozenset(reach.lexical_places())
        self._low = reach.feed.id << FEED_SHIFT << PLACE_BITS
        self._rows: Iterator[tuple[int, int]] | None = None
        self._head: tuple[int, int] | None = None
        self._rest: tuple[int, int, int] | None = None

    def at_or_before(self, record: int) -> tuple[int, int] | None:
        """Return the newest record not newer than the given one, with its score."""
        if self._rows is None or (self._head is not None and self._head[0] - record > _FAR):
            self._seek(record)
        while self._head is not None and self._head[0] > record:
            self._head = self._next()
        return self._head

    def _seek(self, record: int) -> None:
        high = record << PLACE_BITS | PLACE_MASK
        self._rows = self._db.execute(
            "SELECT rowid, pdpp_tally(lex) FROM lex WHERE lex MATCH ? AND rowid BETWEEN ? AND ?"
            " ORDER BY rowid DESC",
            (self._match, self._low, high),
        )
        self._rest = None
        self._head = self._next()

    def _next(self) -> tuple[int, int] | None:
        """Return the next record with the scores of its visible fields added up."""
        assert self._rows is not None  # noqa: S101 - set by _seek
        record, total = (self._rest[0], self._rest[2]) if self._rest else (None, 0)
        self._rest = None
        for row, score in self._rows:
            if row & PLACE_MASK not in self._places:
                continue
            if record is None:
                record = row >> PLACE_BITS
            elif row >> PLACE_BITS != record:
                self._rest = (row >> PLACE_BITS, row & PLACE_MASK, score)
                break
            total += score
        return None if record is None else (record, total)


def _order(position: SearchPosition) -> tuple[Any, ...]:
    return -position.score, -position.time, position.handle


def register(db: apsw.Connection) -> None:
    """Give a connection the scoring function."""
    db.register_fts5_function("pdpp_tally", tally)
