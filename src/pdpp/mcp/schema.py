"""The schema tool: the index of everything, or one stream's fields."""

from collections.abc import Mapping
from typing import Any

from pdpp.evidence.budget import json_length
from pdpp.mcp import structured, text
from pdpp.mcp.package import schema_children
from pdpp.mcp.paging import check_part
from pdpp.mcp.reading import Reading
from pdpp.mcp.result import MOST_CHARS, fits, result
from pdpp.mcp.view import NextCall, SchemaView
from pdpp.model.errors import InvalidRequest, PayloadTooLarge

MOST_INDEX_CHARS = 24_000


async def schema(reading: Reading, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the schema tool."""
    stream, connection_id = arguments.get("stream"), arguments.get("connection_id")
    if stream is not None:
        check_part("stream", stream)
    if arguments.get("detail") == "full":
        return await _full(reading, stream, connection_id)
    body: Mapping[str, Any]
    unavailable: list[Mapping[str, Any]] = []
    if reading.children is not None and connection_id is None:
        body, unavailable = await schema_children(reading, stream)
    else:
        body = await reading.compact(stream, connection_id)
    view = SchemaView(body, stream, _calls(body, stream), unavailable)
    return _answer(view, MOST_INDEX_CHARS if stream is None else MOST_CHARS)


async def _full(reading: Reading, stream: str | None, connection_id: str | None) -> dict[str, Any]:
    if stream is None:
        raise InvalidRequest(
            "schema: detail full needs a stream. Nothing was read. First find one with schema {}, "
            "then call schema with stream, connection_id and detail full.",
            param="stream",
            example={"tool": "schema", "arguments": {}},
        )
    reading.require_one_source(connection_id, stream)
    params = {"stream": stream, "detail": "full"}
    if connection_id is not None:
        params["connection_id"] = connection_id
    answer = await reading.get(["schema"], params, connection_id)
    body = answer.body.get("data", answer.body)
    if isinstance(body, Mapping) and "connectors" in body:
        body = {k: v for k, v in body.items() if k != "streams"}
    scope = {k: v for k, v in params.items() if k != "detail"}
    view = SchemaView(body, stream, [NextCall("shorter", "schema", scope)])
    return _answer(view, MOST_CHARS)


def _answer(view: SchemaView, most: int) -> dict[str, Any]:
    """Return the schema in both halves; an index too large for its bound keeps every name."""
    spoken, shaped = text.schema_text(view), structured.schema_structured(view)
    if fits(spoken, shaped, most, most):
        return result(spoken, shaped)
    if view.stream is not None:
        raise PayloadTooLarge(
            f"The schema of {view.stream!r} is larger than {most} characters; ask for one "
            "connection_id, without detail full."
        )
    bare = SchemaView(_names_only(view.body), None, view.calls, view.unavailable)
    return result(text.schema_text(bare), structured.schema_structured(bare))


def _names_only(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an index without counts and, where need be, without labels; every name stays."""
    connectors = [
        {
            "connector_key": connector.get("connector_key"),
            "granted_connections": [
                {"connection_id": c.get("connection_id")}
                for c in connector.get("granted_connections", [])
            ],
            "streams": sorted({row.get("name") for row in connector.get("streams", [])}),
        }
        for connector in body.get("connectors", [])
    ]
    named = {
        **{k: v for k, v in body.items() if k != "connectors"},
        "connectors": [
            {**c, "streams": [{"name": name} for name in c["streams"]]} for c in connectors
        ],
        "note": "counts and labels left out to fit; ask schema with a stream or connection_id",
    }
    return named if json_length(named) <= MOST_INDEX_CHARS else {**named, "connectors": connectors}


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
