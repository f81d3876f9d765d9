"""``pdpp mcp``: the adapter for agents, and the commands that tell agents' hosts of it."""

import os
import shlex
import shutil
import subprocess
import sys
from typing import Any

import click

from pdpp.cli.command_group import CommandGroup
from pdpp.cli.connect import provider
from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.hosts.host import HOSTS, AgentHost
from pdpp.cli.hosts.launch import Launch, by_address, by_program, is_on_internet, usual
from pdpp.cli.output import note
from pdpp.cli.stdio import serve_stdio
from pdpp.credentials import HERE, Cache, open_cache

CHATGPT = "chatgpt"
CLIENTS = (*HOSTS, CHATGPT)
INSTALLED = tuple(name for name, host in HOSTS.items() if host.add is not None)
_WAYS = ("program", "address")


def _own_provider() -> str:
    """Return the server that was named, else the only one connected, else the usual one.

    Where several others are connected, nobody but the user can choose.
    """
    configured = os.environ.get("PDPP_PROVIDER_URL")
    if configured:
        return configured
    connected = _connected(open_cache(None, os.environ, None))
    if len(connected) == 1:
        return connected[0]
    if connected and HERE not in connected:
        raise click.UsageError(
            f"Several servers are connected; choose with --provider-url: {', '.join(connected)}",
            click.get_current_context(),
        )
    return HERE


def _connected(cache: Cache) -> list[str]:
    return [credential.provider_url for credential in cache.providers()]


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    epilog=examples(
        "pdpp mcp --provider-url http://127.0.0.1:7377",
        "pdpp mcp install claude-code",
        "pdpp mcp config cursor --provider-url https://data.example.org",
        codes=REMOTE_CODES,
    ),
)
@click.option("--provider-url", metavar="URL", help="The server to read; or PDPP_PROVIDER_URL.")
@click.option("--cache-root", metavar="DIR", help="Folder of the cache; or PDPP_CACHE_ROOT.")
@click.pass_context
def mcp(context: click.Context, provider_url: str | None, cache_root: str | None) -> Any:
    """Serve an agent over standard input and output, or tell an agent's host how to start this.

    Reads with the credential that pdpp connect keeps.
    """
    if context.invoked_subcommand is not None:
        return None
    given = {"--provider-url": provider_url, "--cache-root": cache_root}
    arguments = [
        part for name, value in given.items() if value is not None for part in (name, value)
    ]
    return serve_stdio(arguments)


_provider_option = click.option(
    "--provider-url",
    type=provider,
    metavar="URL",
    default=_own_provider,
    help="The server that the agent reads. Default: the only one connected.",
)
_root_option = click.option(
    "--cache-root",
    metavar="DIR",
    help="Folder of the cache that the program is to read. Or set PDPP_CACHE_ROOT.",
)
_by_option = click.option(
    "--by",
    "transport",
    type=click.Choice(_WAYS),
    help="Let the host start this program, or connect to the server's address itself. Default: "
    "the address of a server on the internet, else the program.",
)


@mcp.command(
    short_help="Print the block for CLIENT's configuration file.",
    epilog=examples(
        "pdpp mcp config claude-desktop",
        "pdpp mcp config codex >> ~/.codex/config.toml",
        "pdpp mcp config cursor --by address --provider-url https://data.example.org",
    ),
)
@click.argument("client", type=click.Choice(CLIENTS), metavar="CLIENT")
@_provider_option
@_by_option
@_root_option
def config(client: str, provider_url: str, transport: str | None, cache_root: str | None) -> None:
    """Print the block for the configuration file of CLIENT, ready to paste.

    \b
    CLIENT is claude-code, claude-desktop, codex, gemini-cli, cursor, vscode,
    opencode, copilot-cli, qwen-code, continue, zed, goose, chatgpt, or json for
    any other. The file it goes into is named on stderr.
    """
    if client == CHATGPT:
        _explain_chatgpt(provider_url)
        return
    host = HOSTS[client]
    launch = _launch(host, provider_url, transport, cache_root)
    click.echo(host.block(launch))
    note(f"For {host.label}, this goes into {host.where}.")
    if host.add is not None:
        given = {"--provider-url": provider_url, "--by": transport, "--cache-root": cache_root}
        same = [part for name, value in given.items() if value for part in (name, value)]
        note(f"Or let the program do it: {shlex.join(['pdpp', 'mcp', 'install', client, *same])}")
    _note_if_not_connected(launch, provider_url, cache_root)


def _launch(
    host: AgentHost, provider_url: str, transport: str | None, cache_root: str | None
) -> Launch:
    # A host has another environment and starts the program in another folder.
    options = open_cache(cache_root, os.environ, provider_url).root_option()
    if transport is None:
        return usual(provider_url, options, remote=host.remote)
    if transport == "program":
        return by_program(provider_url, options)
    if not host.remote:
        raise click.UsageError(
            f"{host.label} cannot connect to an address; leave --by out",
            click.get_current_context(),
        )
    return by_address(provider_url)


def _note_if_not_connected(launch: Launch, provider_url: str, cache_root: str | None) -> None:
    """Say how the program that a host starts gets a credential; at an address the agent asks."""
    cache = open_cache(cache_root, os.environ, provider_url)
    if launch.url is None and provider_url not in _connected(cache):
        note(f"Before the agent starts it, run: {cache.connect_command(provider_url)}")


def _explain_chatgpt(provider_url: str) -> None:
    """Print the address to enter in ChatGPT, or what is missing until there is one."""
    if not provider_url.startswith("https://") or not is_on_internet(provider_url):
        raise click.ClickException(
            f"ChatGPT connects from the internet and needs a public https address; {provider_url} "
            "is none. Publish the server (docs/how-to/remote-access.md tells how), then: "
            "pdpp mcp config chatgpt --provider-url https://YOUR-ADDRESS"
        )
    click.echo(f"{provider_url}/mcp")
    note("In ChatGPT: Settings, Connectors, Create; give this address and choose OAuth.")


@mcp.command(
    short_help="Add this server to CLIENT with the client's own command.",
    epilog=examples(*(f"pdpp mcp install {client}" for client in INSTALLED)),
)
@click.argument("client", type=click.Choice(CLIENTS), metavar="CLIENT")
@_provider_option
@_by_option
@_root_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def install(
    client: str, provider_url: str, transport: str | None, cache_root: str | None, yes: bool
) -> None:
    """Add this server to CLIENT with the client's own command, for every folder of this user.

    The command is shown before it runs. pdpp mcp uninstall CLIENT undoes it.
    """
    if client == CHATGPT:
        _explain_chatgpt(provider_url)
        return
    host = HOSTS[client]
    if host.add is None:
        raise click.ClickException(
            f"{host.label} has no command that adds a server; paste what pdpp mcp config {client} "
            f"prints into {host.where}"
        )
    launch = _launch(host, provider_url, transport, cache_root)
    _run(host, host.add(launch), yes=yes)
    _note_if_not_connected(launch, provider_url, cache_root)


@mcp.command(epilog=examples(*(f"pdpp mcp uninstall {client}" for client in INSTALLED)))
@click.argument("client", type=click.Choice(CLIENTS), metavar="CLIENT")
@click.option("--yes", is_flag=True, help="Do not ask.")
def uninstall(client: str, yes: bool) -> None:
    """Remove this server from CLIENT with the client's own command."""
    host = HOSTS.get(client)
    if host is None or not host.remove:
        label, where = (
            (client, "its settings") if host is None else (host.label, host.added_to or host.where)
        )
        raise click.ClickException(
            f"{label} has no command that removes a server; take pdpp out of {where}"
        )
    _run(host, list(host.remove), yes=yes)


def _run(host: AgentHost, command: list[str], *, yes: bool) -> None:
    """Show a client's own command, ask, and run it; its exit code becomes ours."""
    join = subprocess.list2cmdline if sys.platform == "win32" else shlex.join
    note(f"{host.label}'s own command:\n  {join(command)}")
    program = shutil.which(command[0])
    if program is None:
        raise click.ClickException(
            f"{command[0]} is not on the PATH; install {host.label} first, or run the command "
            "above where it is"
        )
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("Say --yes to run it without being asked.")
        click.confirm("Run it?", default=True, abort=True, err=True)
    # The command is ours, from the table of hosts, and was shown; no shell is between.
    code = subprocess.run([program, *command[1:]], check=False).returncode  # noqa: S603
    if code:
        raise click.ClickException(f"{command[0]} ended with exit code {code}")
