"""MCP over standard input and output: one JSON message a line."""

import contextlib
import os
import select
import sys
from collections.abc import Iterator
from itertools import chain

from pdpp.mcp import rpc
from pdpp.mcp.kernel import Kernel
from pdpp.mcp.lines import Line, read_lines, write_line
from pdpp.mcp.rpc import JsonObject

MAX_BYTES = 4 * 1024 * 1024
WATCH_SECONDS = 1.0

_OPENINGS = ("initialize", "server/discover")


def run(kernel: Kernel, *, principal: object = None) -> None:
    """Serve this process's standard streams until the client is gone."""
    source, sink = _claimed_streams()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        if not _client_speaks(source, os.getppid()):
            return
        lines = _after_opening(kernel, read_lines(source, MAX_BYTES), sink)
        # The event loop takes longer to import than all the rest: the opening does not wait for it.
        import asyncio

        from pdpp.mcp.connection import Connection

        asyncio.run(Connection(kernel, lines, sink, principal=principal).serve())


def _claimed_streams() -> tuple[int, int]:
    """Return the streams of the protocol, and turn whatever else is printed to standard error."""
    source, sink = os.dup(0), os.dup(1)
    for stream in (source, sink):
        os.set_blocking(stream, True)
    sys.stdout.flush()
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink


def _client_speaks(source: int, parent: int) -> bool:
    """Wait for the first input; False when the parent dies before it."""
    while not select.select([source], [], [], WATCH_SECONDS)[0]:
        if os.getppid() != parent:
            return False
    return True


def _after_opening(kernel: Kernel, lines: Iterator[Line], sink: int) -> Iterator[Line]:
    """Answer the message that opens a conversation, and return the lines that are left."""
    opening = next(lines, b"")
    if opening == b"":
        return lines
    answer = _opening_answer(kernel, opening)
    if answer is None:
        return chain([opening], lines)
    write_line(sink, rpc.encode(answer))
    return lines


def _opening_answer(kernel: Kernel, line: Line) -> JsonObject | None:
    """Return the answer that needs no event loop; None where the message is no opening."""
    try:
        message = rpc.parse(line or b"")
    except rpc.RpcError:
        return None
    if not isinstance(message, dict) or message.get("method") not in _OPENINGS:
        return None
    try:
        kernel.handle(message).send(None)
    except StopIteration as done:
        answer: JsonObject | None = done.value
        return answer
    raise AssertionError("an opening is answered without waiting")
