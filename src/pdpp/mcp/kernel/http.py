"""MCP over Streamable HTTP as a plain ASGI endpoint: stateless, one JSON message a POST."""

from collections.abc import Awaitable, Callable, Collection, Coroutine, MutableMapping
from dataclasses import dataclass
from typing import Any

from pdpp.disconnect import ClientGone, Receive, unless_gone
from pdpp.mcp.kernel import protocol, rpc
from pdpp.mcp.kernel.protocol import Headers
from pdpp.mcp.kernel.rpc import INVALID_REQUEST, JsonObject

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Authenticate = Callable[[Scope, Headers], Awaitable[object]]
Handle = Callable[..., Coroutine[Any, Any, JsonObject | None]]
"""What answers a message, as ``Kernel.handle`` does."""

MAX_BYTES = 4 * 1024 * 1024
_JSON = "application/json"
_TAKEN = (_JSON, "application/*", "*/*")


class HttpRefusal(Exception):
    """A request turned away before it is a message: a status, a JSON body, headers."""

    def __init__(self, status: int, body: JsonObject, headers: Headers | None = None) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers or {}


async def anyone(_scope: Scope, _headers: Headers) -> object:
    """Authenticate nobody: every caller is served, with no principal."""


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """The ASGI application of one MCP address.

    ``allowed_hosts`` and ``allowed_origins`` hold exact values; ``name:*`` allows every port.
    ``authenticate`` returns the principal for the handlers, or raises a HttpRefusal.
    """

    handle: Handle
    allowed_hosts: Collection[str]
    allowed_origins: Collection[str]
    authenticate: Authenticate = anyone
    max_bytes: int = MAX_BYTES
    parse: rpc.Parse = rpc.parse
    encode: rpc.Encode = rpc.encode

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        headers = _headers(scope)
        try:
            # Before anything of the request is looked at: a page in a browser that reaches this
            # server by another name (DNS rebinding) must not even try a token.
            self._check_source(headers)
            principal = await self.authenticate(scope, headers)
            _check_shape(scope["method"], headers)
            message = self.parse(await self._body(headers, receive))
            work = self.handle(message, headers=headers, principal=principal)
            answer = await unless_gone(work, receive)
        except HttpRefusal as refusal:
            await _respond(send, refusal.status, rpc.encode(refusal.body), refusal.headers)
        except rpc.RpcError as error:
            await _respond(send, 400, rpc.encode(error.answer()))
        except ClientGone:
            return
        else:
            body = b"" if answer is None else self.encode(answer)
            await _respond(send, protocol.http_status(message, answer, headers), body)

    def _check_source(self, headers: Headers) -> None:
        if not _allowed(headers.get("host", ""), self.allowed_hosts):
            raise _refusal(403, "This Host is not served here")
        if "origin" in headers and not _allowed(headers["origin"], self.allowed_origins):
            raise _refusal(403, "This Origin may not call the server")

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        declared, body, more = headers.get("content-length", ""), bytearray(), True
        # A declared size that is too large is refused before a byte is read; one that is a lie is
        # caught as the body grows.
        size = int(declared) if declared.isdecimal() else 0
        while size <= self.max_bytes:
            if not more:
                return bytes(body)
            event = await receive()
            if event["type"] == "http.disconnect":
                raise ClientGone
            body += event.get("body", b"")
            size, more = len(body), event.get("more_body", False)
        raise _refusal(413, f"A message has at most {self.max_bytes} bytes")


def _check_shape(method: str, headers: Headers) -> None:
    if method != "POST":
        raise _refusal(405, "Send each message in a POST", {"allow": "POST"})
    sent, accepted = headers.get("content-type", ""), headers.get("accept", "*/*")
    if sent != _JSON and _media_type(sent) != _JSON:
        raise _refusal(415, "Content-Type is application/json")
    if accepted not in _TAKEN and not any(_media_type(e) in _TAKEN for e in accepted.split(",")):
        raise _refusal(406, "Accept application/json: this server answers with it")


def _media_type(header: str) -> str:
    return header.partition(";")[0].strip().lower()


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers by name; a repeated one is joined, so that it equals no single value."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1").strip()
        # Two servers on the way could each believe another one of them.
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _allowed(value: str, allowed: Collection[str]) -> bool:
    name, colon, port = value.rpartition(":")
    return value in allowed or (port.isdigit() and f"{name}{colon}*" in allowed)


def _refusal(status: int, text: str, headers: Headers | None = None) -> HttpRefusal:
    return HttpRefusal(status, rpc.failure(None, INVALID_REQUEST, text), headers)


async def _respond(send: Send, status: int, body: bytes, headers: Headers | None = None) -> None:
    more = {k.encode("latin-1"): v.encode("latin-1") for k, v in (headers or {}).items()}
    sent = {b"content-length": b"%d" % len(body), b"cache-control": b"no-store", **more}
    if body:
        sent[b"content-type"] = b"application/json"
    await send({"type": "http.response.start", "status": status, "headers": list(sent.items())})
    await send({"type": "http.response.body", "body": body})
