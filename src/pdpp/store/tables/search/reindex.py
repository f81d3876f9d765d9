"""Making the word index anew after a change of the analyser, a bounded piece at a time.

Each piece is one transaction: some records leave an old block and come into a new one. At any
moment every record is in one block, so that searches go on, and a process that dies between two
pieces has lost nothing.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from pdpp.store.numbers import read_data
from pdpp.store.ranking.distinct import only_in
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.records.long_values import whole_data
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.search import index, packing, stored_blocks
from pdpp.store.tables.search.blocks import Longs
from pdpp.store.tables.search.entry import Indexed, entries_of

PIECE_RECORDS = 1_000


def reindex_some(db: TableConnection, feeds: Mapping[int, IndexedFeed]) -> bool:
    """Analyse some records of an old block anew; tell whether there was one."""
    row: Any = next(
        db.execute(
            "SELECT id, feed, numbers FROM word_block"
            " WHERE owner = ? AND feed > 0 AND analyser <> ? LIMIT 1",
            (OWNER, index.ANALYSER),
        ),
        None,
    )
    if row is None:
        return False
    block, feed_id, numbers = row
    feed = feeds.get(feed_id)
    if feed is None:
        _forget(db, feed_id)
        return True
    record_numbers = packing.longs(numbers)
    alive = only_in(np.arange(len(record_numbers)), stored_blocks.gone(db, block).astype(np.int64))
    slots = alive[:PIECE_RECORDS]
    if len(slots):
        entries = _entries(db, feed, record_numbers[slots])
        stored_blocks.mark_gone(db, block, slots)
        index.add(db, feed_id, tuple(feed.lexical.values()), entries)
    if len(slots) == len(alive):
        stored_blocks.drop(db, feed_id, [block])
    return True


def _forget(db: TableConnection, feed: int) -> None:
    """Remove the words of a feed that nobody reads: it is being removed, or declared no more.

    It has no places for words any more, so that a declaration which names it again indexes it.
    """
    stored_blocks.forget_feed(db, feed)
    stored = db.execute("SELECT places FROM feed WHERE id = ?", (feed,)).get
    if stored is not None:
        places = orjson.loads(stored)
        places["lexical"] = [None] * len(places["lexical"])
        text = orjson.dumps(places).decode()
        db.execute("UPDATE feed SET places = ? WHERE id = ?", (text, feed))


def _entries(db: TableReader, feed: IndexedFeed, numbers: Longs) -> list[Indexed]:
    rows: list[Any] = db.execute(
        "SELECT r.id, r.surrogate, r.key, r.time, r.data FROM carray(?) AS c"
        " CROSS JOIN record r ON r.id = c.value",
        (db.array(np.ascontiguousarray(numbers)),),
    ).fetchall()
    records = [
        read_data(whole_data(db, feed.id, surrogate, data)) for _, surrogate, _, _, data in rows
    ]
    entries = entries_of(feed)(
        records, [time for *_, time, _ in rows], [key for _, _, key, *_ in rows]
    )
    return [
        Indexed(number, surrogate, entry)
        for (number, surrogate, *_), entry in zip(rows, entries, strict=True)
    ]


def index_progress(db: TableReader) -> tuple[int, int]:
    """Return how many records are indexed by the analyser of today, and how many there are."""
    done, total = next(
        db.execute(
            "SELECT coalesce(sum(size) FILTER (WHERE analyser = ?), 0), coalesce(sum(size), 0)"
            " FROM word_block WHERE owner = ? AND feed > 0",
            (index.ANALYSER, OWNER),
        )
    )
    return done, total
