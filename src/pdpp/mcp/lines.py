"""Lines on file descriptors: read with a limit, written whole."""

import os
import select
from collections.abc import Callable, Iterator

Line = bytes | None
"""A line without its end; None stands for one over the limit."""


def read_lines(
    source: int, limit: int, there: Callable[[], bool] | None = None, seconds: float = 1.0
) -> Iterator[Line]:
    """Yield the lines that are not blank; one over the limit is never held whole.

    ``there`` is asked every few seconds without input whether to wait for more.
    """
    line = bytearray()
    over = False
    while chunk := _chunk(source, there, seconds):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            line += part
            yield from _line(line, over or len(line) > limit)
            line.clear()
            over = False
        line += rest
        if len(line) > limit:
            line.clear()
            over = True
    yield from _line(line, over)


def write_line(sink: int, line: bytes) -> None:
    """Write one whole line."""
    rest = memoryview(line + b"\n")
    while rest:
        rest = rest[os.write(sink, rest) :]


def _line(line: bytearray, over: bool) -> Iterator[Line]:
    if over:
        yield None
    elif line.strip():
        yield bytes(line)


def _chunk(source: int, there: Callable[[], bool] | None, seconds: float) -> bytes:
    try:
        while there is not None and not select.select([source], [], [], seconds)[0]:
            if not there():
                return b""
        return os.read(source, 65536)
    except OSError:
        return b""
