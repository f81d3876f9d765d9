"""The schema tool: the index of everything, or one stream's fields."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pdpp.evidence.compact import objects
from pdpp.mcp.drawing import schema_text, structured
from pdpp.mcp.drawing.result import MOST_CHARS, fits, result
from pdpp.mcp.drawing.view import NextCall, SchemaView
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.package import schema_children
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.tools.locator import check_stream
from pdpp.model.errors import InvalidRequest, PayloadTooLarge

MOST_INDEX_CHARS = 24_000
Shorten = Callable[[Mapping[str, Any]], dict[str, Any]]


async def schema(reader: GrantReader, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the schema tool."""
    stream, connection_id = arguments.get("stream"), arguments.get("connection_id")
    if stream is not None:
        check_stream(stream)
    if arguments.get("detail") == "full":
        return await _full(reader, stream, connection_id)
    body: Mapping[str, Any]
    unavailable: Sequence[ConnectionChoice] = ()
    if reader.children is not None and connection_id is None:
        body, unavailable = await schema_children(reader, stream)
    else:
        body = await reader.compact(stream, connection_id)
    view = SchemaView(body, stream, _calls(body, stream), unavailable)
    if stream is None:
        return _answer(view, MOST_INDEX_CHARS, _SHORTER)
    return _answer(view, MOST_CHARS, (_without_flags,))


async def _full(
    reader: GrantReader, stream: str | None, connection_id: str | None
) -> dict[str, Any]:
    if stream is None:
        raise InvalidRequest(
            "schema: detail full needs a stream. Nothing was read. First find one with schema {}, "
            "then call schema with stream, connection_id and detail full.",
            param="stream",
            example={"tool": "schema", "arguments": {}},
        )
    reader.require_one_source(connection_id, stream)
    params = {"stream": stream, "detail": "full"}
    if connection_id is not None:
        params["connection_id"] = connection_id
    answer = await reader.get(["schema"], params, connection_id)
    body = _sound(answer.body.get("data", answer.body))
    scope = {k: v for k, v in params.items() if k != "detail"}
    view = SchemaView(body, stream, [NextCall("shorter", "schema", scope)])
    return _answer(view, MOST_CHARS, ())


def _sound(body: Any) -> dict[str, Any]:
    """Return a full schema as far as it has the shape of one; loose streams get a connector."""
    told = body if isinstance(body, Mapping) else {}
    connectors = objects(told.get("connectors")) or [{"streams": told.get("streams")}]
    kept = {k: v for k, v in told.items() if k not in ("connectors", "streams")}
    return {**kept, "connectors": [_sound_connector(connector) for connector in connectors]}


def _sound_connector(connector: Mapping[str, Any]) -> dict[str, Any]:
    rows = [_sound_row(row) for row in objects(connector.get("streams"))]
    granted = objects(connector.get("granted_connections"))
    return {**connector, "granted_connections": granted, "streams": rows}


def _sound_row(row: Mapping[str, Any]) -> dict[str, Any]:
    lists = {"expand": objects(row["expand"])} if "expand" in row else {}
    if "views" in row:
        lists["views"] = [_sound_view(view) for view in row["views"] if isinstance(view, Mapping)]
    return {"fields": {}, **row, **lists}


def _sound_view(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return a view; its fields are a list of names, where those of a stream are an object."""
    [sound] = objects([view])
    names = view.get("fields")
    return {**sound, "fields": names} if isinstance(names, list) else dict(sound)


def _answer(view: SchemaView, most: int, shorter: Sequence[Shorten]) -> dict[str, Any]:
    """Return the schema in both halves; one too large for its bound is told shorter."""
    spoken, shaped = schema_text.schema_text(view), structured.schema_structured(view)
    if fits(spoken, shaped, most, most):
        return result(spoken, shaped)
    for shorten in shorter:
        bare = SchemaView(shorten(view.body), view.stream, view.calls, view.unavailable)
        spoken, shaped = schema_text.schema_text(bare), structured.schema_structured(bare)
        if fits(spoken, shaped, most, most):
            return result(spoken, shaped)
    raise PayloadTooLarge(
        f"This schema is larger than {most} characters; ask for one stream of one connection_id, "
        "without detail full.",
        param="connection_id",
    )


def _without_flags(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a stream by name alone."""
    connectors = [
        {
            **connector,
            "streams": [
                {**row, "fields": dict.fromkeys(row.get("fields", {}), "")}
                for row in connector.get("streams", [])
            ],
        }
        for connector in body.get("connectors", [])
    ]
    note = "what each field offers is left out to fit; ask schema with a connection_id"
    return {**body, "connectors": connectors, "note": note}


def _connections(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an index of connections alone, with how many streams each connector has."""
    named = _names_only(body)
    connectors = [
        {**connector, "streams": [], "stream_names_left_out": len(connector["streams"])}
        for connector in named["connectors"]
    ]
    note = "stream names are left out to fit; ask schema with a connection_id"
    return {**named, "connectors": connectors, "note": note}


def _names_only(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an index without counts and labels; every name stays."""
    connectors = [
        {
            "connector_key": connector.get("connector_key"),
            "granted_connections": [
                {"connection_id": c.get("connection_id")}
                for c in connector.get("granted_connections", [])
            ],
            "streams": [
                {"name": name} for name in sorted({row["name"] for row in connector["streams"]})
            ],
        }
        for connector in body.get("connectors", [])
    ]
    note = "counts and labels left out to fit; ask schema with a stream or connection_id"
    return {**body, "connectors": connectors, "note": note}


def _bare_names(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an index in which a stream is its name and a connection its id."""
    named = _names_only(body)
    connectors = [
        {
            "connector_key": connector["connector_key"],
            "granted_connections": [c["connection_id"] for c in connector["granted_connections"]],
            "streams": [row["name"] for row in connector["streams"]],
        }
        for connector in named["connectors"]
    ]
    return {**named, "connectors": connectors}


_SHORTER = (_names_only, _bare_names, _connections)


def _calls(body: Mapping[str, Any], stream: str | None) -> list[NextCall]:
    """Offer the next rung: the fields of a stream, or a read of it."""
    for connector in body.get("connectors", []):
        for row in connector.get("streams", []):
            counts = row.get("record_counts") or {}
            connection_id = next(iter(counts), row.get("connection_id"))
            if stream is None:
                named = {"stream": row.get("name")}
                return [NextCall("fields, filters, sorts, aggregates", "schema", named)]
            return [NextCall("example", "query_records", _example(row, connection_id))]
    return []


def _example(row: Mapping[str, Any], connection_id: Any) -> dict[str, Any]:
    example: dict[str, Any] = {"stream": row.get("name")}
    if connection_id is not None:
        example["connection_id"] = connection_id
    ranged = [
        name
        for name, flags in row.get("fields", {}).items()
        if isinstance(flags, str) and "t=date-time" in flags and "r=" in flags and "gte" in flags
    ]
    if ranged:
        example["filter"] = {ranged[0]: {"gte": "2026-01-01T00:00:00Z"}}
    return {**example, "limit": 5}
