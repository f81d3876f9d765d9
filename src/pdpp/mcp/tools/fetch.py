"""The fetch tool: one record, or the facts about a blob, as a document of five members."""

from pdpp.evidence.budget import cut
from pdpp.evidence.fence import has_hidden, visible
from pdpp.evidence.handle import BLOB_URI, blob_uri, parse_blob_uri
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
from pdpp.mcp.drawing.result import MOST_CHARS, Less, if_cut, is_long, result
from pdpp.mcp.drawing.structured import binary_json, related_json
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.blob import BlobContent, blob_route, read_blob
from pdpp.mcp.reading.field_facts import NO_FACTS, FieldFacts
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.reads import ask_record
from pdpp.mcp.reading.record_answer import ServerRecord
from pdpp.mcp.tools.given import FetchArguments
from pdpp.mcp.tools.locator import locate
from pdpp.model.errors import PayloadTooLarge

TOOL = "fetch"
_BLOB_BYTES = 32_768
_BLOB_CHARS = 4_096
_MOST_ASKED = 20
_BUDGETS = tuple(
    RecordBudget(DOCUMENT_CHARS * 3**step // 4**step, 300 // 2**step, 40 // 2**step, 100 // 2**step)
    for step in range(16)
)
"""How much of a document may be shown, from generous to scant."""


async def fetch(reader: GrantReader, arguments: FetchArguments) -> JsonObject:
    """Run the fetch tool."""
    if arguments["id"].startswith(BLOB_URI):
        return _document_result(await _blob(reader, arguments["id"]))
    handle = locate(TOOL, arguments)
    reader.require_one_source(handle.connection_id, handle.stream)
    params = {k: v for k, v in arguments.items() if k in ("fields", "expand", "expand_limit")}
    record = await ask_record(reader, handle, params)
    facts = await reader.facts(record.connection_id, record.stream)
    return _document_result(_fitting(reader, record, facts))


def _document_result(document: JsonObject) -> JsonObject:
    """Return a document in both halves: the object, and the same as JSON text.

    Characters a reader cannot see are escaped in the text, which leaves the object the same.
    """
    return result(spelled(json_text(document)), document)


def _fits(document: JsonObject) -> bool:
    return len(spelled(json_text(document))) <= MOST_CHARS


def _fitting(reader: GrantReader, record: ServerRecord, facts: FieldFacts) -> JsonObject:
    """Return the document with as much text as its bound allows once it is escaped."""
    for budget in _BUDGETS:
        document = _document(reader, record, facts, budget)
        if _fits(document):
            return document
    raise PayloadTooLarge(
        "The field names of this record alone are too long for an answer; ask with fields, or "
        "read one field."
    )


def _arranged(document: JsonObject, text: str, metadata: JsonObject) -> JsonObject:
    """Return a document; where hosts would cut its end off, its longer part is its last.

    Its metadata then says first how to ask for less.
    """
    told = json_text(metadata)
    if not is_long(f"{text}{told}"):
        return document
    long = {"metadata": {"note": if_cut(Less.FIELDS_OR_PIECES), **metadata}, "text": text}
    last = "text" if len(told) < len(text) else "metadata"
    short = {name: part for name, part in {**document, **long}.items() if name != last}
    return {**short, last: long[last]}


def _document(
    reader: GrantReader, record: ServerRecord, facts: FieldFacts, budget: RecordBudget
) -> JsonObject:
    id = record.handle.id
    presentation = presentation_of(record, facts)
    document = document_text(id, record.data, facts, budget)
    about = {
        "emitted_at": record.emitted_at,
        "version": record.version,
        "event_time": presentation.event_time,
        "link": presentation.link,
    }
    metadata: JsonObject = {**source_of(record).as_json()}
    metadata |= {name: value for name, value in about.items() if value is not None}
    metadata |= _truncation(id, document)
    metadata |= _expansion(record, budget)
    if has_hidden(document.text):
        metadata["hidden_characters"] = True
    shown: JsonObject = {
        "id": id,
        "title": visible(presentation.title, lines=False),
        "text": document.text,
        "url": reader.url(record.handle, presentation.link),
        "metadata": metadata,
    }
    return _arranged(shown, document.text, metadata)


def _truncation(id: str, document: DocumentText) -> JsonObject:
    facts: JsonObject = {}
    if document.cuts:
        facts["truncation"] = {name: part.as_json() for name, part in document.cuts.items()}
    if document.omitted:
        facts["omitted_fields"] = names_within(document.omitted)
        facts["omitted_count"] = len(document.omitted)
        asked = names_within(document.omitted)[:_MOST_ASKED]
        if asked:
            facts["fetch"] = {"id": id, "fields": asked}
    if document.binaries:
        facts["binary_fields"] = {
            name: {
                **binary_json(field.binary),
                **({field.read.tool: dict(field.read.arguments)} if field.read else {}),
            }
            for name, field in document.binaries.items()
            if field.binary is not None
        }
    return facts


def _expansion(record: ServerRecord, budget: RecordBudget) -> JsonObject:
    if not record.related:
        return {}
    own = budget._replace(chars=min(400, budget.chars), fields=0)
    return {"expanded": related_json(record_view(record, NO_FACTS, own))}


async def _blob(reader: GrantReader, uri: str) -> JsonObject:
    """Return the facts about a blob, with as much of its first text as has room."""
    content = await read_blob(reader, parse_blob_uri(uri), _BLOB_BYTES)
    for step in range(_BLOB_CHARS.bit_length() + 1):
        document = _blob_document(reader, content, _BLOB_CHARS >> step)
        if _fits(document):
            return document
    raise PayloadTooLarge("The id of this blob alone is too long for an answer.", param="id")


def _blob_document(reader: GrantReader, content: BlobContent, most: int) -> JsonObject:
    metadata: JsonObject = {
        "media_type": content.media_type,
        "size_bytes": content.size_bytes,
        **({} if content.sha256 is None else {"sha256": content.sha256}),
        "export": {"method": "GET", "route": blob_route(content.blob_id)},
    }
    about = f"{content.media_type}, {content.size_bytes} bytes"
    digest = "" if content.sha256 is None else f", sha256 {content.sha256}"
    text, was_cut = cut(content.text or "", most)
    if was_cut or (content.text is not None and not content.is_whole):
        metadata["truncation"] = {
            "served_chars": len(text),
            "total_bytes": content.size_bytes,
            "read_record_field": {"id": blob_uri(content.blob_id), "offset_chars": len(text)},
        }
    return {
        "id": blob_uri(content.blob_id),
        "title": about,
        "text": text or f"[{about}{digest}, not shown]",
        "url": reader.client.origin + blob_route(content.blob_id),
        "metadata": metadata,
    }
