"""The HTTP client: every request that this project sends goes through it.

It follows no redirect, sends nothing twice but a GET whose kept connection had dropped, and bounds
the time and the size of every answer.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar
from urllib.parse import SplitResult, urlencode, urlsplit

from pdpp.wire.failure import AnswerTooLong, NotHttp, Unreachable, unreachable

if TYPE_CHECKING:
    from ssl import SSLContext

    from pdpp.wire.connection import BoundedConnection
    from pdpp.wire.response import ResponseReader

_REPEATABLE = ("GET", "HEAD")
T = TypeVar("T")


class HttpLimits(NamedTuple):
    """How long an exchange may take in all, and how many bytes an answer may have."""

    seconds: float = 30.0
    most_bytes: int = 32 << 20


FORM_LIMITS = HttpLimits(most_bytes=1 << 20)
"""For the short answers of authorization servers."""


class HttpReply(NamedTuple):
    """What a server answered; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cookies: tuple[str, ...] = ()
    values: Mapping[str, Any] | None = None
    """What the body would be read as, if the answer was made in this process and never written."""

    @property
    def document(self) -> Mapping[str, Any]:
        """Return the JSON object in the body; an empty one where there is none."""
        try:
            document = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}

    def close(self) -> None:
        """Do nothing: the whole answer is here."""


class HttpSender(Protocol):
    """What carries requests: the HTTP client, or something in this process."""

    def request(self, method: str, url: str, headers: Mapping[str, str]) -> HttpReply: ...
    def download(self, url: str, headers: Mapping[str, str]) -> "Download": ...
    def close(self) -> None: ...


class HttpClient:
    """Sends requests within limits; ``keep_alive`` reuses connections. Safe from any thread."""

    def __init__(
        self,
        limits: HttpLimits = HttpLimits(),  # noqa: B008 - it cannot change
        *,
        keep_alive: bool = False,
        trust: "Callable[[], SSLContext] | None" = None,
    ) -> None:
        self.limits = limits
        self._keep_alive = keep_alive
        self._trust = trust
        self._idle: dict[tuple[str, str], list[BoundedConnection]] = {}

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        *,
        address: str | None = None,
    ) -> HttpReply:
        """Send one request and return its whole answer.

        ``address`` is the IP address to connect to, where the caller has already looked the host's
        name up and judged it; asking again could give another.
        """
        sent = dict(headers or {})

        def ask(connection: "BoundedConnection", parts: SplitResult, end: float) -> HttpReply:
            most = self.limits.most_bytes
            response = connection.send(method, _target(parts), sent, body, end, most)
            reply = self._whole(response)
            if self._keep_alive and response.reusable:
                self._idle.setdefault(_server(parts), []).append(connection)
            else:
                connection.close()
            return reply

        return self._attempt(method, url, ask, address)

    def get(self, url: str) -> HttpReply:
        """Ask for a JSON document."""
        return self.request("GET", url, {"Accept": "application/json"})

    def post_form(self, url: str, form: Mapping[str, str]) -> HttpReply:
        """Send a form, for an answer in JSON."""
        return self._post(url, urlencode(form), "application/x-www-form-urlencoded")

    def post_json(self, url: str, document: Mapping[str, Any]) -> HttpReply:
        """Send a JSON document, for an answer in JSON."""
        return self._post(url, json.dumps(document), "application/json")

    def _post(self, url: str, body: str, content_type: str) -> HttpReply:
        headers = {"Accept": "application/json", "Content-Type": content_type}
        return self.request("POST", url, headers, body.encode())

    def download(self, url: str, headers: Mapping[str, str]) -> "Download":
        """Send one GET and return its answer to be read piece by piece, however long it is."""

        def ask(connection: "BoundedConnection", parts: SplitResult, end: float) -> Download:
            response = connection.send("GET", _target(parts), dict(headers), None, end, None)
            return Download(origin_of(url), connection, response, self.limits)

        return self._attempt("GET", url, ask, None)

    def _whole(self, response: "ResponseReader") -> HttpReply:
        body = bytearray()
        while chunk := response.read():
            body += chunk
            if len(body) > self.limits.most_bytes:
                raise AnswerTooLong
        cookies = tuple(value for name, value in response.headers if name == "set-cookie")
        return HttpReply(response.status, dict(response.headers), bytes(body), cookies)

    def _attempt(
        self,
        method: str,
        url: str,
        ask: "Callable[[BoundedConnection, SplitResult, float], T]",
        address: str | None,
    ) -> T:
        # Only the origin goes into errors: a path or a query may hold an id or a token.
        origin, parts = origin_of(url), None
        repeatable = self._keep_alive and method in _REPEATABLE
        for attempt in (1, 2):
            connection, end = None, time.monotonic() + self.limits.seconds
            try:
                parts = parts or urlsplit(url)
                connection = self._connection(parts, address, end)
                return ask(connection, parts, end)
            except (OSError, ValueError, NotHttp, AnswerTooLong) as problem:
                _close(connection)
                # These would fail again, and the caller has waited long enough.
                final = isinstance(problem, TimeoutError | ConnectionRefusedError | AnswerTooLong)
                if attempt == 2 or final or not repeatable or connection is None:
                    raise unreachable(origin, problem, *self.limits) from None
                self.close()  # The others were kept as long, and the second try wants a new one.
            except BaseException:
                _close(connection)
                raise
        raise AssertionError

    def _connection(
        self, parts: SplitResult, address: str | None, end: float
    ) -> "BoundedConnection":
        from pdpp.wire.connection import BoundedConnection

        idle = self._idle.get(_server(parts))
        if idle:
            try:
                return idle.pop()
            except IndexError:
                pass  # Another thread took it.
        return BoundedConnection(parts, end, self._trust, address)

    def close(self) -> None:
        """Let every kept connection go."""
        idle, self._idle = self._idle, {}
        for connections in idle.values():
            for connection in connections:
                connection.close()


class Download:
    """An answer that is read piece by piece; its connection ends with it."""

    def __init__(
        self,
        origin: str,
        connection: "BoundedConnection",
        response: "ResponseReader",
        limits: HttpLimits,
    ) -> None:
        self.status = response.status
        self.headers = dict(response.headers)
        self._origin = origin
        self._connection = connection
        self._response = response
        self._limits = limits

    def chunks(self) -> Iterator[bytes]:
        """Yield the rest of the answer; one that breaks off raises and never passes for whole."""
        try:
            while chunk := self._next():
                yield chunk
        except (OSError, NotHttp) as problem:
            raise unreachable(self._origin, problem, *self._limits) from None

    def _next(self) -> bytes:
        # Each piece gets the time of a whole exchange: a download may take as long as it is large.
        self._connection.allow_more(time.monotonic() + self._limits.seconds)
        return self._response.read()

    def rest(self) -> HttpReply:
        """Return the answer with its whole body, where that is a short one: an error."""
        body = bytearray()
        for chunk in self.chunks():
            body += chunk
            if len(body) > self._limits.most_bytes:
                raise unreachable(self._origin, AnswerTooLong(), *self._limits)
        return HttpReply(self.status, self.headers, bytes(body))

    def close(self) -> None:
        """Let the connection go."""
        self._connection.close()


def origin_of(url: str) -> str:
    """Return the scheme and host of an address: what errors may show of it."""
    return "/".join(url.split("/", 3)[:3])


def _server(parts: SplitResult) -> tuple[str, str]:
    return parts.scheme, parts.netloc


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _close(connection: "BoundedConnection | None") -> None:
    if connection is not None:
        connection.close()


__all__ = [
    "FORM_LIMITS",
    "Download",
    "HttpClient",
    "HttpLimits",
    "HttpReply",
    "HttpSender",
    "Unreachable",
]
