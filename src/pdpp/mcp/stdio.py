"""MCP over standard input and output: one JSON message a line."""

import contextlib
import os
import sys

from pdpp.mcp import exact_rpc
from pdpp.mcp.kernel import Kernel, rpc
from pdpp.mcp.kernel.connection import LineConnection
from pdpp.mcp.lines import read_lines, write_line

MAX_BYTES = 4 * 1024 * 1024
WATCH_SECONDS = 1.0
NOT_CONNECTED = -32000
"""The code of the one answer of a server that has nothing to read with."""


class ExactConnection(LineConnection):
    """A connection whose messages keep the digits of decimals."""

    parse = staticmethod(exact_rpc.parse)
    encode = staticmethod(exact_rpc.encode)


def run(kernel: Kernel, *, principal: object = None) -> None:
    """Serve this process's standard streams until the client is gone."""
    source, sink = _claimed_streams()
    parent = os.getppid()
    connection = ExactConnection(kernel, lambda line: write_line(sink, line), principal)

    def there() -> bool:
        return connection.open and os.getppid() == parent

    with contextlib.suppress(KeyboardInterrupt):
        connection.serve(read_lines(source, MAX_BYTES, there, WATCH_SECONDS))


def refuse(message: str, command: str, reason: str) -> None:
    """Answer the first request of a client with why nothing is served, and serve nothing.

    Hosts show nobody what stands on standard error, but they do show the answer to ``initialize``.
    """
    source, sink = _claimed_streams()
    parent = os.getppid()
    for line in read_lines(source, MAX_BYTES, lambda: os.getppid() == parent, WATCH_SECONDS):
        try:
            request = rpc.read(rpc.parse(line or b""))
        except rpc.RpcError as error:
            request = None if error.id is None else rpc.RpcRequest(error.id, "", {})
        if request is not None and request.method == "ping":
            # A host may ask whether anybody is there before it opens: that is no first request.
            with contextlib.suppress(OSError):
                write_line(sink, rpc.encode(rpc.success(request.id, {})))
        elif request is not None:
            data = {"code": reason, "command": command}
            answer = rpc.failure(request.id, NOT_CONNECTED, message, data)
            with contextlib.suppress(OSError):
                write_line(sink, rpc.encode(answer))
            return


def _claimed_streams() -> tuple[int, int]:
    """Return the streams of the protocol, and turn whatever else is printed to standard error."""
    source, sink = os.dup(0), os.dup(1)
    for stream in (source, sink):
        os.set_blocking(stream, True)
    sys.stdout.flush()
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink
