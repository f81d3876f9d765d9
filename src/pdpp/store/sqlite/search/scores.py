"""Scores: how strongly a query marks a record, by its own words alone."""

from collections.abc import Sequence
from functools import lru_cache

import apsw

from pdpp.store.sqlite.numbering import PLACE_BITS
from pdpp.store.sqlite.search import lengths
from pdpp.store.sqlite.search.postings import Further, Row

_SATURATION = 1.2
_LENGTH_WEIGHT = 0.5
_USUAL_LENGTH = 100


@lru_cache(maxsize=65_536)
def score(hits: int, length: int) -> int:
    """Return how strongly a phrase marks a text, by how often it stands there and how long it is.

    In millionths, because whole numbers add up to the same in any order.
    """
    damping = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / _USUAL_LENGTH
    return round(1_000_000 * hits * (_SATURATION + 1) / (hits + _SATURATION * damping))


def scores(db: apsw.Connection, firsts: Sequence[Row], further: Further) -> list[int]:
    """Return the score of each record, the points of all its rows added up."""
    rows = list(firsts)
    if further:
        for row, _ in firsts:
            rows += further.get(row >> PLACE_BITS, ())
    sizes = lengths.of_rows(db, [row for row, _ in rows])
    points = list(map(score, [hits for _, hits in rows], sizes))
    if len(rows) == len(firsts):
        return points
    totals: dict[int, int] = {}
    for (row, _), more in zip(rows, points, strict=True):
        totals[row >> PLACE_BITS] = totals.get(row >> PLACE_BITS, 0) + more
    return [totals[row >> PLACE_BITS] for row, _ in firsts]
