"""Framing: how much of a request may be other than its body, and how many may wait.

The parser keeps a line, a header or a trailer until it ends, however long it becomes, and requests
sent ahead until it is their turn; anyone could make the server hold all that there is room for. So
whatever brings a request no further is counted, and a line of requests has an end.
"""

from asyncio import Transport
from typing import cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from pdpp.serving.whole_answer import WholeAnswer

MOST_BYTES = 65_536
MOST_WAITING = 100
_REFUSAL = f"The head of a request has at most {MOST_BYTES} bytes."


class BoundedProtocol(HttpToolsProtocol):
    """One connection, which is closed when too much comes that is no body."""

    _idle_bytes = 0
    _running: RequestResponseCycle | None = None
    """The request that is being answered; ``cycle`` is the one that came last."""

    def data_received(self, data: bytes) -> None:
        """Take what came in, and count it unless it ended a head or was part of a body."""
        self._idle_bytes += len(data)
        super().data_received(data)
        if self._idle_bytes > MOST_BYTES:
            self.send_400_response(_REFUSAL)

    def on_headers_complete(self) -> None:
        """Go on to the body; a head that came at once may be too long as well."""
        if len(self.pipeline) >= MOST_WAITING:
            raise ConnectionAbortedError("more requests were sent ahead than may wait")
        # One read may bring more than the head, such as the body or further requests; so the head
        # is measured by itself before it is called too long.
        if self._idle_bytes > MOST_BYTES:
            head_bytes = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            self._idle_bytes = head_bytes if head_bytes > MOST_BYTES else 0
        else:
            self._idle_bytes = 0
        super().on_headers_complete()
        # The task that writes the answer has not begun yet.
        self.cycle.transport = cast("Transport", WholeAnswer(self.transport))
        if not self.pipeline:
            self._running = self.cycle

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._idle_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Go on to the next request."""
        self._idle_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Continue with the request that was sent ahead, and read no more until none waits."""
        if self._running is not None:
            cast("WholeAnswer", self._running.transport).flush()
        # The parent class pops the next request from the right end of its queue.
        following = self.pipeline[-1][0] if self.pipeline else self._running
        super().on_response_complete()
        self._running = following
        if self.pipeline and not self.transport.is_closing():
            # The parent class resumes reading after each answer; a caller could then send ahead
            # without end.
            self.flow.pause_reading()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that cannot be read; answers in progress end with their connection."""
        if self.transport.is_closing():
            return
        # An error in the middle of another answer would be read as a part of that answer.
        if self._under_way():
            self.give_up()
            self.transport.close()
        else:
            super().send_400_response(msg)

    def eof_received(self) -> None:
        """Treat the caller as gone: one that sends nothing more waits for no answer."""
        self.give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Treat the caller as gone."""
        self.give_up()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Tell the code that makes an answer at once that nobody waits for it.

        A connection that is closed tells so a moment later; what is written in between fails.
        """
        for cycle in self._under_way():
            cycle.disconnected = True
            cycle.message_event.set()

    def _under_way(self) -> list[RequestResponseCycle]:
        known = (self._running, self.cycle, *(waiting for waiting, _ in self.pipeline))
        return [cycle for cycle in known if cycle is not None and not cycle.response_complete]
