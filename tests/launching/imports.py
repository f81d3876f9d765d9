"""What the program imports when it first needs it, imported before a process is forked for it."""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module

from pdpp.cli.program import COMMANDS
from pdpp.mcp.tools.registry import TOOLS
from pdpp.sources.registry import BUILT_IN

_FIRST_NEEDED = (
    "pdpp.store.tables.search.search",
    "pdpp.store.tables.search.reindex",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "encodings.idna",
    "jinja2.loaders",
)
"""What a server and a command that writes need: half of their time was to import numpy."""


_MEASURED = ("pdpp.app", "bench.floor")
"""What a server of the benchmark serves: the product, or what it is compared with."""


def import_program() -> None:
    """Import every command, and what nearly all of them import when they run."""
    _import_modules(place for place, _ in COMMANDS.values())
    _import_modules(_FIRST_NEEDED)


def import_for(module: str, arguments: Sequence[str]) -> None:
    """Import what a command needs beside, once."""
    if module == "bench.serve":
        _import_modules(_MEASURED)
        _import_tools()
    if "import" in arguments:
        _import_formats()
    if "mcp" in arguments:
        _import_tools()


@cache
def _import_formats() -> None:
    _import_modules(BUILT_IN.values())


@cache
def _import_tools() -> None:
    _import_modules(f"pdpp.mcp.tools.{tool}" for tool in TOOLS)


def _import_modules(places: Iterable[str]) -> None:
    for place in places:
        import_module(place.partition(":")[0])
