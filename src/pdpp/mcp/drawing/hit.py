"""Hits: one search hit as it is shown, from whatever a server tells of it."""

from collections.abc import Mapping
from typing import Any

from pdpp.evidence.budget import cut
from pdpp.evidence.handle import Handle, parse_handle, path_part
from pdpp.evidence.presentation import is_web_link
from pdpp.mcp.drawing.label import label_of, text_of
from pdpp.mcp.drawing.structured import hit_result, hit_rung
from pdpp.mcp.drawing.text import hit_text
from pdpp.mcp.drawing.view import DrawnHit, EvidenceView, HitView, NextCall, RecordSource
from pdpp.mcp.reading.reader import GrantReader
from pdpp.model.errors import InvalidRequest

_LONGEST_LINK = 1_000
_PREVIEW_CHARS = 400
_WORD_CHARS = 40
_MOST_WORDS = 64


def draw(number: int, hit: HitView) -> DrawnHit:
    """Return a hit as it stands in both halves."""
    return DrawnHit(hit, hit_text(number, hit), hit_result(hit), hit_rung(hit))


def shortened(hit: HitView, most: int) -> HitView:
    """Return a hit whose texts have at most so many characters."""
    evidence = hit.evidence
    if evidence is not None and most:
        evidence = evidence._replace(preview=cut(evidence.preview, most)[0])
    title = cut(hit.title, most)[0] or hit.source.stream
    matched = hit.matched_fields if most else ()
    return hit._replace(title=title, matched_fields=matched, evidence=evidence if most else None)


def hit_view(reader: GrantReader, hit: Mapping[str, Any]) -> HitView:
    """Return one hit, with evidence only where the server proved a passage."""
    handle = _handle(hit)
    source = RecordSource(
        handle.connection_id,
        label_of(hit.get("connector_key")),
        label_of(hit.get("display_name")),
        handle.stream,
        handle.record_id,
    )
    event_time = label_of(hit.get("event_time"))
    evidence = _evidence(hit)
    matched = hit.get("matched_fields")
    id = handle.id
    return HitView(
        id,
        source,
        label_of(hit.get("title")) or _place(hit, source, event_time),
        _address(reader, handle, hit, evidence),
        event_time,
        [str(name)[:80] for name in matched[:12]] if isinstance(matched, list) else [],
        evidence,
        _read(id, evidence),
        _words(hit.get("matched")),
        _words(hit.get("missing")),
    )


def _words(told: Any) -> list[str]:
    """Return the asked words that a server says a hit holds or lacks."""
    return [str(one)[:_WORD_CHARS] for one in told[:_MOST_WORDS]] if isinstance(told, list) else []


def _place(hit: Mapping[str, Any], source: RecordSource, event_time: str | None) -> str:
    """Return where and when a hit is from, for one that has no title."""
    label = source.display_name or source.connector_key or source.connection_id or "record"
    when = event_time or label_of(hit.get("emitted_at")) or ""
    return f"{label} / {source.stream} / {when}".rstrip(" /")


def _handle(hit: Mapping[str, Any]) -> Handle:
    """Return a hit's handle from whatever names it: discrete parts, an id, or a URI."""
    connection_id, stream = text_of(hit.get("connection_id")), text_of(hit.get("stream"))
    record_id = text_of(hit.get("record_key")) or text_of(hit.get("record_id"))
    if connection_id is not None and stream is not None and record_id is not None:
        whole = Handle(connection_id, stream, record_id)
        if hit.get("id") == whole.id:
            return whole
    named: Handle | None = None
    for text_form in (hit.get("record_uri"), hit.get("id")):
        if named is None and isinstance(text_form, str):
            try:
                named = parse_handle(text_form)
            except InvalidRequest:
                record_id = record_id or text_form
    if named is not None:
        return Handle(named.connection_id or connection_id, named.stream, named.record_id)
    return Handle(connection_id, stream or "records", record_id or "")


def _address(
    reader: GrantReader, handle: Handle, hit: Mapping[str, Any], evidence: EvidenceView | None
) -> str:
    """Return where a person opens the record; on the provider's own page, at the quoted passage."""
    address, is_page = reader.address(handle)
    if not is_page:
        return _link(hit) or address
    if evidence is None or evidence.start is None:
        return address
    return f"{address}#field={path_part(evidence.field_path)}&chars={evidence.start}-{evidence.end}"


def _link(hit: Mapping[str, Any]) -> str | None:
    for name in ("url", "record_url"):
        found = text_of(hit.get(name))
        if found is not None and len(found) <= _LONGEST_LINK and is_web_link(found):
            return found
    return None


def _evidence(hit: Mapping[str, Any]) -> EvidenceView | None:
    excerpts = hit.get("evidence_excerpts")
    for found in excerpts if isinstance(excerpts, list) else []:
        if not isinstance(found, Mapping):
            continue
        field, preview = text_of(found.get("field_path")), text_of(found.get("preview_text"))
        if field is not None and preview is not None:
            span = found.get("start_chars"), found.get("end_chars"), found.get("total_chars")
            return EvidenceView(field, cut(preview, _PREVIEW_CHARS)[0], *_whole(*span))
    return None


def _whole(start: Any, end: Any, total: Any) -> tuple[int, int, int] | tuple[None, None, None]:
    """Return where a passage stands, or nothing where a part of that was not told."""
    if isinstance(start, int) and isinstance(end, int) and isinstance(total, int):
        return start, end, total
    return None, None, None


def _read(id: str, evidence: EvidenceView | None) -> NextCall:
    if evidence is None:
        return NextCall("read", "fetch", {"id": id})
    arguments: dict[str, Any] = {"id": id, "field_path": evidence.field_path}
    if evidence.start is not None:
        arguments["offset_chars"] = evidence.start
    return NextCall("read", "read_record_field", arguments)
