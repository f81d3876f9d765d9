"""The resource-server client: reads under one bearer, and keeps the server's errors whole."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from pdpp.evidence.budget import json_length
from pdpp.evidence.fence import shows_all
from pdpp.evidence.lean import HEADER, VALUE
from pdpp.mcp.reading.transport import HttpReply, Transport, Unreachable
from pdpp.model.decimals import read_json
from pdpp.model.errors import PdppError
from pdpp.wire.answer import (
    GRANT_HEADER,
    Params,
    ServerError,
    ServerUnreachable,
    body_of,
    error_of,
    is_about_token,
    no_answer,
    target,
)
from pdpp.wire.members import Json

__all__ = [
    "Params",
    "ResourceClient",
    "ServerAnswer",
    "ServerError",
    "ServerUnreachable",
    "target",
]

PAGE_HEADER = "pdpp-record-page"
ROOM_HEADER = "PDPP-Room"
CURSORS_HEADER = "pdpp-cursors"
"""Tells the cursors after the last hits to who said how much room there is: for cutting there."""


_LONG_BYTES = 1 << 18
"""Answers up to this length are read at once; longer ones in a thread, so that nobody waits."""


T = TypeVar("T")


class InThread(Protocol):
    """Runs what takes long beside the loop."""

    def __call__(self, operation: Callable[[], T], /) -> Awaitable[T]: ...


class JsonCodec(NamedTuple):
    """How JSON is read, and how it is told how long a value is as JSON."""

    decode: Callable[[bytes], object] = read_json
    length: Callable[[object], int] = json_length
    in_thread: InThread | None = None
    """How a long answer is read or drawn where others wait in the same loop; not in the adapter."""

    async def run(self, operation: Callable[[], T], *, long: bool) -> T:
        """Run what reads or draws an answer, a long one where nobody waits for it."""
        return await self.in_thread(operation) if long and self.in_thread else operation()


class ServerAnswer(NamedTuple):
    """A JSON answer, with what its headers say; only what reads answers may look into it."""

    body: Json
    request_id: str | None
    record_page: str | None
    cursors: Sequence[str] = ()
    shows_all: bool = False
    """Whether every character of it is known to be one that can be seen."""
    own: bool = False
    """Whether it was made in this process and is not lean yet, although that was asked for."""
    size: int = 0
    """How many bytes came."""


class ResourceClient:
    """Reads ``/v1`` and nothing else, with the one bearer it was given."""

    def __init__(
        self,
        transport: Transport,
        bearer: str,
        grant_id: str | None = None,
        codec: JsonCodec = JsonCodec(),  # noqa: B008 - it cannot change
    ) -> None:
        self.codec = codec
        self.connect_command = ""
        """What the user runs when the grant has ended; empty where a host does that itself."""
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

    async def get(
        self,
        path: Sequence[str],
        params: Params,
        room: int | None = None,
        *,
        lean: bool = False,
    ) -> ServerAnswer:
        """Return the JSON answer to a read, or raise the error the server told.

        ``room`` is about how many characters of hits are of use, ``lean`` asks for an envelope that
        says nothing twice; a server may take both as hints.
        """
        headers = dict(self._headers)
        if room is not None:
            headers[ROOM_HEADER] = str(room)
        if lean:
            headers[HEADER] = VALUE
        reply = await self._send("GET", target(path, params), headers)
        cursors = reply.headers.get(CURSORS_HEADER)
        page = reply.headers.get(PAGE_HEADER)
        request_id = reply.headers.get("request-id")
        following = cursors.split(",") if cursors else ()
        if reply.values is not None:
            return ServerAnswer(reply.values, request_id, page, following, own=True)
        try:
            read = partial(body_of, reply, self.origin, self.codec.decode)
            body = await self.codec.run(read, long=len(reply.body) > _LONG_BYTES)
        except ServerError as error:
            raise self._with_command(error) from None
        # Answers of megabytes would hold up the loop here.
        seen = len(reply.body) <= _LONG_BYTES and shows_all(reply.body)
        return ServerAnswer(body, request_id, page, following, seen, size=len(reply.body))

    async def bytes(self, path: Sequence[str], first: int) -> HttpReply:
        """Return the first bytes of a blob."""
        headers = {**self._headers, "Accept": "*/*", "Range": f"bytes=0-{first - 1}"}
        reply = await self._send("GET", target(path, {}), headers)
        if reply.status >= 400 and reply.status != 416:
            raise self._with_command(error_of(reply, self.origin, self.codec.decode))
        return reply

    def _with_command(self, error: PdppError) -> PdppError:
        """Return an error; one that says that the grant has ended with the command that mends it.

        The server's code and words stay: whether it was revoked or expired matters to the user.
        """
        if self.connect_command and is_about_token(error):
            said = error.message.rstrip()
            stop = "" if said.endswith((".", "!", "?")) else "."
            error.message = f"{said}{stop} To connect again, run: {self.connect_command}"
            error.detail["command"] = self.connect_command
        return error

    async def _send(self, method: str, to: str, headers: Mapping[str, str]) -> HttpReply:
        try:
            return await self._transport.send(method, to, headers)
        except Unreachable as problem:
            raise no_answer(problem) from None
