"""Hits: one search hit as it is shown, from whatever a server tells of it."""

from collections.abc import Callable
from functools import partial

from pdpp.evidence.budget import cut
from pdpp.evidence.fence import is_plain
from pdpp.mcp.drawing.label import label_of
from pdpp.mcp.drawing.structured import hit_result, hit_rung
from pdpp.mcp.drawing.text import hit_text
from pdpp.mcp.drawing.view import DrawnHit, HitView, NextCall, RecordSource
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.search_answer import HitPassage, ServerHit
from pdpp.wire.citation import passage_address

_Source = tuple[str | None, str | None, str | None, str, str]
_record_source: Callable[[_Source], RecordSource] = partial(tuple.__new__, RecordSource)
_next_call: Callable[[tuple[str, str, JsonObject]], NextCall] = partial(tuple.__new__, NextCall)
_hit_view: Callable[[tuple[object, ...]], HitView] = partial(tuple.__new__, HitView)
_drawn_hit: Callable[[tuple[HitView, str, JsonObject, JsonObject]], DrawnHit] = partial(
    tuple.__new__, DrawnHit
)
"""Make these of their values in half the time that a constructor takes; a page has ten of each."""


def draw(number: int, hit: HitView) -> DrawnHit:
    """Return a hit as it stands in both halves."""
    return _drawn_hit((hit, hit_text(number, hit), hit_result(hit), hit_rung(hit)))


def shortened(hit: HitView, most: int) -> HitView:
    """Return a hit whose texts have at most so many characters."""
    passage = hit.passage
    if passage is not None and most:
        passage = passage._replace(preview=cut(passage.preview, most)[0])
    title = cut(hit.title, most)[0] or hit.source.stream
    matched = hit.matched_fields if most else ()
    return hit._replace(title=title, matched_fields=matched, passage=passage if most else None)


def hit_view(reader: GrantReader, hit: ServerHit) -> HitView:
    """Return one hit, with evidence only where the server proved a passage."""
    handle, passage = hit.handle, hit.passage
    connection_id, stream, record_id = handle
    key, name = label_of(hit.connector_key), label_of(hit.display_name)
    source = _record_source((connection_id, key, name, stream, record_id))
    event_time = label_of(hit.event_time)
    id = handle.id
    title = label_of(hit.title) or _origin(hit, source, event_time)
    # One look at all of it instead of one for each use of a part; the id holds the stream.
    said = f"{id}{title}{source.connector_key or ''}{source.display_name or ''}"
    if passage is not None:
        said = f"{said}{passage.field_path}{passage.preview}"
    return _hit_view(
        (
            id,
            source,
            title,
            _address(reader, hit),
            event_time,
            hit.matched_fields,
            passage,
            _read(id, passage),
            hit.matched,
            hit.missing,
            is_plain(said),
        )
    )


def _origin(hit: ServerHit, source: RecordSource, event_time: str | None) -> str:
    """Return where and when a hit is from, for one that has no title."""
    label = source.display_name or source.connector_key or source.connection_id or "record"
    when = event_time or label_of(hit.emitted_at) or ""
    return f"{label} / {source.stream} / {when}".rstrip(" /")


def _address(reader: GrantReader, hit: ServerHit) -> str:
    """Return where a person opens the record; on the provider's own page, at the quoted passage."""
    address, is_page = reader.address(hit.handle)
    if not is_page:
        return hit.link or address
    passage = hit.passage
    if passage is None or passage.span is None:
        return address
    start, end, _ = passage.span
    return passage_address(address, passage.field_path, start, end)


def _read(id: str, passage: HitPassage | None) -> NextCall:
    if passage is None:
        return _next_call(("read", "fetch", {"id": id}))
    arguments: JsonObject = {"id": id, "field_path": passage.field_path}
    if passage.span is not None:
        arguments["offset_chars"] = passage.span[0]
    return _next_call(("read", "read_record_field", arguments))
