"""What others wrote judges the kernel: the official suite, inspector and clients."""

import asyncio
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.mcp import fixture_server
from tests.mcp.launch import FIXTURE, command, environment
from tests.soak import SOAK

FOLDER = Path(__file__).with_name("judges")
REVISIONS = ["2025-11-25", "2026-07-28"]
TRANSPORTS = ["stdio", "http"]
NEGOTIATED = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}
MEETINGS = (
    [(transport, era) for transport in TRANSPORTS for era in NEGOTIATED]
    if SOAK
    else [("stdio", "legacy"), ("http", "auto"), ("stdio", "2026-07-28"), ("http", "2026-07-28")]
)
"""How a judge reaches the server: every transport and every era; a soak has each with each."""
INSPECTED = MEETINGS if SOAK else MEETINGS[::3]
"""The inspector, which looks at the product as well, begins with each transport once."""
TOOLS = [tool.name for tool in fixture_server.tools()]
SECONDS = 120


def run(judges: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(judges / ".bin" / "node"), *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**environment(), "HOME": str(home), "NO_COLOR": "1"},
    )


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_conformance_suite_finds_only_what_the_baseline_explains(
    judges: Path, http_url: str, tmp_path: Path, revision: str
) -> None:
    suite = str(judges / "@modelcontextprotocol" / "conformance" / "dist" / "index.js")
    baseline = str(FOLDER / f"baseline-{revision}.yml")
    target = ["server", "--url", http_url, "--requirements", revision, "-o", str(tmp_path)]
    done = run(judges, tmp_path, suite, *target, "--expected-failures", baseline)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "=== SUMMARY ===" in done.stdout


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_baseline_gives_a_reason_for_every_check(revision: str) -> None:
    lines = (FOLDER / f"baseline-{revision}.yml").read_text().splitlines()
    entries = [line for line in lines if line.startswith("  -")]
    assert entries
    assert [e for e in entries if not re.fullmatch(r"  - [\w-]+:[\w-]+ # \w.{10,}", e)] == []


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((FOLDER / "package-lock.json").read_text())
    addresses = [package.get("resolved", "") for package in lock["packages"].values()]
    assert [address for address in addresses if "://" in address] == []


@pytest.mark.parametrize(("transport", "era"), INSPECTED)
def test_the_inspector_finds_no_fault_in_the_tools(
    judges: Path, http_url: str, tmp_path: Path, transport: str, era: str
) -> None:
    inspector = str(judges / ".bin" / "mcp-inspector")
    called = era if era in ("legacy", "auto") else "modern"
    asked = ["--cli", "--protocol-era", called, "--method", "tools/list", "--strict"]
    path = f"PYTHONPATH={environment().get('PYTHONPATH', '.')}"
    target = [http_url] if transport == "http" else ["-e", path, *command("stdio")]
    done = run(judges, tmp_path, inspector, *asked, *target)
    assert done.returncode == 0, done.stderr
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == TOOLS


@pytest.mark.parametrize(("transport", "era"), MEETINGS)
def test_the_official_typescript_client_is_served(
    judges: Path, http_url: str, tmp_path: Path, transport: str, era: str
) -> None:
    target = [http_url] if transport == "http" else command("stdio")
    done = run(judges, tmp_path, str(FOLDER / "client.mjs"), era, *target)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["version"] == NEGOTIATED[era]
    assert seen["server"]["name"] == "fixture"
    assert seen["instructions"] == "Call echo."
    assert seen["tools"] == TOOLS
    assert seen["resources"] == ["test://static-text", "test://static-binary"]
    assert seen["templates"] == ["test://template/{id}/data"]
    assert seen["prompts"] == []
    assert seen["echo"]["structuredContent"] == {"text": "grüße"}
    assert seen["failed"]["isError"] is True
    assert seen["read"][0]["text"].startswith("This is the content")
    assert seen["unknownTool"] == -32602
    assert seen["unknownResource"] == -32602
    assert seen["afterCancel"]["structuredContent"] == {"text": "still here"}


def python_client() -> Any:
    if importlib.util.find_spec("mcp") is None:
        reason = "the official Python client is not installed: run `make install`"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return importlib.import_module("mcp")


@pytest.mark.parametrize("era", NEGOTIATED)
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_official_python_client_is_served(http_url: str, transport: str, era: str) -> None:
    mcp = python_client()
    program = mcp.StdioServerParameters(
        command=sys.executable, args=[str(FIXTURE), "stdio"], env=environment()
    )

    async def code(awaitable: Any) -> int:
        with pytest.raises(mcp.MCPError) as caught:
            await awaitable
        return int(caught.value.error.code)

    async def walk() -> None:
        target = http_url if transport == "http" else program
        async with mcp.Client(target, mode=era) as client:
            assert client.protocol_version == NEGOTIATED[era]
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            assert len((await client.list_resources()).resources) == 2
            assert len((await client.list_resource_templates()).resource_templates) == 1
            assert (await client.list_prompts()).prompts == []
            echo = await client.call_tool("echo", {"text": "grüße"})
            assert echo.structured_content == {"text": "grüße"}
            read = await client.read_resource("test://static-text")
            assert read.contents[0].text.startswith("This is the content")
            assert await code(client.call_tool("nothing", {})) == -32602
            unknown = -32002 if era == "legacy" else -32602
            assert await code(client.read_resource("test://nothing")) == unknown
            assert await code(client.call_tool("fail", {})) == -32603
            waiting = asyncio.create_task(client.call_tool("wait", {}))
            await client.call_tool("echo", {"text": "meanwhile"})
            waiting.cancel()
            after = await client.call_tool("echo", {"text": "still here"})
            assert after.structured_content == {"text": "still here"}

    asyncio.run(asyncio.wait_for(walk(), SECONDS))
