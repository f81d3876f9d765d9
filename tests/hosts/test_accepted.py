"""Each block that is printed is accepted by the program it is for, pasted whole."""

import pytest
from tests.hosts.conftest import Home, needed

ACCEPTED = {
    "claude-code": (".claude.json", ("claude", "mcp", "list"), "Connected"),
    "codex": (".codex/config.toml", ("codex", "mcp", "list"), "enabled"),
    "gemini-cli": (".gemini/settings.json", ("gemini", "mcp", "list"), "Connected"),
    "qwen-code": (".qwen/settings.json", ("qwen", "mcp", "list"), "Connected"),
    "copilot-cli": (".copilot/mcp-config.json", ("copilot", "mcp", "list"), "pdpp (local)"),
    "opencode": (".config/opencode/opencode.json", ("opencode", "mcp", "list"), "connected"),
}
TRUST = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}


@pytest.mark.parametrize("client", ACCEPTED)
def test_the_printed_block_is_accepted_by_the_real_client(client: str, home: Home) -> None:
    place, listing, sign = ACCEPTED[client]
    needed(listing[0])
    home.variables.update(TRUST)
    home.paste(client, place)
    listed = home.run(*listing)
    assert "pdpp" in listed
    assert sign in listed


@pytest.mark.parametrize("client", ACCEPTED)
def test_the_block_of_an_address_is_read_as_one_by_the_real_client(client: str, home: Home) -> None:
    place, listing, _ = ACCEPTED[client]
    needed(listing[0])
    home.variables.update(TRUST)
    home.paste(client, place, way="address")
    # Nobody has logged in, so none of them is connected; they show what they would connect to.
    shown = "pdpp (http)" if client == "copilot-cli" else f"{home.url}/mcp"
    assert shown in home.run(*listing)


@pytest.mark.parametrize(
    "client", ["claude-code", "codex", "gemini-cli", "qwen-code", "copilot-cli"]
)
def test_the_clients_own_command_adds_the_server_and_takes_it_away(client: str, home: Home) -> None:
    _, listing, _ = ACCEPTED[client]
    needed(listing[0])
    home.variables.update(TRUST)
    told = home.pdpp("mcp", "install", client, "--provider-url", home.url, "--yes")
    assert f"{listing[0]} mcp add" in told
    assert home.url in _listed(home, listing)
    home.pdpp("mcp", "uninstall", client, "--yes")
    assert home.url not in _listed(home, listing)


def _listed(home: Home, listing: tuple[str, ...]) -> str:
    if listing[0] == "copilot":
        path = home.folder / ".copilot" / "mcp-config.json"
        return path.read_text() if path.exists() else ""
    return home.run(*listing)
