"""Search inside a grant: exact, over all that the reaches show.

The ranking sees visible rows only. What this module adds is what an engine knows: the records of
rows, their conversations, the conditions of a request, and the one order of hits.
"""

from collections.abc import Callable, Container
from datetime import tzinfo
from functools import partial

import numpy as np

from pdpp.evidence.language.asked_word import Word, word_in_any_language
from pdpp.evidence.language.question import Question
from pdpp.evidence.language.terms import surely_indexed, without_words
from pdpp.store.query import Hit, HitPage, SearchQuery
from pdpp.store.ranking.distinct import in_either, only_in
from pdpp.store.ranking.matches import Matches
from pdpp.store.ranking.nearest import nearest_terms
from pdpp.store.ranking.postings import Bools, Longs
from pdpp.store.ranking.refine import BEST, QUESTION_MALUS, most_set_aside, needs_refining
from pdpp.store.ranking.score import Ranking, Scores, rows_by, rows_holding
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.projection import CountBytes, Projectors
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
from pdpp.store.tables.search.hit_reader import HitReader
from pdpp.store.tables.search.hit_repeats import HitRepeats
from pdpp.store.tables.search.nearness import RERANKED, SCANNED_TOO, Nearness, shown_rows
from pdpp.store.tables.search.question_days import day_bonus, narrowed, rows_within
from pdpp.store.tables.search.record_data import RecordsRead
from pdpp.store.tables.search.refinement import Refinement, fit_no_others
from pdpp.store.tables.search.searched import searched
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
        self._days: tuple[Question, tzinfo] | None = None
        self._records = RecordsRead(db, count)

    def search(self, query: SearchQuery) -> HitPage:
        """Return one page of hits, best first."""
        question = query.question
        # With bars the days of the question narrow its answers, not the bars: both are one search.
        bars = query.months and (question.since, question.until) != (None, None)
        wide = question._replace(since=None, until=None) if bars else question
        reaches = narrowed(searched(query.reaches).worded, wide, query.zone)
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
        refinement = Refinement(self._db, visible, self._records, self._meeting, self._check)
        fit_others: Callable[[], None] = fit_no_others
        # Nearness alone asks of words only whether they are there, where that is demanded.
        ranked = not query.by_time and not (query.by_meaning and query.meaning is not None)
        if matches.count and ranked and needs_refining(question, scores):
            whole = query.after is not None or query.meaning is not None
            wanted = BEST if whole else query.limit + 1
            fit_others = refinement.refine(question, scores, matches, wanted)
        if query.meaning is not None and not query.by_time:
            matches = self._by_meaning(visible, query, question, scores, matches, refinement)
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
        reaches = searched(query.reaches).by_feed
        reader = HitReader(self._db, self._records, self._projector, reaches, self._check)
        order = partial(HitOrder, reader.hits, reader.handles, visible, oldest=scores.oldest)
        if not matches.count or query.by_time:
            return order(matches, query).page()
        repeats = HitRepeats(self._records, reader.handles, visible, scores)
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
        refinement: Refinement,
    ) -> Matches:
        """Order rows by their nearness to the question: the best by words, or all that are seen."""
        # Who said it and when is no part of what a text says: both count by themselves.
        text = question.untimed or question.text
        bare = without_words(text, scores.actor_names)
        vector = b"" if query.meaning is None else query.meaning(bare or text)
        nearness = Nearness(self._db, visible, vector)
        if query.by_meaning:
            return self._nearest(visible, question, nearness, matches)
        return self._reranked(visible, question, nearness, scores, matches, refinement)

    def _nearest(
        self, visible: Visible, question: Question, nearness: Nearness, matches: Matches
    ) -> Matches:
        """Return all rows that are near, and meet what the question demands."""
        if shown_rows(visible) <= SCANNED_TOO:
            near = nearness.of_few(self._cache.vectors, self._state_of)
        else:
            near = nearness.every(self._check)
        seen = _unhidden(visible, np.flatnonzero(near > 0))
        if demands(question):
            seen = seen[matches.holds(seen)]
        seen = np.sort(self._meeting(visible, seen))
        return Matches(seen, near[seen])

    def _reranked(
        self,
        visible: Visible,
        question: Question,
        nearness: Nearness,
        scores: Scores,
        matches: Matches,
        refinement: Refinement,
    ) -> Matches:
        """Add to the best by words what they, and the nearest of few, gain by their nearness."""
        largest_of = partial(largest, visible=visible, oldest=scores.oldest)
        best = np.sort(largest_of(*matches.best(RERANKED), RERANKED))
        if shown_rows(visible) <= SCANNED_TOO and not demands(question):
            near = nearness.of_few(self._cache.vectors, self._state_of)
            seen = _unhidden(visible, np.flatnonzero(near > 0))
            seen = self._meeting(visible, seen)
            best = in_either(best, largest_of(seen, near[seen], RERANKED))
        values = scores.at(best)
        known = matches.holds(best)
        values[known] = matches.at(best[known])
        own = nearness.gains(best)
        values += own
        chosen = largest_of(best, values, BEST)
        rows = set(chosen.tolist())
        pairs = [pair for pair in refinement.neighbours if pair.row in rows]
        unknown = only_in(chosen, refinement.rows)
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

    def _suggested(self, visible: Visible, question: Question) -> tuple[str, ...]:
        """Return visible words near to those of a question that found nothing."""
        near: list[str] = []
        for word in question.words:
            near += nearest_terms(visible, word.own, self._check, most=_MOST_SUGGESTED)
        return tuple(dict.fromkeys(near))[:_MOST_SUGGESTED]


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
