"""Tokens that were issued for one resource are good there and nowhere else."""

import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.serving import UNLIMITED, World, living, seeded_store

from pdpp.authz.selection import Selection, make_grant, resolve
from pdpp.model import instant

ORIGIN = "https://data.example.org"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    store = seeded_store(Path(tmp_path_factory.mktemp("audience")))
    with living(store, settings=replace(UNLIMITED, origin=ORIGIN)) as found:
        yield found


def token_for(world: World, audience: str | None) -> str:
    allowances = resolve(Selection(connections=("cin_notes",)), world.store.catalogue())
    name = f"agent-{secrets.token_hex(4)}"
    grant, secret, token = make_grant(allowances, client_id=name, purpose="test", now=instant.now())
    world.store.vault.keep_grant(grant, [replace(token, audience=audience)])
    return secret


def ask(world: World, token: str) -> tuple[httpx.Response, httpx.Response]:
    """Return the answers of ``/v1`` and of the hosted adapter's schema tool."""
    with world.server.client(token) as client:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "schema", "arguments": {}},
        }
        return client.get("/v1/streams"), client.post("/mcp", json=message)


@pytest.mark.parametrize(
    ("audience", "rest", "mcp"),
    [
        (None, 200, 200),
        (ORIGIN, 200, 200),
        (f"{ORIGIN}/v1", 200, 401),
        (f"{ORIGIN}/mcp", 401, 200),
        ("https://elsewhere.example", 401, 401),
    ],
)
def test_a_token_is_good_only_where_it_was_issued_for(
    world: World, audience: str | None, rest: int, mcp: int
) -> None:
    from_rest, from_mcp = ask(world, token_for(world, audience))
    assert (from_rest.status_code, from_mcp.status_code) == (rest, mcp)
    if mcp == 200:
        result = from_mcp.json()["result"]
        assert result["isError"] is False
        assert "documents" in result["content"][0]["text"]
    else:
        metadata = f"{ORIGIN}/.well-known/oauth-protected-resource/mcp"
        assert from_mcp.json()["error"]["resource_metadata"] == metadata
