"""Transports: how a request reaches a resource server, over the network or in this process."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Protocol
from urllib.parse import unquote

from pdpp.evidence.lean import UNWRITTEN
from pdpp.wire.bearer import Bearer
from pdpp.wire.http import HttpClient, HttpLimits, HttpReply, Unreachable

__all__ = ["App", "HttpReply", "InProcessTransport", "NetworkTransport", "Transport", "Unreachable"]


class Transport(Protocol):
    """Sends one GET or HEAD; the only methods there are."""

    origin: str

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> HttpReply: ...


class NetworkTransport:
    """Speaks HTTP to a server elsewhere; ``bearer`` renews the token of the requests."""

    def __init__(self, origin: str, bearer: Bearer | None = None, *, timeout: float = 30.0) -> None:
        self._http = HttpClient(HttpLimits(timeout), keep_alive=True)
        self._bearer = bearer
        self.origin = origin.rstrip("/")

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> HttpReply:
        """Send one request; this blocks, since who speaks over the network has threads."""
        url = self.origin + target
        if self._bearer is None:
            return self._http.request(method, url, headers)
        return self._bearer.send(
            lambda token: self._http.request(
                method, url, {**headers, "Authorization": f"Bearer {token}"}
            )
        )

    def close(self) -> None:
        """Let every idle connection go."""
        self._http.close()


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
App = Callable[
    [Scope, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]


class InProcessTransport:
    """Calls an ASGI application in this process."""

    def __init__(self, app: App, origin: str, marks: Mapping[str, Any] | None = None) -> None:
        self.origin = origin.rstrip("/")
        self._app = app
        self._frame: Scope = {
            **(marks or {}),
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "root_path": "",
            "client": None,
            "server": None,
        }
        """What the scopes of all requests have in common."""

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> HttpReply:
        """Run one request through the application."""
        path, _, query = target.partition("?")
        scope: Scope = {
            **self._frame,
            "method": method,
            "path": unquote(path),
            "raw_path": path.encode("ascii"),
            "query_string": query.encode("ascii"),
            "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in headers.items()],
        }
        status, sent, body = 500, {}, bytearray()
        values: Mapping[str, Any] | None = None

        async def take(message: Message) -> None:
            nonlocal status, sent, values
            if message["type"] == "http.response.start":
                status = message["status"]
                sent = {k.decode("latin-1"): v.decode("latin-1") for k, v in message["headers"]}
            else:
                body.extend(message.get("body", b""))
                values = message.get(UNWRITTEN)

        await self._app(scope, _receive_nothing, take)
        return HttpReply(status, sent, bytes(body), values=values)


async def _receive_nothing() -> Message:
    """Return the body of a request that has none."""
    return {"type": "http.request", "body": b"", "more_body": False}
