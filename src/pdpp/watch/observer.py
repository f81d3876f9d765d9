"""The observer: stands around the application, counts what it answers and logs it if asked to."""

import logging
from collections.abc import Awaitable
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pdpp.service.service import new_request_id
from pdpp.watch.meter import LEFT, OTHER, Meter

log = logging.getLogger("pdpp.access")

_Sent = Awaitable[None]
"""Named here: written where it is used it would be made anew for each request."""

_ID = b"request-id"
_NOTHING: Message = {"status": LEFT, "headers": ()}
_FAILED: Message = {"status": 500, "headers": ()}
"""How an answer would begin that never did."""


class Observer:
    """Measures each request from its first byte to the last of its answer."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self._app = app
        self._begin, self._end = meter.begin, meter.end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        start: Message = _NOTHING

        def sending(message: Message) -> _Sent:
            nonlocal start
            if start is _NOTHING and message["type"] == "http.response.start":
                start = message
                headers = message["headers"]
                # Our own answers put their id first, so that this look is enough for nearly all.
                if not headers or headers[0][0] != _ID:
                    _name(message)
            return send(message)

        self._begin()
        try:
            await self._app(scope, receive, sending)
        except Exception:
            start = _FAILED if start is _NOTHING else start
            raise
        finally:
            seconds = perf_counter() - started
            found = scope.get("route")
            route = OTHER if found is None else found.path
            self._end(route, scope["method"], start["status"], seconds)
            if log.isEnabledFor(logging.INFO):
                _log_request(_id_of(start), scope["method"], route, start["status"], seconds)


def _name(message: Message) -> None:
    """Give an answer an id where it has none."""
    if not _id_of(message):
        message["headers"] = [*message["headers"], (_ID, new_request_id().encode())]


def _id_of(message: Message) -> str:
    """Return the id of an answer."""
    for name, value in message["headers"]:
        if name == _ID:
            return bytes(value).decode("latin-1")
    return ""


def _log_request(request_id: str, method: str, route: str, status: int, seconds: float) -> None:
    """Log one request by its route: what was asked in it, and with which token, stays out."""
    members = {
        "request_id": request_id,
        "method": method,
        "route": route,
        "status": status,
        "milliseconds": round(1e3 * seconds, 3),
    }
    log.info("request", extra={"members": members})
