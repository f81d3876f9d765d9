"""The six tools: arguments are checked, the resource server is read, both halves are made."""

from collections.abc import Awaitable, Callable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from pdpp.mcp.kernel import Context, Tool
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.tools.definition import SIGNATURES, definition
from pdpp.model.errors import PdppError

if TYPE_CHECKING:
    from pdpp.mcp.reading.reader import GrantReader

Operation = Callable[["GrantReader", JsonObject], Awaitable[JsonObject]]
ReaderOf = Callable[[Context], "GrantReader"]

TOOLS = ("schema", "query_records", "aggregate", "search", "fetch", "read_record_field")
"""The tools in the order of ``tools/list``; each has a module and a function of its name."""


def operation(tool: str) -> Operation:
    """Return the function that runs a tool; its module is imported when it is first called."""
    run: Operation = getattr(import_module(f"pdpp.mcp.tools.{tool}"), tool)
    return run


def make_tools(reader_of: ReaderOf) -> list[Tool]:
    """Return the six tools; ``reader_of`` gives each request its way to the server."""
    return [Tool(name, definition(name), _Runner(name, reader_of)) for name in TOOLS]


class _Runner:
    """Runs one tool; every refusal becomes a typed result."""

    def __init__(self, name: str, reader_of: ReaderOf) -> None:
        self._name = name
        self._reader_of = reader_of

    @cached_property
    def _run(self) -> Operation:
        return operation(self._name)

    async def __call__(self, arguments: JsonObject, context: Context) -> JsonObject:
        try:
            checked = SIGNATURES[self._name].check(arguments)
            return await self._run(self._reader_of(context), checked)
        except PdppError as error:
            from pdpp.mcp.drawing.error import error_result

            return error_result(self._name, arguments, error)
