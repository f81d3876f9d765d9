"""The aggregate tool."""

from collections.abc import Mapping
from typing import Any

from pdpp.evidence.budget import cut
from pdpp.evidence.text import field_text
from pdpp.mcp.drawing import structured, text
from pdpp.mcp.drawing.result import MOST_CHARS, MOST_DEFAULT_CHARS, fits, result
from pdpp.mcp.drawing.view import AggregateView, NextCall
from pdpp.mcp.reading.aggregation import AggregateGroup, ServerAggregation, read_aggregation
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.tools.locator import check_stream
from pdpp.model.errors import PayloadTooLarge

_MOST_GROUPS = 1_000
_DEFAULT_GROUPS = 100
_KEY_CHARS = 200


async def aggregate(reader: GrantReader, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the aggregate tool; groups that do not fit are asked for again, fewer."""
    stream, connection_id = arguments["stream"], arguments.get("connection_id")
    check_stream(stream)
    reader.require_one_source(connection_id, stream)
    params = {k: v for k, v in arguments.items() if k != "stream"}
    most = MOST_CHARS if "limit" in arguments else MOST_DEFAULT_CHARS
    while True:
        answer = await reader.get(["streams", stream, "aggregate"], params, connection_id)
        aggregation = _with_short_keys(read_aggregation(answer.body, arguments))
        fewer = params.get("limit") != arguments.get("limit")
        notes = _notes(aggregation, params["limit"] if fewer else None)
        view = AggregateView(aggregation, _more(arguments, params, aggregation), notes)
        spoken, shaped = text.aggregate_text(view), structured.aggregate_structured(view)
        if fits(spoken, shaped, most, most):
            return result(spoken, shaped)
        groups = len(aggregation.groups or ())
        if groups <= 1 or params.get("limit") == 1:
            raise PayloadTooLarge("This aggregate does not fit an answer; group by another field.")
        params["limit"] = min(groups, params.get("limit", _MOST_GROUPS)) // 2


def _with_short_keys(aggregation: ServerAggregation) -> ServerAggregation:
    """Cut keys that are whole texts, and tell how long they are."""
    if aggregation.groups is None:
        return aggregation
    return aggregation._replace(groups=[_with_short_key(group) for group in aggregation.groups])


def _with_short_key(group: AggregateGroup) -> AggregateGroup:
    whole = field_text(group.key)
    if len(whole) <= _KEY_CHARS:
        return group
    return group._replace(key=cut(whole, _KEY_CHARS)[0], key_chars=len(whole))


def _notes(aggregation: ServerAggregation, fewer: int | None) -> list[str]:
    notes = []
    if any(group.key_chars is not None for group in aggregation.groups or ()):
        notes.append(f"keys are cut at {_KEY_CHARS} characters; key_chars is their length")
    if fewer is not None:
        notes.append(
            f"only {fewer} groups fit an answer; the others are in other_count: "
            "give a limit, or narrow with a filter to see them"
        )
    return notes


def _more(
    arguments: Mapping[str, Any], params: Mapping[str, Any], aggregation: ServerAggregation
) -> list[NextCall]:
    """Offer more groups where the answer cut them and more may be had."""
    asked = params.get("limit", _DEFAULT_GROUPS)
    cut_here = "limit" in arguments and params.get("limit") != arguments["limit"]
    if not aggregation.other_count or asked >= _MOST_GROUPS or cut_here:
        return []
    more = min(_MOST_GROUPS, asked * 4)
    return [NextCall("more groups", "aggregate", {**arguments, "limit": more})]
