"""Calls an application in this process, one request after another, without a network."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
from starlette.applications import Starlette

MOST_PAGES = 60


class Caller:
    """A client of one application under one token."""

    def __init__(self, runner: asyncio.Runner, app: Starlette, token: str) -> None:
        self._runner = runner
        self._app = app
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app),
            base_url="http://pdpp.test",
            headers={"Authorization": f"Bearer {token}"},
        )

    def under(self, token: str) -> "Caller":
        """Return a client of the same application under another token."""
        return Caller(self._runner, self._app, token)

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
