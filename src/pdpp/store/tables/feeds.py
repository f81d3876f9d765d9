"""Feeds: declarations, connections and feeds as they are kept, and re-indexing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from pdpp.model.declaration import Declaration, Kind, Stream
from pdpp.model.errors import Conflict, NotFound
from pdpp.model.validation import parse_declaration
from pdpp.store.catalogue import Catalogue, Connection, Feed
from pdpp.store.tables.catalogue_version import catalogue_version, raise_version
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.derived import RecordRow, chunks, derive
from pdpp.store.tables.numbering import MOST_FEEDS, MOST_PLACES
from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.records.dated import ADD as ADD_DATED
from pdpp.store.tables.records.dated import is_dated
from pdpp.store.tables.records.filled import filled_places
from pdpp.store.tables.records.predicate import ABSENT, OWNER
from pdpp.store.tables.records.stamps import MOVED, Stamps
from pdpp.store.tables.search.entry import Indexed

Progress = Callable[[int], None]
_Places = dict[str, list[Any]]
_NO_PLACES: _Places = {
    "cells": [],
    "dated": [],
    "lexical": [],
    "time": [],
    "blobs": [],
    "thread": [],
}


def load(db: TableReader, known: Catalogue | None) -> Catalogue:
    """Return the catalogue, reusing the declarations and feeds already parsed."""
    version = catalogue_version(db)
    if known is not None and known.version == version:
        return known
    parsed = dict(known.revisions) if known is not None else {}
    revisions: dict[str, Declaration] = {}
    for revision, document in db.execute(
        "SELECT revision, document FROM declaration WHERE owner = ? ORDER BY revision", (OWNER,)
    ):
        revisions[revision] = parsed.get(revision) or parse_declaration(orjson.loads(document))
    sources = {
        connector_key: revisions[revision]
        for connector_key, revision in db.execute(
            "SELECT connector_key, revision FROM source WHERE owner = ? ORDER BY connector_key",
            (OWNER,),
        )
    }
    connections = {
        row[0]: Connection(*row)
        for row in db.execute(
            "SELECT connection_id, connector_key, display_name FROM connection WHERE owner = ?"
            " ORDER BY connection_id",
            (OWNER,),
        )
    }
    had = known.feeds if known is not None else {}
    feeds = {
        (connection_id, stream): _same_feed(
            had.get((connection_id, stream)), number, connections[connection_id], sources, places
        )
        or stored_feed(number, connections[connection_id], sources, stream, places)
        for number, connection_id, stream, places in db.execute(
            "SELECT id, connection_id, stream, places FROM feed WHERE owner = ? AND removed = 0"
            " ORDER BY connection_id, stream",
            (OWNER,),
        )
        if stream in sources[connections[connection_id].connector_key].streams
    }
    return Catalogue(version, sources, revisions, connections, feeds, _merged(db))


def _merged(db: TableReader) -> dict[str, str]:
    rows: list[Any] = db.execute(
        "SELECT connection_id, target_id FROM merged_connection WHERE owner = ?", (OWNER,)
    ).fetchall()
    return dict(rows)


def _same_feed(
    had: Feed | None,
    number: int,
    connection: Connection,
    sources: dict[str, Declaration],
    places: str,
) -> Feed | None:
    """Return a feed that was read before, if it would be read the same again.

    Each change of an account lets the whole catalogue be read anew, and changes few of its feeds.
    """
    if not isinstance(had, IndexedFeed) or had.id != number or had.kept != places:
        return None
    declared = sources[connection.connector_key].streams[had.stream.name]
    return had if had.stream is declared and had.connection == connection else None


def stored_feed(
    number: int,
    connection: Connection,
    sources: dict[str, Declaration],
    stream: str,
    places: str,
) -> IndexedFeed:
    """Return a feed as it is kept."""
    kept = orjson.loads(places)
    cells = {
        name: (place, Kind(kind))
        for place, (name, kind) in enumerate(kept["cells"])
        if name is not None
    }
    lexical = _by_name(kept["lexical"])
    declared = sources[connection.connector_key].streams[stream]
    compared = {name: kind for name, (_, kind) in cells.items()}
    blobs = tuple(kept["blobs"])
    # A database from before dated cells has none until its declaration changes.
    dated = tuple(kept.get("dated", ()))
    return IndexedFeed(
        number,
        connection,
        declared,
        compared,
        tuple(lexical),
        blobs,
        cells,
        lexical,
        dated,
        places,
    )


def _by_name(names: Sequence[str | None]) -> dict[str, int]:
    """Return the place of each name."""
    return {name: place for place, name in enumerate(names) if name is not None}


def register(
    db: TableConnection, declaration: Declaration, now: int, progress: Progress | None
) -> None:
    """Make a declaration the current one of its source and index what it newly declares.

    One that is the current one already changes nothing.
    """
    key = declaration.connector_key
    current = _current(db, key)
    if current is not None and current.document["source"]["id"] != declaration.source_id:
        raise Conflict(f"{key!r} already names another source; choose another connector_key.")
    if current is not None and current.revision == declaration.revision:
        return
    db.execute(
        "INSERT OR IGNORE INTO declaration VALUES (?, ?, ?, ?, ?)",
        (OWNER, declaration.revision, key, now, orjson.dumps(declaration.document).decode()),
    )
    db.execute("INSERT OR REPLACE INTO source VALUES (?, ?, ?)", (OWNER, key, declaration.revision))
    raise_version(db)
    before = {} if current is None else parse_declaration(current.document).streams
    for connection in _connections_of(db, key):
        _lay_feeds(db, connection, declaration, before, progress)


def connect(db: TableConnection, connection: Connection) -> None:
    """Add a connection with a feed for each stream of its source, or rename it."""
    row = next(
        db.execute(
            "SELECT connector_key FROM connection WHERE owner = ? AND connection_id = ?",
            (OWNER, connection.connection_id),
        ),
        None,
    )
    if row is not None and row[0] != connection.connector_key:
        raise Conflict(f"{connection.connection_id!r} is already a connection of {row[0]!r}.")
    current = _current(db, connection.connector_key)
    if current is None:
        raise NotFound(
            f"There is no source {connection.connector_key!r}; register it with pdpp source add."
        )
    db.execute(
        "INSERT OR REPLACE INTO connection VALUES (?, ?, ?, ?)",
        (OWNER, connection.connection_id, connection.connector_key, connection.display_name),
    )
    # A new account under the id of one that was merged is an account of its own.
    db.execute(
        "DELETE FROM merged_connection WHERE owner = ? AND connection_id = ?",
        (OWNER, connection.connection_id),
    )
    raise_version(db)
    declaration = parse_declaration(current.document)
    _lay_feeds(db, connection, declaration, declaration.streams, None)


class _Current(NamedTuple):
    """The current declaration of a source as it was written."""

    revision: str
    document: Any


def _current(db: TableReader, connector_key: str) -> _Current | None:
    row = next(
        db.execute(
            "SELECT d.revision, d.document FROM source s JOIN declaration d"
            " ON d.owner = s.owner AND d.revision = s.revision"
            " WHERE s.owner = ? AND s.connector_key = ?",
            (OWNER, connector_key),
        ),
        None,
    )
    return None if row is None else _Current(str(row[0]), orjson.loads(row[1]))


def _connections_of(db: TableReader, connector_key: str) -> list[Connection]:
    return [
        Connection(*row)
        for row in db.execute(
            "SELECT connection_id, connector_key, display_name FROM connection"
            " WHERE owner = ? AND connector_key = ?",
            (OWNER, connector_key),
        )
    ]


def _lay_feeds(
    db: TableConnection,
    connection: Connection,
    declaration: Declaration,
    declared: Mapping[str, Stream],
    progress: Progress | None,
) -> None:
    """Give each stream of a connection its feed, and bring its places up to the declaration.

    ``declared`` are the streams as they were declared until now.
    """
    sources = {declaration.connector_key: declaration}
    for stream in declaration.streams.values():
        row = next(
            db.execute(
                "SELECT id, places FROM feed WHERE owner = ? AND connection_id = ? AND stream = ?",
                (OWNER, connection.connection_id, stream.name),
            ),
            None,
        )
        before: _Places = orjson.loads(row[1]) if row else dict(_NO_PLACES)
        after = _lay_places(stream, before)
        text = orjson.dumps(after).decode()
        if row is None:
            _add_feed(db, connection, stream, text)
            continue
        feed = stored_feed(row[0], connection, sources, stream.name, text)
        if after != before:
            db.execute("UPDATE feed SET places = ? WHERE id = ?", (text, feed.id))
            if after["time"] != before["time"]:
                _date_by(db, feed.id, *before["time"], *after["time"])
            reindex_feed(db, feed, progress)
        was = declared.get(stream.name)
        if after != before or stream != was:
            _follow_meaning(db, feed, before, was)


def _follow_meaning(
    db: TableConnection, feed: IndexedFeed, before: _Places, was: Stream | None
) -> None:
    """Have the vectors of a feed follow its declaration; ``was`` is its stream until now."""
    from pdpp.store.tables.search import meaning

    searched = _by_name(before["lexical"])
    had = {} if was is None else meaning.places_with_meaning(searched, was)
    meaning.follow_declaration(db, feed, had)


def _date_by(db: TableConnection, feed: int, before: str | None, after: str | None) -> None:
    """Let the records of a feed be dated by another field, also in what is kept of their past."""
    whose = (OWNER, feed)
    db.execute("UPDATE ghost SET time = NULL WHERE owner = ? AND feed = ?", whose)
    db.execute("DELETE FROM edit WHERE owner = ? AND feed = ? AND field = ?", (*whose, MOVED))
    for rows in chunks(db, feed, "surrogate, stamps", "AND stamps IS NOT NULL"):
        changed: list[tuple[str, int]] = []
        moved: list[tuple[int, int, bytes, int, int]] = []
        for number, surrogate, text in rows:
            stamps = Stamps.parse(text)
            stamps.date_by(before, after)
            changed.append((stamps.text(), number))
            moved += [(*whose, MOVED, version, surrogate) for version, *_ in stamps.moves]
        db.executemany("UPDATE record SET stamps = ? WHERE id = ?", changed)
        db.executemany("INSERT INTO edit VALUES (?, ?, ?, ?, ?)", moved)


def _add_feed(db: TableConnection, connection: Connection, stream: Stream, places: str) -> None:
    db.execute(
        "INSERT INTO feed (owner, connection_id, stream, places) VALUES (?, ?, ?, ?)",
        (OWNER, connection.connection_id, stream.name, places),
    )
    if db.last_insert_rowid() >= MOST_FEEDS:
        raise Conflict("This store holds as many streams as it can.")


def _lay_places(stream: Stream, before: _Places) -> _Places:
    """Return what each place means: kept where it still holds, emptied, or added at the end."""
    wanted = {f.name: f.kind.value for f in stream.fields.values() if f.indexed}
    cells = [
        cell if cell[0] is not None and wanted.get(cell[0]) == cell[1] else [None, None]
        for cell in before["cells"]
    ]
    fields = {cell[0] for cell in cells}
    cells += [[name, kind] for name, kind in wanted.items() if name not in fields]
    searched = [f.name for f in stream.fields.values() if f.searched]
    lexical = [name if name in searched else None for name in before["lexical"]]
    for name in (name for name in searched if name not in lexical):
        if None in lexical and len(lexical) >= MOST_PLACES:
            lexical[lexical.index(None)] = name
        else:
            lexical.append(name)
    blobs = sorted(f.name for f in stream.fields.values() if f.kind is Kind.BLOB)
    return {
        "cells": cells,
        "dated": _dated_places(stream, cells),
        "lexical": lexical,
        "blobs": blobs,
        **_orders(stream),
    }


def _orders(stream: Stream) -> _Places:
    """Return what the records of a stream are dated by, and stand in conversations by."""
    return {
        "time": [stream.consent_time_field],
        "thread": [stream.thread_field, *filter(None, [stream.thread_order])],
    }


def fits(stream: Stream, places: str) -> bool:
    """Tell whether records that are kept at some places are in order as a stream says."""
    return bool(_orders(stream).items() <= orjson.loads(places).items())


def _dated_places(stream: Stream, cells: Sequence[Sequence[str | None]]) -> list[int]:
    """Return the places of the fields whose values are found by time too."""
    if stream.consent_time_field is None:
        return []
    named = [(place, name) for place, (name, _) in enumerate(cells) if name is not None]
    return [place for place, name in named if is_dated(stream.fields[name])]


def reindex_feed(db: TableConnection, feed: IndexedFeed, progress: Progress | None = None) -> None:
    """Rewrite the cells and words of a feed's records from their data."""
    from pdpp.store.tables.search import index, stored_blocks

    for table in ("cell", "dated_cell", "exact_number", "blob_use"):
        db.execute(f"DELETE FROM {table} WHERE owner = ? AND feed = ?", (OWNER, feed.id))
    stored_blocks.forget_feed(db, feed.id)
    done = 0
    for rows in chunks(db, feed.id, "surrogate, key, data"):
        index.add(db, feed.id, tuple(feed.lexical.values()), _rewrite(db, feed, rows))
        done += len(rows)
        if progress is not None:
            progress(done)
    for place in filled_places(db, feed.id, feed.compared_places):
        db.fill_cells(feed.id, place)


def _rewrite(db: TableConnection, feed: IndexedFeed, rows: Sequence[RecordRow]) -> list[Indexed]:
    """Write what is kept of some records beside their data; return what their words become."""
    made = derive(db, feed, rows)
    db.executemany("UPDATE record SET cells = ?, time = ? WHERE id = ?", made.records)
    cells = [cell for cell in made.cells if cell[3] != ABSENT]
    db.executemany("INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?)", cells)
    db.executemany(ADD_DATED, made.dated)
    db.executemany("INSERT INTO exact_number VALUES (?, ?, ?, ?, ?)", made.exact)
    db.executemany("INSERT OR IGNORE INTO blob_use VALUES (?, ?, ?, ?, ?)", made.blobs)
    return made.words
