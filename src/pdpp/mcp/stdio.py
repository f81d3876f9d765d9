"""MCP over standard input and output: one JSON message a line, requests answered concurrently."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator

from pdpp.mcp import rpc
from pdpp.mcp.kernel import Kernel
from pdpp.mcp.rpc import INVALID_REQUEST, JsonObject, RequestId

MAX_BYTES = 4 * 1024 * 1024
GRACE_SECONDS = 1.0
WATCH_SECONDS = 1.0


def run(kernel: Kernel, *, principal: object = None) -> None:
    """Serve this process's standard streams until the client is gone."""
    source, sink = os.dup(0), os.dup(1)
    os.set_blocking(source, True)
    os.set_blocking(sink, True)
    _point_stdout_at_stderr()
    try:
        asyncio.run(Connection(kernel, source, sink, principal=principal).serve())
    except KeyboardInterrupt:
        return


class Connection:
    """One client on a pair of file descriptors."""

    def __init__(
        self,
        kernel: Kernel,
        source: int,
        sink: int,
        *,
        principal: object = None,
        max_bytes: int = MAX_BYTES,
        parent: Callable[[], int] = os.getppid,
        watch_seconds: float = WATCH_SECONDS,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._kernel = kernel
        self._source = source
        self._sink = sink
        self._principal = principal
        self._max_bytes = max_bytes
        self._parent = parent
        self._watch_seconds = watch_seconds
        self._grace_seconds = grace_seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self._running: dict[RequestId | None, asyncio.Task[None]] = {}
        self._ended = asyncio.Event()

    async def serve(self) -> None:
        """Answer until the input ends, the output breaks, or the parent process dies."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()
        watcher = asyncio.create_task(self._watch_parent())
        await self._ended.wait()
        watcher.cancel()
        await self._finish()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            for line in _lines(self._source, self._max_bytes):
                loop.call_soon_threadsafe(self._receive, line)
            loop.call_soon_threadsafe(self._ended.set)
        except RuntimeError:
            return

    async def _watch_parent(self) -> None:
        parent = self._parent()
        while self._parent() == parent:
            await asyncio.sleep(self._watch_seconds)
        self._abandon()

    async def _finish(self) -> None:
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=self._grace_seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _receive(self, line: bytes | None) -> None:
        if line is None:
            text = f"A message has at most {self._max_bytes} bytes"
            self._send(rpc.failure(None, INVALID_REQUEST, text))
            return
        try:
            message = rpc.parse(line)
        except rpc.RpcError as error:
            self._send(error.answer())
            return
        self._start(message)

    def _start(self, message: object) -> None:
        id = _id_under("id", message)
        if id in self._running:
            text = "A request with this id is still running"
            self._send(rpc.failure(id, INVALID_REQUEST, text))
            return
        self._cancel_named(message)
        task = asyncio.create_task(self._answer(message, id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if id is not None:
            self._running[id] = task

    async def _answer(self, message: object, id: RequestId | None) -> None:
        answer = await self._kernel.handle(message, principal=self._principal)
        self._running.pop(id, None)
        if answer is not None:
            self._send(answer)

    def _cancel_named(self, message: object) -> None:
        if isinstance(message, dict) and message.get("method") == "notifications/cancelled":
            task = self._running.pop(_id_under("requestId", message.get("params")), None)
            if task is not None:
                task.cancel()

    def _send(self, answer: JsonObject) -> None:
        line = memoryview(rpc.encode(answer) + b"\n")
        try:
            while line:
                line = line[os.write(self._sink, line) :]
        except OSError:
            self._abandon()

    def _abandon(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._ended.set()


def _id_under(key: str, message: object) -> RequestId | None:
    id = message.get(key) if isinstance(message, dict) else None
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def _lines(source: int, limit: int) -> Iterator[bytes | None]:
    """Yield the lines that are not blank; one over the limit is None, and is never held whole."""
    held = bytearray()
    over = False
    while chunk := _chunk(source):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            held += part
            yield from _line(held, over or len(held) > limit)
            held.clear()
            over = False
        held += rest
        if len(held) > limit:
            held.clear()
            over = True
    yield from _line(held, over)


def _line(held: bytearray, over: bool) -> Iterator[bytes | None]:
    if over:
        yield None
    elif held.strip():
        yield bytes(held)


def _chunk(source: int) -> bytes:
    try:
        return os.read(source, 65536)
    except OSError:
        return b""


def _point_stdout_at_stderr() -> None:
    sys.stdout.flush()
    os.dup2(2, 1)
    sys.stdout = sys.stderr
