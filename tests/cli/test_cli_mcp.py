"""``pdpp mcp config`` and ``pdpp mcp install``: what each agent's host is told."""

import json
import os
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.shell import pdpp_here

from pdpp.cli.hosts.host import HOSTS
from pdpp.cli.hosts.launch import by_program, usual
from pdpp.credentials import Cache, Credential

FIRST, SECOND = "https://one.example", "https://two.example"
LOCAL = "http://127.0.0.1:7377"
READERS: dict[str, Any] = {"codex": tomllib.loads, "continue": yaml.safe_load}
READERS |= {"goose": yaml.safe_load}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own folder for credentials, in which there is none."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("PDPP_CACHE_ROOT", "PDPP_PROVIDER_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / ".pdpp" / "clients"


def connect(folder: Path, url: str) -> None:
    Cache(folder).store(Credential(url, "pdpp_client_x", "client"))


def config(client: str, *arguments: str) -> Any:
    """Return the block that is printed, read as the client's own kind of file."""
    ended = pdpp_here("mcp", "config", client, *arguments)
    assert ended.code == 0, ended.err
    return READERS.get(client, json.loads)(ended.out)


def test_it_is_the_only_one_connected(folder: Path) -> None:
    connect(folder, FIRST)
    assert config("json")["mcpServers"]["pdpp"] == {"url": f"{FIRST}/mcp"}


@pytest.mark.parametrize("connected", [(), (FIRST, LOCAL)])
def test_it_is_the_usual_one_where_none_is_or_that_is_among_several(
    folder: Path, connected: tuple[str, ...]
) -> None:
    for url in connected:
        connect(folder, url)
    assert config("json")["mcpServers"]["pdpp"]["args"][-1] == LOCAL


def test_among_several_others_the_user_chooses(folder: Path) -> None:
    for url in (FIRST, SECOND):
        connect(folder, url)
    told = pdpp_here("mcp", "config", "json").failed(code=64)
    assert f"choose with --provider-url: {FIRST}, {SECOND}" in told


def test_a_program_that_is_not_connected_yet_is_told_so(folder: Path) -> None:
    first = f"Before the agent starts it, run: pdpp connect {LOCAL}"
    assert first in pdpp_here("mcp", "config", "json").err
    connect(folder, LOCAL)
    assert first not in pdpp_here("mcp", "config", "json").err


def test_it_is_the_one_that_was_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect(folder, FIRST)
    monkeypatch.setenv("PDPP_PROVIDER_URL", SECOND)
    assert config("json")["mcpServers"]["pdpp"] == {"url": f"{SECOND}/mcp"}


def test_a_cache_that_the_program_would_not_find_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def arguments(*given: str) -> list[str]:
        block = config("json", "--provider-url", LOCAL, *given)
        return list(block["mcpServers"]["pdpp"]["args"][-4:])

    there = str(tmp_path / "my cache")
    named = ["--provider-url", LOCAL, "--cache-root", there]
    assert arguments("--cache-root", there) == named
    monkeypatch.setenv("PDPP_CACHE_ROOT", there)
    assert arguments() == named, "a host has another environment"
    monkeypatch.delenv("PDPP_CACHE_ROOT")
    project = tmp_path / "project"
    connect(project / ".pdpp" / "clients", LOCAL)
    monkeypatch.chdir(project)
    assert arguments()[-2:] == ["--cache-root", str(project / ".pdpp")]
    assert "--cache-root" not in arguments("--cache-root", str(tmp_path / ".pdpp"))


def texts(value: Any) -> list[str]:
    """Return every text inside a document."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in texts(part)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("client", HOSTS)
@pytest.mark.parametrize("url", [LOCAL, FIRST])
def test_one_block_is_printed_and_the_remarks_are_apart(client: str, url: str) -> None:
    ended = pdpp_here("mcp", "config", client, "--provider-url", url)
    assert ended.err.startswith(f"For {HOSTS[client].label}, this goes into ")
    inside = texts(READERS.get(client, json.loads)(ended.out))
    by_address = url == FIRST and HOSTS[client].remote
    assert (f"{url}/mcp" in inside) is by_address
    assert (inside.count("--provider-url") == 1) is not by_address
    assert "profile" not in ended.out.lower()


def test_the_command_that_is_named_beside_a_block_installs_the_same() -> None:
    same = ("codex", "--provider-url", FIRST, "--by", "program", "--cache-root", "my cache")
    told = pdpp_here("mcp", "config", *same).err
    assert shlex.join(("pdpp", "mcp", "install", *same)) in told


@pytest.mark.parametrize("client", HOSTS)
def test_a_server_on_the_internet_is_read_through_the_program_where_that_is_chosen(
    client: str,
) -> None:
    inside = texts(config(client, "--provider-url", FIRST, "--by", "program"))
    assert "--provider-url" in inside
    assert f"{FIRST}/mcp" not in inside


def test_claude_desktop_takes_no_address() -> None:
    told = pdpp_here("mcp", "config", "claude-desktop", "--by", "address").failed(code=64)
    assert "Claude Desktop cannot connect to an address" in told


def test_chatgpt_needs_a_public_address() -> None:
    told = pdpp_here("mcp", "config", "chatgpt", "--provider-url", LOCAL).failed()
    assert "needs a public https address" in told
    public = pdpp_here("mcp", "config", "chatgpt", "--provider-url", FIRST)
    assert public.out == f"{FIRST}/mcp\n"


@pytest.mark.parametrize(
    "url",
    [
        "https://192.168.1.20",
        "https://10.1.2.3:8443",
        "https://[fd00::5]",
        "https://100.64.0.7",
        "https://server.local",
        "https://nas",
        "https://localhost",
    ],
)
def test_what_only_the_own_network_reaches_is_no_public_address(url: str) -> None:
    told = pdpp_here("mcp", "config", "chatgpt", "--provider-url", url).failed()
    assert f"{url} is none" in told
    assert usual(url, remote=True).url is None


def test_vs_code_is_undone_in_the_file_that_its_command_writes() -> None:
    told = pdpp_here("mcp", "uninstall", "vscode", "--yes").failed()
    assert "take pdpp out of the user's mcp.json" in told
    assert ".vscode" not in told


def test_a_program_in_a_folder_with_spaces_is_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/my programs/python")
    assert by_program(FIRST).command[:4] == ("/my programs/python", "-P", "-m", "pdpp")
    assert config("json", "--by", "program")["mcpServers"]["pdpp"]["command"] == (
        "/my programs/python"
    )


# Installing


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH on which each client's program only notes what it was told."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("claude", "codex", "gemini", "qwen", "copilot", "code"):
        script = folder / name
        script.write_text(f'#!/bin/sh\nprintf "%s\\n" {name} "$@" > "{tmp_path}/told"\n')
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin:/bin")
    return tmp_path / "told"


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
@pytest.mark.parametrize(
    ("client", "start", "end"),
    [
        ("claude-code", "claude mcp add --scope user pdpp --", "claude mcp remove --scope user"),
        ("codex", "codex mcp add pdpp --", "codex mcp remove"),
        ("gemini-cli", "gemini mcp add -s user pdpp", "gemini mcp remove -s user"),
        ("qwen-code", "qwen mcp add -s user pdpp", "qwen mcp remove -s user"),
        ("copilot-cli", "copilot mcp add pdpp --", "copilot mcp remove"),
    ],
)
def test_the_clients_own_command_is_shown_and_run_and_undone(
    programs: Path, client: str, start: str, end: str
) -> None:
    ended = pdpp_here("mcp", "install", client, "--provider-url", LOCAL, "--yes")
    assert ended.code == 0, ended.err
    told = programs.read_text().splitlines()
    command = [*by_program(LOCAL).command]
    assert told == [*start.split(), *command]
    assert shlex.join(told) in ended.err
    programs.unlink()
    assert pdpp_here("mcp", "uninstall", client, "--yes").code == 0
    assert programs.read_text().splitlines() == [*end.split(), "pdpp"]


def test_vs_code_is_told_in_json(programs: Path) -> None:
    assert pdpp_here("mcp", "install", "vscode", "--provider-url", LOCAL, "--yes").code == 0
    program, option, document = programs.read_text().splitlines()
    assert (program, option) == ("code", "--add-mcp")
    assert json.loads(document)["name"] == "pdpp"


def test_nothing_runs_unasked_or_where_the_client_is_not(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = pdpp_here("mcp", "install", "codex")
    assert (asked.code, programs.exists()) == (64, False)
    assert "--yes" in asked.err
    monkeypatch.setenv("PATH", "")
    missing = pdpp_here("mcp", "install", "codex", "--yes")
    assert missing.code == 1
    assert "codex is not on the PATH" in missing.err
    for client in ("cursor", "claude-desktop", "opencode", "zed", "goose", "continue"):
        told = pdpp_here("mcp", "install", client, "--yes").failed()
        assert f"pdpp mcp config {client}" in told
