"""Responses: the answer of a server, parsed as it comes from a socket.

``httptools`` parses, the parser in C that the server has too: it loads in two milliseconds where
``http.client`` takes more than twenty, and every launch of the adapter waits for it.
"""

from collections.abc import Callable

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from pdpp.wire.failure import AnswerBrokeOff, AnswerTooLong, NotHttp

MOST_HEAD_BYTES = 1 << 16


class ResponseReader:
    """One response: ``begin`` reads its head, then ``read`` its body piece by piece."""

    def __init__(self, receive: Callable[[], bytes], *, has_body: bool = True) -> None:
        """Take what gives the next bytes; ``has_body`` is false for the answer to a HEAD."""
        self._receive = receive
        self._events = _ParserEvents(has_body=has_body)

    @property
    def status(self) -> int:
        """Return the status code."""
        return self._events.status

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Return the headers in their order; names are in lower case."""
        return self._events.headers

    @property
    def reusable(self) -> bool:
        """Whether the connection can carry another exchange; known once the body was read."""
        return self._events.complete and self._events.keep_alive

    def begin(self) -> None:
        """Read the head."""
        received = 0
        while not self._events.has_head:
            if received > MOST_HEAD_BYTES:
                raise AnswerTooLong
            data = self._receive()
            if not data:
                raise AnswerBrokeOff if received else ConnectionResetError
            received += len(data)
            self._events.feed(data)

    def read(self) -> bytes:
        """Return the next piece of the body, empty at its end; one that breaks off raises."""
        while not self._events.body and not self._events.complete:
            data = self._receive()
            if data:
                self._events.feed(data)
            elif self._events.ends_with_connection:
                self._events.complete = True
            else:
                raise AnswerBrokeOff
        piece = bytes(self._events.body)
        self._events.body.clear()
        return piece


class _ParserEvents:
    """What the parser told of one response; answers before the final one are passed over."""

    def __init__(self, *, has_body: bool) -> None:
        self._parser = HttpResponseParser(self)
        self._has_body = has_body
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.body = bytearray()
        self.has_head = self.complete = self.keep_alive = False

    @property
    def ends_with_connection(self) -> bool:
        """Whether nothing but the end of the connection tells the end of the body."""
        sent = dict(self.headers)
        chunked = "chunked" in sent.get("transfer-encoding", "").lower()
        return "content-length" not in sent and not chunked

    def feed(self, data: bytes) -> None:
        """Parse more; what follows a complete response is dropped, with the connection."""
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            if not self.complete:
                raise NotHttp from None
            self.keep_alive = False

    def on_message_begin(self) -> None:
        if self.complete:
            raise NotHttp
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.has_head:  # Those that follow a body in chunks change nothing.
            self.headers.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:  # "Continue" and the like come before the response itself.
            return
        self.status, self.has_head = status, True
        self.keep_alive = self._parser.should_keep_alive()
        self.complete = not self._has_body

    def on_body(self, body: bytes) -> None:
        if not self.complete:
            self.body += body

    def on_message_complete(self) -> None:
        self.complete = self.has_head
