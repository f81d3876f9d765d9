"""The record page: where a citation leads, with the quoted passage marked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from pdpp.authz.wording import label_of
from pdpp.evidence.fence import visible
from pdpp.evidence.window import MAX_LIMIT
from pdpp.model.declaration import Role
from pdpp.model.errors import InvalidRequest, NotFound, PdppError, StreamNotAllowed
from pdpp.pages.dates import Dates
from pdpp.pages.display import Value, presentation_of, values_of
from pdpp.pages.page_reader import PageReader
from pdpp.pages.page_request import PageRequest
from pdpp.pages.record_title import record_of, untitled
from pdpp.pages.records.neighbour import neighbours, thread_of
from pdpp.pages.records.readable import ReadableText, readable
from pdpp.pages.records.record_file import files_of
from pdpp.pages.records.record_line import RecordLine, record_address, record_line
from pdpp.pages.records.search_filters import SearchFilters
from pdpp.store.numbers import read_data
from pdpp.store.port import Record

_CHARS = re.compile(r"(\d{1,12})-(\d{1,12})\Z", re.ASCII)
_VALUE_CHARS = 20_000
_AROUND = 10_000
_MOST_QUOTED = 100_000
_GONE = "The record no longer has the passage that this address names. This is the record today."


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a field with the text around it; the counts are what is left out beyond."""

    name: str
    before: str
    quoted: str
    after: str
    left_before: int
    left_after: int


@dataclass(frozen=True, slots=True)
class RelationLines:
    """Records that a declared relation leads to, and their files."""

    name: str
    lines: Sequence[RecordLine]


@dataclass(frozen=True, slots=True)
class RecordPageView:
    """A record as its reader sees it."""

    title: str
    account: str
    stream: str
    time: str
    actor: str | None
    link: str | None
    body: ReadableText | None
    body_name: str
    values: Sequence[Value]
    all_listed: bool
    """Tell whether the values are every field: none was shown above them, as it is written."""
    passage: Passage | None
    problem: str | None


async def show_record(request: PageRequest) -> Response:
    """Answer ``GET /r/{connection_id}/{stream}/{record_id}``."""
    return await record_response(request, request.site.reader())


async def record_response(request: PageRequest, reader: PageReader, **context: Any) -> Response:
    """Return the page of a record for a reader: the owner, or the owner in an agent's place."""
    asked, dates = request.http.query_params, request.dates
    answer = await _find(reader, request.http.path_params)
    feed = reader.catalogue.feeds[answer["connection_id"], answer["stream"]]
    record = record_of(reader.catalogue, answer)
    field, chars = asked.get("field"), asked.get("chars", "")
    passage = None if field is None else await _passage(reader, answer, field, chars)
    view = _view(record, passage, dates, is_quoted=field is not None)
    expanded = answer.get("expanded") or {}
    parts = [answer["data"], *(row["data"] for row in _rows(expanded))]
    return request.page(
        "record.html",
        view=view,
        base=reader.base,
        account=answer["connection_id"],
        person_query=SearchFilters(person=view.actor or "").query(),
        attachments=[file for data in parts for file in files_of(reader.base, data)],
        related=_related(reader, expanded, dates),
        thread=await thread_of(reader, feed, answer, dates),
        neighbours=await neighbours(reader, feed, answer, dates),
        here=record_address(reader.base, answer["connection_id"], answer["stream"], answer["id"]),
        **({"seen_as": None} | context),
    )


async def _find(reader: PageReader, path: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the record that an address names with what it is related to, and leave a receipt."""
    connection_id, stream = path["connection_id"], path["stream"]
    names = {"stream": stream, "record_id": path["record_id"]}
    query: dict[str, str | list[str]] = {"connection_id": connection_id}
    feed = reader.catalogue.feeds.get((connection_id, stream))
    if feed is not None and reader.is_owner:
        relations = feed.stream.relationships.values()
        query["expand"] = [relation.name for relation in relations if relation.expandable]
    try:
        answer: Mapping[str, Any] = await reader.operate("getRecord", names, query)
    except (NotFound, StreamNotAllowed, InvalidRequest):
        raise NotFound("This record does not exist, or no longer exists.") from None
    return answer


def _related(reader: PageReader, expanded: Mapping[str, Any], dates: Dates) -> list[RelationLines]:
    return [
        RelationLines(
            visible(name, lines=False),
            [record_line(reader, row, dates) for row in _rows({name: value})],
        )
        for name, value in expanded.items()
        if _rows({name: value})
    ]


def _rows(expanded: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the records of relations, of which one may lead to one record or to a list."""
    rows: list[Mapping[str, Any]] = []
    for value in expanded.values():
        listed = value.get("data", value) if isinstance(value, Mapping) else value
        candidates = listed if isinstance(listed, list) else [value]
        rows += [row for row in candidates if isinstance(row, Mapping) and "data" in row]
    return rows


def _view(
    record: Record, passage: Passage | None, dates: Dates, *, is_quoted: bool
) -> RecordPageView:
    presentation, reach = presentation_of(record), record.reach
    body_name, body = _body(record)
    if passage is not None and passage.name == body_name:
        body = None
    shown_elsewhere = set() if passage is None else {passage.name}
    if body is not None and not body.source:
        shown_elsewhere.add(visible(body_name, lines=False))
    title, time, kind = (
        presentation.title,
        dates.event(presentation.event_time),
        label_of(reach.stream),
    )
    if untitled(title, reach.feed.connection.display_name, reach.stream.name):
        title = f"{kind}, {time}" if time else kind
    return RecordPageView(
        title=visible(title, lines=False),
        account=visible(reach.feed.connection.display_name, lines=False),
        stream=kind,
        time=time,
        actor=None if presentation.actor is None else visible(presentation.actor, lines=False),
        link=presentation.link,
        body=body,
        body_name=visible(body_name, lines=False),
        values=[
            value for value in values_of(record, _VALUE_CHARS) if value.name not in shown_elsewhere
        ],
        all_listed=not shown_elsewhere,
        passage=passage,
        problem=_GONE if is_quoted and passage is None else None,
    )


def _body(record: Record) -> tuple[str, ReadableText | None]:
    """Return the text of a record for reading, without the marks of HTML or Markdown."""
    data: Mapping[str, Any] = read_data(record.data)
    for name, declared in record.reach.stream.fields.items():
        value = data.get(name)
        if declared.role is Role.BODY and isinstance(value, str):
            text = readable(value, _VALUE_CHARS)
            return name, text if text.blocks else None
    return "", None


async def _passage(
    reader: PageReader, answer: Mapping[str, Any], field: str, chars: str
) -> Passage | None:
    """Return the passage that a citation names, None where it is not there."""
    match = _CHARS.match(chars)
    if match is None:
        return None
    start, end = int(match[1]), int(match[2])
    first = max(0, start - _AROUND)
    quoted_end = min(end, start + _MOST_QUOTED)
    text, total = await _text(reader, answer, field, first, quoted_end + _AROUND)
    if not start < end <= total:
        return None
    return Passage(
        name=visible(field, lines=False),
        before=visible(text[: start - first]),
        quoted=visible(text[start - first : quoted_end - first]),
        after=visible(text[quoted_end - first :]),
        left_before=first,
        left_after=total - first - len(text),
    )


async def _text(
    reader: PageReader, answer: Mapping[str, Any], field: str, first: int, last: int
) -> tuple[str, int]:
    """Return a stretch of a field and how long the field is; 0 where it has no text to read."""
    names = {"stream": answer["stream"], "record_id": answer["id"]}
    text, total = "", 0
    while (offset := first + len(text)) < last:
        query: dict[str, str | int] = {
            "connection_id": answer["connection_id"],
            "field": field,
            "offset_chars": offset,
            "limit_chars": min(MAX_LIMIT, last - offset),
        }
        try:
            window = (await reader.operate("readFieldWindow", names, query))["window"]
        except PdppError:
            return "", 0
        text, total = text + window["text"], window["total_chars"]
        if not window["has_more"]:
            break
    return text, total
