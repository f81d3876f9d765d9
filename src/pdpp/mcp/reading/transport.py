"""Transports: how a request reaches a resource server, over the network or in this process."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Protocol
from urllib.parse import unquote

from pdpp.wire.channel import Channel, Reply, Unreachable

__all__ = ["App", "InProcessTransport", "NetworkTransport", "Reply", "Transport", "Unreachable"]


class Transport(Protocol):
    """Sends one GET or HEAD; the only methods there are."""

    origin: str

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> Reply: ...


class NetworkTransport:
    """Speaks HTTP to a server elsewhere."""

    def __init__(self, origin: str, *, timeout: float = 30.0) -> None:
        self._channel = Channel(origin, timeout=timeout)
        self.origin = self._channel.origin

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> Reply:
        """Send one request; this blocks, since who speaks over the network has threads."""
        return self._channel.exchange(method, target, headers)

    def close(self) -> None:
        """Let every idle connection go."""
        self._channel.close()


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
