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
from pdpp.store.sqlite.numbering import (
    FEED_SHIFT,
    PLACE_BITS,
    PLACE_MASK,
    feed_of,
    index_row,
    turned,
)
from pdpp.store.sqlite.records.predicate import limits_where
from pdpp.store.sqlite.records.projection import COLUMNS, Projectors
from pdpp.store.sqlite.search.postings import ROWS, Further, Postings, Row, Walk, read_ahead
from pdpp.store.sqlite.search.scores import scores

CANDIDATES = 1_000
_PROBE = CANDIDATES
"""How many rows a phrase has at most that is rare: all of them can then be candidates."""
_FEW_REACHES = 12
_FEW_EQUALS = 25
"""How many hits of equal score are read whole before it is known which of them are shown."""

_MANY = "SELECT 1 FROM lex WHERE lex MATCH ? LIMIT 1 OFFSET ?"
_ALL = f"""
    SELECT rowid, pdpp_hits(lex) FROM lex
    WHERE lex MATCH ? AND rowid >> {PLACE_BITS + FEED_SHIFT} IN (SELECT value FROM json_each(?))
"""
"""Only rows of feeds in reach are looked into; most of what is rare may be anywhere else."""

_InFeed = tuple[Reach, Mapping[int, str]]
"""What is reached of a feed, with the places of its searchable fields."""

_Take = Callable[[int], list[Row]]


class Searcher:
    """Searches through one connection, under a snapshot its caller holds."""

    def __init__(
        self, db: apsw.Connection, projector: Projectors, check: Callable[[], None]
    ) -> None:
        self._db = db
        self._projector = projector
        self._check = check

    def search(self, query: SearchQuery) -> HitPage:
        """Return one page of hits, best first."""
        reaches = searchable(query.reaches)
        further: Further = {}
        found, complete = self._candidates(reaches, query.phrases, further)
        scored = sorted(
            zip(scores(self._db, found, further), found, strict=True),
            key=itemgetter(0),
            reverse=True,
        )
        ordered = self._ordered(scored, _by_feed(reaches), query.after)
        hits = tuple(islice(ordered, query.limit))
        has_more = next(ordered, None) is not None
        return HitPage(hits, has_more, len(found), complete)

    def _candidates(
        self, reaches: tuple[Reach, ...], phrases: tuple[Phrase, ...], further: Further
    ) -> tuple[list[Row], bool]:
        """Return the candidates, and whether they are all that match.

        When a phrase is rare everywhere its rows are read at once; otherwise, and where there are
        few reaches anyway, each reach is walked.
        Both ways give the same whenever all matches fit, which a rare phrase's always do.
        """
        for index, phrase in enumerate(phrases if len(reaches) > _FEW_REACHES else ()):
            rows = self._probe(phrase, reaches)
            if rows is not None:
                others = phrases[:index] + phrases[index + 1 :]
                return self._from_rare(reaches, others, rows, further), True
        return self._from_walks(reaches, phrases, further)

    def _probe(self, phrase: Phrase, reaches: tuple[Reach, ...]) -> list[Row] | None:
        """Return the rows of these feeds that hold a phrase, or None where many hold it at all."""
        match = match_expression((phrase,))
        if next(self._db.execute(_MANY, (match, _PROBE)), None) is not None:
            return None
        rows: list[Any] = self._db.execute(_ALL, (match, _feeds(reaches))).fetchall()
        return rows

    def _from_rare(
        self,
        reaches: tuple[Reach, ...],
        others: tuple[Phrase, ...],
        rows: list[Row],
        further: Further,
    ) -> list[Row]:
        by_feed = _by_feed(reaches)
        by_record: dict[int, list[Row]] = {}
        for row in rows:
            record = turned(row[0] >> PLACE_BITS)
            if row[0] & PLACE_MASK in by_feed[feed_of(record)][1]:
                by_record.setdefault(record, []).append(row)
        found: list[Row] = []
        for record, held in by_record.items():
            reach, places = by_feed[feed_of(record)]
            if not self._shown(reach, record):
                continue
            for phrase in others:
                more = self._rows_in(phrase, record, places)
                if not more:
                    break
                held += more
            else:
                found.append(_put_aside(held, further))
        return found

    def _rows_in(self, phrase: Phrase, record: int, places: Mapping[int, str]) -> list[Row]:
        first = index_row(record, 0)
        rows = self._db.execute(ROWS, (match_expression((phrase,)), first, first | PLACE_MASK))
        return [row for row in rows if row[0] & PLACE_MASK in places]

    def _from_walks(
        self, reaches: Sequence[Reach], phrases: tuple[Phrase, ...], further: Further
    ) -> tuple[list[Row], bool]:
        """Take turns among the reaches until the candidates are full or nothing is left."""
        found: list[Row] = []
        walks = self._walks(reaches, phrases, further)
        while walks and len(found) < CANDIDATES:
            share = _share(len(found), len(walks))
            going = []
            for take in walks:
                self._check()
                taken = take(min(share, CANDIDATES - len(found)))
                found += taken
                if len(taken) == share or len(found) == CANDIDATES:
                    going.append(take)
            walks = going
        return found, not any(take(1) for take in walks)

    def _walks(
        self, reaches: Sequence[Reach], phrases: tuple[Phrase, ...], further: Further
    ) -> list[_Take]:
        """Return what takes the next records of each reach that hold every phrase, newest first."""
        if len(phrases) > 1:
            return [self._join_in(reach, phrases, further) for reach in reaches]
        match = match_expression(phrases)
        walks = [Walk(self._db, reach, match, further) for reach in reaches]
        read_ahead(self._db, match, walks[:CANDIDATES], _share(0, len(walks)), self._check)
        return [
            walk.take if _is_free(reach) else self._only_shown(reach, walk.each())
            for reach, walk in zip(reaches, walks, strict=True)
        ]

    def _join_in(self, reach: Reach, phrases: tuple[Phrase, ...], further: Further) -> _Take:
        """Return what takes the records of one reach that hold several phrases."""
        streams = [Postings(self._db, reach, phrase) for phrase in phrases]
        found = (_put_aside(rows, further) for rows in self._join(streams))
        return self._only_shown(reach, found)

    def _only_shown(self, reach: Reach, found: Iterator[Row]) -> _Take:
        if not _is_free(reach):
            found = (row for row in found if self._shown(reach, turned(row[0] >> PLACE_BITS)))
        return lambda count: list(islice(found, count))

    def _join(self, streams: Sequence[Postings]) -> Iterator[list[Row]]:
        """Yield the records that every stream has, each skipping ahead to what the others hold."""
        bound: int | None = None
        while True:
            self._check()
            rows: list[Row] = []
            for stream in streams:
                found = stream.at_or_before(bound)
                if found is None:
                    return
                bound = found[0]
                rows += found[1]
            if bound is not None and all(stream.at == bound for stream in streams):
                yield rows
                bound -= 1

    def _shown(self, reach: Reach, record: int) -> bool:
        """Tell whether a record is inside what limits the reach."""
        if _is_free(reach):
            return True
        where = limits_where(reach)
        sql = f"SELECT 1 FROM record r WHERE r.id = ? {where.text}"
        return next(self._db.execute(sql, (record, *where.values)), None) is not None

    def _ordered(
        self,
        scored: list[tuple[int, Row]],
        by_feed: Mapping[int, _InFeed],
        after: SearchPosition | None,
    ) -> Iterator[Hit]:
        """Yield hits by score, then newest first, then by handle, from a position on."""
        for score, group in groupby(scored, key=itemgetter(0)):
            if after is not None and score > after.score:
                continue
            found = [_in_reach(item, by_feed) for item in group]
            if len(found) > _FEW_EQUALS:
                found.sort(key=lambda item: _order(self._position(*item)))
            hits: Iterable[Hit] = (self._hit(*item) for item in found)
            if 1 < len(found) <= _FEW_EQUALS:
                hits = sorted(hits, key=lambda hit: _order(hit.position))
            for hit in hits:
                if after is None or _order(hit.position) > _order(after):
                    yield hit

    def _position(self, score: int, record: int, reach: Reach) -> SearchPosition:
        time, surrogate, key = next(
            self._db.execute("SELECT time, surrogate, key FROM record WHERE id = ?", (record,))
        )
        return _place(score, time, self._projector(reach, None).id(surrogate, key), reach)

    def _hit(self, score: int, record: int, reach: Reach) -> Hit:
        row = next(
            self._db.execute(f"SELECT r.time, {COLUMNS} FROM record r WHERE r.id = ?", (record,))
        )
        found = self._projector(reach, None).record(row)
        return Hit(found, _place(score, row[0], found.id, reach))


def _place(score: int, time: int | None, id: str, reach: Reach) -> SearchPosition:
    """Return where a record stands among hits; a time that is hidden counts for nothing."""
    shown = time if reach.shows_time and time is not None else 0
    return SearchPosition(score, shown, (reach.connection_id, reach.stream.name, id))


def _is_free(reach: Reach) -> bool:
    """Tell whether a reach shows every record of its feed."""
    return not reach.restricted and not reach.conditions


def _share(held: int, walks: int) -> int:
    """Return how many candidates each of some walks may add to those there are."""
    return max(1, (CANDIDATES - held) // max(1, walks))


def _in_reach(item: tuple[int, Row], by_feed: Mapping[int, _InFeed]) -> tuple[int, int, Reach]:
    """Return a record's score, its number, and the reach it was found through."""
    score, (row, _) = item
    record = turned(row >> PLACE_BITS)
    return score, record, by_feed[feed_of(record)][0]


def _put_aside(rows: list[Row], further: Further) -> Row:
    """Return the first row of a record and keep the others for when it is scored."""
    first, *others = rows
    if others:
        further[first[0] >> PLACE_BITS] = others
    return first


@lru_cache(maxsize=256)
def searchable(reaches: tuple[Reach, ...]) -> tuple[Reach, ...]:
    """Return the reaches that show anything to search."""
    return tuple(reach for reach in reaches if reach.lexical_places())


@lru_cache(maxsize=256)
def _by_feed(reaches: tuple[Reach, ...]) -> Mapping[int, _InFeed]:
    return {reach.feed.id: (reach, reach.lexical_places()) for reach in reaches}


@lru_cache(maxsize=256)
def _feeds(reaches: tuple[Reach, ...]) -> str:
    """Return the numbers of feeds as JSON."""
    return orjson.dumps(list(_by_feed(reaches))).decode()


def _order(position: SearchPosition) -> tuple[Any, ...]:
    return -position.score, -position.time, position.handle
