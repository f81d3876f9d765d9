"""The query_records tool: a page of records whose long fields are cut and whose rows fit."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from pdpp.evidence.budget import json_length
from pdpp.mcp.drawing import structured, text
from pdpp.mcp.drawing.label import beyond, nameless
from pdpp.mcp.drawing.record import RecordBudget, record_view
from pdpp.mcp.drawing.result import MOST_CHARS, MOST_DEFAULT_CHARS, result
from pdpp.mcp.drawing.view import NextCall, PageView
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.field_facts import FieldFacts
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.reads import ask_page
from pdpp.mcp.reading.record_answer import ServerRecord, ServerRecordPage
from pdpp.mcp.tools.given import QueryArguments
from pdpp.mcp.tools.locator import check_stream
from pdpp.model.errors import PayloadTooLarge
from pdpp.wire.paging import following

TOOL = "query_records"
DEFAULT_LIMIT = 25
_BUDGETS = (
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

_ENOUGH_BUDGETS = 3
_FEW_ROWS = 5
_FEW_FIELDS = 250
"""Up to here a page is drawn at once; it may be drawn several times, shorter each time."""

_NOTE_CHARS = 200
"""More than a note of how to ask for less takes."""

_FRAME_CHARS = 1_500
"""About what a page has beside its rows: counts, notes and the calls that follow."""


class FetchedPage(NamedTuple):
    """A page as the server answered it, with what is known of its fields by connection."""

    arguments: QueryArguments
    page: ServerRecordPage
    records: Sequence[ServerRecord]
    facts: Mapping[str | None, FieldFacts]
    most: int

    @property
    def cut_short(self) -> bool:
        """Tell whether the page is a default one that a longer page could go on from."""
        return "limit" not in self.arguments and self.page.next_cursor is not None

    @property
    def has_much(self) -> bool:
        """Tell whether it takes long to draw: a field takes about a hundredth of a millisecond."""
        fields = sum(len(record.data) for record in self.records)
        return fields > _FEW_FIELDS or any(record.related for record in self.records)


async def query_records(reader: GrantReader, arguments: QueryArguments) -> JsonObject:
    """Run the query_records tool.

    Where fewer rows fit than came, the server is asked again for so many: the cursor that is shown
    then goes on right after the last row.
    """
    stream, connection_id = arguments["stream"], arguments.get("connection_id")
    check_stream(stream)
    reader.require_one_source(connection_id, stream)
    limit = arguments.get("limit", DEFAULT_LIMIT)
    most = MOST_CHARS if "limit" in arguments else MOST_DEFAULT_CHARS
    while True:
        params = {k: v for k, v in arguments.items() if k != "stream"} | {"limit": limit}
        page = await ask_page(reader, stream, connection_id, params)
        records = page.records[:limit]
        connections = {record.connection_id for record in records}
        facts = {source: await reader.facts(source, stream) for source in connections}
        fetched = FetchedPage(arguments, page, records, facts, most)
        draw = partial(_drawn, fetched, limit)
        drawn = await reader.client.codec.run(draw, long=fetched.has_much)
        if not isinstance(drawn, int):
            return drawn
        if limit == 1 and most == MOST_CHARS:
            raise PayloadTooLarge(
                "Even one record of this page is too long for an answer; ask with fields, and "
                "without expand.",
                param="fields",
            )
        if limit == 1:
            most = MOST_CHARS
        limit = drawn


def _drawn(fetched: FetchedPage, limit: int) -> JsonObject | int:
    """Return the page, or how many rows to ask for instead."""
    return _fitting(fetched) or _fewer(fetched, limit)


def _fitting(fetched: FetchedPage) -> JsonObject | None:
    """Return the page with fields as long as fit, or None where fewer rows are needed."""
    few = len(fetched.records) <= _FEW_ROWS
    for budget in _BUDGETS if few else _BUDGETS[:_ENOUGH_BUDGETS]:
        view = page_view(fetched, budget)
        spoken, shaped = text.page_text(view), structured.page_structured(view)
        # Measured once: a page may be drawn several times, and is long to write.
        size = json_length(shaped)
        if size > MOST_DEFAULT_CHARS:
            shaped, size = structured.with_note(shaped, view.less), size + _NOTE_CHARS
        if len(spoken) <= fetched.most and size <= fetched.most:
            return result(spoken, shaped)
    return None


def _fewer(fetched: FetchedPage, limit: int) -> int:
    """Return how many rows to ask for: as many as have room with fields of middling length."""
    view = page_view(fetched, _BUDGETS[1])
    lengths = (
        max(
            len("\n".join(text.record_lines(record, "10. "))) + 1,
            json_length(structured.record_structured(record)) + 1,
        )
        for record in view.records
    )
    room = fetched.most - _FRAME_CHARS
    fitting = sum(total <= room for total in accumulate(lengths))
    return max(1, min(fitting, limit - 1))


def page_view(fetched: FetchedPage, budget: RecordBudget) -> PageView:
    """Return the view of a page of records."""
    arguments, page = fetched.arguments, fetched.page
    onward = resume = None
    if page.next_cursor is not None:
        onward = NextCall("next", TOOL, following(arguments, page.next_cursor))
    elif page.next_changes_since is not None:
        again = {k: v for k, v in arguments.items() if k != "cursor"}
        since = {"changes_since": page.next_changes_since}
        resume = NextCall("later changes", TOOL, {**again, **since})
    extra = len(page.records) - len(fetched.records)
    notes = [*page.meta.warnings, *beyond(extra, "records"), *nameless(page.nameless, "records")]
    if fetched.cut_short:
        notes.append("a page ends near 10,000 characters; with a limit up to 30,000 come at once")
    return PageView(
        stream=arguments["stream"],
        page=page,
        records=[
            record_view(record, fetched.facts[record.connection_id], budget)
            for record in fetched.records
        ],
        next=onward,
        resume=resume,
        notes=notes,
    )
