"""The official Python client and inspector read the product itself, over both transports."""

import asyncio
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.client import bare_environment
from tests.mcp.post import declaration
from tests.mcp.shelf import NOTES
from tests.mcp.test_judges import run as run_judge
from tests.serving import World, grant, living, planted_store
from tests.soak import SOAK

from pdpp.credentials import Cache, Credential
from pdpp.mcp.tools.definition import SIGNATURES

NEGOTIATED = {"legacy": "2025-11-25", "auto": "2026-07-28"}
SECONDS = 60


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("official")
    rows = [{"id": "one", "title": "One", "body": "A kiln of grüße " * 900}]
    made = declaration("shelf", NOTES)
    with living(planted_store(folder, made, {"cin_n": "N"}, {("cin_n", "notes"): rows})) as served:
        yield served


def official() -> Any:
    if importlib.util.find_spec("mcp") is None:
        reason = "the official Python client is not installed: run `make install`"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return importlib.import_module("mcp")


async def walk(client: Any, era: str) -> None:
    """Use every tool and a resource, as the client checks results against their schemas."""
    assert client.protocol_version == NEGOTIATED[era]
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == list(SIGNATURES)
    found = await client.call_tool("search", {"query": "kiln"})
    [hit] = found.structured_content["results"]
    [rung] = found.structured_content["content_ladder"]["records"]
    document = await client.call_tool("fetch", {"id": hit["id"]})
    assert document.structured_content["title"] == "One"
    window = await client.call_tool("read_record_field", rung["read_record_field"])
    assert "kiln" in window.structured_content["window"]["text"]
    for tool, arguments in (
        ("schema", {"stream": "notes"}),
        ("query_records", {"stream": "notes"}),
        ("aggregate", {"stream": "notes", "metric": "count"}),
    ):
        assert not (await client.call_tool(tool, arguments)).is_error
    refused = await client.call_tool("query_records", {"strem": "notes"})
    assert refused.is_error
    assert refused.structured_content["error"]["param"] == "strem"
    [listed] = (await client.list_resources()).resources
    read = await client.read_resource(listed.uri)
    assert "notes" in read.contents[0].text


@pytest.mark.parametrize("era", NEGOTIATED)
def test_the_official_client_reads_over_stdio(world: World, tmp_path: Path, era: str) -> None:
    mcp = official()
    cache = Cache(tmp_path / "clients")
    cache.store(Credential(world.server.url, grant(world.store), "client"))
    program = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "pdpp", "mcp", "--cache-root", str(tmp_path)],
        env=bare_environment(PDPP_PROVIDER_URL=world.server.url),
    )

    async def read() -> None:
        async with mcp.Client(program, mode=era) as client:
            await walk(client, era)

    asyncio.run(asyncio.wait_for(read(), SECONDS))


@pytest.mark.parametrize("era", NEGOTIATED)
def test_the_official_client_reads_the_hosted_endpoint(world: World, era: str) -> None:
    mcp = official()
    http = importlib.import_module("mcp.client.streamable_http")
    token = grant(world.store)

    async def read() -> None:
        client_of = importlib.import_module("mcp.shared._httpx_utils").create_mcp_http_client
        async with client_of(headers={"Authorization": f"Bearer {token}"}) as bearing:
            way = http.streamable_http_client(f"{world.server.url}/mcp", http_client=bearing)
            async with mcp.Client(way, mode=era) as client:
                await walk(client, era)

    asyncio.run(asyncio.wait_for(read(), SECONDS))


MEETINGS = [("stdio", "legacy"), ("http", "modern")]
"""How the inspector reaches the server: every transport and every era, in a soak each with each."""


@pytest.mark.parametrize(
    ("transport", "era"),
    [*MEETINGS, ("stdio", "modern"), ("http", "legacy")] if SOAK else MEETINGS,
)
def test_the_official_inspector_finds_no_fault_and_gets_an_answer(
    world: World, judges: Path, tmp_path: Path, transport: str, era: str
) -> None:
    token = grant(world.store)
    Cache(tmp_path / "clients").store(Credential(world.server.url, token, "client"))
    program = [sys.executable, "-m", "pdpp", "mcp", "--cache-root", str(tmp_path)]
    variables = bare_environment(PDPP_PROVIDER_URL=world.server.url)
    needed = ("PATH", "PYTHONPATH", "PDPP_PROVIDER_URL")
    told = [part for name in needed for part in ("-e", f"{name}={variables.get(name, '.')}")]
    hosted = [f"{world.server.url}/mcp", "--header", f"Authorization: Bearer {token}"]
    target = hosted if transport == "http" else [*told, *program]
    inspector = [str(judges / ".bin" / "mcp-inspector"), "--cli", "--protocol-era", era]
    listed = run_judge(judges, tmp_path, *inspector, "--method", "tools/list", "--strict", *target)
    assert listed.returncode == 0, listed.stderr
    assert [tool["name"] for tool in json.loads(listed.stdout)["tools"]] == list(SIGNATURES)
    asked = ["--tool-arg", "query=kiln", "--tool-name", "search", "--method", "tools/call"]
    found = run_judge(judges, tmp_path, *inspector, *asked, *target)
    assert found.returncode == 0, found.stderr
    [hit] = json.loads(found.stdout)["structuredContent"]["results"]
    assert hit["id"] == "cin_n/notes:one"
