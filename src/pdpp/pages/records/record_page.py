"""The record page: where a citation leads, with the quoted passage marked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from pdpp.authz.wording import label_of
from pdpp.evidence.fence import visible
from pdpp.evidence.window import MAX_LIMIT
from pdpp.model.declaration import Role
from pdpp.model.errors import InvalidRequest, NotFound, PdppError, StreamNotAllowed
from pdpp.pages.dates import Dates
from pdpp.pages.display import Value, fitting_values, presentation_of
from pdpp.pages.page_reader import PageReader
from pdpp.pages.page_request import PageRequest
from pdpp.pages.record_title import record_of, untitled
from pdpp.pages.records.neighbour import neighbours, thread_of
from pdpp.pages.records.readable import ReadableText, readable, shortened
from pdpp.pages.records.record_file import files_of
from pdpp.pages.records.record_line import RecordLine, record_address, record_line
from pdpp.pages.records.search_filters import SearchFilters
from pdpp.pages.room import fitting, fitting_end, sent_bytes
from pdpp.store.numbers import read_data
from pdpp.store.query import Record

_CHARS = re.compile(r"(\d{1,12})-(\d{1,12})\Z", re.ASCII)
_FROM = re.compile(r"\d{1,12}\Z", re.ASCII)
_SOURCE_CHARS = 40_000
"""How much of a text is looked at; of HTML most are marks, which are not shown."""
_BODY, _BESIDE_PASSAGE, _VALUES = 8_000, 3_000, 4_500
_PASSAGE, _MOST_QUOTED = 9_000, 6_000
"""Bytes of a text, of a text beside a quoted passage, of all fields, of a passage, of its quote."""
_GONE = "The record no longer has the passage that this address names. This is the record today."


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a field with the text around it; the counts are what is left out beyond.

    ``earlier`` and ``later`` are the queries of the page that goes on before or after it.
    """

    name: str
    before: str
    quoted: str
    after: str
    left_before: int
    left_after: int
    earlier: str
    later: str


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
    read_on: str
    """The query of the page that has the whole text, where there is more of it."""
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
    field = asked.get("field")
    passage = None if field is None else await _passage(reader, answer, field, asked)
    view = _view(record, passage, dates, is_quoted=field is not None)
    expanded = answer.get("expanded") or {}
    parts = [answer["data"], *(row["data"] for row in _rows(expanded))]
    return request.page(
        "record.html",
        view=view,
        reading_query=reading_query,
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
    body_name, body = _body(record, _BODY if passage is None else _BESIDE_PASSAGE)
    if passage is not None and passage.name == body_name:
        body = None
    left_out = set() if passage is None else {passage.name}
    if body is not None and not body.source:
        left_out.add(body_name)
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
        read_on=reading_query(body_name, 0) if body is not None and body.left else "",
        values=fitting_values(record, left_out, dates, _VALUES),
        all_listed=not left_out,
        passage=passage,
        problem=_GONE if is_quoted and passage is None else None,
    )


def reading_query(field: str, start: int) -> str:
    """Return the query of the page that shows a field from a character on."""
    return "?" + urlencode({"field": field, "from": start})


def _body(record: Record, most: int) -> tuple[str, ReadableText | None]:
    """Return the text of a record for reading, without the marks of HTML or Markdown."""
    data: Mapping[str, Any] = read_data(record.data)
    for name, declared in record.reach.stream.fields.items():
        value = data.get(name)
        if declared.role is Role.BODY and isinstance(value, str):
            text = shortened(readable(value, _SOURCE_CHARS), most)
            return name, text if text.blocks else None
    return "", None


async def _passage(
    reader: PageReader, answer: Mapping[str, Any], field: str, asked: Mapping[str, str]
) -> Passage | None:
    """Return the passage that an address names, None where it is not there.

    A citation names its characters; a reader who reads on names where to begin.
    """
    match, begin = _CHARS.match(asked.get("chars", "")), asked.get("from", "")
    if match is not None:
        start, end = int(match[1]), int(match[2])
    elif _FROM.match(begin):
        start = end = int(begin)
    else:
        return None
    first = max(0, start - _PASSAGE)
    text, total = await _text(reader, answer, field, first, min(end, start + _PASSAGE) + _PASSAGE)
    if not (start < end <= total if match is not None else start < total):
        return None
    return _shown(field, text, (first, start, end), total)


def _shown(field: str, text: str, places: tuple[int, int, int], total: int) -> Passage:
    """Return as much of a passage and the text around it as a page has room for."""
    first, start, end = places
    quoted = fitting(text[start - first : end - first], _MOST_QUOTED)
    rest = _PASSAGE - sent_bytes(quoted)
    before = "" if start == end else fitting_end(text[: start - first], rest // 2)
    after = fitting(text[start - first + len(quoted) :], rest - sent_bytes(before))
    low, high = start - len(before), start + len(quoted) + len(after)
    return Passage(
        name=visible(field, lines=False),
        before=visible(before),
        quoted=visible(quoted),
        after=visible(after),
        left_before=low,
        left_after=total - high,
        earlier=reading_query(field, max(0, low - _PASSAGE // 2)),
        later=reading_query(field, high),
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
