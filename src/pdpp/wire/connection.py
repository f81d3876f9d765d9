"""Connections: HTTP sockets whose whole exchange ends at a deadline and within a size.

``http.client`` times each read alone, so a server that sends one byte at a time could hold a
request for hours. Here every read and write gets only the time that is left of the exchange.
"""

import io
import socket
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import SplitResult

from pdpp.wire.failure import AnswerTooLong

if TYPE_CHECKING:
    from ssl import SSLContext

_HEAD_BYTES = 1 << 16
"""What the head of an answer may have beside the bytes that its body may have."""


def port_of(parts: SplitResult) -> int:
    """Return the port an address leads to."""
    return parts.port or (443 if parts.scheme == "https" else 80)


class BoundedSocket:
    """The part of a socket that ``http.client`` uses, with a deadline and a number of bytes."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self._deadline = 0.0
        self._bytes_left: int | None = 0

    def allow(self, deadline: float, most_bytes: int | None) -> None:
        """Begin an exchange: when it must have ended, and how much may come."""
        self._deadline = deadline
        self._bytes_left = None if most_bytes is None else most_bytes + _HEAD_BYTES

    def _wait_no_longer(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._inner.settimeout(left)

    def sendall(self, data: bytes) -> None:
        """Send everything, in the time that is left."""
        self._wait_no_longer()
        self._inner.sendall(data)

    def read_into(self, raw: io.RawIOBase, buffer: Any) -> int | None:
        """Read what there is, in the time and within the size that are left."""
        self._wait_no_longer()
        count = raw.readinto(buffer)
        if self._bytes_left is not None and count:
            self._bytes_left -= count
            if self._bytes_left < 0:
                raise AnswerTooLong
        return count

    def makefile(self, mode: Literal["rb"]) -> io.BufferedReader:
        """Return what ``http.client`` reads an answer from."""
        # The socket's own file keeps the socket open until both are closed.
        return io.BufferedReader(_BoundedFile(self, self._inner.makefile(mode, buffering=0)))

    def close(self) -> None:
        """Close the socket once no answer is read from it any more."""
        self._inner.close()


class _BoundedFile(io.RawIOBase):
    def __init__(self, owner: BoundedSocket, raw: io.RawIOBase) -> None:
        self._owner = owner
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        return self._owner.read_into(self._raw, buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class BoundedConnection:
    """One connection to one server, used for one exchange after the other."""

    def __init__(
        self,
        parts: SplitResult,
        deadline: float,
        trust: "Callable[[], SSLContext] | None",
        address: str | None,
    ) -> None:
        host, port = parts.hostname or "", port_of(parts)
        # Zero would make the socket non-blocking instead of ending at once.
        left = max(deadline - time.monotonic(), 0.001)
        inner = socket.create_connection((address or host, port), left)
        try:
            # A request goes out in two writes, head and body; without this the second waits for the
            # other side's delayed acknowledgement, about 40 ms.
            inner.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if parts.scheme == "https":
                inner = _context(trust).wrap_socket(inner, server_hostname=host)
        except BaseException:
            inner.close()
            raise
        self._socket = BoundedSocket(inner)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._http = kind(host, parts.port)
        self._http.sock = cast(Any, self._socket)

    def send(
        self,
        method: str,
        target: str,
        headers: dict[str, str],
        body: bytes | None,
        deadline: float,
        most_bytes: int | None,
    ) -> HTTPResponse:
        """Send one request and return its answer, whose head was read."""
        self._socket.allow(deadline, most_bytes)
        self._http.request(method, target, body, headers)
        return self._http.getresponse()

    def allow_more(self, deadline: float) -> None:
        """Give the rest of a long answer more time."""
        self._socket.allow(deadline, None)

    def close(self) -> None:
        """End the connection."""
        self._http.close()


def _context(trust: "Callable[[], SSLContext] | None") -> "SSLContext":
    if trust is not None:
        return trust()
    from ssl import create_default_context

    return create_default_context()
