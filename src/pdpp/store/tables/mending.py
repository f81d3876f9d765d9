"""Mending: find streams that are not indexed as their records are, and index them anew.

Filters, sorts, conversations and files are looked up in tables that are made of the records. Where
one of these is not what the records come to, answers miss something, and no page of the file is
damaged. All rows of each table are compared, by their number and a sum over them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from pdpp.model.errors import DamagedRecord
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.derived import chunks, derive
from pdpp.store.tables.feeds import Progress, reindex_feed
from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.records.filled import filled_places
from pdpp.store.tables.records.predicate import ABSENT, OWNER

ADVICE = "pdpp check --mend makes it anew"

_KEPT: Mapping[str, str] = {
    "cell": "SELECT w.value AS value, w.field AS place, w.surrogate, w.record FROM cell w"
    " WHERE w.owner = ? AND w.feed = ?",
    "dated_cell": "SELECT mark, time, sequence FROM dated_cell WHERE owner = ? AND feed = ?",
    "exact_number": "SELECT field AS place, surrogate, key FROM exact_number"
    " WHERE owner = ? AND feed = ?",
    "blob_use": "SELECT blob_id, field AS name, record FROM blob_use WHERE owner = ? AND feed = ?",
}
_THREADS = "SELECT thread, time, ordinal, surrogate, record FROM thread_place WHERE feed = ?"
_SUMS = 1 << 64


class _Sums:
    """How many rows some tables have, and a sum over them that does not depend on their order."""

    def __init__(self) -> None:
        self._sums: Counter[str] = Counter()

    def add(self, table: str, rows: Iterable[Any]) -> None:
        """Count rows of a table."""
        for row in rows:
            self._sums[f"{table} rows"] += 1
            self._sums[table] = (self._sums[table] + hash(tuple(row))) % _SUMS

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sums) and self._sums == other._sums

    __hash__ = None  # type: ignore[assignment]


def index_problems(db: TableReader, feeds: Iterable[IndexedFeed]) -> Iterator[str]:
    """Yield which streams are not indexed as their records are, or hold one that is damaged."""
    for feed in feeds:
        try:
            indexed = is_indexed(db, feed)
        except DamagedRecord as damage:
            yield str(damage)
            continue
        if not indexed:
            yield f"{'/'.join(feed.address)} is not indexed as its records are; {ADVICE}"


def is_indexed(db: TableReader, feed: IndexedFeed) -> bool:
    """Tell whether what is kept beside the records of a feed is what they come to."""
    return _kept(db, feed) == _wanted(db, feed)


def _kept(db: TableReader, feed: IndexedFeed) -> _Sums:
    sums = _Sums()
    for table, sql in _KEPT.items():
        sums.add(table, db.execute(sql, (OWNER, feed.id)))
    sums.add("thread_place", db.execute(_THREADS, (feed.id,)))
    for rows in chunks(db, feed.id, "time, cells"):
        sums.add("record", [(id, time, _values(cells)) for id, time, cells in rows])
    return sums


def _wanted(db: TableReader, feed: IndexedFeed) -> _Sums:
    from pdpp.store.tables.search.index import thread_rows

    sums, filled = _Sums(), filled_places(db, feed.id, feed.compared_places)
    for rows in chunks(db, feed.id, "surrogate, key, data"):
        made = derive(db, feed, rows)
        cells = [cell for cell in made.cells if cell[2] in filled or cell[3] != ABSENT]
        sums.add("cell", [(v, place, s, number) for _, _, place, v, s, number in cells])
        sums.add("dated_cell", [row for _, _, *row in made.dated])
        sums.add("exact_number", [row for _, _, *row in made.exact])
        sums.add("blob_use", [(blob, name, number) for _, blob, _, name, number in made.blobs])
        sums.add("thread_place", [row for _, *row in thread_rows(feed.id, made.words)])
        sums.add("record", [(id, time, _values(cells)) for cells, time, id in made.records])
    return sums


def _values(cells: str) -> object:
    """Return the cells of a record as values; damaged ones as they are."""
    try:
        values = orjson.loads(cells)
    except ValueError:
        return cells
    damaged = not isinstance(values, list) or any(isinstance(v, list | dict) for v in values)
    return cells if damaged else tuple(values)


def mend_feed(db: TableConnection, feed: IndexedFeed, progress: Progress | None) -> None:
    """Make what is kept beside the records of a feed, and their count, anew."""
    reindex_feed(db, feed, progress)
    records = "SELECT count(*) FROM record WHERE owner = ? AND feed = ?"
    count = int(db.execute(records, (OWNER, feed.id)).get)
    db.execute("UPDATE feed SET record_count = ? WHERE id = ?", (count, feed.id))


def drop_lost_postings(db: TableConnection) -> None:
    """Remove postings that belong to no block."""
    from pdpp.store.tables.search import long_postings

    db.execute(
        "DELETE FROM posting WHERE NOT EXISTS"
        " (SELECT 1 FROM word_block b WHERE b.id = posting.block)"
    )
    blocks = {id for (id,) in db.execute("SELECT id FROM word_block")}
    every = [id for (id,) in db.execute("SELECT id FROM long_posting")]
    long_postings.delete(db, [id for id in every if long_postings.block_of(id) not in blocks])
