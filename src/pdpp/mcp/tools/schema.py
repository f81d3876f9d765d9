"""The schema tool: the index of everything, or one stream's fields."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from pdpp.evidence.compact import field_flags
from pdpp.mcp.drawing import structured
from pdpp.mcp.drawing.result import MOST_CHARS, MOST_DEFAULT_CHARS, fits, result
from pdpp.mcp.drawing.schema_text import schema_text
from pdpp.mcp.drawing.view import NextCall, SchemaView
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.package import schema_children
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.schema_answer import ConnectorRow, SchemaAnswer, StreamRow, shortened
from pdpp.mcp.tools.locator import check_stream
from pdpp.model.errors import InvalidRequest, PayloadTooLarge

MOST_INDEX_CHARS = 24_000
Step = tuple[Callable[[SchemaAnswer], SchemaAnswer], int]
"""How a schema is made shorter, and how long it may be then."""


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
    return _fitting(SchemaView(answer, stream, [shorter]), _FULL_STEPS)


def _fitting(view: SchemaView, steps: Sequence[Step]) -> dict[str, Any]:
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


def _with_fields(
    answer: SchemaAnswer, note: str, fields_of: Callable[[StreamRow], Mapping[str, str]]
) -> SchemaAnswer:
    """Return a schema that tells less of the fields of its streams, and says so."""
    connectors = [
        {
            **connector.envelope,
            "streams": [
                {**row.envelope, "field_capabilities": fields_of(row)} for row in connector.streams
            ],
        }
        for connector in answer.connectors
    ]
    return shortened(answer, connectors, note)


def _flags_only(answer: SchemaAnswer) -> SchemaAnswer:
    """Return the fields of a full schema as a compact one tells them."""
    note = "the schema of each field is left out to fit; its flags are here"
    return _with_fields(
        answer, note, lambda row: {name: field_flags(facts) for name, facts in row.fields.items()}
    )


def _without_flags(answer: SchemaAnswer, ask: str, most: int | None = None) -> SchemaAnswer:
    """Return the fields of a stream by name alone, no more than ``most`` of them."""
    left_out = max((len(row.fields) for row in answer.streams), default=0) - (most or 1 << 20)
    names = f"and the names of {left_out} more are" if left_out > 0 else "is"
    note = f"what each field offers {names} left out to fit; {ask}"
    return _with_fields(answer, note, lambda row: dict.fromkeys(islice(row.fields, most), ""))


def _names_only(answer: SchemaAnswer) -> SchemaAnswer:
    """Return an index without counts and labels; every name stays."""
    return _index(answer, lambda id: {"connection_id": id}, lambda name: {"name": name})


def _bare_names(answer: SchemaAnswer) -> SchemaAnswer:
    """Return an index in which a stream is its name and a connection its id."""
    return _index(answer, lambda id: id, lambda name: name)


def _index(
    answer: SchemaAnswer, connection: Callable[[str], Any], stream: Callable[[str], Any]
) -> SchemaAnswer:
    connectors = [
        {
            **_key(connector),
            "granted_connections": [connection(id) for id in connector.connections],
            "streams": [stream(name) for name in connector.stream_names],
        }
        for connector in answer.connectors
    ]
    note = "counts and labels left out to fit; ask schema with a stream or connection_id"
    return shortened(answer, connectors, note)


def _connections(answer: SchemaAnswer) -> SchemaAnswer:
    """Return an index of connections alone, with how many streams each connector has."""
    connectors = [
        {
            **_key(connector),
            "granted_connections": [{"connection_id": id} for id in connector.connections],
            "streams": [],
            "stream_names_left_out": len(connector.stream_names),
        }
        for connector in answer.connectors
    ]
    note = "stream names are left out to fit; ask schema with a connection_id"
    return shortened(answer, connectors, note)


def _key(connector: ConnectorRow) -> Mapping[str, Any]:
    """Return the name of a connector by the member that the server named it with."""
    named = [m for m in ("connector_key", "connector_id") if connector.envelope.get(m) is not None]
    return {member: connector.envelope[member] for member in named[:1]}


_INDEX_STEPS: Sequence[Step] = (
    (_whole, MOST_DEFAULT_CHARS),
    (_names_only, MOST_DEFAULT_CHARS),
    (_bare_names, MOST_DEFAULT_CHARS),
    (_names_only, MOST_INDEX_CHARS),
    (_bare_names, MOST_INDEX_CHARS),
    (_connections, MOST_INDEX_CHARS),
)
"""Every name matters more than a short page: only then may an index be longer than others."""


def _default_steps(ask: str) -> Sequence[Step]:
    """Return the steps of one stream's schema; ``ask`` says how more of it comes at once."""
    fewer = [partial(_without_flags, ask=ask, most=most) for most in (None, 200, 100, 40, 10)]
    return ((_whole, MOST_DEFAULT_CHARS), *((step, MOST_DEFAULT_CHARS) for step in fewer))


_STREAM_STEPS = _default_steps("ask schema with a connection_id")
_CONNECTION_STEPS = _default_steps("ask schema with detail full for up to 30,000 characters")
_FULL_STEPS: Sequence[Step] = (
    (_whole, MOST_CHARS),
    (_flags_only, MOST_CHARS),
    (partial(_without_flags, ask="there is no longer form"), MOST_CHARS),
    (partial(_without_flags, ask="there is no longer form", most=200), MOST_CHARS),
)


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
