"""A conversation over lines: requests answered concurrently, cancelled, and cut off at its end."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable

from pdpp.mcp import rpc
from pdpp.mcp.kernel import Kernel
from pdpp.mcp.lines import Line, write_line
from pdpp.mcp.rpc import INVALID_REQUEST, JsonObject, RequestId

GRACE_SECONDS = 1.0
WATCH_SECONDS = 1.0


class Connection:
    """One client: the lines it sends and the file descriptor it reads."""

    def __init__(
        self,
        kernel: Kernel,
        lines: Iterable[Line],
        sink: int,
        *,
        principal: object = None,
        parent: Callable[[], int] = os.getppid,
        watch_seconds: float = WATCH_SECONDS,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._kernel = kernel
        self._lines = lines
        self._sink = sink
        self._principal = principal
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
            for line in self._lines:
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

    def _receive(self, line: Line) -> None:
        if line is None:
            self._send(rpc.failure(None, INVALID_REQUEST, "The message is too large"))
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
        try:
            write_line(self._sink, rpc.encode(answer))
        except OSError:
            self._abandon()

    def _abandon(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._ended.set()


def _id_under(key: str, message: object) -> RequestId | None:
    id = message.get(key) if isinstance(message, dict) else None
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None
