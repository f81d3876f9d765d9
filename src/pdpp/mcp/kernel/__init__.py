"""The protocol kernel: MCP messages in and out, over standard streams and HTTP, in both eras."""

from pdpp.mcp.kernel.dispatch import Context, Kernel, ServerInfo, Surface, Tool, UnknownResource

__all__ = ["Context", "Kernel", "ServerInfo", "Surface", "Tool", "UnknownResource"]
