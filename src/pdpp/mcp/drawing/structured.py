"""The structured half: compact JSON with the exact text, made from the same view as the text."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pdpp.evidence.mark import CLOSE, OPEN
from pdpp.mcp.drawing.view import (
    AggregateView,
    ErrorView,
    FieldView,
    HitView,
    NextCall,
    PageView,
    RecordView,
    SchemaView,
    SearchView,
    WindowView,
)
from pdpp.mcp.reading.choices import ConnectionChoice


def _calls(calls: Iterable[NextCall | None]) -> dict[str, Any]:
    told = [call.as_json() for call in calls if call is not None]
    return {"next": told} if told else {}


def search_structured(view: SearchView) -> dict[str, Any]:
    """Return the server's envelope, the flat results, and the rungs that lead on."""
    ladder: dict[str, Any] = {"records": [drawn.rung for drawn in view.hits]}
    if view.unavailable:
        ladder["unavailable_connections"] = _unavailable(view.unavailable)
    if view.notes:
        ladder["notes"] = list(view.notes)
    return {
        "data": view.envelope,
        "results": [drawn.result for drawn in view.hits],
        "content_ladder": ladder,
        **_calls([view.next]),
    }


def _unavailable(connections: Sequence[ConnectionChoice]) -> list[dict[str, str]]:
    """Return the connections that gave nothing; of many only their names and codes."""
    if len(connections) <= _FEW:
        return [connection.as_json() for connection in connections]
    return [ConnectionChoice(c.connection_id, code=c.code).as_json() for c in connections]


_FEW = 12
_AROUND = 3


def hit_result(hit: HitView) -> dict[str, Any]:
    """Return one hit as a flat result."""
    result = {"id": hit.id, "title": hit.title, "url": hit.url, **hit.source.as_json()}
    if hit.evidence is not None:
        result["evidence"] = hit.evidence.preview
    return result


def hit_rung(hit: HitView) -> dict[str, Any]:
    """Return what leads on from one hit."""
    rung: dict[str, Any] = {"id": hit.id}
    if hit.evidence is not None:
        rung["evidence"] = glimpse(hit.evidence.preview)
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
    envelope = {**view.envelope, "data": [record_structured(record) for record in view.records]}
    return {"data": envelope, **_calls([view.next, view.resume])}


def record_structured(record: RecordView) -> dict[str, Any]:
    """Return one record as the server enveloped it, its long and binary fields described."""
    shown = {k: v for k, v in record.envelope.items() if k not in ("data", "expanded")}
    if record.deleted_at is None:
        shown["fetch"] = {"id": record.id}
        shown["data"] = {name: _value(field) for name, field in record.fields.items()}
    cuts = {
        name: field.cut.as_json() for name, field in record.fields.items() if field.cut is not None
    }
    if cuts:
        shown["truncation"] = cuts
    if record.omitted or record.unnamed:
        shown["omitted_fields"] = list(record.omitted)
        shown["omitted_count"] = len(record.omitted) + record.unnamed
    if record.expanded:
        shown["expanded"] = {
            name: {
                "data": [record_structured(child) for child in related["records"]],
                "has_more": related["has_more"],
                **({"left_out": related["left_out"]} if related["left_out"] else {}),
                **({"fetch": dict(related["more"].arguments)} if "more" in related else {}),
            }
            for name, related in record.expanded.items()
        }
    return shown


def _value(field: FieldView) -> Any:
    if field.binary is None:
        return field.value
    facts: dict[str, Any] = {
        "media_type": field.binary.media_type,
        "size_bytes": field.binary.size_bytes,
        "sha256": field.binary.sha256,
    }
    if field.binary.blob_id is not None:
        facts["blob_id"] = field.binary.blob_id
    if field.read is not None:
        facts[field.read.tool] = dict(field.read.arguments)
    return {"binary": facts}


def window_structured(view: WindowView) -> dict[str, Any]:
    """Return a piece of a field, or the facts about binary content, and how to go on."""
    body: dict[str, Any] = {
        "id": view.id,
        "field_path": view.field_path,
    }
    if view.source is not None:
        body["source"] = view.source.as_json()
    if view.window is not None:
        body["window"] = view.window
        if view.digest is not None:
            body["digest"] = view.digest
    if view.binary is not None:
        body["binary"] = view.binary
    return {**body, **_calls(view.calls)}


def schema_structured(view: SchemaView) -> dict[str, Any]:
    """Return the server's schema document."""
    body: Mapping[str, Any] = view.body
    if view.unavailable:
        body = {**body, "unavailable_connections": _unavailable(view.unavailable)}
    return {"data": body, **_calls(view.calls)}


def aggregate_structured(view: AggregateView) -> dict[str, Any]:
    """Return the server's aggregation."""
    notes = {"notes": list(view.notes)} if view.notes else {}
    return {"data": {**view.body, **notes}, **_calls(view.calls)}


def error_structured(view: ErrorView) -> dict[str, Any]:
    """Return the whole error, and the calls that would do."""
    return {"error": dict(view.error), **_calls(view.calls)}
