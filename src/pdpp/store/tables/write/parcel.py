"""Parcels: a prepared batch as bytes, on its way to another process of this program.

The columns of a batch hold nothing but texts, numbers and plain lists, which the interpreter itself
writes several times as quickly as objects. What it cannot write has no parcel.
"""

import marshal
from collections.abc import Iterable
from typing import Any

from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.records.dated import DatedColumns
from pdpp.store.tables.search.block_row import BlockRow
from pdpp.store.tables.search.entry import Entry
from pdpp.store.tables.write.cell_order import CellOrder
from pdpp.store.tables.write.new_records import Arrangement
from pdpp.store.tables.write.prepared import ExactCell, PreparedBatch, Use

_COLUMNS = (
    "turn_of_key",
    "gone",
    "keys",
    "surrogates",
    "emitted",
    "times",
    "set_numbers",
    "digests_ahead",
    "cells",
    "texts",
    "long_values",
    "field_sets",
    "passed",
    "passed_ahead",
)
"""What is written as it is."""


def pack(batch: PreparedBatch) -> bytes | None:
    """Return a batch as bytes; None where a value cannot be written so, or memory is short."""
    columns = {name: getattr(batch, name) for name in _COLUMNS}
    try:
        entries = [*zip(*batch.entries, strict=True)]
        rows = (entries, _plain(batch.uses), _plain(batch.exact), _columns(batch.arrangement))
        words: Any = None if batch.words is None else tuple(batch.words)
        return marshal.dumps((columns, rows, batch.keep_newer, words))
    except (ValueError, MemoryError):
        return None


def unpack(feed: IndexedFeed, parcel: bytes) -> PreparedBatch:
    """Return the batch of a parcel, which is of a process of this program and of nobody else."""
    columns, rows, keep_newer, words = marshal.loads(parcel)  # noqa: S302
    entries, uses, exact, arranged = rows
    batch = PreparedBatch(feed, None, keep_newer=keep_newer)
    for name, column in columns.items():
        setattr(batch, name, column)
    batch.entries = [*map(Entry, *entries)] if entries else []
    batch.uses = [Use(*use) for use in uses]
    batch.exact = [ExactCell(*cell) for cell in exact]
    if arranged is not None:
        cells, *dated = arranged
        batch.arrangement = Arrangement(CellOrder(*cells), DatedColumns(*dated))
    batch.words = None if words is None else BlockRow(*words)
    return batch


def _columns(arrangement: Arrangement | None) -> Any:
    """Return where the values of records stand, as the interpreter's writer knows it."""
    return None if arrangement is None else (tuple(arrangement.cells), *arrangement.dated)


def _plain(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows that have names as the interpreter's writer knows them."""
    return [*map(tuple, rows)]
