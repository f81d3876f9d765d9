"""Integrity: check all rows and blobs and describe what is damaged."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import orjson

from pdpp.store.numbers import read_data
from pdpp.store.tables.blob_folder import BlobFolder
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.mending import index_problems
from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.records.long_values import (
    LONG_FIELDS,
    has_long_values,
    long_members,
    long_name,
)
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.write.fieldsets import UNKNOWN


def row_problems(
    db: TableReader, feeds: Iterable[IndexedFeed], blobs: BlobFolder, *, sound: bool = True
) -> Iterator[str]:
    """Yield what is wrong with what the tables say; ``sound`` says that every page can be read."""
    yield from _of_counts(db)
    lacking = list(_of_long_values(db))
    yield from lacking
    if sound:
        yield from _of_words(db)
    if sound and not lacking:
        yield from index_problems(db, feeds)
    yield from _of_blobs(db, blobs)


def _of_counts(db: TableReader) -> Iterator[str]:
    rows = db.execute(
        "SELECT connection_id, stream, record_count,"
        " (SELECT count(*) FROM record WHERE owner = feed.owner AND feed = feed.id)"
        " FROM feed WHERE owner = ?",
        (OWNER,),
    )
    for connection_id, stream, kept, actual in rows:
        if kept != actual:
            yield f"{connection_id}/{stream} counts {kept} records and holds {actual}"


def _of_long_values(db: TableReader) -> Iterator[str]:
    """Look for each long value that a record names, and for those that none names."""
    sets: list[Any] = db.execute(
        "SELECT id, fields FROM field_set WHERE owner = ?", (OWNER,)
    ).fetchall()
    numbers = [id for id, fields in sets if LONG_FIELDS in orjson.loads(fields)]
    names = "SELECT name FROM long_value WHERE owner = ? AND feed = ? AND surrogate = ?"
    lacking: Counter[int] = Counter()
    known: Counter[int] = Counter()
    for feed, surrogate, data in db.execute(
        "SELECT feed, surrogate, data FROM record WHERE owner = ?"
        " AND field_set IN (SELECT value FROM json_each(?))",
        (OWNER, orjson.dumps([UNKNOWN, *numbers]).decode()),
    ):
        if has_long_values(data):
            wanted = {long_name(name) for name in _long_members(data)}
            stored = {name for (name,) in db.execute(names, (OWNER, feed, surrogate))}
            lacking[feed] += len(wanted - stored)
            known[feed] += len(wanted & stored)
    kept = dict(_rows(db, "SELECT feed, count(*) FROM long_value WHERE owner = ? GROUP BY feed"))
    for id, connection_id, stream in _rows(
        db, "SELECT id, connection_id, stream FROM feed WHERE owner = ?"
    ):
        if lacking[id]:
            yield f"{connection_id}/{stream} lacks {lacking[id]} of the long values of its records"
        if kept.get(id, 0) > known[id]:
            yield f"{connection_id}/{stream} holds long values that no record names"


def _long_members(data: bytes) -> Collection[str]:
    """Return the long members of a record, none where it is damaged, which is told elsewhere."""
    try:
        return long_members(read_data(data))
    except ValueError:
        return ()


def _rows(db: TableReader, sql: str) -> list[Any]:
    rows: list[Any] = db.execute(sql, (OWNER,)).fetchall()
    return rows


def _of_words(db: TableReader) -> Iterator[str]:
    from pdpp.store.tables.search.check import word_problems

    yield from word_problems(db)


def _of_blobs(db: TableReader, blobs: BlobFolder) -> Iterator[str]:
    rows = db.execute("SELECT blob_id, size_bytes FROM blob WHERE owner = ?", (OWNER,))
    for blob_id, size in rows:
        problem = blobs.problem(blob_id, size)
        if problem is not None:
            yield problem
