"""Packages: several grants under one token, asked at once and merged in one fair order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, TypeVar

from pdpp.evidence.stream_refusal import refused_stream
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.merge import ChildAnswers, MergedSearch
from pdpp.mcp.reading.package_cursor import ChildPosition, PackageCursor, is_package_cursor
from pdpp.mcp.reading.reader import ChildGrant, GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.schema_answer import SchemaAnswer
from pdpp.mcp.reading.schema_merge import merged_schema
from pdpp.mcp.reading.search_answer import NO_HITS, SearchAnswer, SearchResults, results_of
from pdpp.mcp.reading.search_params import SearchParams, from_start
from pdpp.model.errors import Overloaded, PdppError
from pdpp.wire.answer import is_temporary

TOGETHER_SECONDS = 2.0
"""How long a first page of all grants together may take, before each is asked by itself."""
CHILD_SECONDS = 3.0
"""How long one of them may take."""
AT_ONCE = 8
"""How many grants are asked at once."""
ALL_SECONDS = 20.0
"""How long it may take to ask all of them, one after another."""
PAGE_SECONDS = 20.0
"""How long a further page of all grants together may take: nothing else can go on with its list."""

_MOST_HITS = 100
_FEW_HITS = 3
_ENDED = (401, 403)
"""How a grant refuses that opens nothing any more: it is not asked again for the next page."""
_UNFIT = ("unknown_field", "invalid_filter", "field_not_granted")
"""How a grant refuses whose streams do not have what a filter asks for."""
T = TypeVar("T")


async def search_package(
    reader: GrantReader, route: Sequence[str], params: SearchParams, room: int
) -> SearchResults:
    """Search all children that open a requested stream: in one request, or each by itself.

    The token itself reads through all of its good grants, which is one search instead of many.
    Where these are not asked for the same streams, or do not answer together, each is asked under
    its own name, so that one that refuses or is late can be told from the others.
    """
    limit, cursor = params["limit"], params.get("cursor")
    asked = _asked(reader, params)
    if not asked and params.get("streams"):
        # To find nothing in streams that nobody opens would look like an answer.
        raise refused_stream(params["streams"][0], param="streams")
    together = _together(asked, params)
    if together is not None and not is_package_cursor(cursor):
        try:
            async with asyncio.timeout(TOGETHER_SECONDS if cursor is None else PAGE_SECONDS):
                answer = await reader.search(reader.client, route, together.params, room)
            return results_of(answer, limit)._replace(unavailable=together.unavailable)
        except TimeoutError:
            if cursor is not None:
                raise Overloaded("The search took too long; try again.") from None
        except PdppError as problem:
            if cursor is not None or problem.status == 429 or not _is_unavailable(problem):
                raise
    if all(child.problem is not None for child in asked):
        params = from_start(params)
    merged = await _search_each(reader, route, params)
    return SearchResults(merged.hits[:limit], merged.page, unavailable=merged.unavailable)


class _Together(NamedTuple):
    """What the children are asked in one request, and those that cannot answer."""

    params: SearchParams
    unavailable: Sequence[ConnectionChoice]


def _together(asked: Sequence[ChildGrant], params: SearchParams) -> _Together | None:
    """Return how to ask several children at once; None where each needs its own question."""
    good = [child for child in asked if child.problem is None]
    streams = {tuple(_streams(child, params)) for child in good}
    if len(asked) < 2 or len(streams) != 1:
        return None
    wanted: SearchParams = {**params}
    if "streams" in params:
        wanted["streams"] = list(streams.pop())
    gone = [child.unavailable(child.problem) for child in asked if child.problem is not None]
    return _Together(wanted, gone)


def _asked(reader: GrantReader, params: SearchParams) -> list[ChildGrant]:
    """Return the children that open a requested stream."""
    wanted, children = params.get("streams"), reader.children or ()
    return [child for child in children if wanted is None or child.streams & set(wanted)]


def _streams(child: ChildGrant, params: SearchParams) -> list[str]:
    """Return the requested streams that a child opens; none are named where all are meant."""
    return [stream for stream in params.get("streams", ()) if stream in child.streams]


async def _search_each(
    reader: GrantReader, route: Sequence[str], params: SearchParams
) -> MergedSearch:
    """Search every child that opens a requested stream, to be merged into pages."""
    cursor = PackageCursor(reader.children or (), route, params)
    positions = cursor.open(params.get("cursor"))
    children = _asked(reader, params)
    asked = [child for child in children if child.grant_id in positions]

    async def ask(child: ChildGrant, most: int) -> SearchAnswer:
        own: SearchParams = {**from_start(params), "limit": most}
        if "streams" in params:
            own["streams"] = _streams(child, params)
        search = partial(reader.search, _client(reader, child), route)
        return await _from_position(search, own, positions[child.grant_id])

    limit = params["limit"]
    few = min(limit, max(_FEW_HITS, 2 * limit // max(1, len(asked))))
    answers = await _ask_all(asked, partial(ask, most=few))
    ended = len(children) - len(asked)
    merged = MergedSearch(answers, positions, cursor, ended)
    short = merged.used_up(limit)
    if short and few < limit:
        with suppress(PdppError):
            merged = merged.with_more(await _ask_all(short, partial(ask, most=limit)))
    return merged


async def _from_position(
    search: Callable[[SearchParams], Awaitable[SearchAnswer]],
    params: SearchParams,
    position: ChildPosition,
) -> SearchAnswer:
    """Ask for the page on which a position stands, with enough hits after it to fill a page."""
    cursor, left = position.cursor, position.before if not position.cursor else 0
    while left > 0:
        passed = await search(_from(params, cursor, min(_MOST_HITS, left)))
        left -= len(passed.hits)
        cursor = passed.next_cursor or ""
        if not cursor:
            return NO_HITS
    return await search(_from(params, cursor, params["limit"] + position.taken))


def _from(params: SearchParams, cursor: str, limit: int) -> SearchParams:
    begun: SearchParams = {**params, "limit": min(_MOST_HITS, limit)}
    if cursor:
        begun["cursor"] = cursor
    return begun


def _client(reader: GrantReader, child: ChildGrant) -> ResourceClient:
    assert reader.client_of is not None  # noqa: S101 - a package has one
    return reader.client_of(child)


async def _ask_all(
    children: Sequence[ChildGrant], ask: Callable[[ChildGrant], Awaitable[T]]
) -> ChildAnswers[T]:
    """Ask all children, some at once; one that refuses or is late is named, the others answer."""
    clock = asyncio.get_running_loop().time
    last = clock() + ALL_SECONDS
    outcomes: list[T | PdppError | TimeoutError] = [TimeoutError()] * len(children)
    waiting = iter(enumerate(children))

    # A few who take one child after another: to begin thousands of tasks at once is a long step.
    async def take_turns() -> None:
        for number, child in waiting:
            try:
                async with asyncio.timeout_at(min(last, clock() + CHILD_SECONDS)):
                    # A server that answers in its own event loop does so without a pause: others
                    # would wait until thousands of grants were asked.
                    await asyncio.sleep(0)
                    outcomes[number] = await ask(child)
            except (PdppError, TimeoutError) as problem:
                outcomes[number] = problem

    await asyncio.gather(*(take_turns() for _ in range(min(AT_ONCE, len(children)))))
    answers: ChildAnswers[T] = ChildAnswers([], [], [], [])
    refusals: list[PdppError] = []
    for child, outcome in zip(children, outcomes, strict=True):
        if isinstance(outcome, TimeoutError):
            answers.unavailable.append(child.unavailable("timed_out"))
            answers.late.append(child)
        elif isinstance(outcome, PdppError):
            if outcome.code in _UNFIT:
                answers.unfit.append(child)
            elif _is_unavailable(outcome):
                answers.unavailable.append(child.unavailable(outcome.code))
                if outcome.status not in _ENDED:
                    answers.late.append(child)
            else:
                raise outcome
            refusals.append(outcome)
        else:
            answers.answers.append((child, outcome))
    if children and not answers.answers:
        raise _all_refused(refusals, answers.unavailable)
    return answers


def _is_unavailable(problem: PdppError) -> bool:
    """Tell whether a refusal is about the source, not about the question."""
    return is_temporary(problem) or problem.status in _ENDED


def _all_refused(
    refusals: Sequence[PdppError], unavailable: Sequence[ConnectionChoice]
) -> PdppError:
    asked_wrongly = [refusal for refusal in refusals if refusal.code in _UNFIT]
    if asked_wrongly:
        return asked_wrongly[0]
    error = refusals[0] if refusals else Overloaded("No connection answered in time.")
    error.detail["unavailable_connections"] = [c.as_json() for c in unavailable[:12]]
    error.detail.setdefault("retry", "ask the owner to approve again, or choose another connection")
    return error


async def schema_children(
    reader: GrantReader, stream: str | None
) -> tuple[SchemaAnswer, Sequence[ConnectionChoice]]:
    """Ask every child for its part of the schema and put the parts together."""
    asked = [c for c in reader.children or () if stream is None or stream in c.streams]
    if stream is not None and not asked:
        raise refused_stream(stream)

    async def ask(child: ChildGrant) -> SchemaAnswer:
        return await reader.compact(stream, child.connection_id)

    answers = await _ask_all(asked, ask)
    parts = [part for _, part in answers.answers]
    merge = partial(merged_schema, parts, with_fields=stream is not None)
    merged = await asyncio.to_thread(merge) if len(parts) > AT_ONCE else merge()
    return merged, answers.unavailable
