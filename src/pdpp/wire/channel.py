"""Channels: HTTP to one server, from whatever thread asks, with the time and size of it bounded."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

MOST_BYTES = 32 << 20
_CHUNK = 1 << 16
T = TypeVar("T")


class Reply(NamedTuple):
    """What a resource server answered; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Unreachable(Exception):
    """No answer came; the message says from where and why, without any secret."""


class Channel:
    """Speaks HTTP to a server elsewhere; what a dropped connection takes along is asked anew."""

    def __init__(self, origin: str, *, timeout: float = 30.0) -> None:
        self.origin = origin.rstrip("/")
        parts = urlsplit(self.origin)
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port
        self._base = parts.path.rstrip("/")
        self._timeout = timeout
        self._idle: list[HTTPConnection] = []

    def exchange(self, method: str, target: str, headers: Mapping[str, str]) -> Reply:
        """Send one request and return its whole answer."""

        def ask(connection: "HTTPConnection") -> Reply:
            connection.request(method, self._base + target, headers=dict(headers))
            reply = read_reply(connection, self.origin, self._timeout, MOST_BYTES)
            self._idle.append(connection)
            return reply

        return self._attempt(ask)

    def download(self, target: str, headers: Mapping[str, str]) -> "Download":
        """Send one request and return its answer to be read piece by piece, however long it is."""

        def ask(connection: "HTTPConnection") -> Download:
            connection.request("GET", self._base + target, headers=dict(headers))
            return Download(self.origin, connection, connection.getresponse())

        return self._attempt(ask)

    def _attempt(self, ask: "Callable[[HTTPConnection], T]") -> T:
        from http.client import HTTPException

        for attempt in (1, 2):
            connection = self._connection()
            try:
                return ask(connection)
            except TimeoutError:
                connection.close()
                raise Unreachable(
                    f"{self.origin} did not answer within {self._timeout:g} s"
                ) from None
            except (OSError, HTTPException, UnicodeError) as problem:
                connection.close()
                if attempt == 2 or isinstance(problem, ConnectionRefusedError):
                    raise _unreachable(self.origin, problem) from None
                self.close()  # The others were kept as long, and the second try wants a new one.
            except BaseException:
                connection.close()
                raise
        raise AssertionError

    def _connection(self) -> "HTTPConnection":
        from http.client import HTTPConnection, HTTPSConnection

        try:
            return self._idle.pop()
        except IndexError:
            kind = HTTPSConnection if self._secure else HTTPConnection
            return kind(self._host, self._port, timeout=self._timeout)

    def close(self) -> None:
        """Let every connection go."""
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class Download:
    """An answer that is read piece by piece; its connection ends with it."""

    def __init__(self, origin: str, connection: "HTTPConnection", response: "HTTPResponse") -> None:
        self.status = response.status
        self.headers = _headers(response)
        self._origin = origin
        self._connection = connection
        self._response = response

    def chunks(self) -> Iterator[bytes]:
        """Yield the rest of the answer; one that breaks off is told and never taken for whole."""
        from http.client import HTTPException, IncompleteRead

        try:
            total, done = self._response.length, 0
            while chunk := self._response.read(_CHUNK):
                done += len(chunk)
                yield chunk
            if total is not None and done < total:
                raise IncompleteRead(b"", total - done)
        except (OSError, HTTPException) as problem:
            raise _unreachable(self._origin, problem) from None

    def rest(self) -> Reply:
        """Return the answer with its whole body, where that is a short one: an error."""
        body = bytearray()
        for chunk in self.chunks():
            body += chunk
            if len(body) > MOST_BYTES:
                raise Unreachable(f"{self._origin} answered with more than {MOST_BYTES} bytes")
        return Reply(self.status, self.headers, bytes(body))

    def close(self) -> None:
        """Let the connection go."""
        self._response.close()
        self._connection.close()


def read_reply(connection: "HTTPConnection", origin: str, seconds: float, most_bytes: int) -> Reply:
    """Read an answer to its end, in the time and within the size there is for it."""
    from http.client import IncompleteRead

    deadline = time.monotonic() + seconds
    response = connection.getresponse()
    total, body = response.length, bytearray()
    while total is None or len(body) < total:
        chunk = response.read1(_CHUNK if total is None else min(_CHUNK, total - len(body)))
        body += chunk
        if len(body) > most_bytes:
            raise Unreachable(f"{origin} answered with more than {most_bytes} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError
        if not chunk:
            break
    if total is not None and len(body) < total:
        raise IncompleteRead(bytes(body), total - len(body))
    response.close()
    return Reply(response.status, _headers(response), bytes(body))


def _headers(response: "HTTPResponse") -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


def _unreachable(origin: str, problem: Exception) -> Unreachable:
    return Unreachable(
        f"{origin} cannot be reached ({type(problem).__name__}); check that the server runs, the "
        "address, and any proxy between"
    )
