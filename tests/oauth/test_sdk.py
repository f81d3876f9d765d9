"""The official Python SDK's own OAuth client connects to a live server, both ways to register."""

import asyncio
import importlib
import importlib.util
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.oauth.browser import decide
from tests.oauth.dance import Dance, dancing, query
from tests.oauth.publisher import publishing

from pdpp.authz.token import hash_token

SECONDS = 60
REDIRECT = "http://localhost:33418/callback"


def official(name: str) -> Any:
    """Return a module of the official SDK."""
    if importlib.util.find_spec("mcp") is None:
        reason = "the official Python client is not installed: run `make install`"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return importlib.import_module(name)


class Storage:
    """Keeps what the SDK learns."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client_info: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client_info

    async def set_client_info(self, client_info: Any) -> None:
        self.client_info = client_info


class Browser:
    """Takes the owner through the consent and brings the answer back."""

    def __init__(self, dance: Dance, say: Callable[[Dance, str], str]) -> None:
        self._dance = dance
        self._say = say
        self.sent: list[str] = []
        self.answers: list[str] = []

    async def open(self, url: str) -> None:
        self.sent.append(url)
        self.answers.append(await asyncio.to_thread(self._say, self._dance, url))

    async def come_back(self) -> Any:
        told = query(self.answers[-1])
        result = official("mcp.shared.auth").AuthorizationCodeResult
        return result(code=told["code"], state=told["state"], iss=told["iss"])


def provider(dance: Dance, storage: Storage, document: str | None = None) -> tuple[Any, Browser]:
    """Return the SDK's client for a server, and the browser it opens."""
    metadata = official("mcp.shared.auth").OAuthClientMetadata(
        client_name="SDK test", redirect_uris=[REDIRECT]
    )
    browser = Browser(dance, decide)
    made = official("mcp.client.auth").OAuthClientProvider(
        server_url=f"{dance.url}/mcp",
        client_metadata=metadata,
        storage=storage,
        redirect_handler=browser.open,
        callback_handler=browser.come_back,
        client_metadata_url=document,
    )
    return made, browser


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(work(), SECONDS)

    asyncio.run(bounded())


async def read(dance: Dance, auth: Any) -> list[str]:
    """Connect as a host does, and return the tools' findings."""
    mcp = official("mcp")
    http = official("mcp.client.streamable_http")
    client_of = official("mcp.shared._httpx_utils").create_mcp_http_client
    async with client_of(auth=auth) as bearing:
        way = http.streamable_http_client(f"{dance.url}/mcp", http_client=bearing)
        async with mcp.Client(way, mode="legacy") as client:
            found = await client.call_tool("search", {"query": "quiet"})
            return [hit["title"] for hit in found.structured_content["results"]]


def test_the_sdk_registers_connects_and_reads(dance: Dance) -> None:
    storage = Storage()

    async def work() -> None:
        auth, browser = provider(dance, storage)
        assert await read(dance, auth)
        asked = query(browser.sent[0])
        assert asked["resource"] == f"{dance.url}/mcp"
        assert asked["scope"] == "pdpp:read offline_access"
        assert storage.client_info.token_endpoint_auth_method == "none"

    run(work)
    assert len(list(dance.authority.clients())) == 1


def test_the_sdk_connects_as_the_document_it_publishes(tmp_path: Path) -> None:
    with publishing() as publisher, dancing(tmp_path, fetcher=publisher.fetcher()) as dance:

        async def work() -> None:
            auth, browser = provider(dance, Storage(), publisher.client_id)
            assert await read(dance, auth)
            assert query(browser.sent[0])["client_id"] == publisher.client_id

        run(work)
        (client,) = dance.authority.clients()
        assert client.name == "Published app"


def test_the_sdk_refreshes_and_comes_back_after_everything_was_taken(dance: Dance) -> None:
    storage = Storage()

    async def work() -> None:
        auth, browser = provider(dance, storage)
        assert await read(dance, auth)
        first = storage.tokens
        dance.clock.advance(4_000)
        auth.context.token_expiry_time = 1.0
        assert await read(dance, auth)
        assert storage.tokens.refresh_token != first.refresh_token
        assert len(browser.sent) == 1
        with dance.store.vault.transaction() as transaction:
            kept = transaction.token(hash_token(storage.tokens.access_token))
            assert kept is not None
            transaction.revoke_family(kept.family or "", dance.clock.now)
        assert await read(dance, auth)
        assert len(browser.sent) == 2

    run(work)
