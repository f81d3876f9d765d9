"""Search inside a grant: exact, over all that the reaches show.

The ranking sees visible rows only. What this module adds is what an engine knows: the records of
rows, their conversations, the conditions of a request, and the one order of hits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from typing import Any

import apsw
import numpy as np
import orjson

from pdpp.evidence.analyse import find
from pdpp.evidence.language.question import Question, Word, word_in_any_language
from pdpp.model.declaration import Kind
from pdpp.model.grant import Interval
from pdpp.store.port import Hit, HitPage, SearchPosition, SearchQuery
from pdpp.store.ranking.days import instant_of, stretches
from pdpp.store.ranking.nearest import nearest_terms
from pdpp.store.ranking.postings import Bools, Floats, Longs
from pdpp.store.ranking.refine import BEST, Neighbour, fit, needs_refining, spread
from pdpp.store.ranking.score import Ranking, Scores, rows_by, rows_holding
from pdpp.store.scope import Reach
from pdpp.store.sqlite.records.predicate import limits_where
from pdpp.store.sqlite.records.projection import (
    COLUMNS,
    LARGE_BYTES,
    CountBytes,
    Projectors,
    fetched,
)
from pdpp.store.sqlite.search.block_cache import BlockCache
from pdpp.store.sqlite.search.entry import NO_TIME, hashed
from pdpp.store.sqlite.search.nearness import (
    NEARNESS_PART,
    RERANKED,
    SCANNED_TOO,
    nearness,
    scanned,
    shown_rows,
)
from pdpp.store.sqlite.search.visible import Part, Visible

_SCALE = 1_000_000
_SAMPLE = 4_096
_MOST_SUGGESTED = 5
_AROUND = """
    SELECT
      (SELECT json_group_array(record) FROM (
        SELECT record FROM thread_place WHERE feed = :feed AND thread = w.value ->> 0
        AND (time, surrogate) < (w.value ->> 1, w.value ->> 2) AND time >= :since
        ORDER BY time DESC, surrogate DESC LIMIT 2)),
      (SELECT json_group_array(record) FROM (
        SELECT record FROM thread_place WHERE feed = :feed AND thread = w.value ->> 0
        AND (time, surrogate) > (w.value ->> 1, w.value ->> 2) AND time < :until
        ORDER BY time, surrogate LIMIT 2))
    FROM json_each(:wanted) AS w
"""
"""The two records before and the two after each of some, in the same conversation."""
_LATEST = (1 << 63) - 1


class Searcher:
    """Searches through one connection, under a snapshot its caller holds."""

    def __init__(
        self,
        db: apsw.Connection,
        projector: Projectors,
        cache: BlockCache,
        check: Callable[[], None],
        count: CountBytes,
    ) -> None:
        self._db = db
        self._count = count
        self._projector = projector
        self._cache = cache
        self._check = check
        self._whole: dict[int, Reach] = {}

    def search(self, query: SearchQuery) -> HitPage:
        """Return one page of hits, best first."""
        question = query.question
        self._whole = {reach.feed.id: reach for reach in query.reaches}
        reaches = narrowed(query.reaches, question, query.zone)
        visible = Visible(self._db, self._cache, reaches, self._check)
        days, empty = _days(visible, question, query.zone)
        question = question.read_as_words(empty) if empty else question
        scores = Ranking(visible, question, self._check).scores()
        if days is not None:
            scores.values += days
            scores.candidates |= days > 0
        rows = np.flatnonzero(self._allowed(visible, question, scores))
        rows = self._meeting_conditions(visible, rows)
        rows = self._holding_phrases(visible, question, rows)
        values = scores.values
        if len(rows) and not query.by_time and needs_refining(question, scores):
            rows = self._refine(visible, question, scores, rows)
        if query.meaning is not None and not query.by_time:
            rows = self._by_meaning(visible, query, question, scores, rows)
        order = _Order(self, visible, rows, values, query)
        hits, more = order.page()
        suggested: tuple[str, ...] = ()
        if not len(rows) and query.after is None:
            suggested = self._suggested(visible, question)
        return HitPage(hits, more, len(rows), suggested, dict(scores.repaired))

    def _by_meaning(
        self, visible: Visible, query: SearchQuery, question: Question, scores: Scores, rows: Longs
    ) -> Longs:
        """Order rows by their nearness to the question: the best by words, or all that are seen."""
        vector = query.meaning or b""
        if not query.by_meaning:
            best = _largest(scores.values, rows, RERANKED, visible)
            if shown_rows(visible) <= SCANNED_TOO and not _demands(question):
                near = scanned(self._db, visible, vector, self._check)
                seen = np.flatnonzero(near > 0)
                seen = self._meeting_conditions(visible, _unhidden(visible, seen))
                best = np.union1d(best, _largest(near, seen, RERANKED, visible))
                rows = np.union1d(rows, best)
            scores.values[best] += NEARNESS_PART * nearness(self._db, visible, best, vector)
            return rows
        near = scanned(self._db, visible, vector, self._check)
        seen = _unhidden(visible, np.flatnonzero(near > 0))
        if _demands(question):
            seen = np.intersect1d(seen, rows)
        scores.values[:] = near
        return self._meeting_conditions(visible, seen)

    # Which rows may be hits

    def _allowed(self, visible: Visible, question: Question, scores: Scores) -> Bools:
        """Return which rows answer and keep to what the question demands."""
        named = question.actors or question.since or question.until
        bare = not (question.words or question.moments)
        demanded = question.phrases or any(word.required for word in question.words)
        everyone = (named and bare) or demanded
        allowed = np.ones(visible.size, dtype=bool) if everyone else scores.candidates
        if visible.hidden is not None:
            allowed &= ~visible.hidden
        for unit in scores.units:
            asked = not unit.words[0].moment
            if (question.everything and asked) or any(word.required for word in unit.words):
                held = rows_holding(visible, [_in_any_language(word) for word in unit.words])
                held[unit.own] = True
                allowed &= held
        for phrase in question.phrases:
            *head, last = phrase.words
            for piece in head if phrase.prefix else (*head, last):
                allowed &= rows_holding(visible, [word_in_any_language(piece)])
        for names in question.actors:
            for piece in names:
                allowed &= rows_by(visible, [word_in_any_language(piece)])
        for word in question.excluded:
            allowed &= ~rows_holding(visible, [_in_any_language(word)])
        return allowed

    def _meeting_conditions(self, visible: Visible, rows: Longs) -> Longs:
        """Return the rows whose records meet the conditions of the request."""
        if not any(part.reach.conditions for part in visible.parts):
            return rows
        kept = []
        for part, some in _by_part(visible, rows):
            if part.reach.conditions:
                where = limits_where(part.reach)
                numbers = visible.numbers(some)
                meeting: list[Any] = self._db.execute(
                    "SELECT r.id FROM carray(?) AS c CROSS JOIN record r ON r.id = c.value"
                    f" WHERE 1 {where.text}",
                    (apsw.carray(numbers), *where.values),
                ).fetchall()
                some = some[np.isin(numbers, [row[0] for row in meeting])]
            kept.append(some)
        return np.concatenate(kept) if kept else rows

    def _holding_phrases(self, visible: Visible, question: Question, rows: Longs) -> Longs:
        """Return the rows that hold each phrase as it stands, and none that must not be there."""
        if not question.phrases and not question.excluded_phrases:
            return rows
        kept = []
        for part, some in _by_part(visible, rows):
            numbers = visible.numbers(some)
            texts = dict(self._texts(part.reach, numbers.tolist()))
            for row, number in zip(some.tolist(), numbers.tolist(), strict=True):
                self._check()
                if _holds(texts.get(number, ()), question):
                    kept.append(row)
        return np.array(kept, dtype=np.int64)

    def _texts(self, reach: Reach, numbers: Sequence[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the searched texts of some records, by their numbers."""
        for number, data in self._data(numbers):
            yield number, _searched_texts(reach, data)

    def _data(self, numbers: Sequence[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        if not len(numbers):
            return
        rows = self._db.execute(
            "SELECT r.id, r.data FROM carray(?) AS c CROSS JOIN record r ON r.id = c.value",
            (apsw.carray(np.array(numbers, dtype=np.int64)),),
        )
        for number, data in rows:
            if len(data) > LARGE_BYTES:
                self._count(len(data))
            yield number, orjson.loads(data)

    # The best once more

    def _refine(self, visible: Visible, question: Question, scores: Scores, rows: Longs) -> Longs:
        """Score the best rows with their neighbours and by their kind; return all rows again."""
        allowed = np.zeros(visible.size, dtype=bool)
        allowed[rows] = True
        best = _largest(scores.values, rows, BEST, visible)
        near = self._neighbours(visible, best) if len(scores.units) > 1 else []
        around, values = spread(scores, best, near)
        known = allowed[around]
        raised = around[~known & (values > scores.values[around])]
        candidates = np.concatenate([around[known], self._meeting_conditions(visible, raised)])
        scores.values[around] = values
        self._check()
        chosen = _largest(scores.values, candidates, BEST, visible)
        numbers = visible.numbers(chosen).tolist()
        row_of = dict(zip(numbers, chosen.tolist(), strict=True))
        for number, data in self._data(numbers):
            row = row_of[number]
            texts = _searched_texts(visible.part_of(row).reach, data)
            scores.values[row] = fit(question, float(scores.values[row]), texts)
        if _demands(question) or bool(allowed[candidates].all()):
            return rows
        return np.union1d(rows, candidates)

    def _neighbours(self, visible: Visible, best: Longs) -> list[Neighbour]:
        """Return the visible neighbours of rows in their conversations."""
        found: list[Neighbour] = []
        for reach, some in _by_reach(visible, best):
            if not reach.shows_thread:
                continue
            numbers = visible.numbers(some).tolist()
            times = visible.times(some).tolist()
            row_of = dict(zip(numbers, some.tolist(), strict=True))
            threads = {
                number: hashed(str(name))
                for number, data in self._data(numbers)
                if (name := data.get(reach.stream.thread_field or "")) is not None
            }
            surrogates = self._surrogates(numbers)
            wanted = [
                (number, (threads[number], time, surrogates[number]))
                for number, time in zip(numbers, times, strict=True)
                if number in threads
            ]
            pairs = list(self._around(reach, wanted))
            rows = visible.rows_of(reach, [other for _, other, _ in pairs])
            found += [
                Neighbour(row_of[number], rows[other], distance)
                for number, other, distance in pairs
                if other in rows
            ]
        return found

    def _surrogates(self, numbers: Sequence[int]) -> dict[int, int]:
        rows: list[Any] = self._db.execute(
            "SELECT r.id, r.surrogate FROM carray(?) AS c CROSS JOIN record r ON r.id = c.value",
            (apsw.carray(np.array(numbers, dtype=np.int64)),),
        ).fetchall()
        return dict(rows)

    def _around(
        self, reach: Reach, wanted: Sequence[tuple[int, tuple[int, int, int]]]
    ) -> Iterator[tuple[int, int, int]]:
        """Yield records that stand near others in a conversation, and how far away they are."""
        time = reach.time or Interval()
        bounds = {
            "feed": reach.feed.id,
            "since": NO_TIME + 1 if time.since is None else time.since,
            "until": _LATEST if time.until is None else time.until,
            "wanted": orjson.dumps([place for _, place in wanted]).decode(),
        }
        rows: list[Any] = self._db.execute(_AROUND, bounds).fetchall()
        for (number, _), sides in zip(wanted, rows, strict=True):
            for side in sides:
                for distance, other in enumerate(orjson.loads(side), start=1):
                    yield number, other, distance

    def _suggested(self, visible: Visible, question: Question) -> tuple[str, ...]:
        """Return visible words near to those of a question that found nothing."""
        found: list[str] = []
        for word in question.words:
            found += nearest_terms(visible, [term for term, _ in word.terms], _MOST_SUGGESTED)
        return tuple(dict.fromkeys(found))[:_MOST_SUGGESTED]

    # Hits

    def places(self, visible: Visible, rows: Longs, scores: Sequence[int]) -> list[Hit]:
        """Return the hits of some rows, each with its place in the order."""
        if not len(rows):
            return []
        found = self._db.execute(
            f"SELECT r.id, {COLUMNS} FROM carray(?) AS c CROSS JOIN record r ON r.id = c.value",
            (apsw.carray(visible.numbers(rows)),),
        )
        hits = []
        records = fetched(found, self._count)
        places = zip(records, rows.tolist(), visible.times(rows).tolist(), scores, strict=True)
        for record_row, row, time, score in places:
            reach = self._whole[visible.part_of(row).reach.feed.id]
            record = self._projector(reach, None).record(record_row)
            handle = (reach.connection_id, reach.stream.name, record.id)
            hits.append(Hit(record, SearchPosition(score, time, handle)))
        return hits


class _Order:
    """The one order of hits: by score, then the newest first, then by handle."""

    def __init__(
        self,
        searcher: Searcher,
        visible: Visible,
        rows: Longs,
        values: Any,
        query: SearchQuery,
    ) -> None:
        self._searcher = searcher
        self._visible = visible
        self._query = query
        if query.after is None and not query.by_time:
            rows = _not_less(values, rows, query.limit + 1)
        self._rows = rows
        scored = np.rint(values[rows] * _SCALE).astype(np.int64)
        self._scores: Longs = np.zeros_like(scored) if query.by_time else scored

    def page(self) -> tuple[tuple[Hit, ...], bool]:
        """Return the hits of a page, and whether more follow."""
        rows, scores, after = self._rows, self._scores, self._query.after
        wanted = self._query.limit + 1
        if after is not None:
            kept = scores <= after.score
            rows, scores = rows[kept], scores[kept]
        if len(rows) > wanted:
            equals = 0 if after is None else int(np.count_nonzero(scores == after.score))
            least = min(len(rows), wanted + equals)
            threshold = np.partition(scores, len(scores) - least)[len(scores) - least]
            kept = scores >= threshold
            rows, scores = rows[kept], scores[kept]
        times = self._visible.times(rows)
        order = np.lexsort((-times, -scores))
        rows, scores, times = rows[order], scores[order], times[order]
        if after is not None:
            later = (scores < after.score) | (times <= after.time)
            rows, scores, times = rows[later], scores[later], times[later]
        end = self._end(scores, times, after, wanted)
        hits = self._searcher.places(self._visible, rows[:end], scores[:end].tolist())
        hits.sort(key=lambda hit: _order(hit.position))
        if after is not None:
            hits = [hit for hit in hits if _order(hit.position) > _order(after)]
        return tuple(hits[: self._query.limit]), len(hits) > self._query.limit

    @staticmethod
    def _end(scores: Longs, times: Longs, after: SearchPosition | None, wanted: int) -> int:
        """Return after how many rows the page is sure to be filled, equals not torn apart."""
        same = 0
        if after is not None:
            same = int(np.count_nonzero((scores == after.score) & (times == after.time)))
        end = min(len(scores), wanted + same)
        while 0 < end < len(scores) and (scores[end], times[end]) == (
            scores[end - 1],
            times[end - 1],
        ):
            end += 1
        return end


def narrowed(reaches: Iterable[Reach], question: Question, zone: tzinfo) -> list[Reach]:
    """Return the reaches that a question searches: those it names, cut to the days it names."""
    kept = [reach for reach in reaches if reach.searched_fields() or reach.actor_fields()]
    for name in question.accounts:
        kept = [reach for reach in kept if _is_named(reach, name)]
    if question.since is None and question.until is None:
        return kept
    dated = [reach for reach in kept if reach.shows_time]
    return [_cut(reach, question, _zone_of(reach, zone)) for reach in dated]


def _is_named(reach: Reach, name: str) -> bool:
    connection, wanted = reach.feed.connection, name.casefold()
    exact = (connection.connection_id, connection.connector_key, reach.stream.name)
    loose = (connection.display_name, reach.stream.label)
    return any(wanted == text.casefold() for text in exact) or any(
        wanted in text.casefold() for text in loose
    )


def _cut(reach: Reach, question: Question, zone: tzinfo) -> Reach:
    since = None if question.since is None else instant_of(question.since, zone)
    until = None if question.until is None else instant_of(question.until, zone)
    if reach.time is not None:
        starts = [at for at in (since, reach.time.since) if at is not None]
        ends = [at for at in (until, reach.time.until) if at is not None]
        since, until = max(starts, default=None), min(ends, default=None)
    if since is not None and until is not None and until < since:
        until = since
    return replace(reach, time=Interval(since, until))


def _zone_of(reach: Reach, zone: tzinfo) -> tzinfo:
    """Return the zone of a reach's days; a date without a time is the same day everywhere."""
    consent = reach.stream.consent_time_field
    dated = consent is not None and reach.stream.fields[consent].kind is Kind.DATE
    return UTC if dated else zone


def _days(
    visible: Visible, question: Question, zone: tzinfo
) -> tuple[Floats | None, frozenset[int]]:
    """Return what rows get for having happened when the question says.

    And the numbers of the times in which no visible record happened: they are words like others,
    as the year of a battle is in notes about history.
    """
    if not question.moments:
        return None, frozenset()
    bonus = np.zeros(visible.size)
    hidden = visible.hidden
    empty = set(range(1, len(question.moments) + 1))
    for part in visible.parts:
        first = visible.first_time(part) if part.reach.shows_time else None
        if first is None:
            continue
        last = visible.last_time(part)
        days = _zone_of(part.reach, zone)
        for number, moment in enumerate(question.moments, start=1):
            for start, end, more in stretches(moment, days, first, last):
                if start <= last and end > first:
                    low, high = visible.rows_between(part, start, end)
                    np.maximum(bonus[low:high], more, out=bonus[low:high])
                    if low < high and not (hidden is not None and hidden[low:high].all()):
                        empty.discard(number)
    return bonus, frozenset(empty)


def _holds(texts: Sequence[str], question: Question) -> bool:
    if any(find(text, question.excluded_phrases) for text in texts):
        return False
    return all(any(find(text, (phrase,)) for text in texts) for phrase in question.phrases)


def _in_any_language(word: Word) -> Word:
    """Return a word that must or must not be there, as it stands in texts of any language."""
    return word if word.prefix is not None else word_in_any_language(word.text)


def _demands(question: Question) -> bool:
    """Tell whether a question says what must be there, so that a neighbour alone is no hit."""
    return bool(
        question.everything
        or question.phrases
        or question.excluded
        or question.excluded_phrases
        or question.actors
        or any(word.required for word in question.words)
    )


def _searched_texts(reach: Reach, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts of a record that a reach may search."""
    values = (data.get(name) for name in reach.searched_fields())
    return tuple(value for value in values if isinstance(value, str))


def _not_less(values: Floats, rows: Longs, count: int) -> Longs:
    """Return rows without most of those that are surely not among the ``count`` best.

    The worst of the best of any sample is no better than the worst of the best of all. Equal scores
    may differ in their last bits, so that a step of rounding is left below.
    """
    step = len(rows) // _SAMPLE
    if step < 2 or count > _SAMPLE // 4:
        return rows
    own = values[rows]
    sample = own[::step]
    bound = np.partition(sample, len(sample) - count)[len(sample) - count]
    kept: Longs = rows[own >= bound - 1 / _SCALE]
    return kept


def _unhidden(visible: Visible, rows: Longs) -> Longs:
    return rows if visible.hidden is None else rows[~visible.hidden[rows]]


def _largest(values: Any, rows: Longs, count: int, visible: Visible) -> Longs:
    """Return the rows of the largest values, equals by time; a tie at the end is kept whole."""
    if len(rows) <= count:
        return rows
    rows = _not_less(values, rows, count)
    scored = np.rint(values[rows] * _SCALE).astype(np.int64)
    threshold = np.partition(scored, len(scored) - count)[len(scored) - count]
    above, level = rows[scored > threshold], rows[scored == threshold]
    room = count - len(above)
    if len(level) > room:
        times = visible.times(level)
        latest = np.partition(times, len(times) - room)[len(times) - room]
        level = level[times >= latest]
        level = level if len(level) <= count else level[:0]
    return np.concatenate([above, level])


def _by_part(visible: Visible, rows: Longs) -> Iterator[tuple[Part, Longs]]:
    """Yield rows by the part they are in."""
    for part, chosen in visible.by_part(rows):
        yield part, rows[chosen]


def _by_reach(visible: Visible, rows: Longs) -> Iterator[tuple[Reach, Longs]]:
    found: dict[int, tuple[Reach, list[Longs]]] = {}
    for part, some in _by_part(visible, rows):
        found.setdefault(part.reach.feed.id, (part.reach, []))[1].append(some)
    for reach, pieces in found.values():
        yield reach, np.concatenate(pieces)


def _order(position: SearchPosition) -> tuple[Any, ...]:
    return -position.score, -position.time, position.handle
