"""The six tools: arguments are checked, the resource server is read, both halves are made."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pdpp.mcp import text
from pdpp.mcp.definition import SIGNATURES, definition
from pdpp.mcp.fetching import fetch
from pdpp.mcp.field import read_record_field
from pdpp.mcp.kernel import Context, Tool
from pdpp.mcp.paging import query_records
from pdpp.mcp.problem import problem_view
from pdpp.mcp.reading import Reading
from pdpp.mcp.result import MOST_ERROR_CHARS, result
from pdpp.mcp.schema import schema
from pdpp.mcp.searching import search
from pdpp.mcp.structured import problem_structured
from pdpp.mcp.summary import aggregate
from pdpp.model.errors import PdppError

Operation = Callable[[Reading, dict[str, Any]], Awaitable[dict[str, Any]]]

OPERATIONS: dict[str, Operation] = {
    "schema": schema,
    "query_records": query_records,
    "aggregate": aggregate,
    "search": search,
    "fetch": fetch,
    "read_record_field": read_record_field,
}


def make_tools(reading_of: Callable[[Context], Reading]) -> list[Tool]:
    """Return the six tools; ``reading_of`` gives each request its way to the server."""
    return [
        Tool(name, definition(name), _Runner(name, operation, reading_of))
        for name, operation in OPERATIONS.items()
    ]


@dataclass(frozen=True, slots=True)
class _Runner:
    """Runs one tool; every refusal becomes a typed result."""

    name: str
    operation: Operation
    reading_of: Callable[[Context], Reading]

    async def __call__(self, arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        reading = self.reading_of(context)
        try:
            checked = SIGNATURES[self.name].check(arguments)
            return await self.operation(reading, checked)
        except PdppError as error:
            view = problem_view(self.name, arguments, error)
            return result(
                text.problem_text(view),
                problem_structured(view),
                most=MOST_ERROR_CHARS,
                error=True,
            )
