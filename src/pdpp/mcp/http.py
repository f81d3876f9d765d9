"""MCP over Streamable HTTP as a plain ASGI endpoint: stateless, one JSON message a POST."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, MutableMapping
from typing import Any

from pdpp.mcp import protocol, rpc
from pdpp.mcp.kernel import Kernel
from pdpp.mcp.rpc import INVALID_REQUEST, JsonObject

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Authenticate = Callable[[Scope], Awaitable[object]]
Encode = Callable[[JsonObject], bytes]

MAX_BYTES = 4 * 1024 * 1024


class Refusal(Exception):
    """A request turned away before it is a message: a status, a JSON body, headers."""

    def __init__(
        self, status: int, body: JsonObject, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


async def anyone(_scope: Scope) -> object:
    """Authenticate nobody: every caller is served, with no principal."""
    return None


class Endpoint:
    """The ASGI application of one MCP address.

    ``allowed_hosts`` and ``allowed_origins`` hold exact values; ``name:*`` allows every port.
    ``authenticate`` returns the principal for the handlers, or raises a Refusal.
    """

    def __init__(
        self,
        kernel: Kernel,
        *,
        allowed_hosts: Collection[str],
        allowed_origins: Collection[str],
        authenticate: Authenticate = anyone,
        max_bytes: int = MAX_BYTES,
        encode: Encode = rpc.encode,
    ) -> None:
        self._kernel = kernel
        self._hosts = frozenset(allowed_hosts)
        self._origins = frozenset(allowed_origins)
        self._authenticate = authenticate
        self._max_bytes = max_bytes
        self._encode = encode

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        headers = _headers(scope)
        try:
            self._check_source(headers)
            principal = await self._authenticate(scope)
            _check_shape(scope["method"], headers)
            body = await self._body(headers, receive)
        except Refusal as refusal:
            await _respond(send, refusal.status, rpc.encode(refusal.body), refusal.headers)
            return
        if body is not None:
            await self._exchange(body, headers, principal, receive, send)

    def _check_source(self, headers: protocol.Headers) -> None:
        if not _allowed(headers.get("host", ""), self._hosts):
            raise _refusal(403, "This Host is not served here")
        if "origin" in headers and not _allowed(headers["origin"], self._origins):
            raise _refusal(403, "This Origin may not call the server")

    async def _body(self, headers: protocol.Headers, receive: Receive) -> bytes | None:
        """Return the body; None where the client left before its end."""
        declared = headers.get("content-length", "")
        if declared.isdigit() and int(declared) > self._max_bytes:
            raise self._too_large()
        body = bytearray()
        while True:
            event = await receive()
            if event["type"] == "http.disconnect":
                return None
            body += event.get("body", b"")
            if len(body) > self._max_bytes:
                raise self._too_large()
            if not event.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> Refusal:
        return _refusal(413, f"A message has at most {self._max_bytes} bytes")

    async def _exchange(
        self,
        body: bytes,
        headers: protocol.Headers,
        principal: object,
        receive: Receive,
        send: Send,
    ) -> None:
        try:
            message = rpc.parse(body)
        except rpc.RpcError as error:
            await _respond(send, 400, rpc.encode(error.answer()))
            return
        work = self._kernel.handle(message, headers=headers, principal=principal)
        handled, answer = await _unless_disconnected(work, receive)
        if not handled:
            return
        if answer is None:
            await _respond(send, 202, b"")
        else:
            await _respond(send, _status(message, answer, headers), self._encode(answer))


async def _unless_disconnected(
    work: Coroutine[Any, Any, JsonObject | None], receive: Receive
) -> tuple[bool, JsonObject | None]:
    """Finish the work, or cancel it when the client leaves first.

    Nobody looks for the client before the work waits for something; most never does.
    """
    loop, worker = asyncio.get_running_loop(), asyncio.current_task()
    watches: list[asyncio.Task[None]] = []

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            continue
        if worker is not None:
            worker.cancel()

    begin = loop.call_soon(lambda: watches.append(loop.create_task(watch())))
    try:
        return True, await work
    except asyncio.CancelledError:
        left = any(task.done() for task in watches)
        if worker is None or not left or worker.uncancel():
            raise
        return False, None
    finally:
        begin.cancel()
        for task in watches:
            task.cancel()


def _check_shape(method: str, headers: protocol.Headers) -> None:
    if method != "POST":
        raise _refusal(405, "Send each message in a POST", {"allow": "POST"})
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise _refusal(415, "Content-Type is application/json")
    if not _accepts_json(headers.get("accept", "*/*")):
        raise _refusal(406, "Accept application/json: this server answers with it")


def _accepts_json(accept: str) -> bool:
    accepted = {entry.partition(";")[0].strip().lower() for entry in accept.split(",")}
    return not accepted.isdisjoint(("application/json", "application/*", "*/*"))


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers by name; a repeated one is joined, so that it equals no single value."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1").strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _allowed(value: str, allowed: frozenset[str]) -> bool:
    name, colon, port = value.rpartition(":")
    return value in allowed or (port.isdigit() and f"{name}{colon}*" in allowed)


def _refusal(status: int, text: str, headers: Mapping[str, str] | None = None) -> Refusal:
    return Refusal(status, rpc.failure(None, INVALID_REQUEST, text), headers)


def _status(message: object, answer: JsonObject, headers: protocol.Headers) -> int:
    if not isinstance(message, dict):
        return 400
    modern = protocol.is_modern(message.get("method"), message.get("params"), headers)
    return protocol.status(answer, modern)


async def _respond(
    send: Send, status: int, body: bytes, headers: Mapping[str, str] | None = None
) -> None:
    sent = {"content-length": str(len(body)), "cache-control": "no-store"} | dict(headers or {})
    if body:
        sent["content-type"] = "application/json"
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in sent.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
