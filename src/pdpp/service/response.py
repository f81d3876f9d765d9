"""Responses: complete answers and errors of ``/v1`` and of the routes beside it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from starlette.types import Send

from pdpp.evidence.lean import UNWRITTEN
from pdpp.model.errors import AuthenticationError, PdppError
from pdpp.service.challenge import add_challenge
from pdpp.service.service import RECORD_PAGE, VERSION

_ALWAYS = ((b"pdpp-version", VERSION.encode()), (b"pdpp-record-page", RECORD_PAGE.encode()))
"""Headers of every answer."""

_JSON = (b"content-type", b"application/json")
_PRIVATE = (b"cache-control", b"private, no-store")

_OK = HTTPStatus.OK
"""Named here: to find a member in the enumeration takes most of a microsecond."""


async def send_answer(
    send: Send,
    status: int,
    body: bytes,
    request_id: str,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Send one complete answer."""
    own = [_PRIVATE]
    if body:
        own = [_JSON, (b"content-length", b"%d" % len(body)), _PRIVATE]
    if headers:
        own = list((dict(own) | encoded_headers(headers)).items())
    # As ``send_head`` does it; every read comes by here.
    head = [(b"request-id", request_id.encode("latin-1")), *_ALWAYS, *own]
    await send({"type": "http.response.start", "status": int(status), "headers": head})
    await send({"type": "http.response.body", "body": body})


async def send_values(
    send: Send, values: Mapping[str, Any], request_id: str, headers: Mapping[str, str]
) -> None:
    """Send an answer that is not written at all, to a caller in this process."""
    await send_head(send, _OK, encoded_headers(headers), request_id)
    await send({"type": "http.response.body", "body": b"", UNWRITTEN: values})


def encoded_headers(headers: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return headers as a server sends them."""
    return {k.lower().encode("latin-1"): v.encode("latin-1") for k, v in headers.items()}


async def send_head(send: Send, status: int, head: Mapping[bytes, bytes], request_id: str) -> None:
    """Send the status and the headers of an answer whose body follows."""
    # The observer looks for the id in the first place and gives an answer one that has none.
    headers = [(b"request-id", request_id.encode("latin-1")), *_ALWAYS, *head.items()]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})


async def send_error(send: Send, error: PdppError, request_id: str, origin: str) -> None:
    """Send an error in the one form of errors; ``origin`` is where the caller is."""
    if isinstance(error, AuthenticationError):
        add_challenge(error, origin)
    body = orjson.dumps(error.body(request_id))
    await send_answer(send, error.status, body, request_id, error.headers)
