"""The MCP server as clients meet it: its name, its six tools, its resources."""

from collections.abc import Awaitable, Callable, Sequence

from pdpp import __version__
from pdpp.mcp.kernel import Context, Kernel, ServerInfo, Surface
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.stream_name import StreamName
from pdpp.mcp.resources import Resources
from pdpp.mcp.tools.registry import ReaderOf, make_tools
from pdpp.mcp.tools.surface import surface_of

_MOST_SURFACES = 64
"""Descriptions that are remembered: one for each set of streams that some caller may read."""


Describe = Callable[[Context], Awaitable[Surface]]


def make_kernel(
    reader_of: ReaderOf, icons: Sequence[JsonObject] = (), describe: Describe | None = None
) -> Kernel:
    """Put the server together over a way to read.

    ``describe`` tells what a caller's tools are like, where that is known without a reader.
    """
    info = ServerInfo("pdpp", __version__, "Personal data", icons)
    tools, resources = make_tools(reader_of), Resources(reader_of)
    return Kernel(info, tools, resources, describe=describe or _description(reader_of))


def _description(reader_of: ReaderOf) -> Describe:
    """Return what describes the tools by the names of streams that a reader tells."""
    surfaces: dict[tuple[StreamName, ...], Surface] = {}

    async def describe(context: Context) -> Surface:
        names = tuple(await reader_of(context).stream_names())
        surface = surfaces.get(names)
        if surface is None:
            # 300 streams take two milliseconds to describe, and hosts list tools before each turn.
            if len(surfaces) >= _MOST_SURFACES:
                surfaces.clear()
            surface = surfaces[names] = surface_of(names)
        return surface

    return describe
