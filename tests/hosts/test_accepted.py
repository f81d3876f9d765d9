"""The blocks that are printed are accepted by the programs they are for.

A program takes most of its time to start, so that it starts once for both of its blocks: that of an
address is pasted whole, as that of a program is in the conversations.
"""

import json
from typing import Any

import pytest
from tests.hosts.conftest import Home, needed
from tests.soak import SOAK

ACCEPTED = {
    "claude-code": (".claude.json", ("claude", "mcp", "list"), "Connected"),
    "codex": (".codex/config.toml", ("codex", "mcp", "list"), "enabled"),
    "gemini-cli": (".gemini/settings.json", ("gemini", "mcp", "list"), "Connected"),
    "qwen-code": (".qwen/settings.json", ("qwen", "mcp", "list"), "Connected"),
    "copilot-cli": (".copilot/mcp-config.json", ("copilot", "mcp", "list"), "(local)"),
    "opencode": (".config/opencode/opencode.json", ("opencode", "mcp", "list"), "connected"),
}
TRUST = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
ADDED = [client for client in ACCEPTED if client != "opencode"]
"""Clients with a command of their own that adds a server."""
OTHER = "started-here"
"""What the server that is a program is called beside that of an address."""


@pytest.mark.parametrize("client", ACCEPTED)
def test_the_printed_blocks_are_accepted_by_the_real_client(client: str, home: Home) -> None:
    place, listing, sign = ACCEPTED[client]
    needed(listing[0])
    home.variables.update(TRUST)
    home.paste(client, place, way="address")
    path = home.folder / place
    path.write_text(_beside(path.read_text(), home.block(client)))
    listed = home.run(*listing)
    assert [line for line in listed.splitlines() if OTHER in line and sign in line], listed
    # Nobody has logged in at the address; they show what they would connect to.
    assert ("pdpp (http)" if client == "copilot-cli" else f"{home.url}/mcp") in listed


def _beside(block: str, other: str) -> str:
    """Add the server of another block to a block, under another name."""
    if not block.startswith("{"):
        return block + other.replace("[mcp_servers.pdpp]", f"\n[mcp_servers.{OTHER}]")
    both = json.loads(block)
    _servers(both)[OTHER] = _servers(json.loads(other))["pdpp"]
    return json.dumps(both)


def _servers(block: dict[str, Any]) -> dict[str, Any]:
    [servers] = [value for value in block.values() if isinstance(value, dict)]
    return servers


@pytest.mark.parametrize("client", ADDED)
def test_the_clients_own_command_adds_the_server_and_takes_it_away(client: str, home: Home) -> None:
    _, listing, _ = ACCEPTED[client]
    needed(listing[0])
    home.variables.update(TRUST)
    told = home.pdpp("mcp", "install", client, "--provider-url", home.url, "--yes")
    assert f"{listing[0]} mcp add" in told
    assert home.url in _listed(home, client)
    home.pdpp("mcp", "uninstall", client, "--yes")
    assert home.url not in _listed(home, client)


def _listed(home: Home, client: str) -> str:
    """Return the servers that a program has written down; in a soak, those that it lists."""
    place, listing, _ = ACCEPTED[client]
    if SOAK and client != "copilot-cli":
        return home.run(*listing)
    path = home.folder / place
    return path.read_text() if path.exists() else ""
