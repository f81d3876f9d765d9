"""Whole answers: the head of an answer goes out together with the first bytes of its body."""

import asyncio

_GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"
"""What a caller waits for before it sends its body; it is no part of the answer."""

_MOST_JOINED = 65_536
"""A longer body goes out by itself: to copy it would take longer than a second write."""


class WholeAnswer:
    """Where one request writes its answer; it holds the head back until the body begins.

    The server writes both one after the other, and each write would go to the system, and out in a
    packet, by itself.
    """

    __slots__ = ("_head", "_is_begun", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""
        self._is_begun = False

    def write(self, data: bytes) -> None:
        """Hold the head back, and write the body with it."""
        if self._is_begun:
            self._write_with_head(data)
        elif data == _GO_ON:
            self._transport.write(data)
        else:
            self._head, self._is_begun = data, True

    def _write_with_head(self, data: bytes) -> None:
        if self._head:
            if len(data) <= _MOST_JOINED:
                data = self._head + data
            else:
                self._transport.write(self._head)
            self._head = b""
        self._transport.write(data)

    def flush(self) -> None:
        """Write the head of an answer that has no body."""
        if self._head:
            self._write_with_head(b"")

    def close(self) -> None:
        """Write what was held back, and end the connection."""
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """Tell whether the connection ends."""
        return self._transport.is_closing()
