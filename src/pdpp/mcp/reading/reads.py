"""Reads: what the tools ask of a server, answered in typed values."""

from collections.abc import Mapping
from typing import NamedTuple

from pdpp.evidence.handle import Handle
from pdpp.mcp.reading.aggregation import ServerAggregation, read_aggregation
from pdpp.mcp.reading.field_window import FieldWindow, read_window
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.record_answer import ServerRecord, ServerRecordPage, read_page, read_record
from pdpp.mcp.reading.resource_client import Params
from pdpp.wire.answer import answer_without
from pdpp.wire.members import object_in, text_in, whole_in
from pdpp.wire.paging import following


class WindowAnswer(NamedTuple):
    """A piece of a field, with the record it is of as far as the server names it."""

    record: ServerRecord
    digest: str | None
    window: FieldWindow


async def ask_record(reader: GrantReader, handle: Handle, options: Params) -> ServerRecord:
    """Return one record; add the connection if the server does not repeat it."""
    answer = await reader.get(_path(handle), _within(handle, options), handle.connection_id)
    body = answer.body
    if not isinstance(body.get("data"), dict) and body.keys().isdisjoint({"id", "deleted"}):
        raise answer_without("record")
    return _in_connection(read_record(body, handle.stream, handle.record_id), handle)


async def ask_page(
    reader: GrantReader, stream: str, connection_id: str | None, params: Params
) -> ServerRecordPage:
    """Return a page of records.

    Our servers take a bookmark beside the cursor and check that they belong together. Another one
    serves its first page again where both are sent, so it is asked with the cursor alone.
    """
    path = ["streams", stream, "records"]
    answer = await reader.get(path, params, connection_id)
    cursor = params.get("cursor")
    if isinstance(cursor, str) and reader.record_page is None:
        alone = following(params, cursor)
        if alone != params:
            answer = await reader.get(path, alone, connection_id)
    return read_page(answer.body, stream)


async def ask_aggregation(
    reader: GrantReader, stream: str, connection_id: str | None, params: Params
) -> ServerAggregation:
    """Return a number, or numbers by group."""
    answer = await reader.get(["streams", stream, "aggregate"], params, connection_id)
    return read_aggregation(answer.body, {**params, "stream": stream})


async def ask_window(
    reader: GrantReader, handle: Handle, params: Params, most: int
) -> WindowAnswer:
    """Return a piece of one field, at most so many characters of it."""
    path = [*_path(handle), "field-window"]
    answer = await reader.get(path, _within(handle, params), handle.connection_id)
    body, window = answer.body, object_in(answer.body, "window")
    if not isinstance(window.get("text"), str):
        raise answer_without("text of this field")
    record = read_record({**body, "id": handle.record_id}, handle.stream)
    piece = read_window(window, whole_in(params, "offset_chars") or 0, most)
    return WindowAnswer(_in_connection(record, handle), text_in(body, "digest"), piece)


def _path(handle: Handle) -> list[str]:
    return ["streams", handle.stream, "records", handle.record_id]


def _within(handle: Handle, params: Params) -> Mapping[str, object]:
    if handle.connection_id is None:
        return params
    return {**params, "connection_id": handle.connection_id}


def _in_connection(record: ServerRecord, handle: Handle) -> ServerRecord:
    if record.connection_id is not None:
        return record
    return record._replace(connection_id=handle.connection_id)
