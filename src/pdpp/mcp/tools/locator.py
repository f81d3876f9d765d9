"""Locators: what the arguments of a call name, in every form they may, taken strictly."""

from typing import cast

from pdpp.evidence.handle import (
    WINDOW_URI,
    Handle,
    WindowHandle,
    complete_handle,
    parse_blob_uri,
    parse_handle,
    parse_window_uri,
    part_problem,
)
from pdpp.mcp.tools.argument import refusal
from pdpp.mcp.tools.definition import SIGNATURES
from pdpp.mcp.tools.given import FetchArguments, FieldArguments, FieldSelection
from pdpp.model.errors import InvalidRequest


def locate(tool: str, arguments: FieldArguments | FetchArguments) -> Handle:
    """Return the record a call names by id, with the connection given beside it taken in."""
    id = arguments.get("id")
    if id is None:
        return _from_parts(tool, cast("FieldArguments", arguments))
    for name in ("stream", "record_id"):
        if name in arguments:
            raise refuse(tool, f"give id, or connection_id with stream and record_id, not {name}")
    handle = parse_handle(id)
    try:
        return complete_handle(handle, arguments.get("connection_id"))
    except InvalidRequest as problem:
        raise refuse(tool, problem.message.rstrip(".")) from None


def _from_parts(tool: str, arguments: FieldArguments) -> Handle:
    stream, record_id = arguments.get("stream"), arguments.get("record_id")
    if stream is None or record_id is None:
        raise refuse(tool, "name the record by id, or by connection_id, stream and record_id")
    connection_id = arguments.get("connection_id")
    parts = {"stream": stream, "record_id": record_id, "connection_id": connection_id or ""}
    for name, part in parts.items():
        if "/" in part:
            raise refuse(tool, f"{name} holds a '/'")
    prefix = f"{connection_id}/" if connection_id is not None else ""
    handle = parse_handle(f"{prefix}{stream}:{record_id}")
    if handle != Handle(connection_id, stream, record_id):
        raise refuse(tool, "stream holds a ':'")
    return handle


def locate_window(tool: str, arguments: FieldArguments) -> tuple[Handle, FieldSelection]:
    """Return the record and the field selection of a call; a window URI brings its own."""
    id = arguments.get("id")
    chosen = _selection(arguments)
    if not isinstance(id, str) or not id.startswith(WINDOW_URI):
        return locate(tool, arguments), chosen
    window: WindowHandle = parse_window_uri(id)
    brought = {
        "field_path": window.field,
        "offset_chars": window.offset_chars,
        "limit_chars": window.limit_chars,
        "query": window.query,
    }
    from_uri = {k: v for k, v in brought.items() if v is not None}
    for name, value in chosen.items():
        if name in from_uri and from_uri[name] != value:
            raise refuse(tool, f"{name} differs from the one in the URI")
    named: FieldArguments = {"id": window.handle.id}
    if "connection_id" in arguments:
        named["connection_id"] = arguments["connection_id"]
    return locate(tool, named), cast("FieldSelection", {**from_uri, **chosen})


def _selection(arguments: FieldArguments) -> FieldSelection:
    chosen = {name: value for name, value in arguments.items() if name in _SELECTORS}
    return cast("FieldSelection", chosen)


def locate_blob(tool: str, arguments: FieldArguments) -> tuple[str, FieldSelection]:
    """Return the blob that a call names, and what of its text was chosen."""
    for name in ("connection_id", "stream", "record_id", "field_path"):
        if name in arguments:
            raise refuse(tool, f"a blob is named by its id alone, not with {name}")
    return parse_blob_uri(arguments["id"]), _selection(arguments)


def check_stream(name: str) -> None:
    """Refuse the name of a stream that no handle could hold."""
    problem = part_problem(name)
    if problem is not None:
        raise InvalidRequest(f"stream {problem}. Nothing was read.", param="stream")


_SELECTORS = frozenset(FieldSelection.__annotations__)


def refuse(tool: str, what: str) -> InvalidRequest:
    """Return a refusal that shows a correct call."""
    return refusal(tool, what, "id", SIGNATURES[tool].example)
