"""The applications of owners: made when asked for, ended for others, never under a caller."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.engine import open_store
from tests.serving import UNLIMITED

from pdpp.model.errors import StoreError
from pdpp.serving.owners import OwnerApplications
from pdpp.store.port import Store

SETTINGS = replace(UNLIMITED, origin="https://data.example", public=True)
OpenOwner = Callable[[str], Store | None]


class Call:
    """One request to the host of an owner, whose body ends when a test lets it."""

    def __init__(self, app: OwnerApplications, name: str) -> None:
        self.sent: list[Any] = []
        self._ends = asyncio.Event()
        self._waited_for = asyncio.Event()
        self._task = asyncio.create_task(self._ask(app, name))

    async def _ask(self, app: OwnerApplications, name: str) -> None:
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/oauth/token",
            "raw_path": b"/oauth/token",
            "query_string": b"",
            "headers": [
                (b"host", f"{name}.data.example".encode()),
                (b"content-type", b"application/x-www-form-urlencoded"),
            ],
            "client": ("127.0.0.1", 1),
        }
        await app(scope, self._receive, self._send)

    async def _receive(self) -> Any:
        self._waited_for.set()
        await self._ends.wait()
        return {"type": "http.request", "body": b"grant_type=none", "more_body": False}

    async def _send(self, message: Any) -> None:
        self.sent.append(message)

    async def begun(self) -> "Call":
        """Wait until the owner's application has the request."""
        await asyncio.wait_for(self._waited_for.wait(), 20)
        return self

    async def answer(self) -> tuple[int, Any]:
        """End the body; return the status and the document of the answer."""
        self._ends.set()
        await asyncio.wait_for(self._task, 20)
        body = b"".join(message.get("body", b"") for message in self.sent[1:])
        return self.sent[0]["status"], orjson.loads(body)


@asynccontextmanager
async def serving(
    open_owner: OpenOwner, folder: Path, most: int
) -> AsyncIterator[OwnerApplications]:
    """Yield the applications of owners between the start and the end of a server."""
    app = OwnerApplications(open_owner, SETTINGS, folder, most)
    messages: asyncio.Queue[Any] = asyncio.Queue()

    async def ignore(_: Any) -> None:
        """Do nothing: the test waits for the end itself."""

    life = asyncio.create_task(app({"type": "lifespan"}, messages.get, ignore))
    await messages.put({"type": "lifespan.startup"})
    try:
        yield app
    finally:
        await messages.put({"type": "lifespan.shutdown"})
        await life


def opened_in(folder: Path) -> OpenOwner:
    def open_owner(name: str) -> Store:
        return open_store(folder / name)

    return open_owner


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not done():
            await asyncio.sleep(0)


def run(test: Awaitable[None]) -> None:
    asyncio.run(test)  # type: ignore[arg-type]


def test_an_application_that_is_asked_while_another_ends_for_want_of_room_goes_on(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        async with serving(opened_in(tmp_path), tmp_path, most=1) as app:
            both = [await Call(app, name).begun() for name in ("anna", "bert")]
            for call in both:
                assert (await call.answer())[0] == 400
            assert len(app.running()) == 2
            carl = Call(app, "carl")
            await until(lambda: len(app.running()) == 1)
            bert = await Call(app, "bert").begun()
            await carl.begun()
            assert len(app.running()) == 2
            for call in (bert, carl):
                status, document = await call.answer()
                assert (status, document["error"]) == (400, "unsupported_grant_type")

    run(test())


@pytest.mark.parametrize("problem", [StoreError("half of it is there"), ValueError("no answer")])
def test_an_owner_whose_store_cannot_be_opened_is_answered_in_the_form_of_errors(
    tmp_path: Path, problem: Exception
) -> None:
    def open_owner(_: str) -> Store:
        raise problem

    async def test() -> None:
        async with serving(open_owner, tmp_path, most=1) as app:
            call = Call(app, "anna")
            status, document = await call.answer()
            assert (status, document["error"]["code"]) == (503, "overloaded")
            assert (b"retry-after", b"10") in call.sent[0]["headers"]
            assert str(problem) not in document["error"]["message"]

    run(test())


def test_a_store_whose_application_does_not_start_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "anna")
    closed: list[bool] = []
    close = store.close

    def noted_close() -> None:
        closed.append(True)
        close()

    monkeypatch.setattr(store, "close", noted_close)
    # A file where the folder of the owner's uploads belongs.
    (tmp_path / "owners").write_text("")

    async def test() -> None:
        async with serving(lambda _: store, tmp_path, most=1) as app:
            assert (await Call(app, "anna").answer())[0] == 503

    run(test())
    assert closed == [True]
