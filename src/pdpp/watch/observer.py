"""The observer: stands around the application, counts what it answers and logs it if asked to."""

import logging
import secrets
from collections.abc import Awaitable
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pdpp.watch.meter import LEFT, OTHER, Meter

log = logging.getLogger("pdpp.access")

_ID = b"request-id"
_NOTHING = (b"", b"")


class Observer:
    """Measures each request from its first byte to the last of its answer."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self._app = app
        self._meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        status, request_id = LEFT, b""

        def sending(message: Message) -> Awaitable[None]:
            nonlocal status, request_id
            if message["type"] == "http.response.start":
                status, headers = message["status"], message["headers"]
                first = headers[0] if headers else _NOTHING
                request_id = first[1] if first[0] == _ID else _named(message)
            return send(message)

        self._meter.begin()
        try:
            await self._app(scope, receive, sending)
        except Exception:
            status = 500 if status == LEFT else status
            raise
        finally:
            seconds = perf_counter() - started
            route = getattr(scope.get("route"), "path", OTHER)
            self._meter.end(route, scope["method"], status, seconds)
            if log.isEnabledFor(logging.INFO):
                _tell(request_id.decode("latin-1"), scope["method"], route, status, seconds)


def _named(message: Message) -> bytes:
    """Return the id of an answer, which gets one where it has none."""
    headers = message["headers"]
    for name, value in headers:
        if name == _ID:
            return bytes(value)
    request_id = f"req_{secrets.token_hex(8)}".encode()
    message["headers"] = [*headers, (_ID, request_id)]
    return request_id


def _tell(request_id: str, method: str, route: str, status: int, seconds: float) -> None:
    """Log one request by its route: what was asked in it, and with which token, stays out."""
    told = {
        "request_id": request_id,
        "method": method,
        "route": route,
        "status": status,
        "milliseconds": round(1e3 * seconds, 3),
    }
    log.info("request", extra={"told": told})
