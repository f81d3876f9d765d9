"""The aggregate tool."""

from collections.abc import Mapping
from typing import Any

from pdpp.evidence.budget import cut
from pdpp.evidence.text import field_text
from pdpp.mcp.drawing import structured, text
from pdpp.mcp.drawing.result import MOST_CHARS, fits, result
from pdpp.mcp.drawing.view import AggregateView, NextCall
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
    while True:
        answer = await reader.get(["streams", stream, "aggregate"], params, connection_id)
        body = _with_short_keys(answer.body)
        view = AggregateView(body, _more(arguments, params, body), _notes(arguments, params, body))
        spoken, shaped = text.aggregate_text(view), structured.aggregate_structured(view)
        if fits(spoken, shaped, MOST_CHARS, MOST_CHARS):
            return result(spoken, shaped)
        shown = len(_groups(body))
        if shown <= 1 or params.get("limit") == 1:
            raise PayloadTooLarge("This aggregate does not fit an answer; group by another field.")
        params["limit"] = min(shown, params.get("limit", _MOST_GROUPS)) // 2


def _groups(body: Mapping[str, Any]) -> list[Any]:
    groups = body.get("groups")
    return groups if isinstance(groups, list) else []


def _with_short_keys(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Cut keys that are whole texts, and tell how long they are."""
    groups = [_short(group) for group in _groups(body)]
    return {**body, "groups": groups} if groups != _groups(body) else body


def _short(group: Any) -> Any:
    if not isinstance(group, Mapping) or len(field_text(group.get("key"))) <= _KEY_CHARS:
        return group
    whole = field_text(group["key"])
    return {**group, "key": cut(whole, _KEY_CHARS)[0], "key_chars": len(whole)}


def _notes(
    arguments: Mapping[str, Any], params: Mapping[str, Any], body: Mapping[str, Any]
) -> list[str]:
    notes = []
    if any(isinstance(group, Mapping) and "key_chars" in group for group in _groups(body)):
        notes.append(f"keys are cut at {_KEY_CHARS} characters; key_chars is their length")
    if params.get("limit") != arguments.get("limit"):
        notes.append(
            f"only {params['limit']} groups fit an answer; the others are in other_count: "
            "narrow with a filter to see them"
        )
    return notes


def _more(
    arguments: Mapping[str, Any], params: Mapping[str, Any], body: Mapping[str, Any]
) -> list[NextCall]:
    """Offer more groups where the answer cut them and more may be had."""
    asked = params.get("limit", _DEFAULT_GROUPS)
    cut_here = params.get("limit") != arguments.get("limit")
    if not body.get("other_count") or asked >= _MOST_GROUPS or cut_here:
        return []
    more = min(_MOST_GROUPS, asked * 4)
    return [NextCall("more groups", "aggregate", {**arguments, "limit": more})]
