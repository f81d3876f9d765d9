"""MCP over standard input and output: one JSON message a line."""

import contextlib
import os
import sys

from pdpp.mcp.kernel import Kernel
from pdpp.mcp.kernel.connection import LineConnection
from pdpp.mcp.lines import read_lines, write_line

MAX_BYTES = 4 * 1024 * 1024
WATCH_SECONDS = 1.0


def run(kernel: Kernel, *, principal: object = None) -> None:
    """Serve this process's standard streams until the client is gone."""
    source, sink = _claimed_streams()
    parent = os.getppid()
    connection = LineConnection(kernel, lambda line: write_line(sink, line), principal)

    def there() -> bool:
        return connection.open and os.getppid() == parent

    with contextlib.suppress(KeyboardInterrupt):
        connection.serve(read_lines(source, MAX_BYTES, there, WATCH_SECONDS))


def _claimed_streams() -> tuple[int, int]:
    """Return the streams of the protocol, and turn whatever else is printed to standard error."""
    source, sink = os.dup(0), os.dup(1)
    for stream in (source, sink):
        os.set_blocking(stream, True)
    sys.stdout.flush()
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink
