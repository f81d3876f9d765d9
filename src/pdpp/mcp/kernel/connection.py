"""A conversation over lines: requests answered concurrently, cancelled, and cut off at its end."""

import threading
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from typing import NamedTuple

from pdpp.mcp.kernel import rpc
from pdpp.mcp.kernel.dispatch import NEVER, Kernel
from pdpp.mcp.kernel.rpc import INVALID_REQUEST, Id, JsonObject, RequestId

Write = Callable[[bytes], None]
"""Writes one line, whole; it fails where nobody reads any more."""

_MOST_WORKERS = 8
_QUICK = ("ping", "prompts/list", "resources/templates/list")
"""The methods that wait for nobody; the others may have to ask another server, in a thread."""


class _Job(NamedTuple):
    """A request on its way to an answer."""

    message: object
    id: RequestId
    cancelled: threading.Event


class LineConnection:
    """One client, whose requests are answered by threads.

    An event loop would do as well, but takes longer to import than all of this.
    """

    parse: rpc.Parse = staticmethod(rpc.parse)
    encode: rpc.Encode = staticmethod(rpc.encode)
    """How messages are read and written; a subclass may do it in another way."""

    def __init__(
        self, kernel: Kernel, write: Write, principal: object = None, grace_seconds: float = 3.0
    ) -> None:
        self.open = True
        self._kernel, self._write, self._principal = kernel, write, principal
        self._grace_seconds = grace_seconds
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._workers = self._unfinished = 0
        self._running: dict[RequestId, _Job] = {}
        self._changed = threading.Condition()

    def serve(self, lines: Iterable[bytes | None]) -> None:
        """Answer until the lines end or nobody reads the answers, and then a little longer.

        None stands for a line over the limit.
        """
        for line in lines:
            self._receive(line)
            if not self.open:
                break
        with self._changed:
            self._changed.wait_for(lambda: not self._running or not self.open, self._grace_seconds)
            # Taken out under the lock: a worker that ends from now on finds that its request is
            # gone, and sends nothing into a stream that is being closed.
            late = list(self._running.values())
            self._running.clear()
        for job in late:
            job.cancelled.set()

    def _receive(self, line: bytes | None) -> None:
        try:
            if line is None:
                raise rpc.RpcError(INVALID_REQUEST, "The message is too large")
            message = self.parse(line)
        except rpc.RpcError as error:
            self._send(error.answer())
            return
        # Read without trust: whether the message is a request at all is for the kernel to say.
        id, method = _id_under("id", message), _member("method", message)
        # Two answers under one id could not be told apart by the client.
        if id is not None and id in self._running:
            self._send(rpc.failure(id, INVALID_REQUEST, "A request with this id is still running"))
        elif id is not None and method not in _QUICK:
            self._hand_over(_Job(message, id, threading.Event()))
        else:
            if method == "notifications/cancelled":
                self._cancel(_id_under("requestId", _member("params", message)))
            self._send(self._answer(message))

    def _hand_over(self, job: _Job) -> None:
        with self._changed:
            self._running[job.id] = job
            self._unfinished += 1
        self._jobs.put(job)
        # Only the thread that reads lines comes here, so the count of workers needs no lock.
        if self._workers < min(self._unfinished, _MOST_WORKERS):
            self._workers += 1
            threading.Thread(target=self._work, name="pdpp-answer", daemon=True).start()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            answer = None
            if not job.cancelled.is_set():
                answer = self._answer(job.message, job.cancelled)
            with self._changed:
                self._unfinished -= 1
                # Sent under the lock: a cancellation comes either before, and there is no answer,
                # or after it.
                if self._running.get(job.id) is job:
                    del self._running[job.id]
                    self._send(answer)
                    self._changed.notify()

    def _answer(self, message: object, cancelled: threading.Event = NEVER) -> JsonObject | None:
        """Return the answer; work waits here by blocking, since there is no loop to wait in."""
        work = self._kernel.handle(message, principal=self._principal, cancelled=cancelled)
        answer: JsonObject | None = None
        try:
            # A coroutine that never waits runs to its end at the first step.
            work.send(None)
            work.throw(RuntimeError("this waits for an event loop, and there is none"))
        except StopIteration as done:
            answer = done.value
        return answer

    def _cancel(self, id: Id) -> None:
        with self._changed:
            job = None if id is None else self._running.pop(id, None)
        if job is not None:
            job.cancelled.set()

    def _send(self, answer: JsonObject | None) -> None:
        with self._changed:
            try:
                if answer is not None and self.open:
                    self._write(self.encode(answer))
            except OSError:
                self.open = False


def _member(key: str, message: object) -> object:
    return message.get(key) if isinstance(message, dict) else None


def _id_under(key: str, message: object) -> Id:
    id = _member(key, message)
    return id if rpc.is_id(id) else None
