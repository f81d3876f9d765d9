"""Repeats: hits that say the same as a better one, so that ten copies do not fill a page.

A notice that comes every night answers a question as often as it came. Its first hit stays where it
is; the others count half, so that what else answers stands before them. Records repeat each other
if they are in one stream, have one score, and are equal in all that the reach shows of their
searched texts, their actors and their numbers.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from functools import partial

import numpy as np

from pdpp.store.ranking.leaders import SCALE
from pdpp.store.ranking.matches import Matches
from pdpp.store.ranking.postings import Floats, Longs
from pdpp.store.ranking.refine import BEST
from pdpp.store.scope import Reach
from pdpp.store.tables.search.hit_order import HandlesOf, largest, precedence
from pdpp.store.tables.search.record_data import RecordData, RecordsRead
from pdpp.store.tables.search.visible import Visible

REPEATED_PART = 0.5
"""What a repeat has of its score. Measured."""
_LEAST_BYTES = 80
"""From how many bytes of text on a record can be a repeat. A shorter one mostly tells when
something was, as an appointment of every week does."""


class HitRepeats:
    """Finds those of the best hits of a search that repeat others."""

    def __init__(
        self,
        read: RecordsRead,
        handles_of: HandlesOf,
        visible: Visible,
        *,
        oldest: bool,
    ) -> None:
        self._read = read
        self._handles_of = handles_of
        self._visible = visible
        self._oldest = oldest
        self._largest = partial(largest, visible=visible, oldest=oldest)

    def are_among_first(self, matches: Matches, count: int) -> bool:
        """Tell whether some of the first hits may be repeats; then all have to be looked at."""
        rows, values = matches.best(count)
        first = self._largest(rows, values, count)
        return len(first) < min(count, len(rows)) or len(self._among(rows, values, first)) > 0

    def put_back(self, matches: Matches) -> None:
        """Let the repeats among the best hits count half."""
        rows, values = matches.best(BEST)
        repeats = self._among(rows, values, self._largest(rows, values, BEST))
        matches.put(repeats, REPEATED_PART * values[np.searchsorted(rows, repeats)])

    def _among(self, rows: Longs, values: Floats, some: Longs) -> Longs:
        """Return which of some rows repeat others of them."""
        scored = np.rint(values[np.searchsorted(rows, some)] * SCALE).astype(np.int64).tolist()
        how_many = Counter(scored)
        every = zip(some.tolist(), scored, strict=True)
        tied = {row: score for row, score in every if how_many[score] > 1}
        if not tied:
            return np.zeros(0, dtype=np.int64)
        alike: dict[object, list[int]] = defaultdict(list)
        numbers = self._visible.numbers(np.array(list(tied), dtype=np.int64)).tolist()
        records = self._read.of(numbers)
        for (row, score), number in zip(tied.items(), numbers, strict=True):
            reach = self._visible.part_of(row).reach
            if number in records and (said := _said(records[number], reach)):
                alike[reach.feed.id, score, said].append(row)
        repeats = [row for same in alike.values() if len(same) > 1 for row in self._others(same)]
        return np.array(sorted(repeats), dtype=np.int64)

    def _others(self, same: Sequence[int]) -> list[int]:
        """Return all rows of one score but the one that comes first."""
        rows = np.array(same, dtype=np.int64)
        times = precedence(self._visible, rows, oldest=self._oldest)
        level = rows[times == times.max()]
        first = int(level[0])
        if len(level) > 1:
            handles = self._handles_of(self._visible, level)
            first = min(zip(handles, level.tolist(), strict=True))[1]
        return [row for row in same if row != first]


def _said(record: RecordData, reach: Reach) -> object | None:
    """Return what a reach shows of what a record says, None where that is little.

    Of a long text it is the form in the row, which ends in its digest, so that it is not read.
    """
    texts = [(name, record.row.get(name)) for name in reach.searched_fields()]
    held = tuple((name, text) for name, text in texts if isinstance(text, str))
    if sum(len(text.encode(errors="replace")) for _, text in held) < _LEAST_BYTES:
        return None
    names = repr([record.row.get(name) for name in reach.actor_fields()])
    return held, names, tuple(sorted(_numbers(record, reach)))


def _numbers(record: RecordData, reach: Reach) -> list[tuple[str, str]]:
    """Return the visible numbers of a record that are no part of its key, with their fields."""
    return [
        (name, str(value))
        for name, value in record.row.items()
        if isinstance(value, int | float | Decimal)
        and name not in reach.stream.primary_key
        and reach.shows(name)
    ]
