"""The aggregate tool."""

from pdpp.evidence.budget import cut
from pdpp.evidence.text import field_text
from pdpp.mcp.drawing import structured, text
from pdpp.mcp.drawing.result import MOST_CHARS, MOST_DEFAULT_CHARS, fits, result
from pdpp.mcp.drawing.view import AggregateView, NextCall
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.aggregation import AggregateGroup, ServerAggregation
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.reads import ask_aggregation
from pdpp.mcp.tools.given import AggregateArguments
from pdpp.mcp.tools.locator import check_stream
from pdpp.model.errors import PayloadTooLarge

_MOST_GROUPS = 1_000
_DEFAULT_GROUPS = 100
_KEY_CHARS = 200


async def aggregate(reader: GrantReader, arguments: AggregateArguments) -> JsonObject:
    """Run the aggregate tool; groups that do not fit are asked for again, fewer."""
    stream, connection_id = arguments["stream"], arguments.get("connection_id")
    check_stream(stream)
    reader.require_one_source(connection_id, stream)
    limit = arguments.get("limit")
    most = MOST_CHARS if limit is not None else MOST_DEFAULT_CHARS
    while True:
        asked = {k: v for k, v in arguments.items() if k not in ("stream", "limit")}
        params = asked if limit is None else {**asked, "limit": limit}
        answer = await ask_aggregation(reader, stream, connection_id, params)
        aggregation = _with_short_keys(answer)
        fewer = limit if limit != arguments.get("limit") else None
        view = AggregateView(
            aggregation, _more(arguments, limit, aggregation), _notes(aggregation, fewer)
        )
        spoken, shaped = text.aggregate_text(view), structured.aggregate_structured(view)
        if fits(spoken, shaped, most, most):
            return result(spoken, shaped)
        groups = len(aggregation.groups or ())
        if groups <= 1 or limit == 1:
            raise PayloadTooLarge(
                "This aggregate is too long for an answer; group by another field."
            )
        limit = min(groups, _MOST_GROUPS if limit is None else limit) // 2


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
    notes = [*aggregation.warnings]
    if any(group.key_chars is not None for group in aggregation.groups or ()):
        notes.append(f"keys are cut at {_KEY_CHARS} characters; key_chars is their length")
    if fewer is not None:
        notes.append(
            f"only {fewer} groups fit an answer; the others are in other_count: "
            "give a limit, or narrow with a filter to see them"
        )
    return notes


def _more(
    arguments: AggregateArguments, limit: int | None, aggregation: ServerAggregation
) -> list[NextCall]:
    """Offer more groups where the answer cut them and more may be had."""
    asked = _DEFAULT_GROUPS if limit is None else limit
    cut_here = "limit" in arguments and limit != arguments["limit"]
    if not aggregation.other_count or asked >= _MOST_GROUPS or cut_here:
        return []
    more = min(_MOST_GROUPS, asked * 4)
    return [NextCall("more groups", "aggregate", {**arguments, "limit": more})]
