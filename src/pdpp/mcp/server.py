"""The MCP server as clients meet it: its name, its six tools, its resources."""

from collections.abc import Sequence

from pdpp import __version__
from pdpp.mcp.kernel import Context, Kernel, ServerInfo, Surface
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.resources import Resources
from pdpp.mcp.tools.registry import ReaderOf, make_tools
from pdpp.mcp.tools.surface import surface_of


def make_kernel(reader_of: ReaderOf, icons: Sequence[JsonObject] = ()) -> Kernel:
    """Put the server together over a way to read."""

    async def describe(context: Context) -> Surface:
        return surface_of(await reader_of(context).stream_names())

    info = ServerInfo("pdpp", __version__, "Personal data", icons)
    return Kernel(info, make_tools(reader_of), Resources(reader_of), describe=describe)
