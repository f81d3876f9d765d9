"""The library for event loops gives what the other gives."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.client.test_blob import reference
from tests.serving import World

from pdpp import AsyncClient, Client
from pdpp.client import Page, Record, Window, request
from pdpp.credentials import Cache, Credential
from pdpp.model.errors import NotFound

INVOICE = "cin_home/messages:m-invoice-4471"


async def gathered(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]


def run(demo: World, token: str, ask: Callable[[AsyncClient], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        async with AsyncClient(demo.server.url, token) as client:
            return await ask(client)

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("ask", "same"),
    [
        (lambda c: c.schema("messages"), lambda c: c.schema("messages")),
        (lambda c: c.streams("messages"), lambda c: c.streams("messages")),
        (lambda c: c.record(INVOICE), lambda c: c.record(INVOICE)),
        (lambda c: c.window(INVOICE, "body"), lambda c: c.window(INVOICE, "body")),
        (lambda c: c.aggregate("messages"), lambda c: c.aggregate("messages")),
        (lambda c: c.records("albums").first(), lambda c: c.records("albums").first()),
        (
            lambda c: gathered(aiter(c.records("albums", limit=2))),
            lambda c: list(c.records("albums", limit=2)),
        ),
        (
            lambda c: gathered(c.search("invoice", limit=9).pages()),
            lambda c: list(c.search("invoice", limit=9).pages()),
        ),
        (
            lambda c: gathered(c.windows(INVOICE, "body", limit_chars=100)),
            lambda c: list(c.windows(INVOICE, "body", limit_chars=100)),
        ),
        (
            lambda c: c.ask(request.streams("albums", None)),
            lambda c: c.ask(request.streams("albums", None)),
        ),
    ],
)
def test_both_clients_give_the_same(
    demo: World, token: str, client: Client, ask: Any, same: Callable[[Client], Any]
) -> None:
    found, expected = run(demo, token, ask), same(client)
    if hasattr(found, "request_id"):
        found, expected = found.body, expected.body
    assert found == expected


def test_changes_keep_their_bookmark(demo: World, token: str) -> None:
    async def ask(client: AsyncClient) -> tuple[int, str | None]:
        changes = client.changes("albums", connection_id="cin_photos")
        return len(await gathered(aiter(changes))), changes.bookmark

    count, bookmark = run(demo, token, ask)
    assert count == 5
    assert bookmark


def test_a_blob_is_read_and_saved(demo: World, token: str, client: Client, folder: Path) -> None:
    blob_id = reference(client)

    async def ask(asked: AsyncClient) -> bytes:
        await asked.save_blob(blob_id, folder / "f")
        async with asked.blob(blob_id) as blob:
            content = b"".join(await gathered(aiter(blob)))
            assert blob.media_type.startswith("image/")
            assert blob.size_bytes == len(content)
        return content

    assert run(demo, token, ask) == (folder / "f").read_bytes()


def test_a_blob_that_was_not_opened_says_how(demo: World, token: str) -> None:
    with pytest.raises(RuntimeError, match="async with"):
        AsyncClient(demo.server.url, token).blob("b").media_type  # noqa: B018 - the test


def test_reads_run_side_by_side_and_errors_come_through(demo: World, token: str) -> None:
    async def ask(client: AsyncClient) -> list[Any]:
        reads = [client.record(INVOICE) for _ in range(20)]
        return [*await asyncio.gather(*reads)]

    assert len({record.version for record in run(demo, token, ask)}) == 1
    with pytest.raises(NotFound):
        run(demo, token, lambda client: client.record("cin_home/messages:none"))


def test_a_kept_grant_serves_the_event_loop_too(demo: World, token: str, tmp_path: Path) -> None:
    Cache(tmp_path / "clients").store(Credential(demo.server.url, token, "client"))
    client = AsyncClient.connected(demo.server.url, cache_root=str(tmp_path))
    assert repr(client) == f"AsyncClient({demo.server.url!r})"
    assert asyncio.run(client.record(INVOICE)).id == INVOICE
    client.close()


READS = sorted(name for name in vars(Client) if not name.startswith("_") and name != "connected")


@pytest.mark.parametrize("name", READS)
def test_every_method_takes_what_the_other_takes_and_says_what_it_does(name: str) -> None:
    theirs, ours = getattr(Client, name), getattr(AsyncClient, name)
    if not isinstance(theirs, property):
        assert inspect.signature(ours).parameters == inspect.signature(theirs).parameters
    assert ours.__doc__
    assert ours.__doc__ == theirs.__doc__ or name == "blob"


def test_what_a_method_takes_and_returns_is_known_before_it_runs(demo: World, token: str) -> None:
    async def ask(client: AsyncClient) -> None:
        page: Page[Record] = await client.records("messages", limit=1).first()
        window: Window = await client.window(INVOICE, "body", query="adhesive")
        assert (len(page.items), window.has_more) == (1, False)
        with pytest.raises(TypeError):
            await client.schema(whole=True)  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            await client.record()  # type: ignore[call-arg]

    run(demo, token, ask)
