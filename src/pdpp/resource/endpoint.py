"""Endpoints: HTTP requests come in, operations run, answers and errors go out."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from io import BytesIO
from typing import Any, BinaryIO

import orjson
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from pdpp.disconnect import ClientGone, unless_gone, until_gone
from pdpp.model.errors import (
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    PdppError,
    Unprocessable,
    UnsupportedVersion,
)
from pdpp.resource.blob import BlobRange
from pdpp.resource.call import Call, Unwritten
from pdpp.resource.lag import lag_headers, tolerated_lag
from pdpp.resource.operate import make_call, run_call, run_now
from pdpp.resource.routes import BASE, Route
from pdpp.service.body import body_chunks
from pdpp.service.failure import explained
from pdpp.service.headers import headers_of
from pdpp.service.origin import public_origin
from pdpp.service.response import (
    encoded_headers,
    send_answer,
    send_error,
    send_head,
    send_values,
)
from pdpp.service.runner import LATER
from pdpp.service.service import INNER, VERSION, Service
from pdpp.store.blobs import CHUNK
from pdpp.store.state import StateChanged

_SPOOL_BYTES = 1 << 20
_OK, _CREATED = HTTPStatus.OK, HTTPStatus.CREATED
"""Named here: to find a member in the enumeration takes most of a microsecond."""

log = logging.getLogger("pdpp.resource")


class ResourceEndpoint:
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
            await send_error(send, error, request_id, origin)
        except (ClientDisconnect, ClientGone):
            return
        except Exception as problem:  # noqa: BLE001 - whatever it is becomes an answer
            failure = explained(problem, self._service.store, log, f"request {request_id}")
            await send_error(send, failure, request_id, self._service.settings.origin)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        # The router sees the decoded path: an encoded slash in an id would reach another route than
        # a proxy in front believes.
        if b"%2f" in (scope.get("raw_path") or b"").lower():
            raise _nothing_here()
        route = self._routes.get(scope["method"])
        if route is None:
            raise _wrong_method(self._routes)
        headers = headers_of(scope)
        _check_version(headers)
        authorization = headers.get("authorization")
        if self._service.gate.takes_long(authorization):
            await self._service.get_ready(authorization)
        if route.writes or route.takes_body is not None:
            await self._run(route, self._call(route, scope, headers), receive, send, request_id)
            return
        try:
            call = self._assuming_call(route, scope, headers)
            await self._run(route, call, receive, send, request_id)
        except StateChanged:
            # Nothing was sent yet, and the request has been counted.
            call = self._call(route, scope, headers, is_counted=True)
            await self._run(route, call, receive, send, request_id)

    def _assuming_call(self, route: Route, scope: Scope, headers: Mapping[str, str]) -> Call:
        """Return the call of a read that finds out by itself whether its caller was changed.

        The question whether anything was written goes with the first statement of the read, in the
        same snapshot, instead of before it: a revocation is noticed as exactly, and it is one way
        less to a database. What is refused before the read is only believed after asking.
        """
        gate = self._service.gate
        try:
            call = self._call(route, scope, headers, assuming=True)
            call.assumed = gate.state
            return call
        except PdppError:
            if not gate.is_over(gate.state):
                raise
        return self._call(route, scope, headers)

    def _call(
        self,
        route: Route,
        scope: Scope,
        headers: Mapping[str, str],
        *,
        assuming: bool = False,
        is_counted: bool = False,
    ) -> Call:
        """Return the call of a request, whose bearer is admitted."""
        service, inner = self._service, INNER in scope
        principal = service.gate.admit(
            headers.get("authorization"),
            headers.get("pdpp-grant"),
            # The adapter's own reads may be by a token that was issued for the adapter.
            resources=self._inner_names if inner else self._names,
            assuming=assuming,
        )
        asked_lag = headers.get("pdpp-max-lag")
        # The gate has just asked the primary, so that it is known what a replica must have.
        lag = tolerated_lag(asked_lag, service.settings)
        call = make_call(
            service,
            principal,
            route,
            scope["path_params"],
            scope["query_string"],
            url=_url(scope),
            headers=headers,
            lag=lag,
            is_counted=is_counted,
        )
        call.takes_values = inner
        if asked_lag is not None:
            call.answer_headers.update(lag_headers(lag))
        return call

    async def _run(
        self, route: Route, call: Call, receive: Receive, send: Send, request_id: str
    ) -> None:
        service = self._service
        if route.answer == "Blob":
            with service.store.files.spool(_SPOOL_BYTES) as spool:
                await _spool(receive, call.headers, service.settings.blob_bytes, spool)
                answer = await run_call(service, route, replace(call, body=spool))
        elif route.takes_body is not None:
            body = await _read_body(receive, call.headers, service.settings.body_bytes)
            answer = await run_call(service, route, replace(call, body=body))
        elif route.writes:
            # A write goes on to its end.
            answer = await run_call(service, route, call)
        else:
            answer = run_now(service, route, call)
            if answer is LATER:
                # Who asks from inside is cancelled itself.
                reading = run_call(service, route, call)
                answer = await (reading if call.takes_values else unless_gone(reading, receive))
        if type(answer) is bytes:
            await send_answer(send, _OK, answer, request_id, call.answer_headers)
        elif isinstance(answer, BlobRange):
            head = route.method == "HEAD"
            await _send_blob(receive, send, answer, request_id, head=head)
        elif isinstance(answer, Unwritten):
            await send_values(send, answer.body, request_id, call.answer_headers)
        elif answer is None:
            await send_answer(send, HTTPStatus.NO_CONTENT, b"", request_id)
        else:
            status = _CREATED if route.answer == "Blob" else _OK
            body = orjson.dumps(answer)
            await send_answer(send, status, body, request_id, call.answer_headers)


class NoSuchRoute:
    """Answers every path that is none of ours."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer 404 in the one form of errors."""
        request_id = self._service.new_request_id()
        await send_error(send, _nothing_here(), request_id, self._service.settings.origin)


class FixedDocument:
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
            await send_error(send, refusal, request_id, self._service.settings.origin)


def _nothing_here() -> NotFound:
    return NotFound("There is nothing at this path; GET /v1/openapi.json lists the routes.")


def _wrong_method(methods: Iterable[str]) -> MethodNotAllowed:
    allowed = ", ".join(sorted(methods))
    return MethodNotAllowed(f"This path accepts only: {allowed}.", headers={"Allow": allowed})


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


async def _chunks(receive: Receive, headers: Mapping[str, str], limit: int) -> AsyncIterator[bytes]:
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Unprocessable("Send the body as it is, not compressed.", param="Content-Encoding")
    refusal = f"A body has at most {limit} bytes; send it in parts."
    declared = headers.get("content-length", "0")
    # Refused before a byte is read; a length that is a lie is caught as the body grows.
    if declared.isdecimal() and int(declared) > limit:
        raise PayloadTooLarge(refusal)
    async for chunk in body_chunks(receive, limit, refusal):
        yield chunk


async def _read_body(receive: Receive, headers: Mapping[str, str], limit: int) -> bytes:
    return b"".join([chunk async for chunk in _chunks(receive, headers, limit)])


async def _spool(
    receive: Receive, headers: Mapping[str, str], limit: int, target: BinaryIO | Any
) -> None:
    """Take a body into a file; once it is on the disk, writing is done in a thread."""
    size = 0
    async for chunk in _chunks(receive, headers, limit):
        size += len(chunk)
        if size > _SPOOL_BYTES:
            await asyncio.to_thread(target.write, chunk)
        else:
            target.write(chunk)
    target.seek(0)


async def _send_blob(
    receive: Receive, send: Send, span: BlobRange, request_id: str, *, head: bool
) -> None:
    """Send the bytes of a blob piece by piece, for as long as somebody takes them."""
    status = HTTPStatus.PARTIAL_CONTENT if span.partial else HTTPStatus.OK
    # Opened before the answer begins: a file that has just been removed is still refused whole.
    with BytesIO() if head else span.open() as source:
        await send_head(send, status, encoded_headers(span.headers()), request_id)
        if not await _send_bytes(receive, send, source, 0 if head else span.size):
            await send({"type": "http.response.body", "body": b""})


async def _send_bytes(receive: Receive, send: Send, source: BinaryIO, size: int) -> bool:
    """Send some bytes of a stream; tell whether the last of them ended the answer."""
    left = size
    # What is sent to a client that has gone is dropped at once, and nothing would slow the reading
    # of a large file.
    gone = asyncio.ensure_future(until_gone(receive))
    try:
        while left and not gone.done():
            chunk = await asyncio.to_thread(source.read, min(CHUNK, left))
            if not chunk:
                return False
            left -= len(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": left > 0})
            # A client on the same machine takes bytes as quickly as they are read, and ``send``
            # then never waits: others get their turn here.
            await asyncio.sleep(0)
        return size > 0
    finally:
        gone.cancel()
