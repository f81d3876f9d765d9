"""The query_records tool: a page of records whose long fields are cut and whose rows fit."""

from collections.abc import Mapping
from typing import Any

from pdpp.evidence.handle import part_problem
from pdpp.mcp import structured, text
from pdpp.mcp.presentation import Facts, record_view, text_of
from pdpp.mcp.reading import Reading
from pdpp.mcp.result import MOST_CHARS, fits, result
from pdpp.mcp.view import NextCall, PageView
from pdpp.model.errors import InvalidRequest

DEFAULT_LIMIT = 25
_LENGTHS = ((1_000, 300), (400, 300), (160, 300), (60, 300), (60, 80), (60, 30), (40, 10))
"""How long fields may be shown, and how many of them, from generous to scant."""

_FEW_ROWS = 5


async def query_records(reading: Reading, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the query_records tool."""
    stream, connection_id = arguments["stream"], arguments.get("connection_id")
    check_part("stream", stream)
    reading.require_one_source(connection_id, stream)
    limit = arguments.get("limit", DEFAULT_LIMIT)
    while True:
        params = {k: v for k, v in arguments.items() if k not in ("stream", "limit")}
        answer = await reading.get(
            ["streams", stream, "records"], {**params, "limit": limit}, connection_id
        )
        rows = _rows(answer.body)
        facts = {
            source: await reading.facts(source, stream)
            for source in {text_of(row.get("connection_id")) for row in rows}
        }
        shown = _fitting(arguments, answer.body, rows, facts, scant=len(rows) <= _FEW_ROWS)
        if shown is not None:
            return shown
        limit = max(1, min(limit, len(rows)) // 2)


def check_part(name: str, value: str) -> None:
    """Refuse a stream or connection name that no handle could hold."""
    problem = part_problem(value)
    if problem is not None:
        raise InvalidRequest(f"{name} {problem}. Nothing was read.", param=name)


def _rows(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = body.get("data")
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []


def _fitting(
    arguments: Mapping[str, Any],
    body: Mapping[str, Any],
    rows: list[Mapping[str, Any]],
    facts: Mapping[str | None, Facts],
    *,
    scant: bool,
) -> dict[str, Any] | None:
    """Return the page with fields as long as fit, or None where fewer rows are needed."""
    for most, most_fields in _LENGTHS if scant else _LENGTHS[:3]:
        view = page_view(arguments, body, rows, facts, most, most_fields)
        spoken, shaped = text.page_text(view), structured.page_structured(view)
        if fits(spoken, shaped, MOST_CHARS, MOST_CHARS):
            return result(spoken, shaped)
    return None


def page_view(
    arguments: Mapping[str, Any],
    body: Mapping[str, Any],
    rows: list[Mapping[str, Any]],
    facts: Mapping[str | None, Facts],
    most: int,
    most_fields: int,
) -> PageView:
    """Return the view of a page of records."""
    stream = arguments["stream"]
    cursor, bookmark = text_of(body.get("next_cursor")), text_of(body.get("next_changes_since"))
    again = {k: v for k, v in arguments.items() if k != "cursor"}
    following = resume = None
    if cursor is not None:
        following = NextCall("next", "query_records", {**again, "cursor": cursor})
    if bookmark is not None:
        resume = NextCall("later changes", "query_records", {**again, "changes_since": bookmark})
    meta = body.get("meta")
    warnings = meta.get("warnings", []) if isinstance(meta, Mapping) else []
    return PageView(
        stream=stream,
        envelope={k: v for k, v in body.items() if k not in ("links", "url")},
        records=[
            record_view(row, stream, facts[text_of(row.get("connection_id"))], most, most_fields)
            for row in rows
        ],
        next=following,
        resume=resume,
        notes=[str(w.get("message")) for w in warnings if isinstance(w, Mapping)],
    )
