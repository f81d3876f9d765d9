"""Merging: what a connection holds moves into another one of its source, in bounded pieces.

A piece is written to the one and deleted from the other in one transaction. A merge that is cut
anywhere has lost nothing and shows nothing twice, and is finished by doing it again. Records keep
their surrogates; where both hold a key, the surrogate that goes leads to the one that stays, so
that what was cited before the merge is found by its owner.
"""

from typing import Any, NamedTuple

from pdpp.model.errors import Conflict
from pdpp.store.catalogue import Catalogue, Feed
from pdpp.store.numbers import read_data
from pdpp.store.port import MovedPiece
from pdpp.store.scope import Reach
from pdpp.store.tables import connections
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.records.long_values import whole_data
from pdpp.store.tables.records.predicate import OWNER, Sql, keyed_rows
from pdpp.store.tables.records.stamps import last_visible
from pdpp.store.tables.search import meaning
from pdpp.store.tables.write.age import is_older
from pdpp.store.tables.write.fieldsets import FieldSets
from pdpp.store.tables.write.prepared import PreparedBatch
from pdpp.store.tables.write.writer import BatchWriter

_PIECE = 500
_MOST_STEPS = 16


class _Row(NamedTuple):
    """A record as a merge reads it."""

    key: str
    surrogate: int
    created: int
    emitted: int
    stamps: str | None
    data: bytes


def move_some(
    db: TableConnection,
    catalogue: Catalogue,
    ids: tuple[str, str],
    field_sets: FieldSets,
    now: int,
) -> MovedPiece:
    """Move some records from one connection into another; hide the first when it is empty."""
    source_id, target_id = ids
    if source_id not in catalogue.connections and catalogue.merged.get(source_id) == target_id:
        return MovedPiece(0, 0, more=False)
    source_key = connections.source_of(db, source_id)
    if source_id == target_id or source_key != connections.source_of(db, target_id):
        raise Conflict("Only two connections of the same source can be merged.")
    # Also streams that the source does not declare any more: nothing is lost by a merge.
    stored: list[Any] = db.execute(
        "SELECT id, stream FROM feed WHERE owner = ? AND connection_id = ?", (OWNER, source_id)
    ).fetchall()
    for number, stream in stored:
        target = connections.any_feed(db, catalogue, target_id, stream)
        source = connections.any_feed(db, catalogue, source_id, stream)
        feed = number if target is None else target.id
        meaning.keep_out_too(db, (source_id, stream), target_id, feed)
        if target is None or source is None:
            db.execute("UPDATE feed SET connection_id = ? WHERE id = ?", (target_id, number))
            continue
        rows = _rows(db, number)
        if rows:
            written = _move(db, source, target, rows, field_sets, now)
            return MovedPiece(len(rows), written, more=True)
        db.execute(
            "UPDATE OR IGNORE merged_record SET feed = ? WHERE owner = ? AND feed = ?",
            (target.id, OWNER, number),
        )
    # Those that were merged into the first one before go with it.
    db.execute(
        "UPDATE merged_connection SET target_id = ? WHERE owner = ? AND target_id = ?",
        (target_id, OWNER, source_id),
    )
    connections.hide(db, source_id)
    db.execute("INSERT INTO merged_connection VALUES (?, ?, ?)", (OWNER, source_id, target_id))
    return MovedPiece(0, 0, more=False)


def _rows(db: TableReader, feed: int, keys: list[str] | None = None) -> list[_Row]:
    columns = "r.key, r.surrogate, r.created, r.emitted, r.stamps, r.data"
    if keys is None:
        sql = f"SELECT {columns} FROM record r WHERE r.owner = ? AND r.feed = ? LIMIT ?"
        return [_Row(*row) for row in db.execute(sql, (OWNER, feed, _PIECE))]
    named = Sql(f"SELECT {columns} FROM") + keyed_rows("record", "r", feed, keys)
    return [_Row(*row) for row in db.execute(named.text, named.values)]


def _move(
    db: TableConnection,
    source: IndexedFeed,
    target: IndexedFeed,
    rows: list[_Row],
    field_sets: FieldSets,
    now: int,
) -> int:
    """Write the newer records to the target and delete all of them from the source."""
    keys = [row.key for row in rows]
    known = {row.key: row for row in _rows(db, target.id, keys)}
    surrogates = {row.key: row.surrogate for row in rows}
    leaving = PreparedBatch(source, None)
    arriving = PreparedBatch(target, lambda _, key: surrogates[key])
    for row in rows:
        there = known.get(row.key)
        if there is None or _is_newer(source, row, target, there):
            data = whole_data(db, source.id, row.surrogate, row.data)
            arriving.keep(row.key, _emission(source, row), read_data(data), data)
        leaving.drop(row.key, now)
    result = BatchWriter(db, arriving, field_sets, now).write()
    BatchWriter(db, leaving, field_sets, now).write()
    for row in _rows(db, target.id, keys):
        if row.surrogate != surrogates[row.key]:
            db.execute(
                "INSERT OR REPLACE INTO merged_record VALUES (?, ?, ?, ?)",
                (OWNER, target.id, surrogates[row.key], row.surrogate),
            )
    return result.new + result.changed


def _is_newer(source: Feed, row: _Row, target: Feed, there: _Row) -> bool:
    """Tell whether a record is a later state than the one that the target has.

    What both say of themselves counts first: an old export may have been imported last.
    """
    if is_older(source, row.data, there.data):
        return False
    if is_older(target, there.data, row.data):
        return True
    return _emission(target, there) < _emission(source, row)


def _emission(feed: Feed, row: _Row) -> int:
    """Return when a record was last emitted, as its owner sees it."""
    if row.stamps is None:
        return row.emitted
    owner = Reach(feed, feed.stream, None, True)
    return last_visible(owner, row.created, row.emitted, row.stamps)[1]


def staying(db: TableReader, feed: int, surrogate: int) -> int:
    """Return the surrogate of the record that one became part of, itself where it did not."""
    sql = "SELECT target FROM merged_record WHERE owner = ? AND feed = ? AND surrogate = ?"
    for _ in range(_MOST_STEPS):
        row = next(db.execute(sql, (OWNER, feed, surrogate)), None)
        if row is None:
            return surrogate
        surrogate = int(row[0])
    return surrogate
