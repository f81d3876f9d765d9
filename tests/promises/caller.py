"""Calls an application in this process, one request after another, without a network."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

import httpx
from starlette.applications import Starlette

MOST_PAGES = 60

Params = Sequence[tuple[str, str]]
Headers = tuple[tuple[bytes, bytes], ...]


class Reply(NamedTuple):
    """An answer as it went over the wire: no header read, none put together."""

    status: int
    headers: Headers
    body: bytes


class Caller:
    """A client of one application under one token."""

    def __init__(self, runner: asyncio.Runner, app: Starlette, token: str) -> None:
        self.token = token
        self.app = app
        self._runner = runner

    @cached_property
    def _client(self) -> httpx.AsyncClient:
        """Return what ``send`` sends with; most callers only exchange."""
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(app=self.app),
            base_url="http://pdpp.test",
            headers={"Authorization": f"Bearer {self.token}"},
        )

    def under(self, token: str) -> "Caller":
        """Return a client of the same application under another token."""
        return Caller(self._runner, self.app, token)

    def send(
        self,
        path: str,
        params: Mapping[str, Any] | None = None,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> httpx.Response:
        """Send one request and return the answer, whatever it is."""
        return self._runner.run(
            self._client.request(method, path, params=params, headers=headers, content=content)
        )

    def exchange(
        self,
        method: str,
        path: str,
        params: Params = (),
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Reply:
        """Send one request as a server would hand it on, where a test needs many quick ones."""
        sent = {"host": "127.0.0.1", "authorization": f"Bearer {self.token}"}
        sent |= {name.lower(): value for name, value in (headers or {}).items()}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": urlencode(params).encode(),
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        return self._runner.get_loop().run_until_complete(_exchange(self.app, scope, body))

    def get(self, path: str, **params: Any) -> dict[str, Any]:
        """Return the body of an answer that must be good."""
        answer = self.send(path, params)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def pages(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Yield the pages of a list, from the first to the last."""
        for _ in range(MOST_PAGES):
            page = self.get(path, **params)
            yield page
            if not page["has_more"]:
                return
            params["cursor"] = page["next_cursor"]
        raise AssertionError(f"{path} has no end")

    def rows(self, path: str, **params: Any) -> list[dict[str, Any]]:
        """Return the rows of every page of a list."""
        return [row for page in self.pages(path, **params) for row in page["data"]]

    def changes(self, path: str, since: str, **params: Any) -> tuple[list[dict[str, Any]], str]:
        """Return everything that changed since a bookmark, and the next bookmark."""
        found = list(self.pages(path, changes_since=since, **params))
        return [row for page in found for row in page["data"]], found[-1]["next_changes_since"]


async def _exchange(app: Starlette, scope: dict[str, Any], body: bytes) -> Reply:
    received = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        if not received:
            await asyncio.Event().wait()
        return received.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start, *pieces = sent
    content = b"".join(piece.get("body", b"") for piece in pieces)
    return Reply(start["status"], tuple(sorted(map(tuple, start["headers"]))), content)


@contextmanager
def calling(app: Starlette, token: str) -> Iterator[Caller]:
    """Start an application and call it until the block ends."""
    with asyncio.Runner() as runner:
        lifespan = app.router.lifespan_context(app)
        runner.run(lifespan.__aenter__())
        try:
            yield Caller(runner, app, token)
        finally:
            runner.run(lifespan.__aexit__(None, None, None))
