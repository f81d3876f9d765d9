"""Packages: several grants under one token, asked at once and merged in one fair order."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote

from pdpp.evidence.text import json_text
from pdpp.mcp.client import Answer, Params, ResourceClient, hits_of
from pdpp.mcp.reading import Child, Reading
from pdpp.model.errors import AuthenticationError, InvalidCursor, PdppError

CHILD_SECONDS = 5.0
MOST_CURSOR_CHARS = 2_000
_MOST_HITS = 100
T = TypeVar("T")


class Place(NamedTuple):
    """How far a child was read: the hits before a page, those shown of it, and its cursor.

    Where many children are deep in their lists not every cursor has room; one that is left out
    is found again by counting.
    """

    before: int = 0
    shown: int = 0
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class Merged:
    """The answers of several children as one list, and the children that gave none."""

    envelope: dict[str, Any]
    unavailable: Sequence[Mapping[str, Any]]


async def search_children(reading: Reading, route: Sequence[str], params: Params) -> Merged:
    """Search every child that opens a requested stream; merge with one limit and one cursor."""
    wanted, limit = params.get("streams"), int(params["limit"])
    children = reading.children or ()
    seal = Seal(children, route, params)
    places = seal.open(params.get("cursor"))
    asked = [
        child
        for child in children
        if (wanted is None or child.streams & set(wanted)) and child.grant_id in places
    ]

    async def ask(child: Child) -> Answer:
        own = {k: v for k, v in params.items() if k not in ("cursor", "streams")}
        if wanted is not None:
            own["streams"] = [stream for stream in wanted if stream in child.streams]
        return await _from_place(_client(reading, child), route, own, places[child.grant_id])

    answers, unavailable = await _ask_all(asked, ask)
    for _, answer in answers:
        reading.record_page = answer.record_page or reading.record_page
    return Merged(_merge(answers, places, limit, seal), unavailable)


async def _from_place(
    client: ResourceClient, route: Sequence[str], params: Params, place: Place
) -> Answer:
    """Ask for the page on which a place stands, with enough hits after it to fill a page."""
    cursor, left = place.cursor, place.before if not place.cursor else 0
    while left > 0:
        passed = await client.get(route, _from(params, cursor, min(_MOST_HITS, left)))
        left -= len(hits_of(passed.body))
        cursor = passed.body.get("next_cursor") or ""
        if not cursor:
            return Answer({"data": []}, passed.request_id, passed.record_page)
    return await client.get(route, _from(params, cursor, int(params["limit"]) + place.shown))


def _from(params: Params, cursor: str, limit: int) -> Params:
    begun = {"cursor": cursor} if cursor else {}
    return {**params, **begun, "limit": min(_MOST_HITS, limit)}


def _client(reading: Reading, child: Child) -> ResourceClient:
    assert reading.client_of is not None  # noqa: S101 - a package has one
    return reading.client_of(child)


async def _ask_all(
    children: Sequence[Child], ask: Callable[[Child], Awaitable[T]]
) -> tuple[list[tuple[Child, T]], list[dict[str, Any]]]:
    """Ask all children at once; one that refuses or is late is named and the others answer."""

    async def bounded(child: Child) -> T | PdppError | TimeoutError:
        try:
            async with asyncio.timeout(CHILD_SECONDS):
                return await ask(child)
        except (PdppError, TimeoutError) as problem:
            return problem

    outcomes = await asyncio.gather(*(bounded(child) for child in children))
    answers: list[tuple[Child, T]] = []
    unavailable: list[dict[str, Any]] = []
    refusals: list[PdppError] = []
    for child, outcome in zip(children, outcomes, strict=True):
        if isinstance(outcome, TimeoutError):
            unavailable.append(child.unavailable("timed_out"))
        elif isinstance(outcome, PdppError):
            if outcome.status < 500 and outcome.status not in (401, 403, 429):
                raise outcome
            refusals.append(outcome)
            unavailable.append(child.unavailable(outcome.code))
        else:
            answers.append((child, outcome))
    if children and not answers:
        raise _all_refused(refusals, unavailable)
    return answers, unavailable


def _all_refused(
    refusals: Sequence[PdppError], unavailable: Sequence[Mapping[str, Any]]
) -> PdppError:
    error = refusals[0] if refusals else AuthenticationError("No grant of this package answered.")
    error.detail["unavailable_connections"] = list(unavailable)[:12]
    error.detail.setdefault("retry", "ask the owner to approve again, or choose another connection")
    return error


def _merge(
    answers: Sequence[tuple[Child, Answer]],
    places: Mapping[str, Place],
    limit: int,
    seal: "Seal",
) -> dict[str, Any]:
    """Take the children's hits in turn, best first within each, until the limit."""
    queues = []
    for child, answer in answers:
        hits = hits_of(answer.body)
        queues.append((child, answer.body, hits, places[child.grant_id].shown))
    ranked = sorted(
        (
            (-_score(hit), place, order, child.grant_id, hit)
            for order, (child, _, hits, skipped) in enumerate(queues)
            for place, hit in enumerate(hits[skipped:])
        ),
        key=lambda item: item[:3],
    )
    taken = ranked[:limit]
    used = {child.grant_id: 0 for child, *_ in queues}
    for _, _, _, grant_id, _ in taken:
        used[grant_id] += 1
    ahead = _ahead(queues, used, places)
    envelope: dict[str, Any] = {
        "object": "list",
        "data": [hit for *_, hit in taken],
        "has_more": bool(ahead),
    }
    if ahead:
        envelope["next_cursor"] = seal.close(ahead)
    envelope["meta"] = _meta(queues)
    return envelope


def _score(hit: Mapping[str, Any]) -> float:
    score = hit.get("score")
    value = score.get("value") if isinstance(score, Mapping) else score
    return float(value) if isinstance(value, int | float) else 0.0


def _ahead(
    queues: Sequence[tuple[Child, Mapping[str, Any], list[Any], int]],
    used: Mapping[str, int],
    places: Mapping[str, Place],
) -> dict[str, Place]:
    """Return where each child goes on: on the page it is on, or on its next one."""
    ahead: dict[str, Place] = {}
    for child, body, hits, skipped in queues:
        shown = skipped + used[child.grant_id]
        place = places[child.grant_id]
        if shown < len(hits):
            ahead[child.grant_id] = place._replace(shown=shown)
        elif isinstance(body.get("next_cursor"), str):
            ahead[child.grant_id] = Place(place.before + len(hits), 0, body["next_cursor"])
    return ahead


def _meta(queues: Sequence[tuple[Child, Mapping[str, Any], list[Any], int]]) -> dict[str, Any]:
    metas = [body.get("meta") for _, body, _, _ in queues]
    told = [meta for meta in metas if isinstance(meta, Mapping)]
    recalls = [meta["recall"] for meta in told if isinstance(meta.get("recall"), Mapping)]
    counts = [meta["count"] for meta in told if isinstance(meta.get("count"), Mapping)]
    exact = len(counts) == len(queues) and all(c.get("kind") == "exact" for c in counts)
    meta: dict[str, Any] = {
        "count": {"kind": "exact", "value": sum(c.get("value", 0) for c in counts)}
        if exact
        else {"kind": "none"},
        "warnings": [w for m in told for w in m.get("warnings", [])][:12],
    }
    if recalls:
        meta["recall"] = {
            "complete": all(r.get("complete") for r in recalls),
            "ranked": sum(r.get("ranked", 0) for r in recalls),
        }
    return meta


class Seal:
    """Makes and opens the cursors of one search of one package."""

    def __init__(self, children: Sequence[Child], route: Sequence[str], params: Params) -> None:
        self._names = [child.grant_id for child in children]
        asked = {k: v for k, v in params.items() if k not in ("cursor", "limit")}
        bound = json_text([self._names, list(route), asked])
        self._mark = hashlib.sha256(bound.encode()).hexdigest()[:12]

    def close(self, places: Mapping[str, Place]) -> str:
        """Return the cursor of some places; the longest of their own cursors give way to others."""
        parts = {name: self._part(name, place) for name, place in places.items()}
        for name in sorted(places, key=lambda name: -len(places[name].cursor)):
            if sum(len(part) + 1 for part in parts.values()) <= MOST_CURSOR_CHARS:
                break
            parts[name] = self._part(name, places[name]._replace(cursor=""))
        return "~".join([self._mark, *parts.values()])

    def _part(self, name: str, place: Place) -> str:
        own = quote(place.cursor, safe="")
        return f"{self._names.index(name)}.{place.before}.{place.shown}.{own}"

    def open(self, cursor: str | None) -> dict[str, Place]:
        """Return the places of a cursor; none is the start of every child.

        The children's own cursors inside it are signed by the server.
        """
        if cursor is None:
            return {name: Place() for name in self._names}
        mark, *parts = cursor.split("~")
        try:
            places = dict(self._place(part) for part in parts)
        except (ValueError, IndexError):
            places = {}
        if mark != self._mark or not places:
            raise InvalidCursor(
                "This cursor was not made for this search; start again without it.", param="cursor"
            )
        return places

    def _place(self, part: str) -> tuple[str, Place]:
        index, before, shown, own = part.split(".", 3)
        if not all(number.isdecimal() for number in (index, before, shown)):
            raise ValueError(part)
        return self._names[int(index)], Place(int(before), int(shown), unquote(own))


async def schema_children(
    reading: Reading, stream: str | None
) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    """Ask every child for its part of the schema and put the parts together."""
    asked = [c for c in reading.children or () if stream is None or stream in c.streams]

    async def ask(child: Child) -> Mapping[str, Any]:
        return await reading.compact(stream, child.connection_id)

    answers, unavailable = await _ask_all(asked, ask)
    connectors: dict[str, dict[str, Any]] = {}
    legend: dict[str, Any] = {}
    for _, body in answers:
        if "field_capability_legend" in body:
            legend = {"field_capability_legend": body["field_capability_legend"]}
        for connector in body.get("connectors", []):
            _take_in(connectors.setdefault(str(connector.get("connector_key")), {}), connector)
    merged: dict[str, Any] = {
        "object": "schema",
        "detail": "compact",
        "bearer": {"scope": "package", "token_kind": "mcp_package"},
        "connectors": list(connectors.values()),
        "connector_count": len(connectors),
        "stream_count": sum(int(body.get("stream_count", 0)) for _, body in answers),
        **legend,
    }
    return merged, list(unavailable)


def _take_in(into: dict[str, Any], connector: Mapping[str, Any]) -> None:
    """Add one child's connector to the one of the same key."""
    if not into:
        into.update(connector)
        into["granted_connections"] = list(connector.get("granted_connections", []))
        into["streams"] = [
            {**row, "record_counts": dict(row.get("record_counts", {}))}
            for row in connector.get("streams", [])
        ]
        return
    into["granted_connections"] += connector.get("granted_connections", [])
    for row in connector.get("streams", []):
        bare = {k: v for k, v in row.items() if k != "record_counts"}
        for held in into["streams"]:
            if {k: v for k, v in held.items() if k != "record_counts"} == bare:
                held["record_counts"].update(row.get("record_counts", {}))
                break
        else:
            into["streams"].append({**row, "record_counts": dict(row.get("record_counts", {}))})
