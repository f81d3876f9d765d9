"""Repeats: hits that say the same as a better one, so that ten copies do not fill a page.

A notice that comes every night answers a question as often as it came. Its first hit stays where it
is; the others count half, so that what else answers stands before them. Records repeat each other
if they are in one stream, have one score, and are equal in all that the reach shows of their
searched texts, their actors and their numbers.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

import numpy as np

from pdpp.store.ranking.leaders import SCALE
from pdpp.store.ranking.matches import Matches
from pdpp.store.ranking.postings import Longs
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

    def are_among(self, rows: Longs, scores: Sequence[int]) -> bool:
        """Tell whether some hits, given with their scores, are repeats of others of them."""
        return bool(self._among(rows, scores))

    def put_back(self, matches: Matches) -> None:
        """Let the repeats among the best hits count half."""
        rows, values = matches.best(BEST)
        best = largest(rows, values, BEST, self._visible, oldest=self._oldest)
        scored = np.rint(values[np.searchsorted(rows, best)] * SCALE).astype(np.int64)
        repeats = np.array(self._among(best, scored.tolist()), dtype=np.int64)
        matches.put(repeats, REPEATED_PART * values[np.searchsorted(rows, repeats)])

    def _among(self, rows: Longs, scores: Sequence[int]) -> list[int]:
        """Return which of some rows repeat others of them, in order."""
        repeats = [
            row
            for alike in self._tied(rows, scores)
            for texts in self._grouped(alike, _texts)
            for same in self._grouped(texts, _said)
            for row in self._others(same)
        ]
        return sorted(repeats)

    def _tied(self, rows: Longs, scores: Sequence[int]) -> Iterator[list[int]]:
        """Yield the rows of one stream and one score, where there are several."""
        tied: dict[tuple[int, int], list[int]] = defaultdict(list)
        for row, score in zip(rows.tolist(), scores, strict=True):
            tied[score, self._visible.part_of(row).reach.feed.id].append(row)
        return (alike for alike in tied.values() if len(alike) > 1)

    def _grouped(
        self, rows: Sequence[int], key_of: Callable[[RecordData, Reach], object]
    ) -> Iterator[list[int]]:
        """Yield those of some rows that have a key in common; None is no key."""
        numbers = self._visible.numbers(np.array(rows, dtype=np.int64)).tolist()
        records = self._read.of(numbers)
        same: dict[object, list[int]] = defaultdict(list)
        for row, number in zip(rows, numbers, strict=True):
            if number in records:
                reach = self._visible.part_of(row).reach
                same[key_of(records[number], reach)].append(row)
        return (rows for key, rows in same.items() if key is not None and len(rows) > 1)

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


def _texts(record: RecordData, reach: Reach) -> object:
    """Return the texts that a reach searches.

    Of a long text it is the form in the row, which ends in its digest, so that it is not read.
    """
    texts = (record.row.get(name) for name in reach.searched_fields())
    return tuple(text if isinstance(text, str) else None for text in texts)


def _said(record: RecordData, reach: Reach) -> object | None:
    """Return what a reach shows of a record beside its texts, None where these are short."""
    texts = (record.row.get(name) for name in reach.searched_fields())
    size = sum(len(text.encode(errors="replace")) for text in texts if isinstance(text, str))
    if size < _LEAST_BYTES:
        return None
    names = repr([record.row.get(name) for name in reach.actor_fields()])
    return names, tuple(sorted(_numbers(record, reach)))


def _numbers(record: RecordData, reach: Reach) -> list[tuple[str, str]]:
    """Return the visible numbers of a record that are no part of its key, with their fields."""
    return [
        (name, str(value))
        for name, value in record.row.items()
        if isinstance(value, int | float | Decimal)
        and name not in reach.stream.primary_key
        and reach.shows(name)
    ]
