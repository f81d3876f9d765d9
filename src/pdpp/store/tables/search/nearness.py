"""Nearness: how near in meaning visible texts are to a question, by their vectors.

Only vectors of fields that a reach shows are read, of rows that a search sees.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pdpp.model.errors import InvalidRequest
from pdpp.store.ranking.postings import Floats, Longs
from pdpp.store.ranking.refine import Neighbour
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.search.lists import text_places
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.visible import Visible

MOST_SCANNED = 200_000
"""Visible records that are compared one by one; a scan of more would hold up other requests."""

SCANNED_TOO = 10_000
"""Visible records up to which a search by words also takes in the nearest without any of them."""

RERANKED = 200
LENT = (0.7, 0.5)
"""What a row of a conversation gets of its neighbours' gain, by their distance. Measured."""

_SCALE = 127.0 * 127.0
_CHUNK = 8_192


def nearness(db: TableReader, visible: Visible, rows: Longs, question: bytes) -> Floats:
    """Return how near each of some rows is, from 0 to 1; 0 where it has no vector."""
    asked = np.frombuffer(question, np.int8).astype(np.float32)
    near = np.zeros(len(rows))
    for part, places in _parts(visible):
        chosen = np.flatnonzero((rows >= part.base) & (rows < part.end))
        if not len(chosen) or not places:
            continue
        numbers = visible.numbers(rows[chosen])
        at_of = dict(zip(numbers.tolist(), chosen.tolist(), strict=True))
        vectors: list[Any] = db.execute(
            "SELECT m.record, m.vector FROM carray(?) AS c CROSS JOIN meaning m"
            " ON m.feed = ? AND m.record = c.value"
            f" AND m.place IN ({', '.join(map(str, sorted(places)))})",
            (db.array(numbers), part.reach.feed.id),
        ).fetchall()
        _raise(near, [(at_of[record], vector) for record, vector in vectors], asked)
    return near


def gains(db: TableReader, visible: Visible, rows: Longs, question: bytes) -> Floats:
    """Return what each of some rows gets for its meaning, beside its words.

    The square: a text that means the same gets as much as one that holds every word, and one that
    is about as near as any other text gets next to nothing. Measured.
    """
    near = nearness(db, visible, rows, question)
    return near * near


def lent_gains(
    db: TableReader,
    visible: Visible,
    question: bytes,
    pairs: Sequence[Neighbour],
    rows: Longs,
    own: Floats,
) -> Floats:
    """Return what some rows, which are in order, get by themselves or by a neighbour."""
    others = np.unique(np.array([pair.other for pair in pairs], dtype=np.int64))
    others_gain = gains(db, visible, others, question)
    lent = own.copy()
    lenders = np.searchsorted(others, [pair.other for pair in pairs])
    parts = np.array([LENT[pair.distance - 1] for pair in pairs])
    places = np.searchsorted(rows, [pair.row for pair in pairs])
    np.maximum.at(lent, places, parts * others_gain[lenders])
    return lent


def shown_rows(visible: Visible) -> int:
    """Return how many records a search sees; those that are gone or hidden do not count."""
    hidden = visible.hidden
    return visible.size - (0 if hidden is None else int(np.count_nonzero(hidden)))


def scanned(db: TableReader, visible: Visible, question: bytes, check: Any) -> Floats:
    """Return how near every visible row is; refuse to compare too many."""
    count = shown_rows(visible)
    if count > MOST_SCANNED:
        raise InvalidRequest(
            f"Search by meaning compares {MOST_SCANNED:,} records at most, and you can see"
            f" {count:,}: name streams or a connection, or search with mode=hybrid.",
            param="q",
        )
    near = np.zeros(visible.size)
    for start in range(0, visible.size, _CHUNK):
        check()
        rows = np.arange(start, min(start + _CHUNK, visible.size), dtype=np.int64)
        if visible.hidden is not None:
            # Hidden records have vectors too; to read those would take as long as there are many.
            rows = rows[~visible.hidden[rows]]
        near[rows] = nearness(db, visible, rows, question)
    return near


def _parts(visible: Visible) -> list[tuple[Part, frozenset[int]]]:
    places: dict[int, frozenset[int]] = {}
    for part in visible.parts:
        feed = part.reach.feed.id
        if feed not in places:
            places[feed] = frozenset(text_places(part.reach))
    return [(part, places[part.reach.feed.id]) for part in visible.parts]


def _raise(near: Floats, vectors: list[tuple[int, bytes]], asked: Any) -> None:
    if not vectors:
        return
    table = np.frombuffer(b"".join(vector for _, vector in vectors), np.int8)
    products = table.reshape(-1, len(asked)).astype(np.float32) @ asked / _SCALE
    np.maximum.at(near, [at for at, _ in vectors], products)
