"""Search: hits with the words that matched, where they stand, and how to read on."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import orjson

from pdpp.evidence.analyse import Match, Phrase, find, parse_query
from pdpp.evidence.excerpt import descriptor, excerpt
from pdpp.evidence.handle import Handle
from pdpp.evidence.presentation import NAMING, present_name
from pdpp.evidence.text import digest
from pdpp.model import instant
from pdpp.model.declaration import Role
from pdpp.model.errors import InvalidRequest
from pdpp.receipts.served import of_hits
from pdpp.resource.call import Call, record_path, refused_stream
from pdpp.resource.envelope import list_envelope, source_of
from pdpp.resource.filters import apply_filters
from pdpp.store.port import Hit, HitPage, SearchPosition, SearchQuery
from pdpp.store.scope import Reach, roles_of

ROOM, CURSORS = "pdpp-room", "PDPP-Cursors"
"""The header of a caller with little room for hits, and the one with the cursors after the last."""

MOST_EXCERPTS = 1

_IDENTITY = frozenset({Role.TITLE, Role.ACTOR, Role.LINK})
"""Roles that say what a record is; a match in them finds it but is no passage to quote."""

_ROOM = re.compile(r"[0-9]{1,9}\Z", re.ASCII)
_MOST_TOLD = 3_000
"""Characters of cursors in a header; more may be too many for what stands between."""

_NO_SEMANTIC = {
    "code": "semantic_unavailable",
    "message": "This server searches by words only; the hits are lexical.",
    "param": "mode",
}


def search_lexical(call: Call) -> dict[str, Any]:
    """Answer ``GET /v1/search``."""
    return _search(call, "search", [])


def search_hybrid(call: Call) -> dict[str, Any]:
    """Answer ``GET /v1/search/hybrid`` with what there is: lexical hits and a warning."""
    return _search(call, "hybrid", [_NO_SEMANTIC])


def search_semantic(call: Call) -> dict[str, Any]:
    """Refuse ``GET /v1/search/semantic``: no stream offers it."""
    parse_query(call.query.text("q") or "")
    raise InvalidRequest(
        "This server searches by words only; use GET /v1/search, or GET /v1/search/hybrid.",
        param="q",
    )


def _search(call: Call, kind: str, warnings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    phrases = parse_query(call.query.text("q") or "")
    reaches = _searched(call)
    reaches, left_out = apply_filters(reaches, call.query.filters)
    page = call.store.search(
        SearchQuery(
            reaches=reaches,
            phrases=phrases,
            limit=call.query.integer("limit") or 0,
            after=_position(call, kind),
        )
    )
    data, sure = _data(call, page, phrases)
    recall: dict[str, Any] = {"complete": page.complete, "ranked": page.ranked}
    if not page.complete:
        recall["note"] = (
            "the newest matches of each stream ranked; narrow by stream, connection or filter"
        )
    call.served.append(partial(of_hits, page.hits[: len(data)], data))
    return list_envelope(
        call,
        data,
        next_cursor=_next_cursor(call, kind, page, len(data), sure),
        count=page.ranked if page.complete else None,
        warnings=[*warnings, *left_out],
        recall=recall,
    )


def _searched(call: Call) -> tuple[Reach, ...]:
    """Return the reaches to search; a stream that the token does not open is refused."""
    streams = call.query.items("streams")
    for stream in streams:
        if not call.reaches(stream):
            raise refused_stream(stream, call.query.text("connection_id"))
    reaches = call.reaches()
    if not reaches and call.query.text("connection_id") is not None:
        raise refused_stream("*", call.query.text("connection_id"))
    if not streams:
        return reaches
    return tuple(reach for reach in reaches if reach.stream.name in streams)


def _position(call: Call, kind: str) -> SearchPosition | None:
    cursor = call.query.text("cursor")
    if cursor is None:
        return None
    score, time, *handle = call.signer.open("search", call.bound(kind), cursor)
    return SearchPosition(score, time, (handle[0], handle[1], handle[2]))


def _data(call: Call, page: HitPage, phrases: Sequence[Phrase]) -> tuple[list[dict[str, Any]], int]:
    """Return the hits of a page, and how many of them surely fit the caller's room.

    A page ends early where another hit as long as these would not fit any more.
    """
    room = call.headers.get(ROOM, "")
    if not _ROOM.match(room):
        return [_hit(hit, phrases) for hit in page.hits], len(page.hits)
    data: list[dict[str, Any]] = []
    most, used, sure = int(room), 0, 0
    for hit in page.hits:
        data.append(_hit(hit, phrases))
        used += len(orjson.dumps(data[-1]))
        sure += 3 * used < 2 * most
        if used + used // len(data) > most:
            break
    return data, sure


def _next_cursor(call: Call, kind: str, page: HitPage, shown: int, sure: int) -> str | None:
    """Return the cursor of what follows; a caller with little room is told that of some hits.

    These are the last ones, after any of which its page may have to end.
    """
    each, more = ROOM in call.headers, page.has_more or shown < len(page.hits)
    first = max(0, sure - 1) if each else shown - 1
    if shown == 0 or (first == shown - 1 and not more):
        return None
    places = (hit.position for hit in page.hits[first:shown])
    positions = ([at.score, at.time, *at.handle] for at in places)
    cursors = call.signer.seal_all("search", call.bound(kind), positions)
    told = ",".join(cursors)
    if each and len(told) <= _MOST_TOLD:
        call.answer_headers[CURSORS] = told
    return cursors[-1] if more else None


def _hit(hit: Hit, phrases: Sequence[Phrase]) -> dict[str, Any]:
    record, reach = hit.record, hit.record.reach
    data = orjson.loads(record.data)
    emitted_at = instant.to_text(record.emitted_at)
    title, event_time = present_name(
        data,
        _naming_roles(reach),
        label=reach.feed.connection.display_name,
        stream=reach.stream.label,
        emitted_at=emitted_at,
    )
    matched, excerpts = _evidence(reach, record.id, data, phrases)
    return {
        "object": "search_result",
        "id": _handle_before(reach) + record.id,
        "record_key": record.id,
        "stream": reach.stream.name,
        **_source(reach),
        "title": title,
        "event_time": event_time,
        "emitted_at": emitted_at,
        "record_url": record_path(reach, record.id),
        "matched_fields": matched,
        "score": {
            "kind": "lexical",
            "value": round(hit.position.score / 1_000_000, 3),
            "order": "desc",
        },
        "evidence_excerpts": excerpts,
    }


@lru_cache(maxsize=4_096)
def _source(reach: Reach) -> Mapping[str, Any]:
    return source_of(reach)


@lru_cache(maxsize=4_096)
def _handle_before(reach: Reach) -> str:
    """Return what stands before the key in the handles of a reach's records."""
    return Handle(reach.connection_id, reach.stream.name, "").id


@lru_cache(maxsize=4_096)
def _naming_roles(reach: Reach) -> Mapping[str, str]:
    """Return the roles of the fields that say what a hit is called and when it happened."""
    return {name: role for name, role in roles_of(reach).items() if role in NAMING}


class _Place(NamedTuple):
    """A searched field: a match in one with ``quotes`` is a passage, in a body the best one."""

    name: str
    quotes: bool
    body: bool


@lru_cache(maxsize=4_096)
def _places(reach: Reach) -> tuple[_Place, ...]:
    """Return the fields of a reach that are searched."""
    roles = {name: reach.stream.fields[name].role for name in reach.lexical_places().values()}
    return tuple(
        _Place(name, role not in _IDENTITY, role is Role.BODY) for name, role in roles.items()
    )


def _evidence(
    reach: Reach, key: str, data: Mapping[str, Any], phrases: Sequence[Phrase]
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the fields that hold a match, and the best passage from those for quoting."""
    matched: list[str] = []
    best: tuple[_Place, str, list[Match]] | None = None
    for place in _places(reach):
        text = data.get(place.name)
        if not isinstance(text, str):
            continue
        found = find(text, phrases)
        if not found:
            continue
        matched.append(place.name)
        if place.quotes and (best is None or (place.body and not best[0].body)):
            best = place, text, found
    return matched, [] if best is None else [_passage(reach, key, *best)]


def _passage(
    reach: Reach, key: str, place: _Place, text: str, found: Sequence[Match]
) -> dict[str, Any]:
    return descriptor(
        excerpt(text, found),
        connection_id=reach.connection_id,
        stream=reach.stream.name,
        record_id=key,
        field=place.name,
        digest=digest(text),
    )
