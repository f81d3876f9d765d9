"""The read_record_field tool: a bounded piece of one field."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from pdpp.evidence.budget import DEFAULT_AROUND, DEFAULT_LIMIT, MAX_LIMIT, cut
from pdpp.evidence.handle import BLOB_URI, Handle, WindowHandle, blob_uri, window_uri
from pdpp.evidence.text import digest
from pdpp.mcp.drawing import structured, text
from pdpp.mcp.drawing.label import text_of
from pdpp.mcp.drawing.record import source_of
from pdpp.mcp.drawing.result import MOST_CHARS, MOST_WINDOW_TEXT, fits, result
from pdpp.mcp.drawing.view import NextCall, RecordSource, WindowView
from pdpp.mcp.reading.blob import MOST_BYTES, read_blob, window_of
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ServerError
from pdpp.mcp.tools.locator import locate_blob, locate_window, refuse
from pdpp.model.errors import PayloadTooLarge

TOOL = "read_record_field"
CONTENT = "content"
ViewOf = Callable[[Mapping[str, Any]], Awaitable[WindowView]]
_AROUND = ("before_chars", "after_chars")
_MOST_MATCH = 1_024
"""How long a match itself is taken to be at most."""


async def read_record_field(reader: GrantReader, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the read_record_field tool."""
    view_of, chosen = _way(reader, arguments)
    params = _params(chosen)
    most_text = MOST_WINDOW_TEXT if _asked(params) <= DEFAULT_LIMIT else MOST_CHARS
    while True:
        view = await view_of(params)
        spoken, shaped = text.window_text(view), structured.window_structured(view)
        if fits(spoken, shaped, most_text, MOST_CHARS):
            meta = {"pdpp/resource_uri": view.uri} if view.uri is not None else None
            return result(spoken, shaped, meta=meta)
        if _asked(params) <= 1 or view.window is None:
            raise PayloadTooLarge("What names this field does not fit an answer.", param="id")
        params = _narrower(params, view.window)


def _way(reader: GrantReader, arguments: Mapping[str, Any]) -> tuple[ViewOf, dict[str, Any]]:
    """Return how the field that a call names is read, and what of it was chosen."""
    if str(arguments.get("id", "")).startswith(BLOB_URI):
        blob_id, chosen = locate_blob(TOOL, arguments)
        return partial(blob_view, reader, blob_id), {"field_path": CONTENT, **chosen}
    handle, chosen = locate_window(TOOL, arguments)
    reader.require_one_source(handle.connection_id, handle.stream)
    return partial(window_view, reader, handle), chosen


def _asked(params: Mapping[str, Any]) -> int:
    """Return how many characters a call asks for."""
    if "q" in params:
        return sum(int(params.get(name, DEFAULT_AROUND)) for name in _AROUND) + _MOST_MATCH
    return int(params.get("limit_chars", DEFAULT_LIMIT))


def _narrower(params: Mapping[str, Any], window: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for half: text that doubles when it is escaped fills a half twice as fast."""
    around = {name: int(params.get(name, DEFAULT_AROUND)) // 2 for name in _AROUND}
    if "q" not in params:
        return {**params, "limit_chars": _asked(params) // 2}
    if any(around.values()):
        return {**params, **around}
    start = window["start_chars"]
    return {"field": params["field"], "offset_chars": start, "limit_chars": _MOST_MATCH // 2}


def _params(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the server's parameters for a field selection, or refuse one that is two."""
    field = chosen.get("field_path")
    if field is None:
        raise refuse(TOOL, "field_path is required")
    params: dict[str, Any] = {"field": field}
    query, cursor, offset = (chosen.get(name) for name in ("query", "cursor", "offset_chars"))
    if sum(value is not None for value in (query, cursor, offset)) > 1:
        raise refuse(TOOL, "give one of offset_chars, cursor and query")
    if query is not None:
        if "limit_chars" in chosen:
            raise refuse(TOOL, "query goes with before_chars and after_chars, not limit_chars")
        return {**params, "q": query, **{k: chosen[k] for k in _AROUND if k in chosen}}
    if any(name in chosen for name in _AROUND):
        raise refuse(TOOL, "before_chars and after_chars go with query")
    if cursor is not None:
        if not cursor.isdecimal() or len(cursor) > 12:
            raise refuse(TOOL, "cursor is the next offset, as shown")
        offset = int(cursor)
    if offset is not None:
        params["offset_chars"] = offset
    if "limit_chars" in chosen:
        params["limit_chars"] = chosen["limit_chars"]
    return params


async def window_view(reader: GrantReader, handle: Handle, params: Mapping[str, Any]) -> WindowView:
    """Read one window, or the facts about a field that is not text."""
    path = ["streams", handle.stream, "records", handle.record_id, "field-window"]
    named = {} if handle.connection_id is None else {"connection_id": handle.connection_id}
    field = params["field"]
    try:
        answer = await reader.get(path, {**params, **named}, handle.connection_id)
    except ServerError as error:
        if error.code != "field_not_text":
            raise
        return _binary_view(handle, field, error)
    body = answer.body
    source = source_of(body, handle.stream, handle.record_id)
    if source.connection_id is None and handle.connection_id is not None:
        source = RecordSource(handle.connection_id, None, None, source.stream, source.record_id)
    found = Handle(source.connection_id, source.stream, source.record_id)
    told = body.get("window")
    window = _known(told if isinstance(told, Mapping) else {}, params)
    limit = window.get("limit_chars")
    uri = window_uri(
        WindowHandle(
            found, field, window["start_chars"], limit if isinstance(limit, int) else None, None
        )
    )
    calls = _calls({"id": found.id, "field_path": field}, window)
    told_digest = text_of(body.get("digest"))
    return WindowView(found.id, source, field, told_digest, window, None, calls, uri)


def _known(window: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a window of which a foreign server told less than ours does, or sent more."""
    whole = str(window.get("text", ""))
    served, was_cut = cut(whole, _asked(params))
    start = _count(window, "start_chars", int(params.get("offset_chars", 0)))
    end = start + len(served)
    total = max(_count(window, "total_chars", 0), start + len(whole))
    known: dict[str, Any] = {
        "text": served,
        "start_chars": start,
        "end_chars": end,
        "total_chars": total,
        "complete": start == 0 and end >= total,
        "has_more": end < total,
    }
    if was_cut:
        return known
    kept = {k: window[k] for k in _TOLD if k in window and isinstance(window[k], int | None)}
    matches = window.get("matches")
    if isinstance(matches, list):
        kept["matches"] = [m for m in matches if isinstance(m, Mapping) and _are_counts(m)]
    return {**kept, **known}


_TOLD = (
    "limit_chars",
    "next_offset_chars",
    "previous_offset_chars",
    "match_start_chars",
    "match_end_chars",
    "match_count",
)


def _are_counts(found: Mapping[str, Any]) -> bool:
    return all(isinstance(value, int) for value in found.values())


def _count(window: Mapping[str, Any], name: str, otherwise: int) -> int:
    value = window.get(name)
    return value if isinstance(value, int) and value >= 0 else otherwise


def _sized(limit: int) -> dict[str, int]:
    """Return the argument for a length; the usual one goes without saying."""
    return {} if limit == DEFAULT_LIMIT else {"limit_chars": limit}


def _calls(base: Mapping[str, Any], known: Mapping[str, Any]) -> list[NextCall]:
    """Offer the piece after this one and the piece before it."""
    calls = []
    limit = min(MAX_LIMIT, max(DEFAULT_LIMIT, _count(known, "limit_chars", 0)))
    if known["has_more"]:
        following = {**base, "offset_chars": known["end_chars"], **_sized(limit)}
        calls.append(NextCall("read on", TOOL, following))
    start = known["start_chars"]
    if start > 0:
        begin = max(0, start - limit)
        earlier = {**base, "offset_chars": begin, **_sized(start - begin)}
        calls.append(NextCall("before", TOOL, earlier))
    return calls


async def blob_view(reader: GrantReader, blob_id: str, params: Mapping[str, Any]) -> WindowView:
    """Read one window of a text that is kept apart, or the facts about what is not text."""
    content = await read_blob(reader, blob_id, MOST_BYTES)
    id = blob_uri(blob_id)
    if content.text is None or not content.is_whole:
        about = NextCall("about it", "fetch", {"id": id})
        return WindowView(id, None, CONTENT, None, None, content.facts(), [about])
    window = window_of(content.text, params).as_json()
    found = digest(content.text)
    return WindowView(id, None, CONTENT, found, window, None, _calls({"id": id}, window))


def _binary_view(handle: Handle, field: str, error: ServerError) -> WindowView:
    names = ("media_type", "size_bytes", "sha256", "blob_id", "blob_route")
    facts = {name: error.detail[name] for name in names if error.detail.get(name) is not None}
    calls = []
    if isinstance(facts.get("blob_id"), str):
        calls.append(NextCall("about it", "fetch", {"id": blob_uri(facts["blob_id"])}))
    else:
        calls.append(NextCall("its record", "fetch", {"id": handle.id}))
    source = RecordSource(handle.connection_id, None, None, handle.stream, handle.record_id)
    return WindowView(handle.id, source, field, None, None, facts, calls)
