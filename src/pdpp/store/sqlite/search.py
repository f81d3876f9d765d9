"""Full-text search inside a grant.

Candidates are the newest matching records of each reach, in equal shares of a bounded number.
A score comes from the candidate's own words alone: how often each phrase stands in the fields the
reach shows, and how long these fields are. No statistic of the corpus enters, so that nothing
outside the grant can move a hit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import apsw
import orjson

from pdpp.evidence.analyse import Phrase, match_expression
from pdpp.store.port import Hit, HitPage, SearchPosition, SearchQuery
from pdpp.store.scope import Reach
from pdpp.store.sqlite.layout import (
    FEED_SHIFT,
    PLACE_BITS,
    PLACE_MASK,
    feed_of,
    index_row,
    turned,
)
from pdpp.store.sqlite.lens import COLUMNS, Lenses
from pdpp.store.sqlite.postings import ROWS, Postings, Scored, Walk
from pdpp.store.sqlite.predicate import limits_where

CANDIDATES = 2_000
_PROBE = 1_000
_FEW_REACHES = 12
_FEW_EQUALS = 25
"""How many hits of equal score are read whole before it is known which of them are shown."""

_MANY = "SELECT 1 FROM lex WHERE lex MATCH ? LIMIT 1 OFFSET ?"
_ALL = f"""
    SELECT rowid, pdpp_mark(lex) FROM lex
    WHERE lex MATCH ? AND rowid >> {PLACE_BITS + FEED_SHIFT} IN (SELECT value FROM json_each(?))
"""
"""Only rows of feeds in reach are scored; most of what is rare may be anywhere else."""

_Posting = tuple[int, int]
"""A row of the index and how strongly the phrase marks it."""

_Take = Callable[[int], list[Scored]]


class Searcher:
    """Searches through one connection, under a snapshot its caller holds."""

    def __init__(self, db: apsw.Connection, lens: Lenses, check: Callable[[], None]) -> None:
        self._db = db
        self._lens = lens
        self._check = check

    def search(self, query: SearchQuery) -> HitPage:
        """Return one page of hits, best first."""
        scored, complete = self._candidates(searchable(query.reaches), query.phrases)
        scored.sort(key=itemgetter(0), reverse=True)
        hits: list[Hit] = []
        for hit in self._ordered(scored, query.after):
            if len(hits) == query.limit:
                return HitPage(tuple(hits), True, len(scored), complete)
            hits.append(hit)
        return HitPage(tuple(hits), False, len(scored), complete)

    def _candidates(
        self, reaches: tuple[Reach, ...], phrases: tuple[Phrase, ...]
    ) -> tuple[list[Scored], bool]:
        """Return the scored candidates, and whether they are all that match.

        When a phrase is rare everywhere its rows are read at once; otherwise, and where there are
        few reaches anyway, each reach is walked.
        Both ways give the same whenever all matches fit, which a rare phrase's always do.
        """
        for index, phrase in enumerate(phrases if len(reaches) > _FEW_REACHES else ()):
            rows = self._probe(phrase, reaches)
            if rows is not None:
                return self._from_rare(reaches, phrases, index, rows), True
        return self._from_walks(reaches, phrases)

    def _probe(self, phrase: Phrase, reaches: tuple[Reach, ...]) -> list[_Posting] | None:
        """Return the rows of these feeds that hold a phrase, or None where many hold it at all."""
        match = match_expression((phrase,))
        if next(self._db.execute(_MANY, (match, _PROBE)), None) is not None:
            return None
        rows: list[Any] = self._db.execute(_ALL, (match, _feeds(reaches))).fetchall()
        return rows

    def _from_rare(
        self,
        reaches: tuple[Reach, ...],
        phrases: tuple[Phrase, ...],
        rare: int,
        rows: list[_Posting],
    ) -> list[Scored]:
        by_feed = _by_feed(reaches)
        others = [phrase for index, phrase in enumerate(phrases) if index != rare]
        totals: dict[int, int] = {}
        for row, points in rows:
            record = turned(row >> PLACE_BITS)
            if row & PLACE_MASK in by_feed[feed_of(record)][1]:
                totals[record] = totals.get(record, 0) + points
        scored: list[Scored] = []
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
        rows = self._db.execute(ROWS, (match_expression((phrase,)), first, first | PLACE_MASK))
        return sum(points for row, points in rows if row & PLACE_MASK in places)

    def _from_walks(
        self, reaches: Sequence[Reach], phrases: tuple[Phrase, ...]
    ) -> tuple[list[Scored], bool]:
        """Take turns among the reaches until the candidates are full or nothing is left."""
        scored: list[Scored] = []
        walks = [self._walk(reach, phrases) for reach in reaches]
        while walks and len(scored) < CANDIDATES:
            share = max(1, (CANDIDATES - len(scored)) // len(walks))
            going = []
            for take in walks:
                self._check()
                taken = take(min(share, CANDIDATES - len(scored)))
                scored += taken
                if len(taken) == share or len(scored) == CANDIDATES:
                    going.append(take)
            walks = going
        return scored, not any(take(1) for take in walks)

    def _walk(self, reach: Reach, phrases: tuple[Phrase, ...]) -> _Take:
        """Return what takes the next records of one reach that hold every phrase, newest first."""
        free = not reach.restricted and not reach.conditions
        if len(phrases) == 1:
            walk = Walk(self._db, reach, phrases[0])
            if free:
                return walk.take
            found = walk.each()
        else:
            streams = [Postings(self._db, reach, phrase) for phrase in phrases]
            found = ((total, record, reach) for record, total in self._join(streams))
        if not free:
            found = (item for item in found if self._shown(reach, item[1]))
        return lambda count: list(islice(found, count))

    def _join(self, streams: Sequence[Postings]) -> Iterator[tuple[int, int]]:
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

    def _ordered(self, scored: list[Scored], after: SearchPosition | None) -> Iterator[Hit]:
        """Yield hits by score, then newest first, then by handle, from a position on."""
        for score, group in groupby(scored, key=itemgetter(0)):
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


@lru_cache(maxsize=256)
def searchable(reaches: tuple[Reach, ...]) -> tuple[Reach, ...]:
    """Return the reaches that show anything to search."""
    return tuple(reach for reach in reaches if reach.lexical_places())


@lru_cache(maxsize=256)
def _by_feed(reaches: tuple[Reach, ...]) -> Mapping[int, tuple[Reach, Mapping[int, str]]]:
    return {reach.feed.id: (reach, reach.lexical_places()) for reach in reaches}


@lru_cache(maxsize=256)
def _feeds(reaches: tuple[Reach, ...]) -> str:
    """Return the numbers of feeds as JSON."""
    return orjson.dumps(list(_by_feed(reaches))).decode()


def _order(position: SearchPosition) -> tuple[Any, ...]:
    return -position.score, -position.time, position.handle
