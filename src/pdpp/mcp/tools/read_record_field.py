"""The read_record_field tool: a bounded piece of one field."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Required, TypedDict

from pdpp.evidence.binary import describe
from pdpp.evidence.budget import DEFAULT_AROUND, DEFAULT_LIMIT, MAX_LIMIT
from pdpp.evidence.handle import BLOB_URI, Handle, WindowHandle, blob_uri, window_uri
from pdpp.evidence.text import digest, field_text
from pdpp.mcp.drawing import structured, text
from pdpp.mcp.drawing.record import source_of
from pdpp.mcp.drawing.result import MOST_CHARS, MOST_DEFAULT_CHARS, MOST_WINDOW_TEXT, fits, result
from pdpp.mcp.drawing.view import NextCall, RecordSource, WindowView
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.blob import MOST_BYTES, read_blob, window_of
from pdpp.mcp.reading.error_answer import binary_in
from pdpp.mcp.reading.field_window import FieldWindow, of_text
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.reads import ask_record, ask_window
from pdpp.mcp.reading.resource_client import ServerError
from pdpp.mcp.tools.given import FieldArguments, FieldSelection
from pdpp.mcp.tools.locator import locate_blob, locate_window, refuse
from pdpp.model.errors import PayloadTooLarge

TOOL = "read_record_field"
CONTENT = "content"
_MOST_MATCH = 1_024
"""How long a match itself is taken to be at most."""


class WindowParams(TypedDict, total=False):
    """What a piece of a field is asked for with."""

    field: Required[str]
    q: str
    offset_chars: int
    limit_chars: int
    before_chars: int
    after_chars: int


ViewOf = Callable[[WindowParams], Awaitable[WindowView]]


async def read_record_field(reader: GrantReader, arguments: FieldArguments) -> JsonObject:
    """Run the read_record_field tool."""
    view_of, chosen = _way(reader, arguments)
    params = _params(chosen)
    small = _asked(params) <= DEFAULT_LIMIT
    most_text = MOST_WINDOW_TEXT if small else MOST_CHARS
    most_structured = MOST_DEFAULT_CHARS if small else MOST_CHARS
    while True:
        view = await view_of(params)
        spoken, shaped = text.window_text(view), structured.window_structured(view)
        if fits(spoken, shaped, most_text, most_structured):
            meta: JsonObject = {} if view.uri is None else {"pdpp/resource_uri": view.uri}
            return result(spoken, shaped, meta=meta)
        if _asked(params) <= 1 or view.window is None:
            raise PayloadTooLarge(
                "The id and the field name alone are too long for an answer.", param="id"
            )
        params = _narrower(params, view.window)


def _way(reader: GrantReader, arguments: FieldArguments) -> tuple[ViewOf, FieldSelection]:
    """Return how the field that a call names is read, and what of it was chosen."""
    if arguments.get("id", "").startswith(BLOB_URI):
        blob_id, chosen = locate_blob(TOOL, arguments)
        return partial(blob_view, reader, blob_id), {"field_path": CONTENT, **chosen}
    handle, chosen = locate_window(TOOL, arguments)
    reader.require_one_source(handle.connection_id, handle.stream)
    return partial(window_view, reader, handle), chosen


def _around(params: WindowParams) -> tuple[int, int]:
    return params.get("before_chars", DEFAULT_AROUND), params.get("after_chars", DEFAULT_AROUND)


def _asked(params: WindowParams) -> int:
    """Return how many characters a call asks for."""
    if "q" in params:
        return sum(_around(params)) + _MOST_MATCH
    return params.get("limit_chars", DEFAULT_LIMIT)


def _narrower(params: WindowParams, window: FieldWindow) -> WindowParams:
    """Ask for half: text that doubles when it is escaped fills a half twice as fast."""
    if "q" not in params:
        return {**params, "limit_chars": _asked(params) // 2}
    before, after = (chars // 2 for chars in _around(params))
    if before or after:
        return {**params, "before_chars": before, "after_chars": after}
    limit = _MOST_MATCH // 2
    return {"field": params["field"], "offset_chars": window.start, "limit_chars": limit}


def _params(chosen: FieldSelection) -> WindowParams:
    """Return the server's parameters for a field selection, or refuse one that is two."""
    field = chosen.get("field_path")
    if field is None:
        raise refuse(TOOL, "field_path is required")
    params: WindowParams = {"field": field}
    query, cursor, offset = chosen.get("query"), chosen.get("cursor"), chosen.get("offset_chars")
    if sum(value is not None for value in (query, cursor, offset)) > 1:
        raise refuse(TOOL, "give one of offset_chars, cursor and query")
    if query is not None:
        return _around_words(params, query, chosen)
    if "before_chars" in chosen or "after_chars" in chosen:
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


def _around_words(params: WindowParams, query: str, chosen: FieldSelection) -> WindowParams:
    if "limit_chars" in chosen:
        raise refuse(TOOL, "query goes with before_chars and after_chars, not limit_chars")
    around: WindowParams = {**params, "q": query}
    if "before_chars" in chosen:
        around["before_chars"] = chosen["before_chars"]
    if "after_chars" in chosen:
        around["after_chars"] = chosen["after_chars"]
    return around


async def window_view(reader: GrantReader, handle: Handle, params: WindowParams) -> WindowView:
    """Read one window, or the facts about a field that is not text."""
    try:
        answer = await ask_window(reader, handle, params, _asked(params))
    except ServerError as error:
        if error.code != "field_not_text":
            raise
        return await _view_without_text(reader, handle, params, error)
    return _view(source_of(answer.record), params["field"], answer.digest, answer.window)


def _view(
    source: RecordSource, field: str, content_digest: str | None, window: FieldWindow
) -> WindowView:
    handle = Handle(source.connection_id, source.stream, source.record_id)
    uri = window_uri(WindowHandle(handle, field, window.start, window.limit, None))
    calls = _calls({"id": handle.id, "field_path": field}, window)
    return WindowView(handle.id, source, field, content_digest, window, None, calls, uri)


def _sized(limit: int) -> dict[str, int]:
    """Return the argument for a length; the usual one goes without saying."""
    return {} if limit == DEFAULT_LIMIT else {"limit_chars": limit}


def _calls(base: JsonObject, window: FieldWindow) -> list[NextCall]:
    """Offer the piece after this one and the piece before it."""
    calls = []
    limit = min(MAX_LIMIT, max(DEFAULT_LIMIT, window.limit or 0))
    if window.has_more:
        following = {**base, "offset_chars": window.end, **_sized(limit)}
        calls.append(NextCall("read on", TOOL, following))
    if window.start > 0:
        begin = max(0, window.start - limit)
        earlier = {**base, "offset_chars": begin, **_sized(window.start - begin)}
        calls.append(NextCall("before", TOOL, earlier))
    return calls


async def blob_view(reader: GrantReader, blob_id: str, params: WindowParams) -> WindowView:
    """Read one window of a text that is kept apart, or the facts about what is not text."""
    content = await read_blob(reader, blob_id, MOST_BYTES)
    id = blob_uri(blob_id)
    if content.text is None or not content.is_whole:
        about = NextCall("about it", "fetch", {"id": id})
        return WindowView(id, None, CONTENT, None, None, content.binary, [about])
    window = of_text(window_of(content.text, params))
    calls = _calls({"id": id}, window)
    return WindowView(id, None, CONTENT, digest(content.text), window, None, calls)


async def _view_without_text(
    reader: GrantReader, handle: Handle, params: WindowParams, error: ServerError
) -> WindowView:
    """Return what is known of a field that a server does not serve as text.

    A server that says no more than that is asked for the record: its own value tells the kind and
    size of binary content, and any other value is read as its JSON text.
    """
    field = params["field"]
    source = RecordSource(handle.connection_id, None, None, handle.stream, handle.record_id)
    binary = binary_in(error)
    if binary is None:
        record = await ask_record(reader, handle, {"fields": [field]})
        # A short id names no connection; the record says which it is.
        handle = handle._replace(connection_id=record.connection_id)
        source = source_of(record)
        value = record.data.get(field)
        facts = await reader.facts(handle.connection_id, handle.stream)
        binary = describe(value, facts.kinds.get(field))
        if binary is None and value is None:
            raise error
        if binary is None:
            whole = field_text(value)
            return _view(source, field, digest(whole), of_text(window_of(whole, params)))
    about = NextCall("its record", "fetch", {"id": handle.id})
    if binary.blob_id is not None:
        about = NextCall("about it", "fetch", {"id": blob_uri(binary.blob_id)})
    return WindowView(handle.id, source, field, None, None, binary, [about])
