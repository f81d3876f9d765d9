"""Envelopes: the shapes of answers that the contract names."""

from collections.abc import Iterable, Sequence
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

import orjson

from pdpp.model import instant
from pdpp.model.instant_json import to_json
from pdpp.resource.answers import (
    CountJson,
    Expanded,
    ListJson,
    ListLinks,
    ListMetaJson,
    ListPaging,
    SearchHints,
    SourceJson,
    TombstoneJson,
    WarningJson,
)
from pdpp.resource.call import Call
from pdpp.store.port import Record, Tombstone
from pdpp.store.scope import Reach

Item = TypeVar("Item")

_BETWEEN = b',{"object":"record","id":'
_EMITTED = b',"emitted_at":'
_VERSION = b',"version":'


def source_of(reach: Reach) -> SourceJson:
    """Return who a record comes from."""
    connection = reach.feed.connection
    return {
        "connection_id": connection.connection_id,
        "connector_key": connection.connector_key,
        "display_name": connection.display_name,
    }


def record_envelope(record: Record, expanded: Expanded | None = None) -> orjson.Fragment:
    """Return a record as it is answered; its data is passed on as it is stored."""
    envelope = _joined((record,))
    if expanded is not None:
        envelope = b'%b,"expanded":%b}' % (envelope[:-1], orjson.dumps(expanded))
    return orjson.Fragment(envelope)


def record_envelopes(records: Iterable[Record]) -> orjson.Fragment:
    """Return the list of records as they are answered."""
    return orjson.Fragment(b"[%b]" % _joined(records))


def _joined(records: Iterable[Record]) -> bytes:
    """Return the envelopes of records with commas between them.

    The pieces of all are put together in one go: a page has hundreds.
    """
    pieces: list[bytes] = []
    last, source = None, b""
    dumps = orjson.dumps
    for reach, id, data, emitted_at, version in records:
        if reach is not last:  # by identity: to hash a reach takes longer than the whole line
            last, source = reach, reach.once(_source_json)
        pieces += (_BETWEEN, dumps(id), source, data, _EMITTED, to_json(emitted_at), _VERSION)
        pieces += (dumps(version), b"}")
    # Every record begins with a comma; the first one loses it here, once for all.
    pieces[:1] = [_BETWEEN[1:]] if pieces else []
    return b"".join(pieces)


def _source_json(reach: Reach) -> bytes:
    """Return the members between a record's id and its data."""
    source = orjson.dumps({"stream": reach.stream.name, **source_of(reach)})
    return b"," + source[1:-1] + b',"data":'


def tombstone_envelope(tombstone: Tombstone) -> TombstoneJson:
    """Return the trace of a record that was deleted or moved away."""
    return {
        "object": "record",
        "id": tombstone.id,
        "stream": tombstone.reach.stream.name,
        **source_of(tombstone.reach),
        "emitted_at": instant.to_text(tombstone.emitted_at),
        "version": tombstone.version,
        "deleted": True,
        "deleted_at": instant.to_text(tombstone.deleted_at),
    }


def list_envelope(
    call: Call,
    data: Sequence[Item] | orjson.Fragment,
    *,
    next_cursor: str | None = None,
    next_changes_since: str | None = None,
    count: int | None = None,
    warnings: Sequence[WarningJson] = (),
    hints: SearchHints | None = None,
) -> ListJson[Item]:
    """Return a list as it is answered."""
    counted: CountJson = {"kind": "none"} if count is None else {"kind": "exact", "value": count}
    paging: ListPaging = {}
    links: ListLinks = {}
    if next_cursor is not None:
        paging["next_cursor"] = next_cursor
        links["next"] = with_cursor(call.url, next_cursor)
    if next_changes_since is not None:
        paging["next_changes_since"] = next_changes_since
    meta: ListMetaJson = {"count": counted, "warnings": [*call.query.warnings, *warnings]}
    if hints:
        meta = {**meta, **hints}
    return {
        "object": "list",
        "url": call.url,
        "data": data,
        "has_more": next_cursor is not None,
        **paging,
        "meta": meta,
        "links": links,
    }


def with_cursor(url: str, cursor: str) -> str:
    """Return an address that continues from a cursor, which needs no encoding."""
    # Most pages are first pages: parsing the query is left to those that follow.
    if "cursor=" not in url:
        return f"{url}{'&' if '?' in url else '?'}cursor={cursor}"
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(key, value) for key, value in pairs if key != "cursor"]
    return f"{parts.path}?{urlencode([*kept, ('cursor', cursor)])}"
