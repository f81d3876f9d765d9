"""Transports: how a request reaches a resource server, over the network or in this process."""

import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from http.client import HTTPConnection

MOST_BYTES = 32 << 20
_CHUNK = 1 << 16


class Reply(NamedTuple):
    """What a resource server answered; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Unreachable(Exception):
    """No answer came; the message says from where and why, without any secret."""


class Transport(Protocol):
    """Sends one GET or HEAD; the only methods there are."""

    origin: str

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> Reply: ...


class Network:
    """Speaks HTTP to a server elsewhere; one retry where a kept connection dropped."""

    def __init__(self, origin: str, *, timeout: float = 30.0) -> None:
        self.origin = origin.rstrip("/")
        parts = urlsplit(self.origin)
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port
        self._base = parts.path.rstrip("/")
        self._timeout = timeout
        self._idle: list[HTTPConnection] = []

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> Reply:
        """Send one request; this blocks, since who speaks over the network has threads."""
        from http.client import HTTPException

        for attempt in (1, 2):
            connection = self._connection()
            try:
                connection.request(method, self._base + target, headers=dict(headers))
                reply = self._read(connection)
            except TimeoutError:
                connection.close()
                raise Unreachable(
                    f"{self.origin} did not answer within {self._timeout:g} s"
                ) from None
            except Unreachable:
                connection.close()
                raise
            except (OSError, HTTPException) as problem:
                connection.close()
                if attempt == 2 or isinstance(problem, ConnectionRefusedError):
                    raise Unreachable(
                        f"{self.origin} cannot be reached ({type(problem).__name__}); check that "
                        "the server runs, the address, and any proxy between"
                    ) from None
                continue
            self._idle.append(connection)
            return reply
        raise AssertionError

    def _connection(self) -> "HTTPConnection":
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _connect(self) -> "HTTPConnection":
        from http.client import HTTPConnection, HTTPSConnection

        kind = HTTPSConnection if self._secure else HTTPConnection
        return kind(self._host, self._port, timeout=self._timeout)

    def _read(self, connection: "HTTPConnection") -> Reply:
        """Read an answer to its end, in the time and within the size there is for it."""
        from http.client import IncompleteRead

        deadline = time.monotonic() + self._timeout
        response = connection.getresponse()
        total, body = response.length, bytearray()
        while total is None or len(body) < total:
            chunk = response.read1(_CHUNK if total is None else min(_CHUNK, total - len(body)))
            body += chunk
            if len(body) > MOST_BYTES:
                raise Unreachable(f"{self.origin} answered with more than {MOST_BYTES} bytes")
            if time.monotonic() > deadline:
                raise TimeoutError
            if not chunk:
                break
        if total is not None and len(body) < total:
            raise IncompleteRead(bytes(body), total - len(body))
        response.close()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, headers, bytes(body))

    def close(self) -> None:
        """Let every idle connection go."""
        while self._idle:
            self._idle.pop().close()


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
App = Callable[
    [Scope, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


class InProcess:
    """Calls an ASGI application in this process."""

    def __init__(self, app: App, origin: str, marks: Mapping[str, Any] | None = None) -> None:
        self.origin = origin.rstrip("/")
        self._app = app
        self._marks = dict(marks or {})

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> Reply:
        """Run one request through the application."""
        path, _, query = target.partition("?")
        scope: Scope = {
            **self._marks,
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode("ascii"),
            "query_string": query.encode("ascii"),
            "root_path": "",
            "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in headers.items()],
            "client": None,
            "server": None,
        }
        status, sent, body = 500, {}, bytearray()

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def take(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                sent = {k.decode("latin-1"): v.decode("latin-1") for k, v in message["headers"]}
            else:
                body.extend(message.get("body", b""))

        await self._app(scope, receive, take)
        return Reply(status, sent, bytes(body))
