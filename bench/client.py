"""A client that does as little as it can, so that what is measured is the server."""

import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Self

_CHUNK = 1 << 18


class BadAnswer(Exception):
    """The server answered with something other than success."""


def get(path: str, token: str | None = None, headers: Mapping[str, str] | None = None) -> bytes:
    """Return a GET request as it goes over the wire."""
    return _head("GET", path, token) + _lines(headers or {}) + b"\r\n"


def post(
    path: str,
    token: str,
    body: bytes,
    media_type: str = "application/x-ndjson",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """Return a POST request as it goes over the wire."""
    sent = {"Content-Type": media_type, "Content-Length": str(len(body)), **(headers or {})}
    return _head("POST", path, token) + _lines(sent) + b"\r\n" + body


def _lines(headers: Mapping[str, str]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()


def _head(method: str, path: str, token: str | None) -> bytes:
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}".encode()


class Client:
    """One kept-alive connection."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def ask(self, request: bytes) -> bytes:
        """Send a request and return the body of its answer."""
        self.send(request)
        return self.receive()

    def send(self, request: bytes) -> None:
        """Send a request whose answer is received later."""
        self._socket.sendall(request)

    def receive(self) -> bytes:
        """Return the body of the next answer."""
        data = self._more()
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._more()
        head, body = data[:end].lower(), [data[end + 4 :]]
        left = _length(head) - len(body[0])
        while left > 0:
            body.append(self._more())
            left -= len(body[-1])
        if not head.startswith(b"http/1.1 200"):
            raise BadAnswer(b"".join([head[:100], *body])[:1_000].decode("utf-8", "replace"))
        return b"".join(body)

    def _more(self) -> bytes:
        data = self._socket.recv(_CHUNK)
        if not data:
            raise BadAnswer("the server closed the connection")
        return data


def _length(head: bytes) -> int:
    return int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
