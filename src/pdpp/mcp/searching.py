"""The search tool: hits with evidence, in one page that fits."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pdpp.evidence.budget import cut, json_length
from pdpp.evidence.handle import Handle, parse_handle
from pdpp.mcp import structured, text
from pdpp.mcp.client import Params, hits_of
from pdpp.mcp.package import search_children
from pdpp.mcp.paging import beyond, notes_of
from pdpp.mcp.presentation import label_of, text_of
from pdpp.mcp.reading import Reading
from pdpp.mcp.result import (
    MOST_CHARS,
    MOST_SEARCH_STRUCTURED,
    MOST_SEARCH_TEXT,
    fits,
    result,
)
from pdpp.mcp.view import Evidence, Hit, NextCall, SearchView, Source
from pdpp.model.errors import InvalidRequest, PayloadTooLarge

DEFAULT_LIMIT = 10
_BRIEF = 120
_LONGEST_LINK = 1_000
_PREVIEW_CHARS = 400
_WEB_LINK = re.compile(r"https?://[^\s\x00-\x1f\x7f-\x9f]+\Z", re.IGNORECASE)
_ROUTES = {
    "lexical": ["search"],
    "semantic": ["search", "semantic"],
    "hybrid": ["search", "hybrid"],
}


async def search(reading: Reading, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the search tool; a page too large for its bound is asked for again, smaller.

    As many hits are asked for at first as fitted the last time, and more where there is room.
    """
    wanted = arguments.get("limit", DEFAULT_LIMIT)
    bounds = _BOUNDS if wanted <= DEFAULT_LIMIT else (MOST_CHARS, MOST_CHARS)
    page = await _pages(reading, arguments, wanted)
    limit, ceiling = min(wanted, reading.habits.get(reading.key, wanted)), wanted
    best: dict[str, Any] | None = None
    while True:
        view = await page(limit)
        spoken, shaped = text.search_text(view), structured.search_structured(view)
        share = min(bounds[0] / len(spoken), bounds[1] / json_length(shaped))
        fitting = _fitting(len(view.hits), share)
        if share >= 1:
            best = result(spoken, shaped)
            reading.habits[reading.key] = limit
            if view.next is None or min(fitting, ceiling) <= limit:
                return best
            limit = min(fitting, ceiling)
        elif best is not None:
            return best
        elif limit == 1:
            return _barest(view, *bounds)
        else:
            ceiling = limit - 1
            limit = max(1, min(ceiling, fitting))


_BOUNDS = (MOST_SEARCH_TEXT, MOST_SEARCH_STRUCTURED)


def _fitting(shown: int, share: float) -> int:
    """Return how many hits like the ones shown will fit, a little fewer to be sure."""
    return int(shown * share * 0.98) if share < 1 else max(shown, int(shown * share * 0.9))


def _barest(view: SearchView, most_text: int, most_structured: int) -> dict[str, Any]:
    """Return one hit whose envelope alone is too large without what the results repeat."""
    note = "the server's envelope was too large and is left out of data"
    for most in (400, 120, 40, 0):
        bare = replace(
            view,
            envelope={"object": "list", "data": [], "has_more": view.next is not None},
            hits=[_shortened(hit, most) for hit in view.hits],
            notes=[note] if most < _BRIEF else [*view.notes, note],
        )
        spoken, shaped = text.search_text(bare), structured.search_structured(bare)
        if fits(spoken, shaped, most_text, most_structured):
            return result(spoken, shaped)
    raise PayloadTooLarge(
        "What names the first hit does not fit an answer; search one connection or stream.",
        param="query",
    )


def _shortened(hit: Hit, most: int) -> Hit:
    evidence = hit.evidence
    if evidence is not None and most:
        evidence = replace(evidence, preview=cut(evidence.preview, most)[0])
    title = cut(hit.title, most)[0] or hit.source.stream
    matched = hit.matched_fields if most else ()
    return replace(hit, title=title, matched_fields=matched, evidence=evidence if most else None)


async def _pages(
    reading: Reading, arguments: Mapping[str, Any], most: int
) -> Callable[[int], Awaitable[SearchView]]:
    """Return what gives a page of so many hits; a package asks its grants only once."""
    route = _ROUTES[arguments.get("mode", "lexical")]
    connection_id = arguments.get("connection_id")
    if reading.children is not None and connection_id is None and len(reading.children) > 1:
        merge = await search_children(reading, route, _params(arguments, most))

        async def merged(limit: int) -> SearchView:
            return search_view(reading, merge.page(limit), arguments, limit, merge.unavailable)

        return merged

    async def asked(limit: int) -> SearchView:
        answer = await reading.get(route, _params(arguments, limit), connection_id)
        return search_view(reading, answer.body, arguments, limit)

    return asked


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
    limit: int,
    unavailable: Sequence[Mapping[str, Any]] = (),
) -> SearchView:
    """Return the view of a search answer."""
    meta = body.get("meta")
    meta = meta if isinstance(meta, Mapping) else {}
    hits = hits_of(body)
    count, recall = meta.get("count"), meta.get("recall")
    exact = isinstance(count, Mapping) and count.get("kind") == "exact"
    cursor = text_of(body.get("next_cursor"))
    following = None
    if cursor is not None:
        following = NextCall("next", "search", {**arguments, "cursor": cursor})
    return SearchView(
        envelope=body if len(hits) <= limit else {"object": "list", "data": hits[:limit]},
        hits=[hit_view(reading, hit) for hit in hits[:limit]],
        count=count.get("value") if exact and isinstance(count, Mapping) else None,
        complete=recall.get("complete") if isinstance(recall, Mapping) else None,
        next=following,
        notes=[*notes_of(meta), *beyond(max(0, len(hits) - limit), "hits")],
        unavailable=unavailable,
    )


def hit_view(reading: Reading, hit: Mapping[str, Any]) -> Hit:
    """Return one hit, with evidence only where the server proved a passage."""
    handle = _handle(hit)
    source = Source(
        handle.connection_id,
        label_of(hit.get("connector_key")),
        label_of(hit.get("display_name")),
        handle.stream,
        handle.record_id,
    )
    event_time = label_of(hit.get("event_time"))
    when = event_time or label_of(hit.get("emitted_at")) or ""
    label = source.display_name or source.connector_key or source.connection_id or "record"
    evidence = _evidence(hit)
    matched = hit.get("matched_fields")
    return Hit(
        id=handle.id,
        source=source,
        title=label_of(hit.get("title")) or f"{label} / {handle.stream} / {when}".rstrip(" /"),
        url=reading.url(handle, _link(hit)),
        event_time=event_time,
        matched_fields=[str(n)[:80] for n in matched[:12]] if isinstance(matched, list) else [],
        evidence=evidence,
        read=_read(handle.id, evidence),
    )


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


def _link(hit: Mapping[str, Any]) -> str | None:
    for name in ("url", "record_url"):
        found = text_of(hit.get(name))
        if found is not None and len(found) <= _LONGEST_LINK and _WEB_LINK.match(found):
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
            return Evidence(field, cut(preview, _PREVIEW_CHARS)[0], *whole)
    return None


def _read(id: str, evidence: Evidence | None) -> NextCall:
    if evidence is None:
        return NextCall("read", "fetch", {"id": id})
    arguments: dict[str, Any] = {"id": id, "field_path": evidence.field_path}
    if evidence.start is not None:
        arguments["offset_chars"] = evidence.start
    return NextCall("read", "read_record_field", arguments)
