"""Search inside a grant: exact, over all that the reaches show.

The ranking sees visible rows only. What this module adds is what an engine knows: the records of
rows, their conversations, the conditions of a request, and the one order of hits.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from datetime import tzinfo
from functools import partial

import numpy as np

from pdpp.evidence.analyse import phrase_of
from pdpp.evidence.language.asked_word import Word, word_in_any_language
from pdpp.evidence.language.question import Question
from pdpp.evidence.language.terms import surely_indexed, without_words
from pdpp.store.query import Hit, HitPage, SearchPosition, SearchQuery
from pdpp.store.ranking.leaders import least
from pdpp.store.ranking.matches import Matches
from pdpp.store.ranking.nearest import nearest_terms
from pdpp.store.ranking.postings import Bools, Floats, Longs
from pdpp.store.ranking.refine import (
    BEST,
    LOOKED_AT,
    QUESTION_MALUS,
    Neighbour,
    addresses,
    asks,
    counted,
    fit,
    most_gained,
    most_set_aside,
    needs_refining,
    rows_near_named,
    spread,
)
from pdpp.store.ranking.score import Ranking, Scores, rows_by, rows_holding
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.projection import CountBytes, Projector, Projectors
from pdpp.store.tables.search.block_cache import BlockCache
from pdpp.store.tables.search.conditions import (
    demands,
    has_conditions,
    holding_phrases,
    meeting_conditions,
)
from pdpp.store.tables.search.conversations import neighbours_of
from pdpp.store.tables.search.hit_months import hit_months
from pdpp.store.tables.search.hit_order import HitOrder, largest
from pdpp.store.tables.search.hit_repeats import HitRepeats
from pdpp.store.tables.search.nearness import RERANKED, SCANNED_TOO, Nearness, shown_rows
from pdpp.store.tables.search.question_days import day_bonus, narrowed, rows_within
from pdpp.store.tables.search.record_data import RecordsRead
from pdpp.store.tables.search.visible import Visible

_MOST_SUGGESTED = 5
_NO_ROWS = np.zeros(0, dtype=np.int64)


class Searcher:
    """Searches through one connection, under a snapshot its caller holds."""

    def __init__(
        self,
        db: TableReader,
        projector: Projectors,
        cache: BlockCache,
        check: Callable[[], None],
        count: CountBytes,
        state_of: Callable[[], object],
    ) -> None:
        self._db = db
        self._state_of = state_of
        self._count = count
        self._projector = projector
        self._cache = cache
        self._check = check
        self._whole: dict[int, Reach] = {}
        self._days: tuple[Question, tzinfo] | None = None
        self._records = RecordsRead(db, count)
        self._texts: dict[int, tuple[str, ...]] = {}
        """How the texts of the best rows and of their neighbours begin."""
        self._named: dict[int, tuple[str, str, str]] = {}
        """The handles that were read: those of equals are looked at twice."""
        self._neighbours: list[Neighbour] = []
        self._refined: Longs = _NO_ROWS
        """The rows whose neighbours are known: meaning asks for those of mostly the same rows."""

    def search(self, query: SearchQuery) -> HitPage:
        """Return one page of hits, best first."""
        question = query.question
        self._whole = {reach.feed.id: reach for reach in query.reaches}
        # With bars the days of the question narrow its answers, not the bars: both are one search.
        bars = query.months and (question.since, question.until) != (None, None)
        wide = replace(question, since=None, until=None) if bars else question
        reaches = narrowed(query.reaches, wide, query.zone)
        visible = Visible(
            self._db,
            self._cache,
            reaches,
            self._check,
            self._state_of,
            RecordsRead(self._db, self._count),
        )
        days, empty = day_bonus(visible, question, query.zone)
        question = question.read_as_words(empty) if empty else question
        scores = Ranking(visible, question, self._check).scores()
        scores.days = days
        matches = self._matches(visible, query, question, scores)
        rows = matches.rows() if query.months else _NO_ROWS
        months = hit_months(visible, rows, query.zone) if query.months else {}
        self._days = (question, query.zone) if bars else None
        if bars:
            matches = matches.among(rows_within(visible, rows, question, query.zone))
        fit_others: Callable[[], None] = _nothing
        if matches.count and not query.by_time and needs_refining(question, scores):
            whole = query.after is not None or query.meaning is not None
            wanted = BEST if whole else query.limit + 1
            fit_others = self._refine(visible, question, scores, matches, wanted)
        if query.meaning is not None and not query.by_time:
            matches = self._by_meaning(visible, query, question, scores, matches)
        hits, more = self._page(visible, query, scores, matches, fit_others)
        count = matches.count
        suggested: tuple[str, ...] = ()
        if not count and query.after is None:
            suggested = self._suggested(visible, question)
        times = _told_times(question, empty)
        return HitPage(hits, more, count, suggested, dict(scores.repaired), months, times)

    def _page(
        self,
        visible: Visible,
        query: SearchQuery,
        scores: Scores,
        matches: Matches,
        fit_others: Callable[[], None],
    ) -> tuple[tuple[Hit, ...], bool]:
        """Return the hits of a page, those that repeat others behind them, and whether more follow.

        A first page mostly has no repeats, and then no others are looked for.
        """
        order = partial(HitOrder, self._hits, self._handles, visible, oldest=scores.oldest)
        if not matches.count or query.by_time:
            return order(matches, query).page()
        repeats = HitRepeats(self._records, self._handles, visible, scores)
        if query.after is None:
            first = order(matches, query)
            page = first.page()
            if not repeats.are_among(*first.looked_at):
                return page
        if query.meaning is None:
            # What comes up to the page instead of repeats may not have been fitted.
            fit_others()
        repeats.put_back(matches)
        return order(matches, query).page()

    def _matches(
        self, visible: Visible, query: SearchQuery, question: Question, scores: Scores
    ) -> Matches:
        """Return the rows that answer and meet all conditions; by time they need no scores."""
        free = not demands(question) and not has_conditions(visible)
        if free:
            few = scores.few_candidates()
            if few is not None:
                # Most words stand in few records, and then no step goes through all rows.
                return Matches(few, np.zeros(len(few)) if query.by_time else scores.at(few))
        # What else is demanded may leave few rows, of which no bounds are asked for.
        ranked = free and not query.by_time
        flags = self._allowed(visible, question, scores, ranked=ranked)
        if question.phrases or question.excluded_phrases or has_conditions(visible):
            rows = meeting_conditions(self._db, visible, np.flatnonzero(flags))
            read = RecordsRead(self._db, self._count)
            rows = holding_phrases(read, visible, question, rows, self._check)
            flags = np.zeros(visible.size, dtype=bool)
            flags[rows] = True
        if query.by_time:
            rows = np.flatnonzero(flags)
            return Matches(rows, np.zeros(len(rows)))
        reranked = 0 if query.meaning is None else RERANKED
        slack = max(QUESTION_MALUS, most_set_aside(scores))
        return Matches.of(flags, scores, max(BEST, reranked, query.limit + 1), slack)

    def _by_meaning(
        self,
        visible: Visible,
        query: SearchQuery,
        question: Question,
        scores: Scores,
        matches: Matches,
    ) -> Matches:
        """Order rows by their nearness to the question: the best by words, or all that are seen."""
        # Who said it and when is no part of what a text says: both count by themselves.
        text = question.untimed or question.text
        bare = without_words(text, scores.actor_names)
        vector = b"" if query.meaning is None else query.meaning(bare or text)
        nearness = Nearness(self._db, visible, vector)
        if query.by_meaning:
            return self._nearest(visible, question, nearness, matches)
        return self._reranked(visible, question, nearness, scores, matches)

    def _nearest(
        self, visible: Visible, question: Question, nearness: Nearness, matches: Matches
    ) -> Matches:
        """Return all rows that are near, and meet what the question demands."""
        near = nearness.every(self._check)
        seen = _unhidden(visible, np.flatnonzero(near > 0))
        if demands(question):
            seen = np.intersect1d(seen, matches.rows())
        seen = np.sort(self._meeting(visible, seen))
        return Matches(seen, near[seen])

    def _reranked(
        self,
        visible: Visible,
        question: Question,
        nearness: Nearness,
        scores: Scores,
        matches: Matches,
    ) -> Matches:
        """Add to the best by words what they, and the nearest of few, gain by their nearness."""
        largest_of = partial(largest, visible=visible, oldest=scores.oldest)
        best = np.sort(largest_of(*matches.best(RERANKED), RERANKED))
        if shown_rows(visible) <= SCANNED_TOO and not demands(question):
            near = nearness.of_few(self._cache.vectors, self._state_of)
            seen = _unhidden(visible, np.flatnonzero(near > 0))
            seen = self._meeting(visible, seen)
            best = np.union1d(best, largest_of(seen, near[seen], RERANKED))
        values = scores.at(best)
        known = matches.holds(best)
        values[known] = matches.at(best[known])
        own = nearness.gains(best)
        values += own
        chosen = largest_of(best, values, BEST)
        rows = set(chosen.tolist())
        pairs = [pair for pair in self._neighbours if pair.row in rows]
        unknown = np.setdiff1d(chosen, self._refined)
        pairs += neighbours_of(self._db, visible, self._records, unknown)
        values += nearness.lent_gains(pairs, best, own) - own
        matches.put(best, values)
        return matches

    # Which rows may be hits

    def _allowed(
        self, visible: Visible, question: Question, scores: Scores, *, ranked: bool
    ) -> Bools:
        """Return which rows answer and keep to what the question demands."""
        named = question.actors or question.since or question.until
        bare = not (question.words or question.moments)
        demanded = question.phrases or any(word.required for word in question.words)
        everyone = (named and bare) or demanded
        allowed = (
            np.ones(visible.size, dtype=bool) if everyone else scores.candidates(ranked=ranked)
        )
        if visible.hidden is not None:
            allowed &= ~visible.hidden
        for unit in scores.units:
            asked = not unit.words[0].moment
            if (question.everything and asked) or any(word.required for word in unit.words):
                holding = rows_holding(visible, [_in_any_language(word) for word in unit.words])
                unit.mark_own(holding)
                allowed &= holding
        for phrase in question.phrases:
            whole = phrase.words[:-1] if phrase.prefix else phrase.words
            for piece in surely_indexed(whole):
                allowed &= rows_holding(visible, [word_in_any_language(piece)])
        for names in question.actors:
            for piece in names:
                allowed &= rows_by(visible, [word_in_any_language(piece)])
        for word in question.excluded:
            allowed &= ~rows_holding(visible, [_in_any_language(word)])
        return allowed

    def _meeting(self, visible: Visible, rows: Longs) -> Longs:
        """Return the rows, that no word found, which meet all conditions and days of a search."""
        rows = meeting_conditions(self._db, visible, rows)
        if self._days is None:
            return rows
        return rows[rows_within(visible, np.sort(rows), *self._days)[rows]]

    def _refine(
        self, visible: Visible, question: Question, scores: Scores, matches: Matches, wanted: int
    ) -> Callable[[], None]:
        """Score the best rows with their neighbours and by their kind, until so many are sure.

        What is returned does that with those that could not come up to the page. It is not kept
        here: two that know each other are not forgotten with the search, nor are all its arrays.
        """
        scored, values = matches.best(BEST, most_set_aside(scores))
        largest_of = partial(largest, visible=visible, oldest=scores.oldest)
        best = largest_of(scored, counted(scores, scored, values), BEST)
        near: list[Neighbour] = []
        if len(scores.units) > 1:
            near = self._neighbours = neighbours_of(self._db, visible, self._records, best)
            self._refined = best
        if near:
            candidates, values = self._spread(visible, question, scores, matches, best)
        else:
            # Nothing stands around them, and their scores are known.
            candidates = np.sort(best)
            values = values[np.searchsorted(scored, candidates)]
        self._check()
        chosen = largest_of(candidates, values, BEST)
        places = np.searchsorted(candidates, chosen)
        places = places[np.argsort(-values[places], kind="stable")]
        # The texts of rows that cannot come up to the page any more are not read.
        talking = {row for pair in near for row in (pair.row, pair.other)}
        fit_at = partial(self._fit, visible, question, candidates, values, talking)
        others = places
        for start in range(0, len(places), wanted):
            best_left = float(values[places[start]]) + most_gained(question)
            if start and best_left < least(values[places[:start]], wanted):
                break
            others = places[start + wanted :]
            fit_at(places[start : start + wanted])
        matches.put(candidates, values)

        def fit_others() -> None:
            fit_at(others)
            matches.put(candidates, values)

        return fit_others if len(others) else _nothing

    def _spread(
        self, visible: Visible, question: Question, scores: Scores, matches: Matches, best: Longs
    ) -> tuple[Longs, Floats]:
        """Return the best rows and those near them that match, each with what stands around it."""
        asking, addressing = self._asking(visible, scores), self._addressing(visible, scores)
        around, values = spread(scores, best, self._neighbours, asking, addressing)
        known = matches.holds(around)
        if not demands(question):
            raised = around[~known & (values > scores.at(around))]
            known |= np.isin(around, self._meeting(visible, raised))
        return around[known], values[known]

    def _asking(self, visible: Visible, scores: Scores) -> set[int]:
        """Return the rows right before another that are questions and hold an asked word."""
        firsts = {pair.first for pair in self._neighbours if abs(pair.distance) == 1}
        rows = np.array(sorted(firsts), dtype=np.int64)
        texts_of = self._texts_of(visible, rows[scores.at(rows) > 0].tolist())
        return {row for row, texts in texts_of.items() if asks(texts)}

    def _addressing(self, visible: Visible, scores: Scores) -> set[int]:
        """Return the rows that speak to the one person whom the question names."""
        texts_of = self._texts_of(visible, rows_near_named(scores, self._neighbours).tolist())
        names = [phrase for name in scores.actor_names if (phrase := phrase_of(name, ""))]
        return {row for row, texts in texts_of.items() if addresses(names, texts)}

    def _fit(
        self,
        visible: Visible,
        question: Question,
        rows: Longs,
        values: Floats,
        talking: Container[int],
        places: Longs,
    ) -> None:
        """Give the rows at some places what the kinds of their texts add or take."""
        found = rows[places].tolist()
        texts_of = self._texts_of(visible, found)
        for place, row in zip(places.tolist(), found, strict=True):
            if row in texts_of:
                value = float(values[place])
                values[place] = fit(question, value, texts_of[row], talking=row in talking)

    def _texts_of(self, visible: Visible, rows: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """Return how the visible texts of some rows begin, as far as their records are there."""
        unread = [row for row in rows if row not in self._texts]
        numbers = visible.numbers(np.array(unread, dtype=np.int64)).tolist()
        records = self._records.of(numbers)
        for row, number in zip(unread, numbers, strict=True):
            if number in records:
                texts = records[number].searched_texts(visible.part_of(row).reach)
                self._texts[row] = tuple(text[:LOOKED_AT] for text in texts)
                # A hundred texts of megabytes must not be in memory at once.
                self._records.forget_long()
        return {row: self._texts[row] for row in rows if row in self._texts}

    def _suggested(self, visible: Visible, question: Question) -> tuple[str, ...]:
        """Return visible words near to those of a question that found nothing."""
        near: list[str] = []
        for word in question.words:
            near += nearest_terms(visible, word.own, self._check, most=_MOST_SUGGESTED)
        return tuple(dict.fromkeys(near))[:_MOST_SUGGESTED]

    # Hits

    def _handles(self, visible: Visible, rows: Longs) -> list[tuple[str, str, str]]:
        """Return what some rows are called: their connection, their stream and their id."""
        unknown = [row for row in rows.tolist() if row not in self._named]
        if unknown:
            read = self._read_handles(visible, np.array(unknown, dtype=np.int64))
            self._named |= zip(unknown, read, strict=True)
        return [self._named[row] for row in rows.tolist()]

    def _read_handles(self, visible: Visible, rows: Longs) -> list[tuple[str, str, str]]:
        stored = self._db.execute(
            "SELECT r.id, r.surrogate, r.key FROM carray(?) AS c"
            " CROSS JOIN record r ON r.id = c.value",
            (self._db.array(visible.numbers(rows)),),
        )
        named = list(stored)
        handles: dict[int, tuple[str, str, str]] = {}
        for part, chosen in visible.by_part(rows):
            self._check()
            reach = self._whole[part.reach.feed.id]
            some = [named[at] for at in chosen.tolist()]
            ids = self._projector(reach, None).ids(some)
            address = reach.connection_id, reach.stream.name
            handles |= {at: (*address, id) for at, id in zip(chosen.tolist(), ids, strict=True)}
        return [handles[at] for at in range(len(rows))]

    def _hits(
        self, visible: Visible, rows: Longs, scores: Sequence[int], times: Sequence[int]
    ) -> list[Hit]:
        """Return the hits of some rows, each with its place in the order."""
        if not len(rows):
            return []
        hits = []
        records = self._records.stored(visible.numbers(rows).tolist())
        places = zip(records, rows.tolist(), times, scores, strict=True)
        shown: dict[int, tuple[Projector, str, str]] = {}
        for record_row, row, time, score in places:
            feed = visible.part_of(row).reach.feed.id
            known = shown.get(feed)
            if known is None:
                reach = self._whole[feed]
                projector = self._projector(reach, None)
                known = shown[feed] = projector, reach.connection_id, reach.stream.name
            projector, connection_id, stream = known
            [id] = projector.ids((record_row,))
            position = SearchPosition(score, time, (connection_id, stream, id))
            hits.append(Hit(self._whole[feed], position, partial(projector.record, record_row)))
        return hits


def _nothing() -> None:
    """Do nothing."""


def _in_any_language(word: Word) -> Word:
    """Return a word that must or must not be there, as it stands in texts of any language."""
    return word if word.prefix is not None else word_in_any_language(word.text)


def _unhidden(visible: Visible, rows: Longs) -> Longs:
    return rows if visible.hidden is None else rows[~visible.hidden[rows]]


def _told_times(question: Question, empty: Container[int]) -> tuple[str, ...]:
    """Return the times in which nothing visible happened, as the question writes them.

    A loose one may be another word, "march", and is looked for as that.
    """
    named = enumerate(zip(question.moments, question.times, strict=True), start=1)
    return tuple(text for number, (moment, text) in named if number in empty and not moment.loose)
