"""Connections that go: hidden at once, then deleted in bounded pieces that survive a crash.

A feed that is being removed says so and leaves its connection, so that no catalogue shows it and
the connection can be added anew. Its records are deleted as any others are, by the writer of
batches, so that nothing is left of them in any index.
"""

from typing import Any

from pdpp.model.errors import NotFound
from pdpp.store.catalogue import Catalogue, Connection
from pdpp.store.port import ConnectionContents
from pdpp.store.tables import feeds
from pdpp.store.tables.catalogue_version import raise_version
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.write.fieldsets import FieldSets
from pdpp.store.tables.write.prepared import PreparedBatch
from pdpp.store.tables.write.writer import BatchWriter

_PIECE = 500


def contents(db: TableReader, connection_id: str) -> ConnectionContents:
    """Return what is lost when a connection is removed."""
    source_of(db, connection_id)
    streams: list[Any] = db.execute(
        "SELECT stream, record_count, record_bytes FROM feed WHERE owner = ? AND connection_id = ?"
        " ORDER BY stream",
        (OWNER, connection_id),
    ).fetchall()
    blobs, size = db.execute(
        "SELECT count(*), coalesce(sum(size_bytes), 0) FROM blob b WHERE owner = ? AND blob_id IN"
        " (SELECT u.blob_id FROM blob_use u JOIN feed f ON f.id = u.feed"
        "  WHERE f.owner = b.owner AND f.connection_id = ?)"
        " AND NOT EXISTS (SELECT 1 FROM blob_use u JOIN feed f ON f.id = u.feed"
        "  WHERE u.owner = b.owner AND u.blob_id = b.blob_id AND f.connection_id <> ?"
        "  AND f.removed = 0)",
        (OWNER, connection_id, connection_id),
    ).get
    counts = {stream: count for stream, count, _ in streams}
    return ConnectionContents(connection_id, counts, sum(row[2] for row in streams), blobs, size)


def sizes(db: TableReader) -> dict[str, int]:
    """Return how long the JSON of each connection's records is."""
    rows: list[Any] = db.execute(
        "SELECT connection_id, sum(record_bytes) FROM feed WHERE owner = ? AND removed = 0"
        " GROUP BY connection_id",
        (OWNER,),
    ).fetchall()
    return {connection_id: int(size) for connection_id, size in rows}


def rename(db: TableConnection, connection_id: str, display_name: str) -> None:
    """Give a connection another name."""
    source_of(db, connection_id)
    db.execute(
        "UPDATE connection SET display_name = ? WHERE owner = ? AND connection_id = ?",
        (display_name, OWNER, connection_id),
    )
    raise_version(db)


def hide(db: TableConnection, connection_id: str) -> None:
    """Take a connection out of the catalogue; what it holds is to be deleted piece by piece."""
    connector_key = source_of(db, connection_id)
    for column in ("connection_id", "target_id"):
        db.execute(
            f"DELETE FROM merged_connection WHERE owner = ? AND {column} = ?",
            (OWNER, connection_id),
        )
    db.execute(
        "DELETE FROM connection WHERE owner = ? AND connection_id = ?", (OWNER, connection_id)
    )
    # The number keeps apart what two connections of one source leave that are removed together.
    db.execute(
        "UPDATE feed SET removed = 1, connection_id = id || '#' || ?"
        " WHERE owner = ? AND connection_id = ?",
        (connector_key, OWNER, connection_id),
    )
    raise_version(db)


def delete_some(db: TableConnection, catalogue: Catalogue, field_sets: FieldSets, now: int) -> bool:
    """Delete a piece of what removed connections hold; tell whether there was any."""
    feed = _removed_feed(db, catalogue)
    if feed is None:
        return False
    keys: list[Any] = db.execute(
        "SELECT key FROM record WHERE owner = ? AND feed = ? LIMIT ?", (OWNER, feed.id, _PIECE)
    ).fetchall()
    batch = PreparedBatch(feed, None)
    for (key,) in keys:
        batch.drop(key, now)
    BatchWriter(db, batch, field_sets, now).write()
    for table in ("ghost", "merged_record", "exact_number"):
        db.execute(f"DELETE FROM {table} WHERE owner = ? AND feed = ?", (OWNER, feed.id))
    if len(keys) < _PIECE:
        from pdpp.store.tables.search import meaning, stored_blocks

        # The number of a feed may be given to another one.
        stored_blocks.forget_feed(db, feed.id)
        meaning.forget_feed(db, feed.id)
        db.execute("DELETE FROM feed WHERE id = ?", (feed.id,))
    return True


def _removed_feed(db: TableReader, catalogue: Catalogue) -> IndexedFeed | None:
    """Return a feed that is being removed, as some declaration of its stream has it."""
    row: Any = next(
        db.execute(
            "SELECT id, connection_id, stream, places FROM feed WHERE owner = ? AND removed = 1"
            " LIMIT 1",
            (OWNER,),
        ),
        None,
    )
    if row is None:
        return None
    number, name, stream, places = row
    connection = Connection(name, name.partition("#")[2], "")
    return _feed(catalogue, connection, number, stream, places)


def any_feed(
    db: TableConnection, catalogue: Catalogue, connection_id: str, stream: str
) -> IndexedFeed | None:
    """Return a feed of a connection, also of a stream that its source declares no more."""
    row: Any = next(
        db.execute(
            "SELECT id, places FROM feed WHERE owner = ? AND connection_id = ? AND stream = ?",
            (OWNER, connection_id, stream),
        ),
        None,
    )
    if row is None:
        return None
    return _feed(catalogue, catalogue.connections[connection_id], row[0], stream, row[1])


def _feed(
    catalogue: Catalogue, connection: Connection, number: int, stream: str, places: str
) -> IndexedFeed:
    """Return a feed as the current declaration of its stream has it, else as an earlier one.

    That is one by which its records are dated and stand in their conversations, as they were left.
    """
    connector_key = connection.connector_key
    current = catalogue.sources.get(connector_key)
    if current is None or stream not in current.streams:
        earlier = [
            declaration
            for declaration in catalogue.revisions.values()
            if declaration.connector_key == connector_key and stream in declaration.streams
        ]
        fitting = (one for one in earlier if feeds.fits(one.streams[stream], places))
        current = next(fitting, earlier[-1])
    return feeds.stored_feed(number, connection, {connector_key: current}, stream, places)


def source_of(db: TableReader, connection_id: str) -> str:
    """Return the source of a connection, which there must be."""
    known = "SELECT connector_key FROM connection WHERE owner = ? AND connection_id = ?"
    row = next(db.execute(known, (OWNER, connection_id)), None)
    if row is None:
        raise NotFound(f"There is no connection {connection_id!r}.")
    return str(row[0])
