"""Errors: a refusal in both halves, with the calls that would do instead."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from pdpp.evidence.budget import cut, json_length
from pdpp.mcp.drawing.escaping import label
from pdpp.mcp.drawing.result import MOST_ERROR_CHARS, fits, result
from pdpp.mcp.drawing.structured import error_structured
from pdpp.mcp.drawing.text import error_text
from pdpp.mcp.drawing.view import ErrorView, NextCall
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.error_answer import choices_of, example_in, offers_more, read_error
from pdpp.mcp.tools.definition import SIGNATURES
from pdpp.mcp.tools.given import FieldArguments
from pdpp.mcp.tools.locator import locate_window
from pdpp.model.errors import InvalidRequest, PdppError

_LENGTHS = ((1_200, 12), (600, 8), (400, 5), (300, 3), (120, 2), (60, 1), (20, 0))
"""How long texts and lists of an error may be, from generous to scant."""

_MOST_CHOICES = 12
_LABEL_CHARS = 60


class FailedCall(NamedTuple):
    """A call that was refused: its tool, those of its arguments that the tool has, and why."""

    tool: str
    arguments: Mapping[str, object]
    error: PdppError

    @property
    def choices(self) -> Sequence[ConnectionChoice]:
        """Return the connections that the error offers."""
        return choices_of(self.error)

    def without(self, *names: str) -> JsonObject:
        """Return the arguments but for some."""
        return {name: value for name, value in self.arguments.items() if name not in names}


def error_result(tool: str, arguments: Mapping[str, object], error: PdppError) -> JsonObject:
    """Return an error as a tool result of two halves, with as much of it as has room."""
    known = {k: v for k, v in arguments.items() if k in SIGNATURES[tool].arguments}
    calls = _calls(FailedCall(tool, known, error))
    views = (
        ErrorView(read_error(error, chars, items), _whole_calls(calls, chars, items))
        for chars, items in _LENGTHS
    )
    halves = ((error_text(view), error_structured(view)) for view in views)
    text, structured = next(
        half for half in halves if fits(*half, MOST_ERROR_CHARS, MOST_ERROR_CHARS)
    )
    return result(text, structured, error=True)


def _whole_calls(calls: Sequence[NextCall], chars: int, items: int) -> Sequence[NextCall]:
    """Return the calls that can be shown whole; a call is never cut."""
    return [call for call in calls if json_length(call.as_json()) <= chars][: items + 1]


# The calls that follow from an error


def _calls(failed: FailedCall) -> Sequence[NextCall]:
    example = example_in(failed.error)
    if example is not None:
        return [NextCall("for example", *example)]
    if failed.choices:
        return _with_a_connection(failed)
    offer = _OFFERS.get(failed.error.code)
    return [] if offer is None else offer(failed)


def _with_a_connection(failed: FailedCall) -> list[NextCall]:
    again = dict(failed.arguments)
    if again.get("changes_since") not in (None, "beginning") and "connection_id" in again:
        again["changes_since"] = "beginning"  # A bookmark belongs to the connection it was made in.
    calls = [
        NextCall(
            label(cut(choice.label, _LABEL_CHARS)[0]),
            failed.tool,
            {**again, "connection_id": choice.connection_id},
        )
        for choice in failed.choices[:_MOST_CHOICES]
    ]
    if offers_more(failed.error):
        calls.insert(0, NextCall("all of them", "schema", {}))
    return calls


def _from_the_beginning(failed: FailedCall) -> list[NextCall]:
    again = {**failed.without("cursor"), "changes_since": "beginning"}
    return [NextCall("start again", failed.tool, again)]


def _without_cursor(failed: FailedCall) -> list[NextCall]:
    again = failed.without("cursor")
    if again.get("changes_since") not in (None, "beginning"):
        again["changes_since"] = "beginning"
    return [NextCall("start again", failed.tool, again)]


def _schema_of_stream(failed: FailedCall) -> list[NextCall]:
    return [NextCall("what may be asked", "schema", _scope(failed))]


def _index(_: FailedCall) -> list[NextCall]:
    return [NextCall("what may be read", "schema", {})]


def _not_found(failed: FailedCall) -> list[NextCall]:
    if failed.error.param != "q":
        return _index(failed)
    whole = failed.without("query", "before_chars", "after_chars")
    return [NextCall("read from its start", failed.tool, whole)]


def _shorter(failed: FailedCall) -> list[NextCall]:
    if failed.tool != "schema":
        return []
    scope = _scope(failed) if "detail" in failed.arguments else {}
    return [] if scope == failed.arguments else [NextCall("shorter", "schema", scope)]


_OFFERS: Mapping[str, Callable[[FailedCall], list[NextCall]]] = {
    "cursor_expired": _from_the_beginning,
    "invalid_cursor": _without_cursor,
    "unknown_field": _schema_of_stream,
    "field_not_granted": _schema_of_stream,
    "invalid_filter": _schema_of_stream,
    "invalid_expand": _schema_of_stream,
    "not_found": _not_found,
    "payload_too_large": _shorter,
    "grant_stream_not_allowed": _index,
    "context.stream_not_allowed": _index,
}
"""What to offer after each code; one with a dot is the reference implementation's."""


def _scope(failed: FailedCall) -> dict[str, str]:
    """Return the stream and connection that a call is about."""
    named = {k: failed.arguments.get(k) for k in ("stream", "connection_id")}
    if isinstance(failed.arguments.get("id"), str):
        try:
            handle, _ = locate_window(failed.tool, cast("FieldArguments", failed.arguments))
            named = {"stream": handle.stream, "connection_id": handle.connection_id}
        except InvalidRequest:
            named = {}
    return {name: value for name, value in named.items() if isinstance(value, str)}
