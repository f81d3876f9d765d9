"""The schema tool: the index of everything, or one stream's fields."""

from collections.abc import Callable, Sequence
from functools import partial

from pdpp.mcp.drawing import structured
from pdpp.mcp.drawing.result import MOST_CHARS, MOST_DEFAULT_CHARS, fits, result
from pdpp.mcp.drawing.schema_text import schema_text
from pdpp.mcp.drawing.view import NextCall, SchemaView
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.package import schema_children
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.schema_answer import SchemaAnswer, StreamRow
from pdpp.mcp.reading.schema_forms import (
    bare_index,
    connection_index,
    named_index,
    with_flags_alone,
    without_flags,
)
from pdpp.mcp.tools.given import SchemaArguments
from pdpp.mcp.tools.locator import check_stream
from pdpp.model.errors import InvalidRequest, PayloadTooLarge

MOST_INDEX_CHARS = 24_000
_FEW_STREAMS = 50
"""Up to here, streams or connections, a schema is drawn at once; it may be drawn several times,
shorter each time."""

Step = tuple[Callable[[SchemaAnswer], SchemaAnswer], int]
"""How a schema is made shorter, and how long it may be then."""

Steps = tuple[Step, ...]


async def schema(reader: GrantReader, arguments: SchemaArguments) -> JsonObject:
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
    view = SchemaView(answer, stream, _calls(answer, arguments), unavailable)
    draw = partial(_fitting, view, _steps(answer, stream, connection_id))
    long = max(len(answer.streams), _places(answer)) > _FEW_STREAMS
    return await reader.client.codec.run(draw, long=long)


def _steps(answer: SchemaAnswer, stream: str | None, connection_id: str | None) -> Steps:
    """Return how the schema that was asked for may be made shorter."""
    if stream is None:
        return _INDEX_STEPS if connection_id is None else _CONNECTION_INDEX_STEPS
    if connection_id is not None:
        return _ONE_STREAM_STEPS
    return _STREAM_STEPS + (_PLACE_STEPS if _places(answer) > 1 else ())


def _places(answer: SchemaAnswer) -> int:
    """Return how many connections a schema is of."""
    return sum(len(connector.connections) for connector in answer.connectors)


async def _full(reader: GrantReader, stream: str | None, connection_id: str | None) -> JsonObject:
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


def _fitting(view: SchemaView, steps: Steps) -> JsonObject:
    """Return the schema in both halves, in the fullest form that fits its bound."""
    for shorten, most in steps:
        shorter = shorten(view.schema)
        calls = _index_calls(view, shorter) if shorter.is_index else view.calls
        drawn = view._replace(schema=shorter, calls=calls)
        text, shaped = schema_text(drawn), structured.schema_structured(drawn)
        if fits(text, shaped, most, most):
            return result(text, shaped)
    raise PayloadTooLarge(
        f"This schema is larger than {most} characters; ask for one stream of one connection_id, "
        "without detail full.",
        param="connection_id",
    )


def _whole(answer: SchemaAnswer) -> SchemaAnswer:
    return answer


_INDEX_STEPS: Steps = (
    (_whole, MOST_DEFAULT_CHARS),
    (named_index, MOST_DEFAULT_CHARS),
    (bare_index, MOST_DEFAULT_CHARS),
    (named_index, MOST_INDEX_CHARS),
    (bare_index, MOST_INDEX_CHARS),
    (connection_index, MOST_INDEX_CHARS),
    *((partial(connection_index, most=most), MOST_INDEX_CHARS) for most in (150, 50, 15, 5, 1)),
)
"""Every name matters more than a short page: only then may an index be longer than others."""

_CONNECTION_INDEX_STEPS: Steps = (
    *_INDEX_STEPS[:5],
    *((partial(bare_index, most=most), MOST_INDEX_CHARS) for most in (500, 150, 50, 15, 5, 1)),
)
"""Of one connection the names of streams are what is asked for: as many of them as fit."""


def _field_steps(ask: str) -> Steps:
    """Return the steps of one stream's schema; ``ask`` says how more of it comes at once."""
    fewer = [partial(without_flags, ask=ask, most=most) for most in (None, 200, 100, 40, 10)]
    return ((_whole, MOST_DEFAULT_CHARS), *((step, MOST_DEFAULT_CHARS) for step in fewer))


_STREAM_STEPS = _field_steps("ask schema with a connection_id")
_PLACE_STEPS: Steps = tuple(
    (partial(connection_index, most=most, what="fields"), MOST_DEFAULT_CHARS)
    for most in (None, 150, 50, 15, 5, 1)
)
"""For a stream that hundreds of connections have: where it is."""

_ONE_STREAM_STEPS = _field_steps("ask schema with detail full for up to 30,000 characters")
_FULL_STEPS: Steps = (
    (_whole, MOST_CHARS),
    (with_flags_alone, MOST_CHARS),
    (partial(without_flags, ask="there is no longer form"), MOST_CHARS),
    (partial(without_flags, ask="there is no longer form", most=200), MOST_CHARS),
)


def _calls(answer: SchemaAnswer, arguments: SchemaArguments) -> list[NextCall]:
    """Offer the next rung: the fields of a stream, or a read of it."""
    for row in answer.streams[:1]:
        if "stream" not in arguments:
            scope = {**arguments, "stream": row.name}
            return [NextCall("fields, filters, sorts, aggregates", "schema", scope)]
        example = NextCall("example", "query_records", _example(row))
        return [*_details(row), example]
    return []


def _index_calls(view: SchemaView, answer: SchemaAnswer) -> Sequence[NextCall]:
    """Offer what leads on from names alone: one of the streams, or one of the connections."""
    if answer.streams:
        return view.calls
    scope = {} if view.stream is None else {"stream": view.stream}
    what = "its streams" if view.stream is None else "its fields"
    ids = [id for connector in answer.connectors for id in connector.connections]
    return [NextCall(what, "schema", {**scope, "connection_id": id}) for id in ids[:1]]


def _details(row: StreamRow) -> list[NextCall]:
    """Offer the full schema where the compact one does not say what may be asked of a field."""
    if not row.fields or any("=" in offer.flags for offer in row.fields.values()):
        return []
    scope = {"stream": row.name, **_first_connection(row), "detail": "full"}
    return [NextCall("what may be asked", "schema", scope)]


def _first_connection(row: StreamRow) -> dict[str, str]:
    first = next(iter(row.counts), None)
    return {} if first is None else {"connection_id": first}


def _example(row: StreamRow) -> JsonObject:
    example: JsonObject = {"stream": row.name, **_first_connection(row)}
    ranged = [
        name
        for name, offer in row.fields.items()
        if all(flag in offer.flags for flag in ("t=date-time", "r=", "gte"))
    ]
    if ranged:
        example["filter"] = {ranged[0]: {"gte": "2026-01-01T00:00:00Z"}}
    return {**example, "limit": 5}
