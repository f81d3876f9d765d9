"""The schema tool: the index of everything, or one stream's fields."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pdpp.evidence.compact import compact_schema, fields_of
from pdpp.mcp.drawing import structured
from pdpp.mcp.drawing.result import MOST_CHARS, MOST_DEFAULT_CHARS, fits, result
from pdpp.mcp.drawing.schema_text import schema_text
from pdpp.mcp.drawing.view import NextCall, SchemaView
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.package import schema_children
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.schema_answer import SchemaAnswer, StreamRow, shortened
from pdpp.mcp.tools.locator import check_stream
from pdpp.model.errors import InvalidRequest, PayloadTooLarge

MOST_INDEX_CHARS = 24_000
Shorten = Callable[[SchemaAnswer], SchemaAnswer]


async def schema(reader: GrantReader, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the schema tool."""
    stream, connection_id = arguments.get("stream"), arguments.get("connection_id")
    if stream is not None:
        check_stream(stream)
    if arguments.get("detail") == "full":
        return await _full(reader, stream, connection_id)
    unavailable: Sequence[ConnectionChoice] = ()
    if reader.children is not None and connection_id is None:
        answer, unavailable = await schema_children(reader, stream)
    else:
        answer = await reader.compact(stream, connection_id)
    view = SchemaView(answer, stream, _calls(answer, stream), unavailable)
    if stream is None:
        return _fitting(view, _INDEX_STEPS)
    return _fitting(view, _STREAM_STEPS if connection_id is None else _CONNECTION_STEPS)


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
    answer = await reader.full(stream, connection_id)
    scope = {"stream": stream, "connection_id": connection_id}
    shorter = NextCall("shorter", "schema", {k: v for k, v in scope.items() if v is not None})
    return _fitting(SchemaView(answer, stream, [shorter]), ((_whole, MOST_CHARS),))


def _fitting(view: SchemaView, steps: Sequence[tuple[Shorten, int]]) -> dict[str, Any]:
    """Return the schema in both halves, in the fullest form that fits its bound."""
    for shorten, most in steps:
        shorter = view._replace(schema=shorten(view.schema))
        text, shaped = schema_text(shorter), structured.schema_structured(shorter)
        if fits(text, shaped, most, most):
            return result(text, shaped)
    raise PayloadTooLarge(
        f"This schema is larger than {most} characters; ask for one stream of one connection_id, "
        "without detail full.",
        param="connection_id",
    )


def _whole(answer: SchemaAnswer) -> SchemaAnswer:
    return answer


def _connectors(answer: SchemaAnswer, fields: bool = False) -> list[dict[str, Any]]:
    """Return the connectors of a schema in our own form, whoever sent it."""
    stream = answer.streams[0].name if fields and answer.streams else None
    connectors: list[dict[str, Any]] = compact_schema(answer.raw, stream=stream)["connectors"]
    return connectors


def _without_flags(answer: SchemaAnswer) -> SchemaAnswer:
    """Return the fields of a stream by name alone."""
    connectors = [
        {
            **connector,
            "streams": [
                {**row, "field_capabilities": dict.fromkeys(fields_of(row), "")}
                for row in connector["streams"]
            ],
        }
        for connector in _connectors(answer, fields=True)
    ]
    note = "what each field offers is left out to fit; ask schema with a connection_id"
    return shortened(answer, connectors, note)


def _names_only(answer: SchemaAnswer) -> SchemaAnswer:
    """Return an index without counts and labels; every name stays."""
    connectors = [
        {
            **_key(connector),
            "granted_connections": [{"connection_id": id} for id in _ids(connector)],
            "streams": [{"name": name} for name in _stream_names(connector)],
        }
        for connector in _connectors(answer)
    ]
    note = "counts and labels left out to fit; ask schema with a stream or connection_id"
    return shortened(answer, connectors, note)


def _bare_names(answer: SchemaAnswer) -> SchemaAnswer:
    """Return an index in which a stream is its name and a connection its id."""
    connectors = [
        {
            **_key(connector),
            "granted_connections": _ids(connector),
            "streams": _stream_names(connector),
        }
        for connector in _connectors(answer)
    ]
    note = "counts and labels left out to fit; ask schema with a stream or connection_id"
    return shortened(answer, connectors, note)


def _connections(answer: SchemaAnswer) -> SchemaAnswer:
    """Return an index of connections alone, with how many streams each connector has."""
    connectors = [
        {
            **_key(connector),
            "granted_connections": [{"connection_id": id} for id in _ids(connector)],
            "streams": [],
            "stream_names_left_out": len(_stream_names(connector)),
        }
        for connector in _connectors(answer)
    ]
    note = "stream names are left out to fit; ask schema with a connection_id"
    return shortened(answer, connectors, note)


def _key(connector: Mapping[str, Any]) -> dict[str, Any]:
    return {"connector_key": connector.get("connector_key")}


def _ids(connector: Mapping[str, Any]) -> list[str]:
    return [c["connection_id"] for c in connector["granted_connections"] if "connection_id" in c]


def _stream_names(connector: Mapping[str, Any]) -> list[str]:
    return sorted({row["name"] for row in connector["streams"]})


_INDEX_STEPS: Sequence[tuple[Shorten, int]] = (
    (_whole, MOST_DEFAULT_CHARS),
    (_names_only, MOST_DEFAULT_CHARS),
    (_bare_names, MOST_DEFAULT_CHARS),
    (_names_only, MOST_INDEX_CHARS),
    (_bare_names, MOST_INDEX_CHARS),
    (_connections, MOST_INDEX_CHARS),
)
"""Every name matters more than a short page: only then may an index be longer than others."""

_STREAM_STEPS: Sequence[tuple[Shorten, int]] = (
    (_whole, MOST_DEFAULT_CHARS),
    (_without_flags, MOST_DEFAULT_CHARS),
    (_without_flags, MOST_CHARS),
)
_CONNECTION_STEPS: Sequence[tuple[Shorten, int]] = (
    (_whole, MOST_DEFAULT_CHARS),
    (_whole, MOST_CHARS),
    (_without_flags, MOST_CHARS),
)
"""One stream of one connection cannot be asked for more narrowly: it is shown as far as it may."""


def _calls(answer: SchemaAnswer, stream: str | None) -> list[NextCall]:
    """Offer the next rung: the fields of a stream, or a read of it."""
    for row in answer.streams[:1]:
        if stream is None:
            named = {"stream": row.name}
            return [NextCall("fields, filters, sorts, aggregates", "schema", named)]
        example = NextCall("example", "query_records", _example(row))
        return [*_details(row), example]
    return []


def _details(row: StreamRow) -> list[NextCall]:
    """Offer the full schema where the compact one does not say what may be asked of a field."""
    if not row.fields or any("=" in str(flags) for flags in row.fields.values()):
        return []
    scope = {"stream": row.name, **_first_connection(row), "detail": "full"}
    return [NextCall("what may be asked", "schema", scope)]


def _first_connection(row: StreamRow) -> dict[str, str]:
    first = next(iter(row.counts), None)
    return {} if first is None else {"connection_id": first}


def _example(row: StreamRow) -> dict[str, Any]:
    example: dict[str, Any] = {"stream": row.name, **_first_connection(row)}
    ranged = [
        name
        for name, flags in row.fields.items()
        if isinstance(flags, str) and "t=date-time" in flags and "r=" in flags and "gte" in flags
    ]
    if ranged:
        example["filter"] = {ranged[0]: {"gte": "2026-01-01T00:00:00Z"}}
    return {**example, "limit": 5}
