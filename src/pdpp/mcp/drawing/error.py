"""Problems: an error with the calls that would do instead."""

from collections.abc import Mapping, Sequence
from typing import Any

from pdpp.evidence.budget import cut, json_length
from pdpp.mcp.drawing.escaping import label
from pdpp.mcp.drawing.result import MOST_ERROR_CHARS, fits, result
from pdpp.mcp.drawing.structured import error_structured
from pdpp.mcp.drawing.text import error_text
from pdpp.mcp.drawing.view import ErrorView, NextCall
from pdpp.mcp.tools.definition import SIGNATURES
from pdpp.mcp.tools.locator import locate_window
from pdpp.model.errors import InvalidRequest, PdppError
from pdpp.wire.answer import ServerError

_LENGTHS = ((1_200, 12), (600, 8), (400, 5), (300, 3), (120, 2), (60, 1), (20, 0))
"""How long texts and lists of an error may be, from generous to scant."""

_ALWAYS = ("type", "code", "message", "param", "request_id", "retry_with", "total", "truncated")
_DEEPEST = 4


def error_result(tool: str, arguments: Mapping[str, Any], error: PdppError) -> dict[str, Any]:
    """Return an error as a tool result of two halves, with as much of it as has room."""
    told = dict(error.body("")["error"])
    if not told["request_id"]:
        del told["request_id"]
    if isinstance(error, ServerError):
        told.pop("example", None)  # Only the adapter writes calls; a server has no say in them.
    calls = _calls(tool, arguments, error)
    views = (
        ErrorView(_bounded_error(told, chars, items), _short(calls, chars, items))
        for chars, items in _LENGTHS
    )
    halves = ((error_text(view), error_structured(view)) for view in views)
    spoken, shaped = next(
        half for half in halves if fits(*half, MOST_ERROR_CHARS, MOST_ERROR_CHARS)
    )
    return result(spoken, shaped, error=True)


def _bounded_error(told: Mapping[str, Any], chars: int, items: int) -> dict[str, Any]:
    first = list(told)[: len(_ALWAYS) + items] if items else ()
    kept = {name: told[name] for name in told if name in first or name in _ALWAYS}
    shown = {cut(name, 60)[0]: _bounded(kept[name], chars, items) for name in kept}
    offered = told.get("available_connections")
    if isinstance(offered, list) and len(offered) > items:
        shown["truncated"] = True
    return shown


def _bounded(value: Any, chars: int, items: int, depth: int = 0) -> Any:
    """Return a value no longer, wider or deeper than there is room for."""
    if isinstance(value, str):
        return cut(value, chars)[0]
    if depth == min(_DEEPEST, items) or not isinstance(value, list | Mapping):
        return value if isinstance(value, bool | int | float) else None
    if isinstance(value, list):
        return [_bounded(item, chars, items, depth + 1) for item in value[:items]]
    members = list(value.items())[: items + 8]
    return {cut(str(k), 60)[0]: _bounded(v, chars, items, depth + 1) for k, v in members}


def _short(calls: Sequence[NextCall], chars: int, items: int) -> Sequence[NextCall]:
    """Return the calls that can be shown whole; a call is never cut."""
    return [call for call in calls if json_length(call.as_json()) <= chars][: items + 1]


def _calls(tool: str, arguments: Mapping[str, Any], error: PdppError) -> Sequence[NextCall]:
    """Return the calls that follow from an error, if any would help."""
    example = error.detail.get("example")
    if isinstance(example, Mapping) and not isinstance(error, ServerError):
        return [NextCall("for example", str(example["tool"]), example["arguments"])]
    if error.code in ("ambiguous_connection", "ambiguous_schema_detail"):
        choices = _choices(tool, arguments, error.detail.get("available_connections"))
        listed = NextCall("all of them", "schema", {})
        return [listed, *choices] if error.detail.get("truncated") else choices
    known = {k: v for k, v in arguments.items() if k in SIGNATURES[tool].arguments}
    if error.code == "cursor_expired":
        return [NextCall("start again", tool, {**known, "changes_since": "beginning"})]
    if error.code == "invalid_cursor":
        fresh = {k: v for k, v in known.items() if k != "cursor"}
        if known.get("changes_since") not in (None, "beginning"):
            fresh["changes_since"] = "beginning"
        return [NextCall("start again", tool, fresh)]
    if error.code in ("unknown_field", "field_not_granted", "invalid_filter", "invalid_expand"):
        return [NextCall("what may be asked", "schema", _scope(tool, known))]
    if error.code == "not_found" and error.param == "q":
        whole = {k: v for k, v in known.items() if k not in _AROUND}
        return [NextCall("read from its start", tool, whole)]
    if error.code == "payload_too_large" and tool == "schema":
        return [NextCall("shorter", "schema", _scope(tool, known) if "detail" in known else {})]
    if error.code in ("grant_stream_not_allowed", "not_found"):
        return [NextCall("what may be read", "schema", {})]
    return []


_AROUND = ("query", "before_chars", "after_chars")


def _scope(tool: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stream and connection that a call is about."""
    named: dict[str, Any] = {k: known.get(k) for k in ("stream", "connection_id")}
    if isinstance(known.get("id"), str):
        try:
            handle, _ = locate_window(tool, known)
            named = {"stream": handle.stream, "connection_id": handle.connection_id}
        except InvalidRequest:
            named = {}
    return {name: value for name, value in named.items() if isinstance(value, str)}


def _choices(tool: str, arguments: Mapping[str, Any], offered: Any) -> list[NextCall]:
    calls = []
    for choice in offered if isinstance(offered, list) else []:
        if not isinstance(choice, Mapping):
            continue
        name = f"{choice.get('display_name')} ({choice.get('connector_key')})"
        with_it = {**arguments, "connection_id": choice.get("connection_id")}
        calls.append(NextCall(label(cut(name, 60)[0]), tool, with_it))
    return calls[:12]
