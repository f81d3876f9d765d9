"""The query_records tool: a page of records whose long fields are cut and whose rows fit."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pdpp.mcp.drawing import structured, text
from pdpp.mcp.drawing.label import beyond, notes_of, text_of
from pdpp.mcp.drawing.record import RecordBudget, record_view
from pdpp.mcp.drawing.result import MOST_CHARS, fits, result
from pdpp.mcp.drawing.view import NextCall, PageView
from pdpp.mcp.reading.field_facts import FieldFacts
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.tools.locator import check_stream
from pdpp.model.errors import PayloadTooLarge

DEFAULT_LIMIT = 25
_ROOMS = (
    RecordBudget(1_000),
    RecordBudget(400),
    RecordBudget(160),
    RecordBudget(60),
    RecordBudget(60, 80, 20),
    RecordBudget(60, 30, 5),
    RecordBudget(40, 10, 0),
    RecordBudget(40, 10, 0, 20),
    RecordBudget(20, 3, 0, 3),
    RecordBudget(0, 0, 0, 0),
)
"""How much of each record may be shown, from generous to scant."""

_ENOUGH_ROOMS = 3
_FEW_ROWS = 5
_ENVELOPE = ("object", "has_more", "next_cursor", "next_changes_since", "meta")


async def query_records(reader: GrantReader, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the query_records tool."""
    stream, connection_id = arguments["stream"], arguments.get("connection_id")
    check_stream(stream)
    reader.require_one_source(connection_id, stream)
    limit = arguments.get("limit", DEFAULT_LIMIT)
    while True:
        params = {k: v for k, v in arguments.items() if k not in ("stream", "limit")}
        answer = await reader.get(
            ["streams", stream, "records"], {**params, "limit": limit}, connection_id
        )
        rows = _rows(answer.body)
        shown_rows = rows[:limit]
        facts = {
            source: await reader.facts(source, stream)
            for source in {text_of(row.get("connection_id")) for row in shown_rows}
        }
        page = FetchedPage(arguments, answer.body, shown_rows, facts, len(rows) - len(shown_rows))
        shown = _fitting(page)
        if shown is not None:
            return shown
        if limit == 1:
            raise PayloadTooLarge(
                "Even one record of this page does not fit an answer; ask with fields, and "
                "without expand.",
                param="fields",
            )
        limit = max(1, min(limit, len(rows)) // 2)


class FetchedPage(NamedTuple):
    """A page as the server answered it; ``beyond`` are rows it sent although not asked for."""

    arguments: Mapping[str, Any]
    body: Mapping[str, Any]
    rows: list[Mapping[str, Any]]
    facts: Mapping[str | None, FieldFacts]
    beyond: int = 0


def _rows(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = body.get("data")
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []


def _fitting(page: FetchedPage) -> dict[str, Any] | None:
    """Return the page with fields as long as fit, or None where fewer rows are needed."""
    for room in _ROOMS if len(page.rows) <= _FEW_ROWS else _ROOMS[:_ENOUGH_ROOMS]:
        view = page_view(page, room)
        spoken, shaped = text.page_text(view), structured.page_structured(view)
        if fits(spoken, shaped, MOST_CHARS, MOST_CHARS):
            return result(spoken, shaped)
    return None


def page_view(page: FetchedPage, room: RecordBudget) -> PageView:
    """Return the view of a page of records."""
    arguments, body = page.arguments, page.body
    stream = arguments["stream"]
    cursor, bookmark = text_of(body.get("next_cursor")), text_of(body.get("next_changes_since"))
    again = {k: v for k, v in arguments.items() if k != "cursor"}
    following = resume = None
    if cursor is not None:
        following = NextCall("next", "query_records", {**again, "cursor": cursor})
    if bookmark is not None:
        resume = NextCall("later changes", "query_records", {**again, "changes_since": bookmark})
    return PageView(
        stream=stream,
        envelope={k: body[k] for k in _ENVELOPE if k in body},
        records=[
            record_view(row, stream, page.facts[text_of(row.get("connection_id"))], room)
            for row in page.rows
        ],
        next=following,
        resume=resume,
        notes=[*notes_of(body.get("meta")), *beyond(page.beyond, "records")],
    )
