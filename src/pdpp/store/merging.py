"""Merging: two connections of one source become one, with each record kept once."""

import orjson

from pdpp.model.errors import Conflict, NotFound
from pdpp.store.catalogue import Catalogue, Connection, Feed
from pdpp.store.port import Line, PagePosition, PageQuery, Record, Store
from pdpp.store.scope import Reach

_PIECE = 500


def merge_connections(store: Store, source_id: str, target_id: str) -> int:
    """Move what a connection holds into another one; return how many records were written.

    Of records with the same key the one that was emitted last is kept. What was moved is written
    before anything is removed, so that a merge that was interrupted can be done again.
    """
    catalogue = store.catalogue()
    source, target = _connection(catalogue, source_id), _connection(catalogue, target_id)
    check_mergeable(source, target)
    moved = sum(
        _move(store, feed, catalogue.feeds[target_id, feed.stream.name])
        for (connection_id, _), feed in catalogue.feeds.items()
        if connection_id == source_id
    )
    store.remove_connection(source_id)
    return moved


def check_mergeable(source: Connection, target: Connection) -> None:
    """Refuse a merge of a connection with itself or with one of another source."""
    same = source.connection_id == target.connection_id
    if same or source.connector_key != target.connector_key:
        raise Conflict("Only two connections of the same source can be merged.")


def _connection(catalogue: Catalogue, connection_id: str) -> Connection:
    connection = catalogue.connections.get(connection_id)
    if connection is None:
        raise NotFound(f"There is no connection {connection_id!r}.")
    return connection


def _move(store: Store, source: Feed, target: Feed) -> int:
    reach = Reach(source, source.stream, None, True)
    there = Reach(target, target.stream, None, True)
    written, after = 0, None
    while True:
        page, after = _piece(store, reach, after)
        newer = [record for record in page if _is_newer(store, there, record)]
        lines = [
            Line(number, record.id, record.emitted_at, orjson.loads(record.data))
            for number, record in enumerate(newer)
        ]
        result = store.write(target, lines)
        written += result.new + result.changed
        if after is None:
            return written


def _piece(
    store: Store, reach: Reach, after: PagePosition | None
) -> tuple[tuple[Record, ...], PagePosition | None]:
    page = store.page(PageQuery((reach,), _PIECE, after=after))
    return page.records, page.next


def _is_newer(store: Store, there: Reach, record: Record) -> bool:
    known = store.record(there, record.id)
    return known is None or known.emitted_at < record.emitted_at
