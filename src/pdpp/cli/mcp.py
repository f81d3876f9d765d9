"""``pdpp mcp``: what it takes, and the ready configuration for clients."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

import click

from pdpp.cli.connect import provider
from pdpp.cli.options import HERE, REMOTE_CODES, examples
from pdpp.cli.stdio import serve_stdio
from pdpp.credentials import Cache, cache_folder

CLIENTS = (
    "claude-code",
    "claude-desktop",
    "chatgpt",
    "cursor",
    "vscode",
    "codex",
    "gemini-cli",
    "json",
)


def _own_provider() -> str:
    """Return the server that was named, else the only one connected, else the usual one."""
    configured = os.environ.get("PDPP_PROVIDER_URL")
    if configured:
        return configured
    credentials = Cache(cache_folder(None, os.environ, None)).providers()
    return credentials[0].provider_url if len(credentials) == 1 else HERE


@click.group(
    invoke_without_command=True,
    epilog=examples(
        "pdpp mcp --provider-url http://127.0.0.1:7377",
        "pdpp mcp config claude-code",
        "pdpp mcp config cursor --provider-url https://data.example.org",
        codes=REMOTE_CODES,
    ),
)
@click.option("--provider-url", metavar="URL", help="The server to read; PDPP_PROVIDER_URL too.")
@click.option("--cache-root", metavar="DIR", help="Folder of the cache; PDPP_CACHE_ROOT too.")
@click.pass_context
def mcp(context: click.Context, provider_url: str | None, cache_root: str | None) -> Any:
    """Serve an agent over standard input and output, or print how to connect one.

    Reads with the credential that pdpp connect keeps.
    """
    if context.invoked_subcommand is not None:
        return None
    given = {"--provider-url": provider_url, "--cache-root": cache_root}
    arguments = [
        part for name, value in given.items() if value is not None for part in (name, value)
    ]
    return serve_stdio(arguments)


@mcp.command(epilog=examples(*(f"pdpp mcp config {client}" for client in CLIENTS)))
@click.argument("client", type=click.Choice(CLIENTS))
@click.option(
    "--provider-url",
    type=provider,
    metavar="URL",
    default=_own_provider,
    help="The server that the agent is to read; unless given, the only one connected.",
)
def config(client: str, provider_url: str) -> None:
    """Print the configuration that lets a client read."""
    for line in configuration(client, provider_url):
        click.echo(line)


def configuration(client: str, provider_url: str) -> list[str]:
    """Return what to run or paste for a client: one way first, then the other."""
    remote, local = _remote(client, provider_url), _local(client, provider_url)
    if client == "chatgpt":
        return remote
    if is_public(provider_url):
        return [*remote, "", "# Or through a program on this machine:", *local]
    return [*local, "", "# Or over HTTP, where the client takes a bearer token:", *remote]


def is_public(provider_url: str) -> bool:
    """Tell whether other machines can reach an address."""
    return urlsplit(provider_url).scheme == "https"


def _command() -> list[str]:
    """Return how this program is started."""
    installed = shutil.which("pdpp")
    return [installed] if installed else [sys.executable, "-m", "pdpp"]


def _remote(client: str, provider_url: str) -> list[str]:
    address = f"{provider_url}/mcp"
    if client == "claude-code":
        return [f"claude mcp add --transport http pdpp {address}"]
    if client == "chatgpt":
        return [
            "# ChatGPT reads servers it can reach over https.",
            "# In Settings, Connectors, Create, give this address:",
            address,
        ]
    if client == "codex":
        return ["# In ~/.codex/config.toml:", "[mcp_servers.pdpp]", f'url = "{address}"']
    key = "httpUrl" if client == "gemini-cli" else "url"
    entry = {"type": "http", key: address} if client == "vscode" else {key: address}
    return [f"# {_place(client)}", *_json(client, entry)]


def _local(client: str, provider_url: str) -> list[str]:
    first, *rest = _command()
    arguments = [*rest, "mcp", "--provider-url", provider_url]
    if client == "claude-code":
        join = subprocess.list2cmdline if sys.platform == "win32" else shlex.join
        return ["claude mcp add pdpp -- " + join([first, *arguments])]
    if client == "codex":
        return [
            "# In ~/.codex/config.toml:",
            "[mcp_servers.pdpp]",
            f"command = {json.dumps(first)}",
            f"args = {json.dumps(arguments)}",
        ]
    entry: dict[str, Any] = {"command": first, "args": arguments}
    if client == "vscode":
        entry = {"type": "stdio", **entry}
    return [f"# {_place(client)}", *_json(client, entry)]


def _place(client: str) -> str:
    return {
        "claude-desktop": "In claude_desktop_config.json (Settings, Developer, Edit Config):",
        "cursor": "In ~/.cursor/mcp.json:",
        "vscode": "In .vscode/mcp.json:",
        "gemini-cli": "In ~/.gemini/settings.json:",
    }.get(client, "For any client that takes JSON:")


def _json(client: str, entry: dict[str, Any]) -> list[str]:
    key = "servers" if client == "vscode" else "mcpServers"
    return json.dumps({key: {"pdpp": entry}}, indent=2).splitlines()
