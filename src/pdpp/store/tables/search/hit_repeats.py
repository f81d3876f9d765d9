"""Repeats: hits that say the same as a better one, so that ten copies do not fill a page.

A notice that comes every night answers a question as often as it came. Its first hit stays where it
is; the others count half, so that what else answers stands before them. Records repeat each other
if they are in one stream, have one score, and are equal in all that the reach shows of their
searched texts, their actors and their numbers.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from heapq import nsmallest

import numpy as np

from pdpp.store.ranking.distinct import only_in
from pdpp.store.ranking.leaders import SCALE
from pdpp.store.ranking.matches import Matches
from pdpp.store.ranking.postings import Floats, Longs
from pdpp.store.ranking.refine import BEST
from pdpp.store.ranking.score import Scores
from pdpp.store.scope import Reach
from pdpp.store.tables.records.long_values import long_value
from pdpp.store.tables.search.hit_order import HandlesOf, precedence
from pdpp.store.tables.search.record_data import RecordData, RecordsRead
from pdpp.store.tables.search.visible import Visible

REPEATED_PART = 0.5
"""What a repeat has of its score. Measured."""
_MOST_COMPARED = 300
"""How many records behind the best hits are compared with repeats among these."""
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
        scores: Scores,
    ) -> None:
        self._read = read
        self._handles_of = handles_of
        self._visible = visible
        self._scores = scores
        self._oldest = scores.oldest

    def are_among(self, rows: Longs, scores: Sequence[int]) -> bool:
        """Tell whether some hits, given with their scores, are repeats of others of them."""
        return bool(self._among(rows, scores))

    def put_back(self, matches: Matches) -> None:
        """Let the repeats among the best hits count half, and those behind that repeat them."""
        rows, levels = _levels(matches, BEST)
        best = self._first(rows, levels, BEST)
        repeats = self._among(best, levels[np.searchsorted(rows, best)].tolist())
        if repeats:
            behind = self._behind(*_levels(matches, BEST + _MOST_COMPARED), np.array(repeats))
            repeats = [*repeats, *self._copies(repeats, only_in(behind, best))]
        put = np.array(sorted(repeats), dtype=np.int64)
        whole = matches.at(put)
        # A score may be below nothing, and half of that would be more.
        matches.put(put, np.minimum(whole, REPEATED_PART * whole))

    def _behind(self, rows: Longs, levels: Longs, repeats: Longs) -> Longs:
        """Return the rows that may say the same as repeats among the best.

        Without them the hundred-and-first copy would come up to the page. They have the score of
        those, or the one that those had before they were fitted, which only the best are.
        """
        own, feeds = self._feeds_of(repeats), self._feeds_of(rows)
        known = (levels[np.searchsorted(rows, repeats)], _rounded(self._scores.at(repeats)))
        alike = np.zeros(len(rows), dtype=bool)
        for level, feed in {pair for scores in known for pair in zip(scores, own, strict=True)}:
            alike |= (levels == level) & (feeds == feed)
        return rows[alike]

    def _copies(self, repeats: Sequence[int], rows: Longs) -> list[int]:
        """Return those of some rows that say what repeats say.

        Of very many the last are not read, and taken for copies.
        """
        first = self._first(rows, np.zeros_like(rows), _MOST_COMPARED)
        said = {*self._said_by(repeats)} - {None}
        read = zip(first.tolist(), self._said_by(first.tolist()), strict=True)
        unread: list[int] = only_in(rows, first).tolist()
        return [row for row, key in read if key in said] + unread

    def _first(self, rows: Longs, scores: Longs, count: int) -> Longs:
        """Return those of some rows that come first in the order of hits, by their numbers."""
        if len(rows) <= count:
            return rows
        times = precedence(self._visible, rows, oldest=self._oldest)
        order = np.lexsort((-times, -scores))
        last = order[count - 1]
        level = (scores == scores[last]) & (times == times[last])
        chosen = order[:count]
        chosen = chosen[~level[chosen]]
        equals = rows[level]
        room = count - len(chosen)
        # A few more are no harm; of very many, handles decide.
        if len(equals) > max(room, BEST):
            handles = self._handles_of(self._visible, equals)
            equals = equals[nsmallest(room, range(len(equals)), key=handles.__getitem__)]
        return np.sort(np.concatenate([rows[chosen], equals]))

    def _feed_of(self, row: int) -> int:
        return self._visible.part_of(row).reach.feed.id

    def _feeds_of(self, rows: Longs) -> Longs:
        feeds = np.zeros(len(rows), dtype=np.int64)
        for part, chosen in self._visible.by_part(rows):
            feeds[chosen] = part.reach.feed.id
        return feeds

    def _said_by(self, rows: Sequence[int]) -> Iterator[object]:
        """Yield the stream and all that is said of each row, None where it cannot be a repeat."""
        numbers = self._visible.few_numbers(rows)
        records = self._read.of(numbers)
        for row, number in zip(rows, numbers, strict=True):
            record, reach = records.get(number), self._visible.part_of(row).reach
            said = None if record is None else _said(record, reach)
            if record is None or said is None:
                yield None
            else:
                yield reach.feed.id, _texts(record, reach), said

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
        # Mostly no two hits of a page have one score, and then no stream is asked for.
        if len(set(scores)) == len(scores):
            return
        level: dict[int, list[int]] = {}
        for row, score in zip(rows.tolist(), scores, strict=True):
            level.setdefault(score, []).append(row)
        for equals in level.values():
            if len(equals) == 1:
                continue
            tied: dict[int, list[int]] = {}
            for row in equals:
                tied.setdefault(self._feed_of(row), []).append(row)
            yield from (alike for alike in tied.values() if len(alike) > 1)

    def _grouped(
        self, rows: Sequence[int], key_of: Callable[[RecordData, Reach], object]
    ) -> Iterator[list[int]]:
        """Yield those of some rows that have a key in common; None is no key."""
        numbers = self._visible.few_numbers(rows)
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


def _levels(matches: Matches, count: int) -> tuple[Longs, Longs]:
    """Return the best so many rows and their equals, each with its score as it is compared."""
    rows, values = matches.best(count)
    levels = _rounded(values)
    if len(rows) <= count:
        return rows, levels
    # Which others are returned beside the best is chance, and must change nothing.
    kept = levels >= np.partition(levels, len(levels) - count)[len(levels) - count]
    return rows[kept], levels[kept]


def _rounded(values: Floats) -> Longs:
    return np.rint(values * SCALE).astype(np.int64)


def _texts(record: RecordData, reach: Reach) -> object:
    """Return the texts that a reach searches.

    Of a long text it is the form in the row, which ends in its digest, so that it is not read.
    """
    texts = (record.row.get(name) for name in reach.searched_fields())
    return tuple(text if isinstance(text, str) else None for text in texts)


def _said(record: RecordData, reach: Reach) -> object | None:
    """Return what a reach shows of a record beside its texts, None where these are short."""
    texts = (record.row.get(name) for name in reach.searched_fields())
    size = sum(_size(text) for text in texts if isinstance(text, str))
    if size < _LEAST_BYTES:
        return None
    names = repr([record.row.get(name) for name in reach.actor_fields()])
    return names, tuple(sorted(_numbers(record, reach)))


def _size(text: str) -> int:
    """Return how many bytes a text has; of a long one only a short form is in the row."""
    long = long_value(text)
    return len(text.encode(errors="replace")) if long is None else long.size


def _numbers(record: RecordData, reach: Reach) -> list[tuple[str, str]]:
    """Return the visible numbers of a record that are no part of its key, with their fields."""
    return [
        (name, str(value))
        for name, value in record.row.items()
        if isinstance(value, int | float | Decimal)
        and name not in reach.stream.primary_key
        and reach.shows(name)
    ]
