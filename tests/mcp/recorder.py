"""The recorder: what reaches ``/v1``, whether over the network or in process."""

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

from starlette.types import ASGIApp

from pdpp.mcp.reading.transport import HttpReply, InProcessTransport


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as the resource server got it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    bearer: str
    grant_id: str | None

    def values(self, name: str) -> list[str]:
        """Return what was given for a parameter."""
        return [value for key, value in self.query if key == name]


class Recorder:
    """Keeps every request that reaches ``/v1``."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []

    def note(self, method: str, target: str, headers: Mapping[str, str]) -> None:
        """Keep one request."""
        path, _, query = target.partition("?")
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        pairs = tuple(parse_qsl(query, keep_blank_values=True))
        sent = Sent(method, unquote(path), pairs, bearer, headers.get("pdpp-grant"))
        self.sent.append(sent)

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return an application that notes what comes over the network."""

        async def noting(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
            if scope["type"] == "http" and scope["path"].startswith("/v1"):
                headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
                query = scope["query_string"].decode("latin-1")
                self.note(scope["method"], f"{scope['raw_path'].decode()}?{query}", headers)
            await app(scope, receive, send)

        return noting

    @contextmanager
    def in_process(self) -> Iterator[None]:
        """Note what the hosted endpoint reads in the block; blocks may end in any order."""
        _LISTENING.append(self)
        setattr(InProcessTransport, "send", _noted)  # noqa: B010 - it takes itself first
        try:
            yield
        finally:
            _LISTENING.remove(self)
            if not _LISTENING:
                setattr(InProcessTransport, "send", _PLAIN)  # noqa: B010

    @contextmanager
    def listening(self) -> Iterator[list[Sent]]:
        """Yield the requests of the block alone."""
        heard: list[Sent] = []
        start = len(self.sent)
        try:
            yield heard
        finally:
            heard += self.sent[start:]


_LISTENING: list[Recorder] = []
_PLAIN = InProcessTransport.send


async def _noted(
    transport: InProcessTransport, method: str, target: str, headers: Mapping[str, str]
) -> HttpReply:
    for recorder in _LISTENING:
        recorder.note(method, target, {k.lower(): v for k, v in headers.items()})
    return await _PLAIN(transport, method, target, headers)


def reads(sent: list[Sent]) -> list[Sent]:
    """Return the requests that read records, without those that ask what declarations say."""
    return [one for one in sent if one.path != "/v1/schema"]
