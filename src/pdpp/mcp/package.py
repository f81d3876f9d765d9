"""Packages: several grants under one token, asked at once and merged in one fair order."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from pdpp.mcp.client import Answer, Params, ResourceClient, ServerUnreachable, hits_of
from pdpp.mcp.place import Place, Seal
from pdpp.mcp.reading import Child, Reading
from pdpp.model.errors import PdppError, StreamNotAllowed

CHILD_SECONDS = 5.0
_MOST_HITS = 100
_FEW_HITS = 3
T = TypeVar("T")


async def search_children(reading: Reading, route: Sequence[str], params: Params) -> "Merge":
    """Search every child that opens a requested stream, to be merged into pages."""
    wanted = params.get("streams")
    children = reading.children or ()
    seal = Seal(children, route, params)
    places = seal.open(params.get("cursor"))
    asked = [
        child
        for child in children
        if (wanted is None or child.streams & set(wanted)) and child.grant_id in places
    ]

    async def ask(child: Child, most: int) -> Answer:
        own = {k: v for k, v in params.items() if k not in ("cursor", "streams")} | {"limit": most}
        if wanted is not None:
            own["streams"] = [stream for stream in wanted if stream in child.streams]
        return await _from_place(_client(reading, child), route, own, places[child.grant_id])

    limit = int(params["limit"])
    few = min(limit, max(_FEW_HITS, 2 * limit // max(1, len(asked))))
    merge = Merge(await _ask_all(asked, partial(ask, most=few)), places, seal)
    short = merge.used_up(limit)
    if short and few < limit:
        with suppress(PdppError):
            merge = merge.with_more(await _ask_all(short, partial(ask, most=limit)))
    reading.record_page = merge.record_page or reading.record_page
    return merge


def _unfit_warning(children: Sequence[Child]) -> dict[str, str]:
    sources = ", ".join(child.connection_id for child in children)
    return {
        "code": "source_cannot_filter",
        "message": f"These have no such filter and were left out: {sources}.",
        "param": "filter",
    }


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


class Outcome(NamedTuple, Generic[T]):
    """What several children answered, who gave nothing, and who cannot be asked this way."""

    answers: list[tuple[Child, T]]
    unavailable: list[dict[str, Any]]
    unfit: list[Child]


_UNFIT = ("unknown_field", "invalid_filter", "field_not_granted")


async def _ask_all(children: Sequence[Child], ask: Callable[[Child], Awaitable[T]]) -> Outcome[T]:
    """Ask all children at once; one that refuses or is late is named and the others answer."""

    async def bounded(child: Child) -> T | PdppError | TimeoutError:
        try:
            async with asyncio.timeout(CHILD_SECONDS):
                return await ask(child)
        except (PdppError, TimeoutError) as problem:
            return problem

    outcomes = await asyncio.gather(*(bounded(child) for child in children))
    found: Outcome[T] = Outcome([], [], [])
    refusals: list[PdppError] = []
    for child, outcome in zip(children, outcomes, strict=True):
        if isinstance(outcome, TimeoutError):
            found.unavailable.append(child.unavailable("timed_out"))
        elif isinstance(outcome, PdppError):
            if outcome.code in _UNFIT:
                found.unfit.append(child)
            elif outcome.status >= 500 or outcome.status in (401, 403, 429):
                found.unavailable.append(child.unavailable(outcome.code))
            else:
                raise outcome
            refusals.append(outcome)
        else:
            found.answers.append((child, outcome))
    if children and not found.answers:
        raise _all_refused(refusals, found.unavailable)
    return found


def _all_refused(
    refusals: Sequence[PdppError], unavailable: Sequence[Mapping[str, Any]]
) -> PdppError:
    asked_wrongly = [refusal for refusal in refusals if refusal.code in _UNFIT]
    if asked_wrongly:
        return asked_wrongly[0]
    error = refusals[0] if refusals else ServerUnreachable("No connection answered in time.")
    error.detail["unavailable_connections"] = list(unavailable)[:12]
    error.detail.setdefault("retry", "ask the owner to approve again, or choose another connection")
    return error


class Merge:
    """What several children answered as one list: best first, in turn where they are equal."""

    def __init__(self, found: Outcome[Answer], places: Mapping[str, Place], seal: Seal) -> None:
        self.unavailable = found.unavailable
        self._found = found
        self._unfit = found.unfit
        self._places = places
        self._seal = seal
        self._queues = [
            (child, answer.body, hits_of(answer.body)) for child, answer in found.answers
        ]
        self._ranked = sorted(self._hits(), key=lambda item: item[:3])

    def _hits(self) -> Iterator[tuple[float, int, int, str, Mapping[str, Any]]]:
        for order, (child, _, hits) in enumerate(self._queues):
            place = self._places[child.grant_id]
            for index, hit in enumerate(hits[place.shown :], place.before + place.shown):
                yield -_score(hit), index, order, child.grant_id, hit

    @property
    def hits(self) -> list[Mapping[str, Any]]:
        """Return the hits in their order."""
        return [hit for *_, hit in self._ranked]

    @property
    def record_page(self) -> str | None:
        """Return where a person opens a record, if the server told."""
        return next((a.record_page for _, a in self._found.answers if a.record_page), None)

    def used_up(self, limit: int) -> list[Child]:
        """Return the children all of whose hits so far are on a page, and that have more."""
        taken = Counter(grant_id for *_, grant_id, _ in self._ranked[:limit])
        return [
            child
            for child, body, hits in self._queues
            if isinstance(body.get("next_cursor"), str)
            and taken[child.grant_id] == len(hits) - self._places[child.grant_id].shown
        ]

    def with_more(self, more: "Outcome[Answer]") -> "Merge":
        """Return the merge with further answers of some children in place of their earlier ones."""
        longer = {child.grant_id: answer for child, answer in more.answers}
        answers = [(c, longer.get(c.grant_id, answer)) for c, answer in self._found.answers]
        return Merge(self._found._replace(answers=answers), self._places, self._seal)

    def page(self, limit: int) -> dict[str, Any]:
        """Return the first hits, and the cursor of those that follow."""
        taken = self._ranked[:limit]
        ahead = self._ahead(Counter(grant_id for *_, grant_id, _ in taken))
        envelope: dict[str, Any] = {
            "object": "list",
            "data": [hit for *_, hit in taken],
            "has_more": bool(ahead),
        }
        if ahead:
            envelope["next_cursor"] = self._seal.close(ahead)
        envelope["meta"] = _meta([body for _, body, _ in self._queues])
        if self._unfit:
            envelope["meta"]["warnings"].append(_unfit_warning(self._unfit))
        return envelope

    def _ahead(self, used: Mapping[str, int]) -> dict[str, Place]:
        """Return where each child goes on: on the page it is on, or on its next one."""
        ahead: dict[str, Place] = {}
        for child, body, hits in self._queues:
            place = self._places[child.grant_id]
            shown = place.shown + used.get(child.grant_id, 0)
            if shown < len(hits):
                ahead[child.grant_id] = place._replace(shown=shown)
            elif isinstance(body.get("next_cursor"), str):
                ahead[child.grant_id] = Place(place.before + len(hits), 0, body["next_cursor"])
        return ahead


def _score(hit: Mapping[str, Any]) -> float:
    score = hit.get("score")
    value = score.get("value") if isinstance(score, Mapping) else score
    return float(value) if isinstance(value, int | float) else 0.0


def _meta(bodies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    metas = [body.get("meta") for body in bodies]
    told = [meta for meta in metas if isinstance(meta, Mapping)]
    recalls = [meta["recall"] for meta in told if isinstance(meta.get("recall"), Mapping)]
    counts = [meta["count"] for meta in told if isinstance(meta.get("count"), Mapping)]
    exact = len(counts) == len(bodies) and all(c.get("kind") == "exact" for c in counts)
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


async def schema_children(
    reading: Reading, stream: str | None
) -> tuple[dict[str, Any], list[Mapping[str, Any]]]:
    """Ask every child for its part of the schema and put the parts together."""
    asked = [c for c in reading.children or () if stream is None or stream in c.streams]

    async def ask(child: Child) -> Mapping[str, Any]:
        return await reading.compact(stream, child.connection_id)

    if stream is not None and not asked:
        raise StreamNotAllowed(
            f"No connection of this package opens a stream {stream!r}; schema lists them.",
            param="stream",
        )
    found = await _ask_all(asked, ask)
    connectors: dict[str, dict[str, Any]] = {}
    legend: dict[str, Any] = {}
    for _, body in found.answers:
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
        "stream_count": sum(int(body.get("stream_count", 0)) for _, body in found.answers),
        **legend,
    }
    return merged, list(found.unavailable)


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
