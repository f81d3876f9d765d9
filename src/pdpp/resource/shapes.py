"""Answers: the JSON Schema of every shape the resource server answers with."""

from collections.abc import Mapping
from typing import Any

from pdpp.evidence.excerpt import PREVIEW_CHARS
from pdpp.evidence.window import MAX_LIMIT, MAX_MATCHES
from pdpp.model import errors
from pdpp.model.declaration import RANGE_OPERATORS, Cardinality, Kind, Role, Semantics
from pdpp.resource.aggregate import METRICS
from pdpp.resource.calendar import GRANULARITIES
from pdpp.resource.schema import COUNT_KINDS
from pdpp.resource.search import MOST_EXCERPTS
from pdpp.store.jobs import JobStatus

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}
FLAG: Json = {"type": "boolean"}
SIZE: Json = {"type": "integer", "minimum": 0}
MOMENT: Json = {"type": "string", "format": "date-time"}
DIGEST: Json = {"type": "string", "pattern": "^[0-9a-f]{16}$"}
SHA256: Json = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
SCALAR: Json = {"type": ["string", "number", "boolean", "null"]}


def ref(name: str) -> Json:
    """Return a reference to one of the schemas."""
    return {"$ref": f"#/components/schemas/{name}"}


def error_codes() -> dict[int, list[str]]:
    """Return the codes of errors by their status, without those that ``/v1`` never sends."""
    codes: dict[int, list[str]] = {}
    for error in vars(errors).values():
        if not (isinstance(error, type) and issubclass(error, errors.PdppError)):
            continue
        if not issubclass(error, errors.ELSEWHERE):
            listed = codes.setdefault(error.status, [])
            if error.code not in listed:
                listed.append(error.code)
    return codes


def _object(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> Json:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }


def _array(items: Json, most: int | None = None) -> Json:
    bound = {} if most is None else {"maxItems": most}
    return {"type": "array", "items": items, **bound}


def _map(values: Json) -> Json:
    return {"type": "object", "additionalProperties": values}


def _nullable(schema: Json) -> Json:
    return {**schema, "type": [schema["type"], "null"]}


_SPAN = _object({"start_chars": SIZE, "end_chars": SIZE})
_SOURCE: Json = {"connection_id": TEXT, "connector_key": TEXT, "display_name": TEXT}
_CONNECTION = _object({"connection_id": TEXT, "display_name": TEXT})
_CANDIDATE = _object({**_SOURCE, "grant_id": _nullable(TEXT)})

_ERROR = _object(
    {
        "type": TEXT,
        "code": {"enum": sorted({code for codes in error_codes().values() for code in codes})},
        "message": TEXT,
        "request_id": TEXT,
    },
    {
        "param": {**TEXT, "description": "The parameter or header that is wrong."},
        "resource_metadata": {**TEXT, "description": "401: where the server says how to get in."},
        "supported": {**_array(TEXT), "description": "unsupported_version: what is spoken here."},
        "retry_with": {**TEXT, "description": "409: the parameter to add."},
        "available_connections": {**_array(_CANDIDATE), "description": "409: its values."},
        "total": {**SIZE, "description": "409: how many there are."},
        "truncated": {**FLAG, "description": "409: whether more exist than are listed."},
        "media_type": {**_nullable(TEXT), "description": "field_not_text: what it is."},
        "size_bytes": {**_nullable(SIZE), "description": "field_not_text: how large it is."},
        "sha256": {**_nullable(TEXT), "description": "field_not_text: its hash."},
        "blob_id": {**SHA256, "description": "field_not_text: the blob that holds it."},
        "blob_route": {**TEXT, "description": "field_not_text: where its bytes are."},
    },
)

_META: Json = {
    "count": _object({"kind": {"enum": list(COUNT_KINDS)}}, {"value": SIZE}),
    "warnings": _array(ref("Warning")),
}

_RECORD: Json = {
    "object": {"const": "record"},
    "id": {**TEXT, "description": "The key of the record in its stream."},
    "stream": TEXT,
    **_SOURCE,
    "emitted_at": MOMENT,
    "version": TEXT,
}


def _list(items: Json, more_meta: Mapping[str, Any] | None = None) -> Json:
    """Return the shape of a list; ``more_meta`` are members that its meta may have."""
    return _object(
        {
            "object": {"const": "list"},
            "url": TEXT,
            "data": _array(items),
            "has_more": FLAG,
            "meta": _object(_META, more_meta),
            "links": _object({}, {"next": TEXT}),
        },
        {
            "next_cursor": {**TEXT, "description": "Give it as cursor; absent on the last page."},
            "next_changes_since": {
                **TEXT,
                "description": "Give it as changes_since later; on the last page of changes only.",
            },
        },
    )


_READ = _object(
    {
        "method": {"const": "GET"},
        "route": TEXT,
        "stream": TEXT,
        "record_id": TEXT,
        "connection_id": TEXT,
        "field": TEXT,
        "offset_chars": SIZE,
        "limit_chars": SIZE,
    }
)

_INDEX_ROW: Json = {
    "name": TEXT,
    "record_counts": {
        **_map({"type": ["integer", "null"]}),
        "description": "Records under the grant, by connection_id.",
    },
}
_OFFERED: Json = {"declared": FLAG, "usable": FLAG}
_FIELD = _object(
    {
        "granted": {"const": True},
        "type": {"enum": [kind.value for kind in Kind]},
        "schema": {"type": ["object", "boolean"]},
        "exact_filter": _object(_OFFERED),
        "range_filter": _object({**_OFFERED, "operators": _array({"enum": list(RANGE_OPERATORS)})}),
        "sortable": FLAG,
        "lexical_search": _object(_OFFERED),
        "semantic_search": _object(_OFFERED),
        "aggregation": _map(_object(_OFFERED)),
    },
    {"role": {"enum": [role.value for role in Role]}, "description": TEXT},
)
_EXPAND: Json = {
    "name": TEXT,
    "cardinality": {"enum": [kind.value for kind in Cardinality]},
    "max_limit": SIZE,
}
_OFFER: Json = {
    "primary_key": _array(TEXT),
    "search": _array({"enum": ["lexical", "semantic"]}),
    "count": _array({"enum": list(COUNT_KINDS)}),
    "aggregate_count": FLAG,
}
_COMPACT_ROW: Json = {
    **_OFFER,
    "label": TEXT,
    "default_sort": TEXT,
    "field_capabilities": _map(
        {**TEXT, "description": "Flags, as field_capability_legend explains."}
    ),
    "views": _array(TEXT),
    "expand_capabilities": _array(_object(_EXPAND)),
}
_FULL_ROW = _object(
    {
        **_OFFER,
        "name": TEXT,
        "connection_id": TEXT,
        "record_count": SIZE,
        "label": TEXT,
        "description": _nullable(TEXT),
        "detail": _nullable(TEXT),
        "semantics": {"enum": [semantics.value for semantics in Semantics]},
        "cursor_field": _nullable(TEXT),
        "consent_time_field": _nullable(TEXT),
        "default_sort": _nullable(TEXT),
        "field_capabilities": _map(_FIELD),
        "views": _array(_object({"id": TEXT, "label": _nullable(TEXT), "fields": _array(TEXT)})),
        "expand_capabilities": _array(_object({**_EXPAND, "stream": TEXT, "default_limit": SIZE})),
    },
    {"time_range": _object({"since": _nullable(MOMENT), "until": _nullable(MOMENT)})},
)
_CONNECTOR = _object(
    {
        "connector_key": TEXT,
        "connector_id": TEXT,
        "display_name": TEXT,
        "granted_connections": _array(_CONNECTION),
        "stream_count": SIZE,
        "streams": _array({"anyOf": [ref("CompactStream"), ref("FullStream")]}),
    },
    {
        "source": _object({"kind": TEXT, "id": TEXT}),
        "declaration": {"type": "object", "additionalProperties": True},
    },
)

SCHEMAS: Json = {
    "Error": _object({"error": _ERROR}),
    "Warning": _object({"code": TEXT, "message": TEXT}, {"param": TEXT}),
    "StreamList": _list(ref("Stream")),
    "JobList": _list(ref("Job")),
    "RecordList": _list({"anyOf": [ref("Record"), ref("Tombstone")]}),
    "SearchResultList": _list(
        ref("SearchResult"), {"repaired": ref("Repaired"), "try": ref("TryNext")}
    ),
    "Stream": _object(
        {
            "object": {"const": "stream"},
            "name": TEXT,
            "label": TEXT,
            **_SOURCE,
            "record_count": {**SIZE, "description": "How many the token shows."},
            "freshness": _object({"newest_record_at": _nullable(TEXT)}),
        }
    ),
    "Record": _object(
        {**_RECORD, "data": {"type": "object"}},
        {
            "expanded": _map(
                {"anyOf": [ref("Record"), ref("RelatedList"), {"type": "null"}]},
            )
        },
    ),
    "RelatedList": _object(
        {
            "object": {"const": "list"},
            "data": _array(ref("Record")),
            "has_more": FLAG,
            "limit": SIZE,
        }
    ),
    "Tombstone": _object({**_RECORD, "deleted": {"const": True}, "deleted_at": MOMENT}),
    "SearchResult": _object(
        {
            "object": {"const": "search_result"},
            "id": {**TEXT, "description": "connection_id/stream:record_id."},
            "record_key": TEXT,
            "stream": TEXT,
            **_SOURCE,
            "title": TEXT,
            "event_time": _nullable(TEXT),
            "emitted_at": MOMENT,
            "record_url": TEXT,
            "matched_fields": _array(TEXT),
            "matched": {**_array(TEXT), "description": "The asked words that the record holds."},
            "missing": {**_array(TEXT), "description": "The asked words that it does not hold."},
            "score": _object(
                {"kind": {"const": "lexical"}, "value": NUMBER, "order": {"const": "desc"}}
            ),
            "evidence_excerpts": _array(ref("EvidenceExcerpt"), MOST_EXCERPTS),
        }
    ),
    "EvidenceExcerpt": _object(
        {
            "object": {"const": "evidence_excerpt"},
            "field_path": TEXT,
            "preview_text": {
                **TEXT,
                "maxLength": PREVIEW_CHARS,
                "description": "field[start_chars:end_chars] with the matches in <mark>…</mark>.",
            },
            "start_chars": SIZE,
            "end_chars": SIZE,
            "total_chars": SIZE,
            "matches": _array(_SPAN),
            "truncated": FLAG,
            "digest": DIGEST,
            "provenance": {"const": "lexical_match"},
            "read": {**_READ, "description": "The field window that begins where this does."},
        }
    ),
    "Repaired": {
        "type": "object",
        "additionalProperties": _array(TEXT),
        "description": "Words that no visible record holds, and what they were read as.",
    },
    "TryNext": _object(
        {"words": _array(TEXT), "streams_searched": _array(TEXT), "schema": TEXT},
    ),
    "Schema": _object(
        {
            "object": {"const": "schema"},
            "detail": {"enum": ["compact", "full"]},
            "bearer": _object(
                {
                    "scope": {"enum": ["owner", "grant", "package"]},
                    "token_kind": TEXT,
                    "grant_id": _nullable(TEXT),
                    "client_id": _nullable(TEXT),
                }
            ),
            "connectors": _array(_CONNECTOR),
            "connector_count": SIZE,
            "stream_count": SIZE,
        },
        {"field_capability_legend": TEXT},
    ),
    "CompactStream": _object(_INDEX_ROW, _COMPACT_ROW),
    "FullStream": _FULL_ROW,
    "FieldWindow": _object(
        {
            "object": {"const": "field_window"},
            "stream": TEXT,
            "record_id": TEXT,
            "connection_id": TEXT,
            "field": _object(
                {"path": TEXT, "type": {"enum": [kind.value for kind in Kind]}},
                {"media_type": TEXT},
            ),
            "version": TEXT,
            "digest": {**DIGEST, "description": "The same for every window of one text."},
            "window": ref("Window"),
        }
    ),
    "Window": _object(
        {
            "text": {**TEXT, "maxLength": MAX_LIMIT},
            "start_chars": SIZE,
            "end_chars": SIZE,
            "total_chars": SIZE,
            "limit_chars": SIZE,
            "complete": FLAG,
            "has_more": FLAG,
            "next_offset_chars": _nullable(SIZE),
            "previous_offset_chars": _nullable(SIZE),
        },
        {
            "match_start_chars": SIZE,
            "match_end_chars": SIZE,
            "match_count": SIZE,
            "matches": _array(_SPAN, MAX_MATCHES),
            "more_matches": {"const": True, "description": "match_count is not all of them."},
        },
    ),
    "Aggregation": _object(
        {
            "object": {"const": "aggregation"},
            "stream": TEXT,
            "metric": {"enum": list(METRICS)},
            "field": _nullable(TEXT),
            "group_by": _nullable(TEXT),
            "group_by_time": _nullable(TEXT),
            "granularity": {"enum": [*GRANULARITIES, None]},
            "time_zone": _nullable(TEXT),
            "filtered_record_count": SIZE,
            "approximate": FLAG,
        },
        {
            "value": {**SCALAR, "description": "Without groups."},
            "groups": _array(_object({"key": SCALAR, "count": SIZE}, {"value": SCALAR})),
            "limit": SIZE,
            "other_count": {**SIZE, "description": "The records of the groups not listed."},
            "meta": _object({"warnings": _array(ref("Warning"))}),
        },
    ),
    "IngestLine": _object(
        {"key": TEXT},
        {
            "data": {"type": "object"},
            "emitted_at": MOMENT,
            "op": {"enum": ["upsert", "delete"], "default": "upsert"},
        },
    ),
    "IngestResult": _object(
        {
            "object": {"const": "ingest_result"},
            "stream": TEXT,
            "connection_id": TEXT,
            "records_attempted": SIZE,
            "records_accepted": SIZE,
            "records_rejected": SIZE,
            "records_new": SIZE,
            "records_changed": SIZE,
            "records_unchanged": SIZE,
            "records_deleted": SIZE,
            "rejections": _array(_object({"input_index": SIZE, "code": TEXT, "message": TEXT})),
        }
    ),
    "AccountChange": {
        "type": "object",
        "required": ["object", "status"],
        "properties": {
            "object": {"const": "account_change"},
            "status": {"enum": ["preview", "renamed", "removed"]},
            "connection_id": TEXT,
            "display_name": TEXT,
            "previous_name": TEXT,
            "seen_by": _array(TEXT),
            "connections": _array({"type": "object"}),
            "from": {"type": "object"},
            "into": {"type": "object"},
            "grants": _array({"type": "object"}),
            "also_see_moved_records": _array(TEXT),
        },
    },
    "Job": _object(
        {
            "object": {"const": "job"},
            "id": TEXT,
            "kind": TEXT,
            "status": {"enum": [status.value for status in JobStatus]},
            "created_at": MOMENT,
            "not_before": _nullable(MOMENT),
            "started_at": _nullable(MOMENT),
            "finished_at": _nullable(MOMENT),
            "progress": _object({"done": SIZE, "total": SIZE, "note": TEXT}),
            "attempts": SIZE,
            "cancel_requested": FLAG,
            "parameters": {"type": "object"},
            "result": {"type": ["object", "null"]},
            "error": {**_nullable(_object({"code": TEXT, "message": TEXT}))},
        }
    ),
    "Blob": _object(
        {
            "object": {"const": "blob"},
            "blob_id": SHA256,
            "mime_type": TEXT,
            "size_bytes": SIZE,
            "sha256": SHA256,
        }
    ),
}
