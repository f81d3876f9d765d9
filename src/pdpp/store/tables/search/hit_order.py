"""The one order of hits: by score, then the newest or the oldest first, then by handle."""

from collections.abc import Callable, Sequence
from heapq import nsmallest
from typing import Any

import numpy as np

from pdpp.store.query import Hit, SearchPosition, SearchQuery
from pdpp.store.ranking.leaders import SCALE
from pdpp.store.ranking.matches import Matches
from pdpp.store.ranking.postings import Floats, Longs
from pdpp.store.tables.search.entry import NO_TIME
from pdpp.store.tables.search.visible import Visible

HitsOf = Callable[[Visible, Longs, Sequence[int], Sequence[int]], list[Hit]]
"""Makes the hits of some rows, given the score and the time of each."""

HandlesOf = Callable[[Visible, Longs], Sequence[tuple[str, str, str]]]
"""Returns the handles of some rows, by which equals are told apart."""


_AFTER_ALL = -(1 << 62)
"""Where a record without a time stands if the oldest come first: nobody knows how old it is."""


class HitOrder:
    """The matches of a question in their order."""

    def __init__(
        self,
        hits_of: HitsOf,
        handles_of: HandlesOf,
        visible: Visible,
        matches: Matches,
        query: SearchQuery,
        *,
        oldest: bool = False,
    ) -> None:
        self._hits_of = hits_of
        self._handles_of = handles_of
        self._visible = visible
        self._query = query
        self._oldest = oldest and not query.by_time
        first_page = query.after is None and not query.by_time
        self._rows, values = matches.best(query.limit + 1) if first_page else matches.every()
        scored = np.rint(values * SCALE).astype(np.int64)
        self._scores: Longs = np.zeros_like(scored) if query.by_time else scored
        self.looked_at: tuple[Longs, list[int]] = (self._rows[:0], [])
        """The rows of the page that was made last, and of the hit after it, with their scores."""

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
        times = precedence(self._visible, rows, oldest=self._oldest)
        order = np.lexsort((-times, -scores))
        rows, scores, times = rows[order], scores[order], times[order]
        if after is not None:
            later = (scores < after.score) | (times <= after.time)
            rows, scores, times = rows[later], scores[later], times[later]
        end = self._end(scores, times, after, wanted)
        rows, scores, times = rows[:end], scores[:end], times[:end]
        if end > wanted:
            first = self._first(rows, scores, times)
            rows, scores, times = rows[first], scores[first], times[first]
        self.looked_at = rows, scores.tolist()
        hits = self._hits_of(self._visible, *self.looked_at, times.tolist())
        hits.sort(key=lambda hit: _sort_key(hit.position))
        if after is not None:
            hits = [hit for hit in hits if _sort_key(hit.position) > _sort_key(after)]
        return tuple(hits[: self._query.limit]), len(hits) > self._query.limit

    def _first(self, rows: Longs, scores: Longs, times: Longs) -> list[int]:
        """Return which of some rows come first after the last page: as many as are looked at.

        Equals may be many thousands. Their handles tell them apart, and the others are not read.
        """
        after, handles = self._query.after, self._handles_of(self._visible, rows)
        positions = map(SearchPosition, scores.tolist(), times.tolist(), handles)
        keys = [_sort_key(position) for position in positions]
        later: Sequence[int] = range(len(keys))
        if after is not None:
            last = _sort_key(after)
            later = [at for at in later if keys[at] > last]
        return nsmallest(self._query.limit + 1, later, key=keys.__getitem__)

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


def precedence(visible: Visible, rows: Longs, *, oldest: bool) -> Longs:
    """Return the times of rows, of which the larger comes first: negative if the oldest does."""
    if not oldest:
        return visible.times(rows)
    times = visible.moments(rows)
    return np.where(times == NO_TIME, _AFTER_ALL, -times)


def largest(
    rows: Longs, values: Floats, count: int, visible: Visible, *, oldest: bool = False
) -> Longs:
    """Return the rows of the largest values, equals by time; a tie at the end is kept whole."""
    if len(rows) <= count:
        return rows
    scored = np.rint(values * SCALE).astype(np.int64)
    threshold = np.partition(scored, len(scored) - count)[len(scored) - count]
    above, level = rows[scored > threshold], rows[scored == threshold]
    room = count - len(above)
    if len(level) > room:
        times = precedence(visible, level, oldest=oldest)
        latest = np.partition(times, len(times) - room)[len(times) - room]
        level = level[times >= latest]
        level = level if len(level) <= count else level[:0]
    return np.concatenate([above, level])


def _sort_key(position: SearchPosition) -> tuple[Any, ...]:
    return -position.score, -position.time, position.handle
