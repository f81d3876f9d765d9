"""Connections: HTTP sockets whose whole exchange ends at a deadline and within a size.

A socket times each read alone, so a server that sends one byte at a time could hold a request for
hours. Here every read and write gets only the time that is left of the exchange.
"""

import re
import socket
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult

from pdpp.wire.failure import AnswerTooLong
from pdpp.wire.response import MOST_HEAD_BYTES, ResponseReader

if TYPE_CHECKING:
    from ssl import SSLContext

_CHUNK = 1 << 16
_NOT_IN_TARGET = re.compile(r"[\x00-\x20\x7f]")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_HEADER = re.compile(r"[\x00\r\n]")


def port_of(parts: SplitResult) -> int:
    """Return the port an address leads to."""
    return parts.port or (443 if parts.scheme == "https" else 80)


class BoundedSocket:
    """A socket with a deadline and a number of bytes."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self._deadline = 0.0
        self._bytes_left: int | None = 0

    def allow(self, deadline: float, most_bytes: int | None) -> None:
        """Begin an exchange: when it must have ended, and how much its body may have."""
        self._deadline = deadline
        self._bytes_left = None if most_bytes is None else most_bytes + MOST_HEAD_BYTES

    def _wait_no_longer(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._inner.settimeout(left)

    def send(self, data: bytes) -> None:
        """Send everything, in the time that is left."""
        self._wait_no_longer()
        self._inner.sendall(data)

    def receive(self) -> bytes:
        """Return what has come, in the time and within the size that are left; empty at the end."""
        self._wait_no_longer()
        data = self._inner.recv(_CHUNK)
        if self._bytes_left is not None:
            self._bytes_left -= len(data)
            if self._bytes_left < 0:
                raise AnswerTooLong
        return data

    def close(self) -> None:
        """Close the socket."""
        self._inner.close()


def _encoded_host(host: str) -> Any:
    """Return a host as the resolver takes it: ASCII as bytes, any other name to be encoded there.

    A text makes the resolver load its tables for names in other scripts, for 4 ms of a launch.
    """
    return host.encode() if host.isascii() else host


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
        self._host = _host_header(host, parts.port)
        # Zero would make the socket non-blocking instead of ending at once.
        left = max(deadline - time.monotonic(), 0.001)
        inner = socket.create_connection((_encoded_host(address or host), port), left)
        try:
            # Without this the last, short segment of a long body waits for the other side's delayed
            # acknowledgement, about 40 ms.
            inner.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if parts.scheme == "https":
                inner = _context(trust).wrap_socket(inner, server_hostname=host)
        except BaseException:
            inner.close()
            raise
        self._socket = BoundedSocket(inner)

    def send(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline: float,
        most_bytes: int | None,
    ) -> ResponseReader:
        """Send one request and return its answer, whose head was read."""
        self._socket.allow(deadline, most_bytes)
        sent = {"Host": self._host, "Accept-Encoding": "identity", **headers}
        if body is not None:
            sent["Content-Length"] = str(len(body))
        self._socket.send(_head(method, target, sent) + (body or b""))
        response = ResponseReader(self._socket.receive, has_body=method != "HEAD")
        response.begin()
        return response

    def allow_more(self, deadline: float) -> None:
        """Give the rest of a long answer more time."""
        self._socket.allow(deadline, None)

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


def _host_header(host: str, port: int | None) -> str:
    name = host if host.isascii() else host.encode("idna").decode("ascii")
    bracketed = f"[{name}]" if ":" in name else name
    return bracketed if port is None else f"{bracketed}:{port}"


def _head(method: str, target: str, headers: Mapping[str, str]) -> bytes:
    """Return the head of a request; a value that could end its line early raises ValueError."""
    if _NOT_IN_TARGET.search(target):
        raise ValueError("the target of a request has no space and no control character")
    lines = [f"{method} {target} HTTP/1.1".encode("ascii")]
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or _NOT_IN_HEADER.search(value):
            raise ValueError("a header is one line")
        lines.append(f"{name}: {value}".encode("latin-1"))
    return b"\r\n".join((*lines, b"", b""))


def _context(trust: "Callable[[], SSLContext] | None") -> "SSLContext":
    if trust is not None:
        return trust()
    from ssl import create_default_context

    return create_default_context()
