"""Derived rows: what is kept of records beside their data, all of which can be made of it anew."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import orjson

from pdpp.model.errors import DamagedRecord
from pdpp.store.numbers import read_data
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.positions import IndexedFeed, cells_of
from pdpp.store.tables.records.dated import dated_columns
from pdpp.store.tables.records.long_values import whole_data
from pdpp.store.tables.records.predicate import ABSENT, OWNER
from pdpp.store.tables.search.entry import Indexed, entries_of
from pdpp.store.tables.write.prepared import blobs_of, exact_cells

RecordRow = tuple[int, int, str, bytes]
"""A record's number, its surrogate, its key and its data."""
Rows = list[tuple[Any, ...]]
_CHUNK = 1_000


class DerivedRows(NamedTuple):
    """What some records come to: rows of each table as they are added, and words.

    ``records`` are the cells and the time of each, as its own row has them, with its number.
    """

    records: Rows
    cells: Rows
    dated: Rows
    exact: Rows
    blobs: Rows
    words: list[Indexed]


def derive(db: TableReader, feed: IndexedFeed, rows: Sequence[RecordRow]) -> DerivedRows:
    """Return what is kept of some records of a feed beside their data."""
    data = [_data_of(db, feed, row) for row in rows]
    consent = feed.stream.consent_time_field
    every = cells_of(feed.cells)(data)
    times = [values[feed.cells[consent][0]] if consent is not None else None for values in every]
    moments = [time if isinstance(time, int) else None for time in times]
    numbers = [number for number, *_ in rows]
    dated = dated_columns(feed.dated, every, moments, numbers)
    made = DerivedRows([], [], [(OWNER, feed.id, *row) for row in dated.rows()], [], [], [])
    for (number, surrogate, *_), record, values, time in zip(rows, data, every, times, strict=True):
        made.records.append((orjson.dumps(values).decode(), time, number))
        for place, _ in feed.cells.values():
            value = ABSENT if values[place] is None else values[place]
            made.cells.append((OWNER, feed.id, place, value, surrogate, number))
        for place, key in exact_cells(feed, record):
            made.exact.append((OWNER, feed.id, place, surrogate, key))
        for name, blob_id in blobs_of(feed, record):
            made.blobs.append((OWNER, blob_id, feed.id, name, number))
    if feed.lexical:
        entries = entries_of(feed)(data, moments, [key for _, _, key, _ in rows])
        surrogates = [surrogate for _, surrogate, *_ in rows]
        made.words.extend(map(Indexed, numbers, surrogates, entries))
    return made


def _data_of(db: TableReader, feed: IndexedFeed, row: RecordRow) -> dict[str, Any]:
    """Return the data of a record; refuse what is damaged, which only a backup still has."""
    _, surrogate, key, text = row
    try:
        data = read_data(whole_data(db, feed.id, surrogate, text))
    except ValueError:
        data = None
    if not isinstance(data, dict):
        stream = "/".join(feed.address)
        raise DamagedRecord(f"the record {key!r} of {stream} cannot be read; restore a backup")
    return data


def chunks(db: TableReader, feed: int, columns: str, where: str = "") -> Iterable[list[Any]]:
    """Yield the records of a feed in pieces: the number of each, and some columns."""
    last = -1
    while rows := list(
        db.execute(
            f"SELECT id, {columns} FROM record WHERE owner = ? AND feed = ? AND id > ? {where}"
            " ORDER BY id LIMIT ?",
            (OWNER, feed, last, _CHUNK),
        )
    ):
        yield rows
        last = rows[-1][0]
