"""The search page: the search that agents have, and everything by time where nothing is asked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from starlette.background import BackgroundTask
from starlette.responses import Response

from pdpp.authz.requester import one_line
from pdpp.evidence.amount import counted
from pdpp.model.errors import InvalidRequest, PdppError, StreamNotAllowed
from pdpp.pages.dates import Dates
from pdpp.pages.page_reader import PageReader
from pdpp.pages.page_request import PageRequest
from pdpp.pages.preferences import read_preferences
from pdpp.pages.records.browsing import (
    PAGE,
    BrowsedFeed,
    browsable,
    browse,
    newest_first_feeds,
    page_end,
)
from pdpp.pages.records.record_line import RecordLine, hit_line, record_line
from pdpp.pages.records.search_filters import SearchFilters
from pdpp.pages.records.timeline import Timeline, timeline
from pdpp.resource.envelope import source_of
from pdpp.resource.schema import NEWEST_BEFORE
from pdpp.resource.search import MONTHS

_LONGEST = 120
_NO_SUCH = "There is no such account or kind of records here."


class Chip(NamedTuple):
    """A filter that is in force, and the address without it."""

    label: str
    address: str


class Option(NamedTuple):
    """Something to choose."""

    value: str
    label: str


class Results(NamedTuple):
    """What a page of the search shows."""

    lines: Sequence[RecordLine]
    summary: str
    next: str = ""
    words: Sequence[str] = ()
    problem: str | None = None
    note: str | None = None
    months: Mapping[str, int] | None = None
    """How many records answer by month; None where nothing was asked."""


async def show_search(request: PageRequest) -> Response:
    """Answer ``GET /search``."""
    return await search_response(request, request.site.reader())


async def search_response(request: PageRequest, reader: PageReader, **context: Any) -> Response:
    """Return the page for a reader: the owner, or the owner in an agent's place."""
    filters = SearchFilters.of_query(request.http.query_params)
    dates = request.dates
    listing = await _listing(reader, filters, dates)
    rows = [row for row in listing if _is_chosen(row, filters)]
    zone = read_preferences(request.site.service.store.vault).time_zone
    results = await _results(reader, filters, rows, dates, zone)
    bars = await _timeline(request, reader, filters, rows, zone, results.months)
    response = request.page(
        "search.html",
        status=400 if results.problem else 200,
        base=reader.base,
        filters=filters,
        chips=list(_chips(filters, listing, dates)),
        accounts=_accounts(listing),
        kinds=_kinds(listing, filters),
        results=results,
        timeline=bars.timeline,
        counting=bool(bars.uncounted) and bars.timeline is None,
        **({"seen_as": None} | context),
    )
    if bars.uncounted:
        count = request.site.month_counts.count
        response.background = BackgroundTask(count, reader, bars.uncounted, zone)
    return response


class _Bars(NamedTuple):
    """The bars of a page, and the streams to be counted for the next one."""

    timeline: Timeline | None
    uncounted: Sequence[BrowsedFeed] = ()


async def _listing(
    reader: PageReader, filters: SearchFilters, dates: Dates
) -> Sequence[Mapping[str, Any]]:
    """Return the streams; for a page by time each with the newest record it may begin with."""
    if filters.searches:
        # A search needs their names alone, and who reads knows those without a question.
        return [
            {"name": reach.stream.name, "label": reach.stream.label, **source_of(reach)}
            for reach in reader.principal.reaches
        ]
    headers = {NEWEST_BEFORE: page_end(dates, filters.month, filters.after)}
    return list((await reader.operate("listStreams", headers=headers))["data"])


def _is_chosen(row: Mapping[str, Any], filters: SearchFilters) -> bool:
    return filters.account in ("", row["connection_id"]) and filters.kind in ("", row["name"])


async def _results(
    reader: PageReader,
    filters: SearchFilters,
    rows: Sequence[Mapping[str, Any]],
    dates: Dates,
    zone: str,
) -> Results:
    if not rows and (filters.account or filters.kind):
        return Results((), "", problem=_NO_SUCH)
    try:
        if filters.searches:
            return await _searched(reader, filters, dates, zone)
        return await _browsed(reader, filters, rows, dates)
    except StreamNotAllowed:
        return Results((), "", problem=_NO_SUCH)
    except InvalidRequest as problem:
        return Results((), "", problem=problem.message)


async def _searched(reader: PageReader, filters: SearchFilters, dates: Dates, zone: str) -> Results:
    query: dict[str, str | int] = {
        "q": filters.question,
        "limit": PAGE,
        "connection_id": filters.account,
        "streams": filters.kind,
        "sort": filters.sort,
        "cursor": filters.after,
        "time_zone": zone,
    }
    given = {k: v for k, v in query.items() if v}
    answer = await reader.operate("search", None, given, headers={MONTHS: "1"})
    months = answer["meta"].get("months", {})
    count = answer["meta"]["count"].get("value")
    summary = "" if count is None else f"{counted(count, 'record')} found"
    words = answer["meta"].get("try", {}).get("words", ())
    return Results(
        lines=[await hit_line(reader, hit, dates) for hit in answer["data"]],
        summary=summary,
        next=_next(filters, answer),
        words=words,
        months=months,
    )


async def _browsed(
    reader: PageReader, filters: SearchFilters, rows: Sequence[Mapping[str, Any]], dates: Dates
) -> Results:
    total = sum(row["record_count"] for row in rows)
    if len(rows) == 1 and not filters.month:
        return await _listed(reader, filters, rows[0], dates)
    feeds = newest_first_feeds(reader, rows)
    page = await browse(reader, feeds, dates, filters.month, filters.after)
    lines = [record_line(reader, record, dates) for record in page.records]
    note = "Too many records have exactly this time. Choose one account and kind to see all."
    summary = "" if filters.month else f"{counted(total, 'record')}, the newest first"
    following = filters.query(after=page.after) if page.after else ""
    return Results(lines, summary, following, note=note if page.left_out else None)


async def _listed(
    reader: PageReader, filters: SearchFilters, row: Mapping[str, Any], dates: Dates
) -> Results:
    """Return a page of one stream in its own order."""
    query: dict[str, str | int] = {"connection_id": row["connection_id"], "limit": PAGE}
    if filters.after:
        query["cursor"] = filters.after
    try:
        answer = await reader.operate("listRecords", {"stream": row["name"]}, query)
    except PdppError as problem:
        if not filters.after:
            raise
        raise InvalidRequest(
            "This page of the list is too old. Start again at the first page."
        ) from problem
    lines = [record_line(reader, record, dates) for record in answer["data"]]
    summary = f"{counted(row['record_count'], 'record')}, the newest first"
    return Results(lines, summary, _next(filters, answer))


def _next(filters: SearchFilters, answer: Mapping[str, Any]) -> str:
    cursor = answer.get("next_cursor")
    return filters.query(after=cursor) if cursor else ""


async def _timeline(
    request: PageRequest,
    reader: PageReader,
    filters: SearchFilters,
    rows: Iterable[Mapping[str, Any]],
    zone: str,
    answering: Mapping[str, int] | None,
) -> _Bars:
    """Return the bars of what answers, or of all that is chosen where nothing is asked.

    Under a grant every count without a question would be a search of its own.
    """
    if filters.after:
        return _Bars(None)
    if answering is not None:
        return _Bars(timeline(answering, filters, request.dates))
    if not reader.is_owner:
        return _Bars(None)
    feeds = browsable(reader, rows)
    totals = await request.site.month_counts.of_feeds(reader, feeds, zone)
    bars = timeline(totals.counts, filters, request.dates) if totals.known else None
    return _Bars(bars, totals.uncounted)


def _chips(
    filters: SearchFilters, listing: Sequence[Mapping[str, Any]], dates: Dates
) -> Iterable[Chip]:
    names = {row["connection_id"]: row["display_name"] for row in listing}
    labels = _kind_labels(listing, filters)
    if filters.account:
        name = one_line(names.get(filters.account, filters.account), _LONGEST)
        yield Chip(name, filters.query(account=""))
    if filters.kind:
        yield Chip(
            one_line(labels.get(filters.kind, filters.kind), _LONGEST), filters.query(kind="")
        )
    if filters.person:
        yield Chip(f"from {one_line(filters.person, _LONGEST)}", filters.query(person=""))
    if filters.month:
        month = dates.month(filters.month) if "-" in filters.month else filters.month
        yield Chip(month, filters.query(month=""))


def _accounts(listing: Sequence[Mapping[str, Any]]) -> list[Option]:
    return _options({row["connection_id"]: row["display_name"] for row in listing})


def _options(names: Mapping[str, str]) -> list[Option]:
    options = (Option(value, one_line(name, _LONGEST)) for value, name in names.items())
    return sorted(options, key=lambda option: option.label)


def _kinds(listing: Sequence[Mapping[str, Any]], filters: SearchFilters) -> list[Option]:
    return _options(_kind_labels(listing, filters))


def _kind_labels(listing: Sequence[Mapping[str, Any]], filters: SearchFilters) -> Mapping[str, str]:
    """Return what streams are called; one of mail and one of chats may have the same name."""
    labels: dict[str, set[str]] = {}
    for row in listing:
        if filters.account in ("", row["connection_id"]):
            labels.setdefault(row["name"], set()).add(row["label"] or row["name"])
    return {name: ", ".join(sorted(each)) for name, each in labels.items()}
