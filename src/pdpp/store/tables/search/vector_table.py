"""Vectors of visible texts, as a search compares them: of some rows, or of all that it sees."""

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pdpp.store.ranking.postings import Floats, Longs
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.positions import indexed
from pdpp.store.tables.search.lists import text_places
from pdpp.store.tables.search.meaning import places_of
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.states import KnownStates

if TYPE_CHECKING:
    from pdpp.store.tables.search.placement import Placement
    from pdpp.store.tables.search.visible import Visible

_SCALE = 127.0 * 127.0
_AT_ONCE = 256
"""Vectors that are made larger numbers at once: these stay in the processor's memory."""

_MOST_BYTES = 24 << 20
"""How much is remembered of all that was searched lately."""


class VectorTable(NamedTuple):
    """The vectors of visible fields of some rows, and the row of each."""

    rows: Longs
    vectors: NDArray[np.int8]

    def products(self, question: bytes) -> Floats:
        """Return how near each vector is, from -1 to 1.

        A sum of 384 products of two bytes is exact, so that no vector beside it changes a bit.
        """
        asked = np.frombuffer(question, np.int8).astype(np.float32)
        products = np.empty(len(self.rows), dtype=np.float32)
        if len(self.rows):
            table = self.vectors.reshape(len(self.rows), len(asked))
            for start in range(0, len(table), _AT_ONCE):
                some = table[start : start + _AT_ONCE].astype(np.float32)
                np.matmul(some, asked, out=products[start : start + _AT_ONCE])
        return products.astype(np.float64) / _SCALE

    @property
    def size(self) -> int:
        """Return how many bytes it takes."""
        return self.rows.nbytes + self.vectors.nbytes

    def equals(self, other: "VectorTable") -> bool:
        """Tell whether two tables have the same vectors of the same rows."""
        return np.array_equal(self.rows, other.rows) and np.array_equal(self.vectors, other.vectors)


def read_vectors(db: TableReader, visible: "Visible", rows: Longs) -> VectorTable:
    """Return the vectors of the fields that reaches show, of rows that a search sees."""
    by_feed: dict[int, list[tuple[Part, Longs]]] = {}
    for part, chosen in visible.by_part(rows):
        by_feed.setdefault(part.reach.feed.id, []).append((part, rows[chosen]))
    tables = [_of_feed(db, visible, parts) for parts in by_feed.values()]
    if not tables:
        return VectorTable(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int8))
    return VectorTable(
        np.concatenate([table.rows for table in tables]),
        np.concatenate([table.vectors for table in tables]),
    )


def _of_feed(db: TableReader, visible: "Visible", parts: list[tuple[Part, Longs]]) -> VectorTable:
    """Return the vectors of rows of one feed; a search has one reach of a feed."""
    reach = parts[0][0].reach
    rows = np.concatenate([some for _, some in parts])
    numbers = np.concatenate([visible.numbers_in(part, some) for part, some in parts])
    # A store from before may have vectors of a field that has become sensitive since.
    meant = places_of(indexed(reach.feed)).values()
    places = sorted(set(meant).intersection(text_places(reach)))
    found: list[Any] = []
    if places:
        found = db.execute(
            "SELECT m.record, m.vector FROM carray(?) AS c CROSS JOIN meaning m"
            " ON m.feed = ? AND m.record = c.value"
            f" AND m.place IN ({', '.join(map(str, places))})",
            (db.array(numbers), reach.feed.id),
        ).fetchall()
    records = np.fromiter((record for record, _ in found), np.int64, len(found))
    order = np.argsort(numbers)
    at = np.searchsorted(numbers[order], records)
    joined = b"".join([vector for _, vector in found])
    return VectorTable(rows[order[at]], np.frombuffer(joined, np.int8))


class _Known(NamedTuple):
    """The vectors of a placement, and the states of the database in which it had them."""

    table: VectorTable
    states: KnownStates


class VectorCache:
    """Remembers all vectors of what was searched lately, while nothing is written.

    To read them takes longer than everything else of a question with few visible records.
    """

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Placement, _Known] = WeakKeyDictionary()
        """Those used last at the end. Each write makes new placements, and the old ones end."""
        self._lock = Lock()

    def table(
        self, placement: "Placement", state: object, read: Callable[[], VectorTable]
    ) -> VectorTable:
        """Return the vectors of a placement in a state; they are read where it is a new one."""
        with self._lock:
            known = self._known.get(placement)
            if known is not None and state in known.states:
                self._put_last(placement, known)
                return known.table
        table = read()
        with self._lock:
            if known is not None and known.table.equals(table):
                known.states.add(state)
            else:
                known = _Known(table, KnownStates(state))
            self._put_last(placement, known)
            self._make_room()
        return known.table

    def _put_last(self, placement: "Placement", known: _Known) -> None:
        self._known.pop(placement, None)
        self._known[placement] = known

    def _make_room(self) -> None:
        # References in one step: another thread may end a placement meanwhile.
        every = [one for known in self._known.keyrefs() if (one := known()) is not None]
        sizes = [self._known[one].table.size for one in every]
        total = sum(sizes)
        for oldest, size in zip(every[:-1], sizes, strict=False):
            if total <= _MOST_BYTES:
                break
            total -= size
            del self._known[oldest]
