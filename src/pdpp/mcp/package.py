"""Packages: several grants under one token, asked at once and merged in one fair order."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pdpp.evidence.text import json_text
from pdpp.mcp.client import Answer, Params, ResourceClient, hits_of
from pdpp.mcp.reading import Child, Reading
from pdpp.model.errors import AuthenticationError, InvalidCursor, PdppError

CHILD_SECONDS = 5.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Merged:
    """The answers of several children as one list, and the children that gave none."""

    envelope: dict[str, Any]
    unavailable: Sequence[Mapping[str, Any]]


async def search_children(reading: Reading, route: Sequence[str], params: Params) -> Merged:
    """Search every child that opens a requested stream; merge with one limit and one cursor."""
    wanted, limit = params.get("streams"), int(params["limit"])
    places = _places(params.get("cursor"))
    asked = [
        child
        for child in reading.children or ()
        if (wanted is None or child.streams & set(wanted))
        and (places is None or child.grant_id in places)
    ]

    async def ask(child: Child) -> Answer:
        own = {k: v for k, v in params.items() if k not in ("cursor", "streams")}
        if wanted is not None:
            own["streams"] = [stream for stream in wanted if stream in child.streams]
        place = (places or {}).get(child.grant_id)
        if place is not None and place[0]:
            own["cursor"] = place[0]
        own["limit"] = min(100, limit + (place[1] if place is not None else 0))
        return await _client(reading, child).get(route, own)

    answers, unavailable = await _ask_all(asked, ask)
    for _, answer in answers:
        reading.record_page = answer.record_page or reading.record_page
    return Merged(_merge(answers, places or {}, limit), unavailable)


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
    answers: Sequence[tuple[Child, Answer]], places: Mapping[str, tuple[str, int]], limit: int
) -> dict[str, Any]:
    """Take the children's hits in turn, best first within each, until the limit."""
    queues = []
    for child, answer in answers:
        hits = hits_of(answer.body)
        skipped = places.get(child.grant_id, ("", 0))[1]
        queues.append((child, answer.body, hits, skipped))
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
        envelope["next_cursor"] = _seal(ahead)
    envelope["meta"] = _meta(queues)
    return envelope


def _score(hit: Mapping[str, Any]) -> float:
    score = hit.get("score")
    value = score.get("value") if isinstance(score, Mapping) else score
    return float(value) if isinstance(value, int | float) else 0.0


def _ahead(
    queues: Sequence[tuple[Child, Mapping[str, Any], list[Any], int]],
    used: Mapping[str, int],
    places: Mapping[str, tuple[str, int]],
) -> dict[str, tuple[str, int]]:
    """Return where each child goes on: its own cursor, and how many of that page were shown."""
    ahead: dict[str, tuple[str, int]] = {}
    for child, body, hits, skipped in queues:
        shown = skipped + used[child.grant_id]
        own = places.get(child.grant_id, ("", 0))[0]
        if shown < len(hits):
            ahead[child.grant_id] = (own, shown)
        elif isinstance(body.get("next_cursor"), str):
            ahead[child.grant_id] = (body["next_cursor"], 0)
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


def _seal(ahead: Mapping[str, tuple[str, int]]) -> str:
    text = json_text({name: list(place) for name, place in ahead.items()})
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _places(cursor: str | None) -> dict[str, tuple[str, int]] | None:
    """Open a merged cursor; the children's own cursors inside it are signed by the server."""
    if cursor is None:
        return None
    try:
        found = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return {str(name): (str(own), int(shown)) for name, (own, shown) in found.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InvalidCursor(
            "This cursor was not made by search; start again without it.", param="cursor"
        ) from None


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
