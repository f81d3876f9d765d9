"""The search tool: hits with evidence, in one page that fits."""

from collections.abc import Mapping, Sequence
from typing import Any

from pdpp.evidence.budget import json_length
from pdpp.evidence.handle import Handle, parse_handle
from pdpp.mcp import structured, text
from pdpp.mcp.client import Params, hits_of
from pdpp.mcp.package import search_children
from pdpp.mcp.presentation import text_of
from pdpp.mcp.reading import Reading
from pdpp.mcp.result import (
    MOST_CHARS,
    MOST_SEARCH_STRUCTURED,
    MOST_SEARCH_TEXT,
    fits,
    result,
)
from pdpp.mcp.view import Evidence, Hit, NextCall, SearchView, Source
from pdpp.model.errors import InvalidRequest

DEFAULT_LIMIT = 10
_ROUTES = {
    "lexical": ["search"],
    "semantic": ["search", "semantic"],
    "hybrid": ["search", "hybrid"],
}


async def search(reading: Reading, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the search tool; a page too large for its bound is asked for again, smaller."""
    limit = arguments.get("limit", DEFAULT_LIMIT)
    small = limit <= DEFAULT_LIMIT
    most_text = MOST_SEARCH_TEXT if small else MOST_CHARS
    most_structured = MOST_SEARCH_STRUCTURED if small else MOST_CHARS
    while True:
        view = await _page(reading, arguments, limit)
        spoken, shaped = text.search_text(view), structured.search_structured(view)
        if fits(spoken, shaped, most_text, most_structured):
            return result(spoken, shaped)
        if limit == 1:
            return _barest(view)
        limit = _smaller(limit, len(view.hits), spoken, shaped, most_text, most_structured)


def _smaller(
    limit: int,
    shown: int,
    spoken: str,
    shaped: Mapping[str, Any],
    most_text: int,
    most_structured: int,
) -> int:
    """Return how many hits will fit, judged by those that did not."""
    share = min(most_text / len(spoken), most_structured / json_length(shaped))
    return max(1, min(limit - 1, int(shown * share * 0.98)))


def _barest(view: SearchView) -> dict[str, Any]:
    """Return one hit whose envelope alone is too large without what the results repeat."""
    bare = SearchView(
        {"object": "list", "data": [], "has_more": view.next is not None},
        view.hits,
        view.count,
        view.complete,
        view.next,
        [*view.notes, "the server's envelope was too large and is left out of data"],
        view.unavailable,
    )
    return result(text.search_text(bare), structured.search_structured(bare))


async def _page(reading: Reading, arguments: Mapping[str, Any], limit: int) -> SearchView:
    route = _ROUTES[arguments.get("mode", "lexical")]
    params = _params(arguments, limit)
    connection_id = arguments.get("connection_id")
    if reading.children is not None and connection_id is None and len(reading.children) > 1:
        merged = await search_children(reading, route, params)
        return search_view(reading, merged.envelope, arguments, merged.unavailable)
    answer = await reading.get(route, params, connection_id)
    return search_view(reading, answer.body, arguments, ())


def _params(arguments: Mapping[str, Any], limit: int) -> Params:
    params = {"q": arguments["query"], "limit": limit}
    for name in ("streams", "connection_id", "filter", "cursor"):
        if name in arguments:
            params[name] = arguments[name]
    return params


def search_view(
    reading: Reading,
    body: Mapping[str, Any],
    arguments: Mapping[str, Any],
    unavailable: Sequence[Mapping[str, Any]],
) -> SearchView:
    """Return the view of a search answer."""
    meta = body.get("meta")
    meta = meta if isinstance(meta, Mapping) else {}
    count, recall = meta.get("count"), meta.get("recall")
    exact = isinstance(count, Mapping) and count.get("kind") == "exact"
    cursor = text_of(body.get("next_cursor"))
    following = None
    if cursor is not None:
        following = NextCall("next", "search", {**arguments, "cursor": cursor})
    return SearchView(
        envelope=body,
        hits=[hit_view(reading, hit) for hit in hits_of(body)],
        count=count.get("value") if exact and isinstance(count, Mapping) else None,
        complete=recall.get("complete") if isinstance(recall, Mapping) else None,
        next=following,
        notes=[
            str(warning.get("message"))
            for warning in meta.get("warnings", [])
            if isinstance(warning, Mapping)
        ],
        unavailable=unavailable,
    )


def hit_view(reading: Reading, hit: Mapping[str, Any]) -> Hit:
    """Return one hit, with evidence only where the server proved a passage."""
    handle = _handle(hit)
    source = Source(
        handle.connection_id,
        text_of(hit.get("connector_key")),
        text_of(hit.get("display_name")),
        handle.stream,
        handle.record_id,
    )
    event_time = text_of(hit.get("event_time"))
    when = event_time or text_of(hit.get("emitted_at")) or ""
    label = source.display_name or source.connector_key or source.connection_id or "record"
    evidence = _evidence(hit)
    matched = hit.get("matched_fields")
    return Hit(
        id=handle.id,
        source=source,
        title=text_of(hit.get("title")) or f"{label} / {handle.stream} / {when}".rstrip(" /"),
        url=reading.url(handle, _link(hit)),
        event_time=event_time,
        matched_fields=[str(name) for name in matched] if isinstance(matched, list) else [],
        evidence=evidence,
        read=_read(handle.id, evidence),
    )


def _handle(hit: Mapping[str, Any]) -> Handle:
    """Return a hit's handle from whatever names it: discrete parts, an id, or a URI."""
    connection_id, stream = text_of(hit.get("connection_id")), text_of(hit.get("stream"))
    record_id = text_of(hit.get("record_key")) or text_of(hit.get("record_id"))
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


def _link(hit: Mapping[str, Any]) -> str | None:
    for name in ("url", "record_url"):
        found = text_of(hit.get(name))
        if found is not None and found.startswith(("https://", "http://")):
            return found
    return None


def _evidence(hit: Mapping[str, Any]) -> Evidence | None:
    excerpts = hit.get("evidence_excerpts")
    for found in excerpts if isinstance(excerpts, list) else []:
        if not isinstance(found, Mapping):
            continue
        field, preview = text_of(found.get("field_path")), text_of(found.get("preview_text"))
        if field is not None and preview is not None:
            span = [found.get(name) for name in ("start_chars", "end_chars", "total_chars")]
            whole = [value if isinstance(value, int) else None for value in span]
            if None in whole:
                whole = [None, None, None]
            return Evidence(field, preview[:400], *whole)
    return None


def _read(id: str, evidence: Evidence | None) -> NextCall:
    if evidence is None:
        return NextCall("read", "fetch", {"id": id})
    arguments: dict[str, Any] = {"id": id, "field_path": evidence.field_path}
    if evidence.start is not None:
        arguments["offset_chars"] = evidence.start
    return NextCall("read", "read_record_field", arguments)
