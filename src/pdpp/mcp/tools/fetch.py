"""The fetch tool: one record, or the facts about a blob, as a document of five members."""

from collections.abc import Mapping
from typing import Any

from pdpp.evidence.budget import cut
from pdpp.evidence.handle import BLOB_URI, Handle, blob_uri, parse_blob_uri
from pdpp.evidence.text import json_text
from pdpp.mcp.drawing.escaping import spelled
from pdpp.mcp.drawing.record import (
    DOCUMENT_CHARS,
    DocumentText,
    RecordBudget,
    document_text,
    names_within,
    presentation_of,
    record_view,
    source_of,
)
from pdpp.mcp.drawing.result import MOST_CHARS, result
from pdpp.mcp.drawing.structured import record_structured
from pdpp.mcp.drawing.view import RecordSource
from pdpp.mcp.reading.blob import BlobContent, read_blob
from pdpp.mcp.reading.field_facts import NO_FACTS, FieldFacts
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.tools.locator import locate
from pdpp.model.errors import PayloadTooLarge

TOOL = "fetch"
_BLOB_BYTES = 32_768
_BLOB_CHARS = 4_096
_MOST_ASKED = 20
_ROOMS = tuple(
    RecordBudget(DOCUMENT_CHARS * 3**step // 4**step, 300 // 2**step, 40 // 2**step, 100 // 2**step)
    for step in range(16)
)
"""How much of a document may be shown, from generous to scant."""


async def fetch(reader: GrantReader, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the fetch tool."""
    if arguments["id"].startswith(BLOB_URI):
        return _document_result(await _blob(reader, arguments["id"]))
    handle = locate(TOOL, arguments)
    reader.require_one_source(handle.connection_id, handle.stream)
    params = {k: v for k, v in arguments.items() if k in ("fields", "expand", "expand_limit")}
    if handle.connection_id is not None:
        params["connection_id"] = handle.connection_id
    path = ["streams", handle.stream, "records", handle.record_id]
    answer = await reader.get(path, params, handle.connection_id)
    source = source_of(answer.body, handle.stream, handle.record_id)
    if source.connection_id is None:
        source = RecordSource(handle.connection_id, None, None, handle.stream, handle.record_id)
    facts = await reader.facts(source.connection_id, source.stream)
    return _document_result(_fitting(reader, answer.body, source, facts))


def _document_result(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document in both halves: the object, and the same as JSON text.

    Characters a reader cannot see are escaped in the text, which leaves the object the same.
    """
    return result(spelled(json_text(document)), document)


def _fits(document: Mapping[str, Any]) -> bool:
    return len(spelled(json_text(document))) <= MOST_CHARS


def _fitting(
    reader: GrantReader, body: Mapping[str, Any], source: RecordSource, facts: FieldFacts
) -> dict[str, Any]:
    """Return the document with as much text as its bound allows once it is escaped."""
    for room in _ROOMS:
        document = _document(reader, body, source, facts, room)
        if _fits(document):
            return document
    raise PayloadTooLarge(
        "Even the names in this record do not fit an answer; ask with fields, or read one field."
    )


def _document(
    reader: GrantReader,
    body: Mapping[str, Any],
    source: RecordSource,
    facts: FieldFacts,
    room: RecordBudget,
) -> dict[str, Any]:
    handle = Handle(source.connection_id, source.stream, source.record_id)
    found = body.get("data")
    data = found if isinstance(found, Mapping) else {}
    card = presentation_of(body, source, facts)
    shown = document_text(handle.id, data, facts, room)
    metadata: dict[str, Any] = source.as_json()
    for name in ("emitted_at", "version"):
        if body.get(name) is not None:
            metadata[name] = body[name]
    if card.event_time is not None:
        metadata["event_time"] = card.event_time
    if card.link is not None:
        metadata["link"] = card.link
    metadata |= _truncation(handle.id, shown)
    metadata |= _expansion(body, room)
    return {
        "id": handle.id,
        "title": card.title,
        "text": shown.text,
        "url": reader.url(handle, card.link),
        "metadata": metadata,
    }


def _truncation(id: str, shown: DocumentText) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if shown.cuts:
        facts["truncation"] = {name: part.as_json() for name, part in shown.cuts.items()}
    if shown.omitted:
        facts["omitted_fields"] = names_within(shown.omitted)
        facts["omitted_count"] = len(shown.omitted)
        asked = names_within(shown.omitted)[:_MOST_ASKED]
        if asked:
            facts["fetch"] = {"id": id, "fields": asked}
    if shown.binaries:
        facts["binary_fields"] = {
            name: {
                "media_type": field.binary.media_type,
                "size_bytes": field.binary.size_bytes,
                "sha256": field.binary.sha256,
                **({field.read.tool: dict(field.read.arguments)} if field.read else {}),
            }
            for name, field in shown.binaries.items()
            if field.binary is not None
        }
    return facts


def _expansion(body: Mapping[str, Any], room: RecordBudget) -> dict[str, Any]:
    if not isinstance(body.get("expanded"), Mapping):
        return {}
    own = room._replace(chars=min(400, room.chars), fields=0)
    view = record_view(body, str(body.get("stream", "")), NO_FACTS, own)
    return {"expanded": record_structured(view).get("expanded", {})}


async def _blob(reader: GrantReader, uri: str) -> dict[str, Any]:
    """Return the facts about a blob, with as much of its first text as has room."""
    content = await read_blob(reader, parse_blob_uri(uri), _BLOB_BYTES)
    for step in range(_BLOB_CHARS.bit_length() + 1):
        document = _blob_document(reader, content, _BLOB_CHARS >> step)
        if _fits(document):
            return document
    raise PayloadTooLarge("What names this blob does not fit an answer.", param="id")


def _blob_document(reader: GrantReader, content: BlobContent, most: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "media_type": content.media_type,
        "size_bytes": content.size_bytes,
        "sha256": content.blob_id,
        "export": {"method": "GET", "route": content.route},
    }
    about = f"{content.media_type}, {content.size_bytes} bytes"
    shown, was_cut = cut(content.text or "", most)
    if was_cut or (content.text is not None and not content.is_whole):
        metadata["truncation"] = {
            "served_chars": len(shown),
            "total_bytes": content.size_bytes,
            "read_record_field": {"id": blob_uri(content.blob_id), "offset_chars": len(shown)},
        }
    return {
        "id": blob_uri(content.blob_id),
        "title": about,
        "text": shown or f"[{about}, sha256 {content.blob_id}, not shown]",
        "url": reader.client.origin + content.route,
        "metadata": metadata,
    }
