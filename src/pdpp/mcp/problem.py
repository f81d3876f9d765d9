"""Problems: an error with the calls that would do instead."""

from collections.abc import Mapping, Sequence
from typing import Any

from pdpp.evidence.budget import cut, json_length
from pdpp.mcp.definition import SIGNATURES
from pdpp.mcp.result import MOST_ERROR_CHARS, fits, result
from pdpp.mcp.structured import problem_structured
from pdpp.mcp.text import problem_text
from pdpp.mcp.view import NextCall, ProblemView
from pdpp.model.errors import PdppError

_MOST_MESSAGE = 1_200


def problem_view(tool: str, arguments: Mapping[str, Any], error: PdppError) -> ProblemView:
    """Return an error as a tool answers it."""
    told = dict(error.body("")["error"])
    if not told.get("request_id"):
        told.pop("request_id", None)
    told["message"] = cut(str(told["message"]), _MOST_MESSAGE)[0]
    bounded = {name: _bounded(value) for name, value in told.items()}
    return ProblemView(bounded, _calls(tool, arguments, error))


def problem_result(tool: str, arguments: Mapping[str, Any], error: PdppError) -> dict[str, Any]:
    """Return an error as a tool result of two halves."""
    view = problem_view(tool, arguments, error)
    spoken, shaped = problem_text(view), problem_structured(view)
    if not fits(spoken, shaped, MOST_ERROR_CHARS, MOST_ERROR_CHARS):
        brief = {k: _brief(v) for k, v in view.error.items()}
        view = ProblemView(brief, view.calls[:3] if _short(view.calls) else ())
        spoken, shaped = problem_text(view), problem_structured(view)
    return result(spoken, shaped, most=MOST_ERROR_CHARS, error=True)


def _brief(value: Any) -> Any:
    if isinstance(value, str):
        return cut(value, 400)[0]
    if isinstance(value, list):
        return value[:3]
    return value if not isinstance(value, Mapping) else {}


def _short(calls: Sequence[NextCall]) -> bool:
    return sum(json_length(call.as_json()) for call in calls[:3]) < 600


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return cut(value, _MOST_MESSAGE)[0]
    if isinstance(value, list):
        return value[:12]
    return value


def _calls(tool: str, arguments: Mapping[str, Any], error: PdppError) -> Sequence[NextCall]:
    """Return the calls that follow from an error, if any would help."""
    example = error.detail.get("example")
    if isinstance(example, Mapping):
        return [NextCall("for example", str(example["tool"]), example["arguments"])]
    if error.code in ("ambiguous_connection", "ambiguous_schema_detail"):
        return _choices(tool, arguments, error.detail.get("available_connections"))
    known = {k: v for k, v in arguments.items() if k in SIGNATURES[tool].arguments}
    if error.code == "cursor_expired":
        return [NextCall("start again", tool, {**known, "changes_since": "beginning"})]
    if error.code == "invalid_cursor":
        fresh = {k: v for k, v in known.items() if k != "cursor"}
        if known.get("changes_since") not in (None, "beginning"):
            fresh["changes_since"] = "beginning"
        return [NextCall("start again", tool, fresh)]
    if error.code in ("unknown_field", "field_not_granted", "invalid_filter", "invalid_expand"):
        scope = {k: known[k] for k in ("stream", "connection_id") if isinstance(known.get(k), str)}
        return [NextCall("what may be asked", "schema", scope)]
    if error.code in ("grant_stream_not_allowed", "not_found"):
        return [NextCall("what may be read", "schema", {})]
    return []


def _choices(tool: str, arguments: Mapping[str, Any], offered: Any) -> list[NextCall]:
    calls = []
    for choice in offered if isinstance(offered, list) else []:
        label = f"{choice.get('display_name')} ({choice.get('connector_key')})"
        with_it = {**arguments, "connection_id": choice.get("connection_id")}
        calls.append(NextCall(cut(label, 60)[0], tool, with_it))
    return calls[:12]
