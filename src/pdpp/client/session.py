"""Sessions: reads under one bearer, renewed where it has ended, repeated where the server asks."""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from pdpp.client.problem import typed
from pdpp.client.request import ReadRequest
from pdpp.wire.answer import (
    GRANT_HEADER,
    ServerError,
    UnexpectedAnswer,
    body_of,
    error_of,
    no_answer,
    target,
)
from pdpp.wire.bearer import Bearer, Sent
from pdpp.wire.http import Download, HttpReply, HttpSender, Unreachable
from pdpp.wire.members import Json

MAX_WAIT_SECONDS = 60.0
"""How long in all a read waits because the server asked it to."""

_BUSY = (429, 503)
T = TypeVar("T")


class RawAnswer(NamedTuple):
    """A JSON answer, as it was read and as it was sent, and the address that gave it."""

    body: Json
    text: bytes
    request_id: str | None
    source: str

    def parsed(self, parse: Callable[[Json], T]) -> T:
        """Return the answer as a typed value, or tell that it is none."""
        try:
            return parse(self.body)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UnexpectedAnswer(
                f"{self.source} answered with JSON that is not of this protocol. Nothing was read."
            ) from None


class ClientSession:
    """Reads ``/v1`` and nothing else; safe from any thread."""

    def __init__(
        self,
        http: HttpSender,
        origin: str,
        bearer: Bearer,
        *,
        grant_id: str | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.origin = origin.rstrip("/")
        self.record_page: str | None = None
        """Where the server shows a record to people, as its answers say."""
        self._http = http
        self._bearer = bearer
        self._grant = {} if grant_id is None else {GRANT_HEADER: grant_id}
        self._pause = pause

    def ask(self, request: ReadRequest) -> RawAnswer:
        """Return the JSON answer to a read, or raise the error the server told."""
        where = target(request.path, request.params)
        reply = self._send(
            lambda headers: self._http.request("GET", self.origin + where, headers),
            {"Accept": "application/json"},
        )
        try:
            body = body_of(reply, self.origin)
        except ServerError as error:
            raise typed(error) from None
        self.record_page = reply.headers.get("pdpp-record-page") or self.record_page
        source = self.origin + target(request.path, {})
        return RawAnswer(body, reply.body, reply.headers.get("request-id"), source)

    def read(self, request: ReadRequest, parse: Callable[[Json], T]) -> T:
        """Return the answer to a read as a typed value."""
        return self.ask(request).parsed(parse)

    def download(self, path: tuple[str, ...], offset: int = 0) -> Download:
        """Return bytes to be read piece by piece, from an offset on where the server can."""
        accepted = {"Accept": "*/*"} | ({"Range": f"bytes={offset}-"} if offset else {})
        download = self._send(
            lambda headers: self._http.download(self.origin + target(path, {}), headers), accepted
        )
        if download.status < 400:
            return download
        error = error_of(self._rest(download), self.origin)
        raise typed(error) if isinstance(error, ServerError) else error

    def _rest(self, download: Download) -> HttpReply:
        try:
            return download.rest()
        except Unreachable as problem:
            raise no_answer(problem) from None
        finally:
            download.close()

    def _send(self, request: Callable[[Mapping[str, str]], Sent], headers: dict[str, str]) -> Sent:
        """Send a read, and again after the time that a busy server asks to wait."""
        left = MAX_WAIT_SECONDS
        while True:
            reply = self._bearer.send(lambda token: self._once(request, headers, token))
            wait = _asked_wait(reply)
            if wait is None or wait > left:
                return reply
            reply.close()
            left -= wait
            self._pause(wait)

    def _once(
        self, request: Callable[[Mapping[str, str]], Sent], headers: dict[str, str], token: str
    ) -> Sent:
        try:
            return request({**headers, **self._grant, "Authorization": f"Bearer {token}"})
        except Unreachable as problem:
            raise no_answer(problem) from None

    def close(self) -> None:
        """Close all connections."""
        self._http.close()


def _asked_wait(reply: HttpReply | Download) -> float | None:
    """Return how long a busy server asks to wait."""
    retry_after = reply.headers.get("retry-after", "")
    if reply.status not in _BUSY or not retry_after.isdecimal():
        return None
    return max(0.05, float(retry_after))
