"""Nearness: how near in meaning visible texts are to a question, by their vectors.

Only vectors of fields that a reach shows are read, of rows that a search sees.
"""

from collections.abc import Callable, Sequence

import numpy as np

from pdpp.model.errors import InvalidRequest
from pdpp.store.ranking.distinct import each_once
from pdpp.store.ranking.postings import Floats, Longs
from pdpp.store.ranking.refine import Neighbour
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.search.vector_table import VectorCache, VectorTable, read_vectors
from pdpp.store.tables.search.visible import Visible

MOST_SCANNED = 200_000
"""Visible records that are compared one by one; a scan of more would hold up other requests."""

SCANNED_TOO = 10_000
"""Visible records up to which a search by words also takes in the nearest without any of them."""

RERANKED = 200
LENT = (0.7, 0.5)
"""What a row of a conversation gets of its neighbours' gain, by their distance. Measured."""

_CHUNK = 8_192


class Nearness:
    """How near the rows of one search are to its question, from 0 to 1; 0 is without a vector."""

    def __init__(self, db: TableReader, visible: Visible, question: bytes) -> None:
        self._db = db
        self._visible = visible
        self._question = question
        self._every: Floats | None = None

    def of(self, rows: Longs) -> Floats:
        """Return how near each of some rows is, which are in order."""
        if self._every is not None:
            return self._every[rows]
        near = np.zeros(len(rows))
        table = read_vectors(self._db, self._visible, rows)
        np.maximum.at(near, np.searchsorted(rows, table.rows), table.products(self._question))
        return near

    def every(self, check: Callable[[], None]) -> Floats:
        """Return how near every visible row is; refuse to compare too many."""
        count = shown_rows(self._visible)
        if count > MOST_SCANNED:
            raise InvalidRequest(
                f"Search by meaning compares {MOST_SCANNED:,} records at most, and you can see"
                f" {count:,}: name streams or a connection, or search with mode=hybrid.",
                param="q",
            )
        near = np.zeros(self._visible.size)
        for start in range(0, self._visible.size, _CHUNK):
            check()
            rows = self._seen(start, start + _CHUNK)
            near[rows] = self.of(rows)
        self._every = near
        return near

    def of_few(self, cache: VectorCache, state_of: Callable[[], object]) -> Floats:
        """Return how near every visible row is, of so few that their vectors are remembered."""

        def read() -> VectorTable:
            return read_vectors(self._db, self._visible, self._seen(0, self._visible.size))

        placement = self._visible.placement
        table = cache.table(placement, state_of(), read) if placement.lasts else read()
        near = np.zeros(self._visible.size)
        np.maximum.at(near, table.rows, table.products(self._question))
        self._every = near
        return near

    def _seen(self, start: int, end: int) -> Longs:
        """Return the rows of a range that may be seen.

        Hidden records have vectors too; to read those would take as long as there are many.
        """
        rows = np.arange(start, min(end, self._visible.size), dtype=np.int64)
        hidden = self._visible.hidden
        return rows if hidden is None else rows[~hidden[rows]]

    def gains(self, rows: Longs) -> Floats:
        """Return what each of some rows gets for its meaning, beside its words.

        The square: a text that means the same gets as much as one that holds every word, and one
        that is about as near as any other text gets next to nothing. Measured.
        """
        near = self.of(rows)
        return near * near

    def lent_gains(self, pairs: Sequence[Neighbour], rows: Longs, own: Floats) -> Floats:
        """Return what some rows, which are in order, get by themselves or by a neighbour."""
        others = each_once(np.array([pair.other for pair in pairs], dtype=np.int64))
        others_gain = self.gains(others)
        lent = own.copy()
        lenders = np.searchsorted(others, [pair.other for pair in pairs])
        parts = np.array([LENT[abs(pair.distance) - 1] for pair in pairs])
        places = np.searchsorted(rows, [pair.row for pair in pairs])
        np.maximum.at(lent, places, parts * others_gain[lenders])
        return lent


def shown_rows(visible: Visible) -> int:
    """Return how many records a search sees; those that are gone or hidden do not count."""
    hidden = visible.hidden
    return visible.size - (0 if hidden is None else int(np.count_nonzero(hidden)))
