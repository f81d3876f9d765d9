"""Endpoints: HTTP requests come in, operations run, answers and errors go out."""

import asyncio
import logging
import secrets
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, BinaryIO

import orjson
from starlette.types import Receive, Scope, Send

from pdpp.authz.client import READ_SCOPE
from pdpp.authz.principal import Gate
from pdpp.model.errors import (
    AuthenticationError,
    InsufficientScope,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    PdppError,
    Unprocessable,
    UnsupportedVersion,
)
from pdpp.model.instant import Clock
from pdpp.receipts.recorder import Reading, Recorder
from pdpp.resource.blob import Piece
from pdpp.resource.call import Call
from pdpp.resource.parameter import parse_parameters
from pdpp.resource.routes import BASE, Route
from pdpp.service.bucket import Buckets
from pdpp.service.cursor import Signer
from pdpp.service.failure import explained
from pdpp.service.header import headers_of
from pdpp.service.origin import public_origin
from pdpp.service.runner import Runner
from pdpp.service.settings import Settings
from pdpp.store.blobs import CHUNK
from pdpp.store.port import Store

VERSION = "2026-04-06"
INNER = "pdpp.inner"
"""The member of a request's scope by which the hosted adapter marks its own reads."""

RECORD_PAGE = "/r/{connection_id}/{stream}/{record_id}"
_SPOOL_BYTES = 1 << 20
_ALWAYS = ((b"pdpp-version", VERSION.encode()), (b"pdpp-record-page", RECORD_PAGE.encode()))
"""Headers of every answer."""

log = logging.getLogger("pdpp.resource")


@dataclass(frozen=True, slots=True)
class Service:
    """What every endpoint shares."""

    store: Store
    gate: Gate
    runner: Runner
    signer: Signer
    buckets: Buckets
    settings: Settings
    clock: Clock
    recorder: Recorder
    new_request_id: Callable[[], str] = lambda: f"req_{secrets.token_hex(8)}"


class Endpoint:
    """Serves the routes of one path."""

    def __init__(self, service: Service, routes: Sequence[Route]) -> None:
        origin = service.settings.origin
        self._service = service
        self._routes = {route.method: route for route in routes}
        self._names = frozenset({origin, f"{origin}{BASE}"})
        self._inner_names = self._names | {f"{origin}/mcp"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whatever goes wrong becomes a typed error."""
        request_id = self._service.new_request_id()
        try:
            await self._serve(scope, receive, send, request_id)
        except PdppError as error:
            origin = public_origin(scope, self._service.settings)
            await send_error(send, error, request_id, self._service.settings, origin)
        except ClientGone:
            return
        except Exception as problem:  # noqa: BLE001 - whatever it is becomes an answer
            failure = explained(problem, self._service.store, log, f"request {request_id}")
            await send_error(send, failure, request_id, self._service.settings)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        if b"%2f" in (scope.get("raw_path") or b"").lower():
            raise _nothing_here()
        route = self._routes.get(scope["method"])
        if route is None:
            raise _wrong_method(self._routes)
        headers = headers_of(scope)
        _check_version(headers)
        service = self._service
        principal = service.gate.admit(
            headers.get("authorization"),
            headers.get("pdpp-grant"),
            # The adapter's own reads may be by a token that was issued for the adapter.
            resources=self._inner_names if scope.get(INNER) else self._names,
        )
        service.buckets.take(principal.token.hash)
        if route.owner_only and not principal.is_owner:
            raise InsufficientScope("Only the owner may do this; a grant reads.")
        query = parse_parameters(scope["query_string"], route.parameters)
        call = Call(
            store=service.store,
            principal=principal,
            query=query,
            path=scope["path_params"],
            url=_url(scope),
            now=service.clock(),
            signer=service.signer,
            settings=service.settings,
            headers=headers,
        )
        await self._run(route, call, receive, send, request_id)

    async def _run(
        self, route: Route, call: Call, receive: Receive, send: Send, request_id: str
    ) -> None:
        service = self._service
        if route.answer == "Blob":
            with tempfile.SpooledTemporaryFile(_SPOOL_BYTES) as spool:
                await _spool(receive, call.headers, service.settings.blob_bytes, spool)
                spool.seek(0)
                stored = replace(call, body=spool)
                answer = await service.runner.write(lambda: route.operation(stored))
        elif route.takes_body is not None:
            body = await _read_body(receive, call.headers, service.settings.body_bytes)
            filled = replace(call, body=body)
            answer = await service.runner.write(lambda: route.operation(filled))
        elif route.writes:
            answer = await service.runner.write(lambda: route.operation(call))
        else:
            answer = await service.runner.read(_kind(route, call), lambda: _read(route, call))
            service.recorder.take(_reading(route, call))
        if isinstance(answer, Piece):
            head = route.method == "HEAD"
            await _send_piece(receive, send, answer, request_id, head=head)
        elif answer is None:
            await send_answer(send, HTTPStatus.NO_CONTENT, b"", request_id)
        else:
            body = answer if isinstance(answer, bytes) else orjson.dumps(answer)
            status = HTTPStatus.CREATED if route.answer == "Blob" else HTTPStatus.OK
            await send_answer(send, status, body, request_id, call.told)


class NoSuchRoute:
    """Answers every path that is none of ours."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer 404 in the one form of errors."""
        request_id = self._service.new_request_id()
        await send_error(send, _nothing_here(), request_id, self._service.settings)


class Document:
    """Serves one fixed body to anyone."""

    def __init__(
        self, service: Service, body: bytes, status: int, headers: Mapping[str, str]
    ) -> None:
        self._service = service
        self._body = body
        self._status = status
        self._headers = headers

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the body."""
        request_id = self._service.new_request_id()
        if scope["method"] in ("GET", "HEAD"):
            await send_answer(send, self._status, self._body, request_id, self._headers)
        else:
            refusal = _wrong_method(("GET", "HEAD"))
            await send_error(send, refusal, request_id, self._service.settings)


class ClientGone(Exception):
    """The client went away before its request was complete."""


def _kind(route: Route, call: Call) -> str:
    """Return what reads are alike in how long they take: those of one caller on one route.

    Where they are of one connection they are apart: that is far less than all of them.
    """
    return f"{route.name} {call.principal.binding} {call.query.text('connection_id')}"


def _read(route: Route, call: Call) -> Any:
    """Read and turn the answer into bytes while the snapshot it was read under is still held."""
    call.shown.clear()  # what a first try put aside that ran out of time
    answer = route.operation(call)
    return answer if isinstance(answer, Piece) else orjson.dumps(answer)


def _reading(route: Route, call: Call) -> Reading:
    """Return a read as its receipt is made from."""
    return Reading(call.now, call.principal, route.name, call.path.get("stream"), call.shown)


def _nothing_here() -> NotFound:
    return NotFound("There is nothing at this path; GET /v1/openapi.json lists the routes.")


def _wrong_method(methods: Iterable[str]) -> MethodNotAllowed:
    allowed = ", ".join(sorted(methods))
    return MethodNotAllowed(f"This path takes: {allowed}.", headers={"Allow": allowed})


def _check_version(headers: Mapping[str, str]) -> None:
    wanted = headers.get("pdpp-version")
    if wanted is not None and wanted != VERSION:
        raise UnsupportedVersion(
            f"This server speaks PDPP-Version {VERSION}.", param="PDPP-Version", supported=[VERSION]
        )


def _url(scope: Scope) -> str:
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return (path + (b"?" + query if query else b"")).decode("latin-1")


async def _chunks(receive: Receive, headers: Mapping[str, str], limit: int) -> Any:
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Unprocessable("Send the body as it is, not compressed.", param="Content-Encoding")
    declared = headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > limit:
        raise PayloadTooLarge(f"A body has at most {limit} bytes; send it in parts.")
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise PayloadTooLarge(f"A body has at most {limit} bytes; send it in parts.")
        yield chunk
        if not message.get("more_body", False):
            return


async def _read_body(receive: Receive, headers: Mapping[str, str], limit: int) -> bytes:
    return b"".join([chunk async for chunk in _chunks(receive, headers, limit)])


async def _spool(
    receive: Receive, headers: Mapping[str, str], limit: int, target: BinaryIO | Any
) -> None:
    async for chunk in _chunks(receive, headers, limit):
        target.write(chunk)


async def send_answer(
    send: Send,
    status: int,
    body: bytes,
    request_id: str,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Send one complete answer."""
    head = {b"cache-control": b"private, no-store"}
    if body:
        length = b"%d" % len(body)
        head = {b"content-type": b"application/json", b"content-length": length, **head}
    if headers is not None:
        head |= _encoded(headers)
    await _start(send, status, head, request_id)
    await send({"type": "http.response.body", "body": body})


def _encoded(headers: Mapping[str, str]) -> dict[bytes, bytes]:
    return {k.lower().encode("latin-1"): v.encode("latin-1") for k, v in headers.items()}


async def _start(send: Send, status: int, head: Mapping[bytes, bytes], request_id: str) -> None:
    headers = [(b"request-id", request_id.encode("latin-1")), *_ALWAYS, *head.items()]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})


async def send_error(
    send: Send, error: PdppError, request_id: str, settings: Settings, origin: str | None = None
) -> None:
    """Send an error in the one form of errors."""
    headers = dict(error.headers)
    if isinstance(error, AuthenticationError):
        metadata = f"{origin or settings.origin}/.well-known/oauth-protected-resource"
        error.detail["resource_metadata"] = metadata
        headers["WWW-Authenticate"] = f'Bearer resource_metadata="{metadata}", scope="{READ_SCOPE}"'
    body = orjson.dumps(error.body(request_id))
    await send_answer(send, error.status, body, request_id, headers)


async def _send_piece(
    receive: Receive, send: Send, piece: Piece, request_id: str, *, head: bool
) -> None:
    """Send the bytes of a blob piece by piece, for as long as somebody takes them."""
    status = HTTPStatus.PARTIAL_CONTENT if piece.partial else HTTPStatus.OK
    await _start(send, status, _encoded(piece.headers()), request_id)
    if head or not await _send_bytes(receive, send, piece):
        await send({"type": "http.response.body", "body": b""})


async def _send_bytes(receive: Receive, send: Send, piece: Piece) -> bool:
    """Send the bytes of a blob; tell whether the last of them ended the answer."""
    left = piece.end - piece.start
    # What is sent to a client that has gone is dropped at once, and nothing would slow the reading
    # of a large file.
    gone = asyncio.ensure_future(_until_gone(receive))
    try:
        with piece.blob.path.open("rb") as source:
            source.seek(piece.start)
            while left and not gone.done():
                chunk = source.read(min(CHUNK, left))
                if not chunk:
                    return False
                left -= len(chunk)
                await send({"type": "http.response.body", "body": chunk, "more_body": left > 0})
                await asyncio.sleep(0)
        return piece.start < piece.end
    finally:
        gone.cancel()


async def _until_gone(receive: Receive) -> None:
    """Wait until a client has gone, which is the second thing heard of a request without a body."""
    for _ in range(2):
        if (await receive())["type"] == "http.disconnect":
            return
    await asyncio.Event().wait()
