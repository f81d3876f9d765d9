"""The JSON that the reference server writes, piece by piece."""

from collections.abc import Iterable
from typing import Any

from tests.reference_server.world import Behaviour, Field, StreamOf, World

LEGEND = {"t": "declared type", "eq": "exact filter", "r": "range filter", "lex": "word search"}
_CAPTURED = "2026-08-21T08:00:00.000Z"


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        kind = "authentication_error" if status == 401 else "api_error"
        error = {"code": code, "message": message, "type": kind, "request_id": "req_ref_1", **more}
        self.body = {"error": error}


def not_routed(method: str, path: str) -> dict[str, Any]:
    """Return what its web framework says of an unknown route."""
    message = f"Route {method}:{path} not found"
    return {"message": message, "error": "Not Found", "statusCode": 404}


def envelope(path: str, data: list[Any], cursor: str | None, following: str | None) -> Any:
    """Return a list."""
    links = {"self": path, **({"next": following} if following else {})}
    return {
        "object": "list",
        "data": data,
        "has_more": cursor is not None,
        **({"next_cursor": cursor} if cursor else {}),
        "url": path,
        "links": links,
        "meta": {"count": {"kind": "none"}, "warnings": []},
    }


def record(world: World, connection: str, stream: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return a record of a list; it has neither version nor connector_key."""
    return {
        "object": "record",
        "id": data["id"],
        "stream": stream,
        "connection_id": connection,
        "connector_instance_id": connection,
        "display_name": world.connections[connection][1],
        "emitted_at": _CAPTURED,
        "data": data,
    }


def single_record(world: World, connection: str, stream: str, data: dict[str, Any]) -> Any:
    """Return a record that was asked for by its id."""
    source = world.connections[connection][0]
    whole = record(world, connection, stream, data)
    return {**whole, "connector_key": source, "record_json_bytes": len(str(data))}


def tombstone(world: World, connection: str, stream: str, key: str) -> dict[str, Any]:
    """Return a deleted record of a list of changes."""
    whole = record(world, connection, stream, {"id": key})
    del whole["data"]
    return {**whole, "deleted": True, "deleted_at": _CAPTURED}


def stream_row(world: World, connection: str, stream: StreamOf) -> dict[str, Any]:
    """Return a row of the list of streams."""
    return {
        "object": "stream",
        "name": stream.name,
        "record_count": len(world.records[connection, stream.name]),
        "last_updated": _CAPTURED,
        "connection_id": connection,
        "connector_instance_id": connection,
        "display_name": world.connections[connection][1],
        "freshness": {"status": "fresh", "captured_at": _CAPTURED},
    }


def schema(
    world: World,
    behaviour: Behaviour,
    path: str,
    granted: Iterable[str],
    wanted: str | None,
    full: bool,
) -> dict[str, Any]:
    """Return the schema, of everything or of one stream; an unknown stream is an empty one."""
    connectors: list[dict[str, Any]] = []
    by_source: dict[str, list[str]] = {}
    for connection in granted:
        by_source.setdefault(world.connections[connection][0], []).append(connection)
    for source, ids in by_source.items():
        every = behaviour.repeats_streams and full
        declared = [s for s in world.streams[source] if every or wanted in (None, s.name)]
        rows = [_row(s, behaviour, full) for s in declared]
        if not rows:
            continue
        connections = [{"connection_id": i, "display_name": world.connections[i][1]} for i in ids]
        connectors.append(
            {
                "object": "connector",
                "connector_key": source.rpartition("/")[2],
                "connector_id": source,
                "source": {"kind": "connector", "id": source},
                "granted_connections": connections,
                "stream_count": len(rows),
                "streams": rows,
            }
        )
    every_row = behaviour.repeats_streams and full
    legend = {"field_capability_legend": LEGEND} if behaviour.legend and not full else {}
    return {
        "object": "schema",
        **({} if full else {"detail": "compact"}),
        "bearer": {
            "scope": "client",
            "token_kind": "client",
            "grant_id": "grt_1",
            "client_id": "c",
        },
        "connectors": connectors,
        **({"streams": [r for c in connectors for r in c["streams"]]} if every_row else {}),
        "connector_count": len(connectors),
        "stream_count": sum(len(c["streams"]) for c in connectors),
        **legend,
        "links": {"self": path},
        "meta": {"count": {"kind": "none"}, "warnings": []},
    }


def _row(stream: StreamOf, behaviour: Behaviour, full: bool) -> dict[str, Any]:
    described = _capability if full else _flags
    return {
        "name": stream.name,
        "primary_key": ["id"],
        "field_capabilities": {n: described(f, behaviour) for n, f in stream.fields.items()},
        "expand_capabilities": [
            {"name": name, "default_limit": 10, "max_limit": 50} for name in stream.expand
        ],
    }


def _flags(field: Field, behaviour: Behaviour) -> str:
    if behaviour.flags == "declared":
        return "declared"
    told = [f"t={field.schema.get('format', field.schema['type'])}"]
    told += ["eq"] * field.exact + ["r=gte|gt|lte|lt"] * field.range + ["lex"] * field.lexical
    if field.aggregations:
        told.append("a=" + "|".join(field.aggregations))
    return ",".join(told)


def _capability(field: Field, behaviour: Behaviour) -> dict[str, Any]:
    shape = {k: v for k, v in field.schema.items() if behaviour.roles or k != "x_pdpp_role"}

    def offered(yes: bool, **more: Any) -> dict[str, Any]:
        return {"declared": yes, "usable": yes, **more}

    operators = ["gte", "gt", "lte", "lt"] if field.range else []
    return {
        "granted": True,
        "schema": shape,
        "type": field.schema["type"],
        "exact_filter": offered(field.exact),
        "range_filter": offered(field.range, operators=operators),
        "lexical_search": offered(field.lexical),
        "semantic_search": offered(False),
        "aggregation": {
            name: offered(name in field.aggregations)
            for name in ("sum", "min", "max", "count_distinct", "group_by", "group_by_time")
        },
    }


def hit(world: World, place: tuple[str, str], data: dict[str, Any], field: str, q: str) -> Any:
    """Return a search hit; it has no id, title, time, connector_key or offsets."""
    connection, stream = place
    source, name = world.connections[connection]
    text = data[field]
    at = text.lower().find(q.lower())
    start, end = max(0, at - 40), min(len(text), at + len(q) + 40)
    found = text[at : at + len(q)]
    marked = f"{text[start:at]}<mark>{found}</mark>{text[at + len(q) : end]}"
    address = f"/v1/streams/{stream}/records/{data['id']}"
    read = {
        "object": "field_window_read",
        "method": "GET",
        "route": f"{address}/field-window",
        "stream": stream,
        "record_id": data["id"],
        "connection_id": connection,
        "field": field,
    }
    return {
        "object": "search_result",
        "record_key": data["id"],
        "stream": stream,
        "connection_id": connection,
        "connector_instance_id": connection,
        "connector_id": source,
        "display_name": name,
        "emitted_at": _CAPTURED,
        "matched_fields": [field],
        "record_url": f"{address}?connection_id={connection}",
        "snippet": {"field": field, "text": marked},
        "score": {"kind": "bm25", "order": "lower_is_better", "value": -len(found) / len(text)},
        "evidence_excerpts": [
            {
                "object": "evidence_excerpt",
                "field_path": field,
                "preview_text": marked,
                "provenance": "lexical_match",
                "truncated": end - start < len(text),
                "read": read,
            }
        ],
    }


def _units(text: str) -> int:
    """Return how long JavaScript says a text is."""
    return len(text.encode("utf-16-le")) // 2


def window(stream: str, key: str, field: str, text: str, start: int, end: int) -> dict[str, Any]:
    """Return a piece of a field; the offset after it counts in units of JavaScript."""
    piece = text[start:end]
    return {
        "object": "field_window",
        "stream": stream,
        "record_id": key,
        "field": {"path": field, "type": "string"},
        "window": {
            "text": piece,
            "start_chars": start,
            "end_chars": start + len(piece),
            "total_chars": len(text),
            "limit_chars": end - start,
            "complete": len(piece) == len(text),
            "has_more": start + len(piece) < len(text),
            "next_offset_chars": start + _units(piece) if end < len(text) else None,
            "previous_offset_chars": max(0, start - (end - start)) if start else None,
            "match_start_chars": None,
            "match_end_chars": None,
        },
        "url": f"/v1/streams/{stream}/records/{key}/field-window",
        "links": {},
        "meta": {"warnings": []},
    }
