"""Schema and streams: what a token opens and what may be asked of it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from pdpp.authz.principal import Principal
from pdpp.evidence.compact import LEGEND, compact_schema
from pdpp.evidence.stream_refusal import refused_stream
from pdpp.model import instant
from pdpp.model.declaration import Declaration, Field, Relationship
from pdpp.model.errors import AmbiguousSchemaDetail, InvalidRequest
from pdpp.resource.answers import COUNT_KINDS, ListJson, StreamJson
from pdpp.resource.call import Call, ambiguous, visible_views
from pdpp.resource.envelope import list_envelope, source_of
from pdpp.resource.relation import expandable
from pdpp.resource.schema_answers import (
    BearerJson,
    ConnectionJson,
    ConnectorJson,
    FieldJson,
    FullStream,
    OfferJson,
    RelationJson,
    SchemaJson,
    StreamIndexRow,
)
from pdpp.service.accounts import newest_events, newest_times
from pdpp.service.runner import check_time, leave_loop
from pdpp.store.scope import Reach

NEWEST_BEFORE = "pdpp-newest-before"
"""The header of a page that browses by time: the newest record of each stream before a moment.

Times are then those that months are of; the moment may be left empty.
"""

_FEW_FIELDS = 1_000
"""Up to here the fields of a stream are told at once, for all accounts that have it: each takes
some ten microseconds. More are told in a thread, so that nobody waits."""


def get_schema(call: Call) -> Mapping[str, Any]:
    """Answer ``GET /v1/schema``.

    Without a view a stream is answered in full, as the reference server does, for every connection
    that has it; who asks for detail is asked to choose one.
    """
    stream, connection_id = call.query.text("stream"), call.query.text("connection_id")
    compact = call.query.text("view") == "compact"
    full = call.query.text("detail") == "full"
    if full and stream is None:
        raise InvalidRequest(
            "detail=full needs a stream: find its name with view=compact, then ask with stream "
            "and connection_id.",
            param="stream",
        )
    if full and compact:
        raise InvalidRequest("Give view=compact or detail=full, not both.", param="detail")
    reaches = call.reaches(stream)
    if not reaches and (stream is not None or connection_id is not None):
        raise refused_stream(stream, connection_id)
    if full:
        call.refuse_open_package(reaches)
    if full and len(reaches) > 1:
        raise ambiguous(reaches, f"{stream!r} is", AmbiguousSchemaDetail)
    if stream is not None:  # for all of it: making it compact asks for no time
        shown = (reach.stream.fields if reach.fields is None else reach.fields for reach in reaches)
        leave_loop(sum(map(len, shown)), _FEW_FIELDS)
    body = _full_body(call, reaches, fields=stream is not None)
    return compact_schema(body, stream=stream) if compact or stream is None else body


def _full_body(call: Call, reaches: Sequence[Reach], *, fields: bool) -> SchemaJson[StreamIndexRow]:
    counts, sources = call.store.counts(reaches), call.store.catalogue().sources
    connectors = [
        _connector(call, sources, list(group), counts, fields=fields)
        for _, group in groupby(reaches, key=lambda reach: reach.feed.connection.connector_key)
    ]
    return {
        "object": "schema",
        "detail": "full",
        "bearer": _bearer(call),
        "connectors": connectors,
        "connector_count": len(connectors),
        "stream_count": len(reaches),
        "field_capability_legend": LEGEND,
    }


def _bearer(call: Call) -> BearerJson:
    grant = call.principal.grant
    approval = grant or call.principal.package
    return {
        "scope": _scope(call.principal),
        "token_kind": call.principal.token.kind,
        "grant_id": None if grant is None else grant.id,
        "client_id": None if approval is None else approval.client_id,
    }


def _scope(principal: Principal) -> str:
    if principal.is_owner:
        return "owner"
    return "package" if principal.grant is None else "grant"


def _connector(
    call: Call,
    sources: Mapping[str, Declaration],
    reaches: Sequence[Reach],
    counts: Mapping[int, int],
    *,
    fields: bool,
) -> ConnectorJson[StreamIndexRow]:
    check_time()
    first = reaches[0].feed.connection
    declaration = sources[first.connector_key]
    connections: dict[str, ConnectionJson] = {
        reach.connection_id: {
            "connection_id": reach.connection_id,
            "display_name": reach.feed.connection.display_name,
        }
        for reach in reaches
    }
    connector: ConnectorJson[StreamIndexRow] = {
        "connector_key": first.connector_key,
        "connector_id": declaration.source_id,
        "display_name": declaration.display_name,
        "source": {"kind": declaration.source_kind, "id": declaration.source_id},
        "granted_connections": list(connections.values()),
        "stream_count": len(reaches),
        "streams": _rows(call, reaches, counts, fields=fields),
    }
    if fields and call.principal.is_owner:
        connector["declaration"] = declaration.document
    return connector


def _rows(
    call: Call, reaches: Sequence[Reach], counts: Mapping[int, int], *, fields: bool
) -> list[StreamIndexRow]:
    if fields:
        return [_full_row(call, reach, counts[reach.feed.id]) for reach in reaches]
    return [
        {
            "name": reach.stream.name,
            "connection_id": reach.feed.connection.connection_id,
            "record_count": counts[reach.feed.id],
            "label": reach.stream.label,
        }
        for reach in reaches
    ]


def _full_row(call: Call, reach: Reach, count: int) -> FullStream:
    check_time()
    stream = reach.stream
    has_model = call.encoder is not None and call.encoder.installed
    by_meaning = call.store.meaning.shown(reach) if has_model else frozenset()
    row: FullStream = {
        "name": stream.name,
        "connection_id": reach.connection_id,
        "record_count": count,
        "label": stream.label,
        "description": stream.description,
        "detail": stream.detail,
        "semantics": stream.semantics.value,
        "primary_key": [name for name in stream.primary_key if reach.shows(name)],
        "cursor_field": _if_visible(reach, stream.cursor_field),
        "consent_time_field": _if_visible(reach, stream.consent_time_field),
        "default_sort": reach.default_sort(),
        "field_capabilities": {
            name: _field(reach, stream.fields[name], name in by_meaning) for name in reach.names()
        },
        "views": [
            {"id": name, "label": stream.views[name].label, "fields": list(visible)}
            for name, visible in visible_views(reach).items()
        ],
        "expand_capabilities": [
            _relation(relation) for relation in expandable(call, reach).values()
        ],
        "search": [
            *(["lexical"] if reach.searched_fields() else []),
            *(["semantic"] if by_meaning else []),
        ],
        "count": list(COUNT_KINDS),
        "aggregate_count": stream.countable,
    }
    if reach.time is not None:
        row["time_range"] = {
            "since": None if reach.time.since is None else instant.to_text(reach.time.since),
            "until": None if reach.time.until is None else instant.to_text(reach.time.until),
        }
    return row


def _relation(relation: Relationship) -> RelationJson:
    return {
        "name": relation.name,
        "stream": relation.stream,
        "cardinality": relation.cardinality.value,
        "default_limit": relation.default_limit,
        "max_limit": relation.max_limit,
    }


def _if_visible(reach: Reach, name: str | None) -> str | None:
    return name if name is not None and reach.shows(name) else None


def _field(reach: Reach, declared: Field, by_meaning: bool) -> FieldJson:
    """Return what a caller may ask of a field: the reference server's members and a few of ours."""
    facts: FieldJson = {
        "granted": True,
        "type": declared.kind.value,
        "schema": declared.schema,
        "exact_filter": _offer(declared.exact),
        "range_filter": {**_offer(bool(declared.ranges)), "operators": list(declared.ranges)},
        "sortable": reach.compares(declared.name),
        "lexical_search": _offer(declared.lexical),
        "semantic_search": _offer(by_meaning),
        "aggregation": {name: _offer(True) for name in declared.aggregations},
    }
    if declared.role is not None:
        facts["role"] = declared.role.value
    if declared.description:
        facts["description"] = declared.description
    return facts


def _offer(declared: bool) -> OfferJson:
    """Return an offer; what a grant shows of a declared one is usable too."""
    return {"declared": declared, "usable": declared}


def list_streams(call: Call) -> ListJson[StreamJson]:
    """Answer ``GET /v1/streams`` and ``GET /v1/streams/{stream}``."""
    reaches = call.stream_reaches() if "stream" in call.path else call.reaches()
    if not reaches and call.query.text("connection_id") is not None:
        raise refused_stream(None, call.query.text("connection_id"))
    counts = call.store.counts(reaches)
    return list_envelope(call, list(_stream_rows(call, reaches, counts)), count=len(reaches))


def _newest(call: Call, reaches: Sequence[Reach]) -> list[str | None]:
    before = call.headers.get(NEWEST_BEFORE)
    if before is None:
        return newest_times(call.store, reaches)
    return newest_events(call.store, reaches, instant.parse(before))


def _stream_rows(
    call: Call, reaches: Sequence[Reach], counts: Mapping[int, int]
) -> Iterable[StreamJson]:
    for reach, newest in zip(reaches, _newest(call, reaches), strict=True):
        check_time()
        yield {
            "object": "stream",
            "name": reach.stream.name,
            "label": reach.stream.label,
            **source_of(reach),
            "record_count": counts[reach.feed.id],
            "freshness": {"newest_record_at": newest},
        }
