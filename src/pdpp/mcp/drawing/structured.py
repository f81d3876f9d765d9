"""The structured half: compact JSON with the exact text, made from the same view as the text."""

from collections.abc import Iterable, Sequence
from typing import Any

from pdpp.evidence.binary import Binary
from pdpp.evidence.fence import has_hidden, visible
from pdpp.evidence.mark import CLOSE, OPEN
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
from pdpp.mcp.reading.blob import blob_route
from pdpp.mcp.reading.choices import ConnectionChoice


def _calls(calls: Iterable[NextCall | None]) -> dict[str, Any]:
    listed = [call.as_json() for call in calls if call is not None]
    return {"next": listed} if listed else {}


def search_structured(view: SearchView) -> dict[str, Any]:
    """Return the server's envelope, the flat results, and the rungs that lead on."""
    ladder: dict[str, Any] = {"records": [drawn.rung for drawn in view.hits]}
    if view.unavailable:
        ladder["unavailable_connections"] = _unavailable(view.unavailable)
    if view.notes:
        ladder["notes"] = list(view.notes)
    return {
        "data": view.page.raw,
        "results": [drawn.result for drawn in view.hits],
        "content_ladder": ladder,
        **_flag(has_hidden(view.page.raw.get("data"))),
        **_calls([view.next]),
    }


def _flag(hidden: bool) -> dict[str, bool]:
    """Return the mark of exact text in which not every character can be seen."""
    return {"hidden_characters": True} if hidden else {}


def _unavailable(connections: Sequence[ConnectionChoice]) -> list[dict[str, str]]:
    """Return the connections that gave nothing; of many only their names and codes."""
    if len(connections) <= _FEW:
        return [connection.as_json() for connection in connections]
    return [ConnectionChoice(c.connection_id, code=c.code).as_json() for c in connections]


_FEW = 12
_AROUND = 3


def hit_result(hit: HitView) -> dict[str, Any]:
    """Return one hit as a flat result."""
    title = visible(hit.title, lines=False)
    result = {"id": hit.id, "title": title, "url": hit.url, **hit.source.as_json()}
    if hit.passage is not None:
        result["evidence"] = visible(hit.passage.preview)
    return result


def hit_rung(hit: HitView) -> dict[str, Any]:
    """Return what leads on from one hit."""
    rung: dict[str, Any] = {"id": hit.id}
    if hit.passage is not None:
        rung["evidence"] = visible(glimpse(hit.passage.preview))
    rung[hit.read.tool] = dict(hit.read.arguments)
    return rung


def glimpse(preview: str) -> str:
    """Return the first marked match of a preview with a few letters around it."""
    start, end = preview.find(OPEN), preview.find(CLOSE) + len(CLOSE)
    if start < 0 or end - start > 80:
        return _unmarked(preview)[:60]
    after = _unmarked(preview[end:])[:_AROUND]
    return f"{preview[max(0, start - _AROUND) : end]}{after}".strip()


def _unmarked(text: str) -> str:
    return text.replace(OPEN, "").replace(CLOSE, "")


def page_structured(view: PageView) -> dict[str, Any]:
    """Return the server's envelope with long fields cut, and how to go on."""
    envelope = {name: view.page.raw[name] for name in _ENVELOPE if name in view.page.raw}
    if view.resume is None:
        envelope.pop("next_changes_since", None)  # It is right after the last page only.
    envelope["data"] = [record_structured(record) for record in view.records]
    notes = {"notes": list(view.notes)} if view.notes else {}
    return {"data": {**envelope, **notes}, **_calls([view.next, view.resume])}


_ENVELOPE = ("object", "has_more", "next_cursor", "next_changes_since", "meta")


_LABELS = ("connector_key", "display_name")


def record_structured(record: RecordView) -> dict[str, Any]:
    """Return one record as the server enveloped it, its long and binary fields described."""
    document = {
        name: visible(value, lines=False) if name in _LABELS and isinstance(value, str) else value
        for name, value in record.envelope.items()
        if name not in ("data", "expanded")
    }
    if not record.deleted:
        document["fetch"] = {"id": record.id}
        document["data"] = {name: _value(field) for name, field in record.fields.items()}
        document |= _flag(has_hidden(document["data"]))
    cuts = {
        name: field.cut.as_json() for name, field in record.fields.items() if field.cut is not None
    }
    if cuts:
        document["truncation"] = cuts
    if record.omitted or record.unnamed:
        document["omitted_fields"] = list(record.omitted)
        document["omitted_count"] = len(record.omitted) + record.unnamed
    if record.related:
        document["expanded"] = {name: _related(related) for name, related in record.related.items()}
    return document


def _related(related: RelatedView) -> dict[str, Any]:
    document: dict[str, Any] = {
        "data": [record_structured(record) for record in related.records],
        "has_more": related.has_more,
    }
    if related.left_out:
        document["left_out"] = related.left_out
    if related.more is not None:
        document["fetch"] = dict(related.more.arguments)
    return document


def _value(field: FieldView) -> Any:
    if field.binary is None:
        return field.value
    facts = binary_json(field.binary)
    if field.read is not None:
        facts[field.read.tool] = dict(field.read.arguments)
    return {"binary": facts}


def binary_json(binary: Binary) -> dict[str, Any]:
    """Return what is known of content that is not shown."""
    known = zip(binary._fields, binary, strict=True)
    facts = {name: value for name, value in known if value is not None}
    if binary.blob_id is not None:
        facts["blob_route"] = blob_route(binary.blob_id)
    return facts


def window_structured(view: WindowView) -> dict[str, Any]:
    """Return a piece of a field, or the facts about binary content, and how to go on."""
    body: dict[str, Any] = {
        "id": view.id,
        "field_path": view.field_path,
    }
    if view.source is not None:
        body["source"] = view.source.as_json()
    if view.window is not None:
        body["window"] = view.window.as_json()
        body |= _flag(has_hidden(view.window.text))
        if view.digest is not None:
            body["digest"] = view.digest
    if view.binary is not None:
        body["binary"] = binary_json(view.binary)
    return {**body, **_calls(view.calls)}


def schema_structured(view: SchemaView) -> dict[str, Any]:
    """Return the server's schema document."""
    body = view.schema.raw
    if view.unavailable:
        body = {**body, "unavailable_connections": _unavailable(view.unavailable)}
    return {"data": body, **_calls(view.calls)}


def aggregate_structured(view: AggregateView) -> dict[str, Any]:
    """Return the server's aggregation."""
    notes = {"notes": list(view.notes)} if view.notes else {}
    return {"data": {**view.aggregation.as_json(), **notes}, **_calls(view.calls)}


def error_structured(view: ErrorView) -> dict[str, Any]:
    """Return the whole error, and the calls that would do."""
    return {"error": dict(view.error), **_calls(view.calls)}
