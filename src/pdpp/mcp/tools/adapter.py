"""The six tools: arguments are checked, the resource server is read, both halves are made."""

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pdpp.mcp.kernel import Context, Tool
from pdpp.mcp.tools.definition import SIGNATURES, definition
from pdpp.model.errors import PdppError

if TYPE_CHECKING:
    from pdpp.mcp.reading.reading import Reading

Operation = Callable[["Reading", dict[str, Any]], Awaitable[dict[str, Any]]]
ReadingOf = Callable[[Context], "Reading"]

_OPERATIONS = {
    "schema": "schema",
    "query_records": "paging",
    "aggregate": "summary",
    "search": "searching",
    "fetch": "fetching",
    "read_record_field": "field",
}
"""The module of each tool; one is imported when it is first used."""


def operation(tool: str) -> Operation:
    """Return what runs a tool."""
    found: Operation = getattr(import_module(f"pdpp.mcp.tools.{_OPERATIONS[tool]}"), tool)
    return found


def make_tools(reading_of: ReadingOf) -> list[Tool]:
    """Return the six tools; ``reading_of`` gives each request its way to the server."""
    return [Tool(name, definition(name), _Runner(name, reading_of)) for name in _OPERATIONS]


class _Runner:
    """Runs one tool; every refusal becomes a typed result."""

    def __init__(self, name: str, reading_of: ReadingOf) -> None:
        self._name = name
        self._reading_of = reading_of

    async def __call__(self, arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        try:
            checked = SIGNATURES[self._name].check(arguments)
            return await operation(self._name)(self._reading_of(context), checked)
        except PdppError as error:
            from pdpp.mcp.drawing.problem import problem_result

            return problem_result(self._name, arguments, error)
