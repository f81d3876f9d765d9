"""The structured half: compact JSON with the exact text, made from the same view as the text.

Where an answer is long, what leads on and what is short comes first: hosts cut its end off.
"""

from collections.abc import Iterable, Sequence

from pdpp.evidence.binary import Binary
from pdpp.evidence.fence import has_hidden, visible
from pdpp.evidence.mark import CLOSE, OPEN
from pdpp.evidence.text import json_text
from pdpp.mcp.drawing.escaping import MOST_UNAVAILABLE
from pdpp.mcp.drawing.result import Less, if_cut, is_long
from pdpp.mcp.drawing.view import (
    AggregateView,
    ErrorView,
    FieldView,
    HitView,
    NextCall,
    PageView,
    RecordView,
    RelatedView,
    SchemaView,
    SearchView,
    WindowView,
)
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.blob import blob_route
from pdpp.mcp.reading.choices import ConnectionChoice

_LONG_MEMBERS = ("content_ladder", "results", "data", "window")
"""Members that hold what was asked for; of a long answer a host may show a part of them."""


def _calls(calls: Iterable[NextCall | None]) -> JsonObject:
    listed = [call.as_json() for call in calls if call is not None]
    return {"next": listed} if listed else {}


def noted(document: JsonObject, less: Less) -> JsonObject:
    """Return an answer that says first, where hosts would cut its end off, how to ask for less."""
    return with_note(document, less) if is_long(json_text(document)) else document


def with_note(document: JsonObject, less: Less) -> JsonObject:
    """Return a long answer that says first how to ask for less, then what is short of it."""
    last = {name: document[name] for name in _LONG_MEMBERS if name in document}
    first = {name: value for name, value in document.items() if name not in last}
    return {"note": if_cut(less), **first, **last}


def search_structured(view: SearchView) -> JsonObject:
    """Return the server's envelope, the flat results, and the rungs that lead on."""
    ladder = {**_unavailable(view.unavailable), **_notes(view.notes)}
    ladder["records"] = [drawn.rung for drawn in view.hits]
    return {
        "data": view.page.envelope.as_json(),
        "results": [drawn.result for drawn in view.hits],
        "content_ladder": ladder,
        # The words that the notes are of stand in the server's envelope as it sent them.
        **_flag(view.page.hidden_characters or has_hidden(view.notes)),
        **_calls([view.next]),
    }


def _notes(notes: Sequence[str]) -> JsonObject:
    """Return what whoever asked should know; some of it is words of records, or of a server."""
    return {"notes": [visible(note, lines=False) for note in notes]} if notes else {}


def _flag(hidden: bool) -> dict[str, bool]:
    """Return the mark of exact text in which not every character can be seen."""
    return {"hidden_characters": True} if hidden else {}


def _unavailable(connections: Sequence[ConnectionChoice]) -> JsonObject:
    """Return the connections that gave nothing; of many only names and codes, and not of all."""
    if not connections:
        return {}
    if len(connections) <= _FEW:
        return {"unavailable_connections": [connection.as_json() for connection in connections]}
    named = (ConnectionChoice(c.connection_id, code=c.code) for c in connections[:MOST_UNAVAILABLE])
    listed: JsonObject = {"unavailable_connections": [choice.as_json() for choice in named]}
    if len(connections) > MOST_UNAVAILABLE:
        listed["unavailable_count"] = len(connections)
    return listed


_FEW = 12
_AROUND = 3


def hit_result(hit: HitView) -> JsonObject:
    """Return one hit as a flat result."""
    id, source, title, url, _, _, passage, _, _, _, is_plain = hit
    shown = title if is_plain else visible(title, lines=False)
    handles = source.as_json(is_plain=is_plain)
    result: JsonObject = {"id": id, "title": shown, "url": url, **handles}
    if passage is not None:
        result["evidence"] = passage.preview if is_plain else visible(passage.preview)
    return result


def hit_rung(hit: HitView) -> JsonObject:
    """Return what leads on from one hit."""
    rung: JsonObject = {"id": hit.id}
    if hit.passage is not None:
        part = glimpse(hit.passage.preview)
        rung["evidence"] = part if hit.is_plain else visible(part)
    _, tool, arguments = hit.read
    rung[tool] = dict(arguments)
    return rung


def glimpse(preview: str) -> str:
    """Return the first marked match of a preview with a few letters around it."""
    start, end = preview.find(OPEN), preview.find(CLOSE) + len(CLOSE)
    if start < 0 or end - start > 80:
        return _unmarked(preview)[:60]
    after = preview[end : end + _AROUND]
    if "<" in after:  # maybe a mark, and letters behind it
        after = _unmarked(preview[end:])[:_AROUND]
    return f"{preview[max(0, start - _AROUND) : end]}{after}".strip()


def _unmarked(text: str) -> str:
    return text.replace(OPEN, "").replace(CLOSE, "")


def page_structured(view: PageView) -> JsonObject:
    """Return the server's envelope with long fields cut, and how to go on."""
    envelope = view.page.envelope
    if view.resume is None:
        envelope = envelope.without("next_changes_since")  # It is right after the last page only.
    records = [record_structured(record) for record in view.records]
    members: JsonObject = {**_notes(view.notes), "data": records}
    page = envelope.with_members(members)
    return {"data": page.as_json(), **_calls([view.next, view.resume])}


def record_structured(record: RecordView) -> object:
    """Return one record as the server enveloped it, its long and binary fields described."""
    return record.envelope.with_members(_members(record)).as_json()


def _members(record: RecordView) -> JsonObject:
    document: JsonObject = {}
    if not record.deleted:
        data = {name: _value(field) for name, field in record.fields.items()}
        document |= {"fetch": {"id": record.id}, "data": data, **_flag(has_hidden(data))}
    cuts = {
        name: field.cut.as_json() for name, field in record.fields.items() if field.cut is not None
    }
    if cuts:
        document["truncation"] = cuts
    if record.omitted or record.unnamed:
        document["omitted_fields"] = list(record.omitted)
        document["omitted_count"] = len(record.omitted) + record.unnamed
    if record.related:
        document["expanded"] = related_json(record)
    return document


def related_json(record: RecordView) -> JsonObject:
    """Return the related records of one by relation."""
    return {name: _related(related) for name, related in record.related.items()}


def _related(related: RelatedView) -> JsonObject:
    document: JsonObject = {"has_more": related.has_more}
    if related.left_out:
        document["left_out"] = related.left_out
    if related.more is not None:
        document["fetch"] = dict(related.more.arguments)
    document["data"] = [record_structured(record) for record in related.records]
    return document


def _value(field: FieldView) -> object:
    if field.binary is None:
        return field.value
    facts = binary_json(field.binary)
    if field.read is not None:
        facts[field.read.tool] = dict(field.read.arguments)
    return {"binary": facts}


def binary_json(binary: Binary) -> JsonObject:
    """Return the known facts about content that is not shown."""
    known = zip(binary._fields, binary, strict=True)
    facts: JsonObject = {name: value for name, value in known if value is not None}
    if binary.blob_id is not None:
        facts["blob_route"] = blob_route(binary.blob_id)
    return facts


def window_structured(view: WindowView) -> JsonObject:
    """Return a piece of a field, or the facts about binary content, and how to go on."""
    body: JsonObject = {"id": view.id, "field_path": view.field_path}
    if view.source is not None:
        body["source"] = view.source.as_json()
    if view.binary is not None:
        body["binary"] = binary_json(view.binary)
    if view.window is not None:
        body |= _flag(has_hidden(view.window.text))
        if view.digest is not None:
            body["digest"] = view.digest
        body["window"] = view.window.as_json()
    return noted({**body, **_calls(view.calls)}, Less.CHARS)


def schema_structured(view: SchemaView) -> JsonObject:
    """Return the server's schema document."""
    document = view.schema.document.with_members(_unavailable(view.unavailable))
    shaped = {"data": document.last("connectors").as_json(), **_calls(view.calls)}
    return noted(shaped, Less.CONNECTION)


def aggregate_structured(view: AggregateView) -> JsonObject:
    """Return the server's aggregation."""
    document = view.aggregation.envelope().with_members(_notes(view.notes))
    shaped = {"data": document.last("groups").as_json(), **_calls(view.calls)}
    return noted(shaped, Less.ROWS)


def error_structured(view: ErrorView) -> JsonObject:
    """Return the whole error, and the calls that would do."""
    return {"error": view.error.document.as_json(), **_calls(view.calls)}
