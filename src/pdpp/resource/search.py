"""Search: a question becomes a page of hits, with its cursors and what helps to ask again."""

import re
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from functools import partial
from typing import Any

import orjson

from pdpp.evidence.language.marks import Marker
from pdpp.evidence.language.question import Question
from pdpp.evidence.lean import HEADER, VALUE, lean_search
from pdpp.evidence.stream_refusal import refused_stream
from pdpp.model import instant
from pdpp.model.errors import CursorExpired
from pdpp.receipts.served import of_hits
from pdpp.resource.answers import (
    ListJson,
    SearchHints,
    SearchResultJson,
    WarningJson,
)
from pdpp.resource.calendar import zone
from pdpp.resource.call import Call, Unwritten
from pdpp.resource.envelope import list_envelope
from pdpp.resource.filters import apply_filters
from pdpp.resource.question import asked_question
from pdpp.resource.search_hit import search_hits
from pdpp.service.local_zone import local_zone
from pdpp.store.query import HitPage, SearchPosition, SearchQuery
from pdpp.store.scope import Reach

ROOM, CURSORS = "pdpp-room", "PDPP-Cursors"
"""The header of a caller with little room for hits, and the one with the cursors after the last."""

ZONE = "pdpp-time-zone"
"""The header with the time zone in which the caller means days."""

MONTHS = "pdpp-months"
"""The header of a page that draws bars: how many records of each month answer.

The days that the question names do not limit these counts: the bars show where else it has answers.
"""

_MOST_STREAMS = 20
_TOGETHER, _FEW_TOGETHER = 32, 10
"""How many hits are made at once; where the room may be full after any of them, no more than
usually fill it."""
_LONGEST_TIME = 40

_ROOM = re.compile(r"[0-9]{1,9}\Z", re.ASCII)
_MOST_TOLD = 3_000
"""Characters of cursors in a header; more may be too many for what stands between."""

_BY_WORDS: WarningJson = {
    "code": "semantic_unavailable",
    "message": "No model of meaning is installed here; the hits are by words and related words.",
    "param": "mode",
}


def search_lexical(call: Call) -> Mapping[str, Any] | Unwritten:
    """Answer ``GET /v1/search``."""
    return _as_asked(call, _search(call, "search"))


def search_hybrid(call: Call) -> Mapping[str, Any] | Unwritten:
    """Answer ``GET /v1/search/hybrid``: by words, and the best of them by meaning too."""
    return _as_asked(call, _search(call, "hybrid"))


def _as_asked(call: Call, body: ListJson[SearchResultJson]) -> Mapping[str, Any] | Unwritten:
    """Return a list of hits, in the lean form where the caller asks for it.

    A caller in this process makes the lean form itself, where it takes the hits apart anyway.
    """
    if call.headers.get(HEADER) != VALUE:
        return body
    return Unwritten(body) if call.takes_values else lean_search(body)


def search_semantic(call: Call) -> ListJson[SearchResultJson]:
    """Answer ``GET /v1/search/semantic``: by meaning alone, or by words where there is no model."""
    return _search(call, "semantic")


def _search(call: Call, mode: str) -> ListJson[SearchResultJson]:
    place = _zone(call)
    today = instant.to_datetime(call.now).astimezone(place).date()
    everything = call.query.text("match") == "all"
    text = call.query.text("q") or ""
    question = asked_question(text, today, everything=everything)
    reaches = _searched(call)
    reaches, left_out = apply_filters(reaches, call.query.filters)
    by_time = call.query.text("sort") == "time"
    call.used |= _used(question, reaches, by_time)
    encoder = call.encoder.load() if call.encoder is not None and mode != "search" else None
    by_words = f"{mode} by words"
    if _is_continued(call, by_words):
        # The pages before had no model: they go on as they began, wherever they are asked for.
        encoder = None
    order = mode if encoder is not None or mode == "search" else by_words
    page = call.store.search(
        SearchQuery(
            reaches=reaches,
            question=question,
            limit=call.query.integer("limit") or 0,
            after=_position(call, mode, order),
            by_time=by_time,
            zone=place,
            meaning=None if encoder is None else encoder.encode,
            by_meaning=mode == "semantic",
            months=MONTHS in call.headers,
        )
    )
    marker = Marker(question, page.repaired, call.store.check_deadline)
    kind = "lexical" if encoder is None else mode
    data, fitting = _data(call, page, marker, kind)
    call.served.append(partial(of_hits, page.hits[: len(data)], data))
    warnings = [] if mode == "search" or encoder is not None else [_BY_WORDS]
    warnings += [_nothing_then(time) for time in page.empty_times]
    return list_envelope(
        call,
        data,
        next_cursor=_next_cursor(call, order, page, len(data), fitting),
        count=page.ranked,
        warnings=[*warnings, *left_out],
        hints=_hints(page, reaches),
    )


def _used(question: Question, reaches: Sequence[Reach], by_time: bool) -> set[str]:
    """Return the fields by which a question narrows or orders hits: their times, their actors."""
    used: set[str] = set()
    timed = by_time or question.since or question.until or question.moments
    if not timed and not question.actors:
        return used
    for reach in reaches:
        time = reach.stream.consent_time_field
        if timed and time is not None and reach.shows_time:
            used.add(time)
        if question.actors:
            used.update(reach.actor_fields())
    return used


def _zone(call: Call) -> tzinfo:
    """Return the time zone of the caller's days: by parameter, by header, or the server's."""
    name = call.query.text("time_zone") or call.headers.get(ZONE)
    return local_zone() if name is None else zone(name)


def _nothing_then(time: str) -> WarningJson:
    return {
        "code": "nothing_then",
        "message": f'No visible record is of the time "{time[:_LONGEST_TIME]}"; '
        "whatever is found is of another time.",
        "param": "q",
    }


def _hints(page: HitPage, reaches: Sequence[Reach]) -> SearchHints:
    """Return what helps to ask again: counts by month, repaired words, and searched streams."""
    hints: SearchHints = {}
    if page.months:
        hints["months"] = dict(page.months)
    if page.repaired:
        hints["repaired"] = {word: list(terms) for word, terms in page.repaired.items()}
    if not page.ranked:
        searched = (reach for reach in reaches if reach.searched_fields())
        streams = list(dict.fromkeys(reach.stream.name for reach in searched))
        hints["try"] = {
            "words": list(page.suggested),
            "streams_searched": streams[:_MOST_STREAMS],
            "stream_count": len(streams),
            "schema": "/v1/schema",
        }
    return hints


def _searched(call: Call) -> tuple[Reach, ...]:
    """Return the reaches to search; a stream that the token does not open is refused."""
    streams = call.query.items("streams")
    for stream in streams:
        if not call.reaches(stream):
            raise refused_stream(stream, call.query.text("connection_id"), param="streams")
    reaches = call.reaches()
    if not reaches and call.query.text("connection_id") is not None:
        raise refused_stream(None, call.query.text("connection_id"))
    if not streams:
        return reaches
    return tuple(reach for reach in reaches if reach.stream.name in streams)


def _is_continued(call: Call, order: str) -> bool:
    """Tell whether a call goes on with a list of hits in an order."""
    cursor = call.query.text("cursor")
    return cursor is not None and call.signer.is_of_kind("search", call.bound(order), cursor)


def _position(call: Call, mode: str, order: str) -> SearchPosition | None:
    """Return the place that a call goes on from, in the order of the pages before."""
    cursor = call.query.text("cursor")
    if cursor is None:
        return None
    if order != mode and _is_continued(call, mode):
        raise CursorExpired(
            "The pages before were ordered by meaning, and there is no model of meaning here; "
            "search again without the cursor.",
            param="cursor",
        )
    score, time, *handle = call.signer.open("search", call.bound(order), cursor)
    return SearchPosition(score, time, (handle[0], handle[1], handle[2]))


def _data(
    call: Call, page: HitPage, marker: Marker, kind: str
) -> tuple[list[SearchResultJson], int]:
    """Return the hits of a page, and how many of them certainly fit the caller's room.

    The page ends early if another hit of average length would not fit.
    """
    room = call.headers.get(ROOM, "")
    if not _ROOM.match(room):
        return list(search_hits(page.hits, marker, kind, together=_TOGETHER)), len(page.hits)
    data: list[SearchResultJson] = []
    most, used, fitting = int(room), 0, 0
    for hit in search_hits(page.hits, marker, kind, together=_FEW_TOGETHER):
        data.append(hit)
        used += len(orjson.dumps(data[-1]))
        # Bytes are counted here, while the caller counts characters of its own layout; two thirds
        # of the room fit in any case, and cursors are given for every hit after that.
        fitting += 3 * used < 2 * most
        # A page that ends when another hit of average length would not fit, so that the last one is
        # not cut.
        if used + used // len(data) > most:
            break
    return data, fitting


def _next_cursor(call: Call, kind: str, page: HitPage, count: int, fitting: int) -> str | None:
    """Return the cursor after the page.

    A caller with little room also gets, in a header, the cursors after each of the last hits,
    because its own page may have to end at any of them.
    """
    bounded, more = ROOM in call.headers, page.has_more or count < len(page.hits)
    first = max(0, fitting - 1) if bounded else count - 1
    if count == 0 or (first == count - 1 and not more):
        return None
    places = (hit.position for hit in page.hits[first:count])
    positions = ([at.score, at.time, *at.handle] for at in places)
    cursors = call.signer.seal_all("search", call.bound(kind), positions)
    joined = ",".join(cursors)
    if bounded and len(joined) <= _MOST_TOLD:
        call.answer_headers[CURSORS] = joined
    return cursors[-1] if more else None
