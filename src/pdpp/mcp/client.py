"""The resource-server client: reads under one bearer, and keeps the server's errors whole."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pdpp.evidence.budget import json_length
from pdpp.evidence.handle import path_part
from pdpp.mcp.transport import Reply, Transport, Unreachable
from pdpp.model.errors import PdppError

Params = Mapping[str, Any]
GRANT_HEADER = "PDPP-Grant"
PAGE_HEADER = "pdpp-record-page"
ROOM_HEADER = "PDPP-Room"
CURSORS_HEADER = "pdpp-cursors"
"""Tells the cursor after each hit to who said how much room there is: where the page may be cut."""


class Codec(NamedTuple):
    """How JSON is read, and how it is told how long a value is as JSON."""

    decode: Callable[[bytes], Any] = json.loads
    length: Callable[[object], int] = json_length


class ServerError(PdppError):
    """An error the resource server answered with, as it stood."""

    def __init__(self, status: int, error: Mapping[str, Any], request_id: str | None) -> None:
        told = {k: v for k, v in error.items() if k not in ("type", "code", "message", "param")}
        param = error.get("param")
        super().__init__(
            str(error.get("message") or f"The server answered {status} and said no more."),
            param=param if isinstance(param, str) else None,
        )
        self.status = status
        self.type = str(error.get("type") or "api_error")
        self.code = str(error.get("code") or "api_error")
        if request_id is not None:
            told["request_id"] = request_id
        self.detail = told


class ServerUnreachable(PdppError):
    """No answer, or one that is not of this protocol."""

    type = "api_connection_error"
    code = "server_unreachable"
    status = 502


class Answer(NamedTuple):
    """A JSON answer, with what its headers say."""

    body: dict[str, Any]
    request_id: str | None
    record_page: str | None
    cursors: Sequence[str] = ()


class ResourceClient:
    """Reads ``/v1`` and nothing else, with the one bearer it was given."""

    def __init__(
        self,
        transport: Transport,
        bearer: str,
        grant_id: str | None = None,
        codec: Codec = Codec(),  # noqa: B008 - it cannot change
    ) -> None:
        self.codec = codec
        self._transport = transport
        self._headers = {
            "Authorization": f"Bearer {bearer}",
            "Accept": "application/json",
        }
        if grant_id is not None:
            self._headers[GRANT_HEADER] = grant_id

    @property
    def origin(self) -> str:
        """Return the public origin of the server."""
        return self._transport.origin

    async def get(self, path: Sequence[str], params: Params, room: int | None = None) -> Answer:
        """Return the JSON answer to a read, or raise the error the server told.

        ``room`` is about how many characters of hits are of use; a server may take it as a hint.
        """
        headers = self._headers if room is None else {**self._headers, ROOM_HEADER: str(room)}
        reply = await self._send("GET", target(path, params), headers)
        request_id = reply.headers.get("request-id")
        body = self._object(reply)
        if reply.status >= 400:
            raise _error(reply, body, request_id, self.origin)
        if body is None:
            raise _strange(reply, self.origin)
        cursors = reply.headers.get(CURSORS_HEADER)
        told = cursors.split(",") if cursors else ()
        return Answer(body, request_id, reply.headers.get(PAGE_HEADER), told)

    async def bytes(self, path: Sequence[str], first: int) -> Reply:
        """Return the first bytes of a blob."""
        headers = {**self._headers, "Accept": "*/*", "Range": f"bytes=0-{first - 1}"}
        reply = await self._send("GET", target(path, {}), headers)
        if reply.status >= 400 and reply.status != 416:
            raise _error(reply, self._object(reply), reply.headers.get("request-id"), self.origin)
        return reply

    def _object(self, reply: Reply) -> dict[str, Any] | None:
        try:
            body = self.codec.decode(reply.body)
        except (ValueError, RecursionError):
            return None
        return body if isinstance(body, dict) else None

    async def _send(self, method: str, to: str, headers: Mapping[str, str]) -> Reply:
        try:
            return await self._transport.send(method, to, headers)
        except Unreachable as problem:
            raise ServerUnreachable(f"{problem}. Nothing was read.") from None


def target(path: Sequence[str], params: Params) -> str:
    """Return the address of a read: filters and expand limits in brackets, lists repeated."""
    query = "&".join(f"{path_part(k)}={path_part(v)}" for k, v in _pairs(params))
    where = "/v1/" + "/".join(path_part(part) for part in path)
    return f"{where}?{query}" if query else where


def _pairs(params: Params) -> Iterator[tuple[str, str]]:
    for name, value in params.items():
        if name == "filter":
            for field, wanted in value.items():
                if isinstance(wanted, dict):
                    for operator, limit in wanted.items():
                        yield f"filter[{field}][{operator}]", _text(limit)
                else:
                    yield f"filter[{field}]", _text(wanted)
        elif name == "expand_limit":
            for relation, limit in value.items():
                yield f"expand_limit[{relation}]", str(limit)
        elif isinstance(value, list | tuple):
            for item in value:
                yield ("streams[]" if name == "streams" else name), item
        else:
            yield name, _text(value)


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool | float) else str(value)


def _error(
    reply: Reply, body: Mapping[str, Any] | None, request_id: str | None, origin: str
) -> PdppError:
    told = body.get("error") if body is not None else None
    if isinstance(told, str):
        told = {"code": told, "message": str((body or {}).get("error_description", told))}
    if not isinstance(told, dict):
        return _strange(reply, origin)
    return ServerError(reply.status, told, request_id)


def _strange(reply: Reply, origin: str) -> ServerUnreachable:
    kind = reply.headers.get("content-type") or "no content type"
    return ServerUnreachable(
        f"{origin} answered {reply.status} with {kind[:60]}, not with JSON of this protocol; "
        "a proxy or firewall may stand between. Nothing was read."
    )


def hits_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the hits of a search answer, in any of the places servers put them."""
    found: Any = body.get("data")
    if isinstance(found, Mapping):
        found = found.get("results", found.get("data"))
    if not isinstance(found, list):
        found = body.get("results")
    return [hit for hit in found if isinstance(hit, Mapping)] if isinstance(found, list) else []
