"""The aggregate tool."""

from collections.abc import Mapping
from typing import Any

from pdpp.mcp import structured, text
from pdpp.mcp.paging import check_part
from pdpp.mcp.reading import Reading
from pdpp.mcp.result import MOST_CHARS, fits, result
from pdpp.mcp.view import AggregateView, NextCall


async def aggregate(reading: Reading, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the aggregate tool; groups that do not fit are asked for again, fewer."""
    stream, connection_id = arguments["stream"], arguments.get("connection_id")
    check_part("stream", stream)
    reading.require_one_source(connection_id, stream)
    params = {k: v for k, v in arguments.items() if k != "stream"}
    while True:
        answer = await reading.get(["streams", stream, "aggregate"], params, connection_id)
        view = AggregateView(answer.body, _more(arguments, params, answer.body))
        spoken, shaped = text.aggregate_text(view), structured.aggregate_structured(view)
        groups = answer.body.get("groups")
        shown = len(groups) if isinstance(groups, list) else 0
        if fits(spoken, shaped, MOST_CHARS, MOST_CHARS) or shown <= 1:
            return result(spoken, shaped)
        params["limit"] = max(1, shown // 2)


def _more(
    arguments: Mapping[str, Any], params: Mapping[str, Any], body: Mapping[str, Any]
) -> list[NextCall]:
    """Offer more groups where the answer cut them and more may be had."""
    asked = params.get("limit", 100)
    if not body.get("other_count") or asked >= 1000 or asked < arguments.get("limit", 0):
        return []
    return [NextCall("more groups", "aggregate", {**arguments, "limit": min(1000, asked * 4)})]
