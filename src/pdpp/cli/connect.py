"""Connecting: a credential for a provider goes into the cache, tried before it is kept."""

import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.output import note, show
from pdpp.cli.progress import Progress
from pdpp.cli.reading.provider import mending, read_token
from pdpp.credentials import (
    Cache,
    Credential,
    CredentialError,
    document_of,
    open_cache,
    provider_origin,
)
from pdpp.evidence.fence import visible

if TYPE_CHECKING:
    from pdpp.client.result import Schema

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")
_NONE = "No server is connected. To connect one: pdpp connect URL"


def provider(text: str) -> str:
    """Return a provider's address in the form it is kept under."""
    try:
        return provider_origin(text)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


@click.command(
    epilog=examples(
        "pdpp connect http://127.0.0.1:7377",
        "pdpp connect https://data.example.org --no-browser",
        "pdpp connect http://127.0.0.1:7377 --token-file token.txt",
        "pdpp connect --list",
        "pdpp connect https://data.example.org --forget",
        codes=REMOTE_CODES,
    )
)
@click.argument("provider_url", type=provider, required=False)
@click.option(
    "--browser/--no-browser",
    default=None,
    help="Approve in this machine's browser, or with a code in any browser. Default: the browser "
    "where there is a screen.",
)
@click.option(
    "--token-file",
    type=click.File("r", encoding="utf-8"),
    metavar="FILE",
    help="Read the token of a grant from a file, or from standard input with -.",
)
@click.option("--again", is_flag=True, help="Ask for a new approval even if there is one.")
@click.option("--list", "list_all", is_flag=True, help="Show what is connected.")
@click.option("--forget", is_flag=True, help="Revoke and delete the credential for the provider.")
@click.option("--cache-root", metavar="DIR", help="Folder of the cache. Or set PDPP_CACHE_ROOT.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def connect(
    provider_url: str | None,
    browser: bool | None,
    token_file: Any,
    again: bool,
    list_all: bool,
    forget: bool,
    cache_root: str | None,
    as_json: bool,
) -> None:
    """Ask a provider's owner for a grant, so that agents and you can read there.

    The owner approves in a browser; the credential is kept for this user alone. Run it again to
    renew a credential that has ended.
    """
    cache = open_cache(cache_root, os.environ, provider_url)
    if list_all:
        documents = [document_of(credential) for credential in cache.providers()]
        show(documents, [_line(c) for c in cache.providers()] or [_NONE], as_json=as_json)
        return
    if provider_url is None:
        raise click.UsageError("Give the address of the server, such as http://127.0.0.1:7377")
    if forget:
        _forget(cache, provider_url, as_json)
        return
    command = cache.connect_command(provider_url)
    with mending(command):
        if token_file is not None:
            candidate = Credential(provider_url, read_token(token_file), "client")
        else:
            usable = None if again else _kept(cache, provider_url)
            candidate = usable or _enrol(provider_url, command, browser)
        credential, schema = _try(candidate)
        path = cache.store(credential)
    lines = [
        f"Connected to {provider_url}; the credential is in {path}.",
        *(_opened(schema) or ["It opens nothing yet."]),
        *_next_lines(provider_url, cache.root_option()),
    ]
    show(document_of(credential), lines, as_json=as_json)


def _forget(cache: Cache, provider_url: str, as_json: bool) -> None:
    """Take a credential out of the cache, and tell the provider that it is given up."""
    from pdpp.enrolment.revocation import give_up

    revoked = give_up(cache, provider_url)
    gone = cache.forget(provider_url)
    line = "Forgotten." if gone else f"There was no credential for {provider_url}."
    if gone and not revoked:
        line += " The provider was not told; its owner can revoke the grant there."
    show({"forgotten": gone, "revoked": revoked}, [line], as_json=as_json)


def _kept(cache: Cache, provider_url: str) -> Credential | None:
    """Return the credential that is there, renewed, where it still opens something."""
    from pdpp.wire.bearer import RenewedBearer

    try:
        credential = cache.load(provider_url)
    except CredentialError:
        return None
    if credential.refresh_token is not None and not RenewedBearer(cache, credential).renew(
        credential.token
    ):
        return None
    credential = cache.load(provider_url)
    return credential if _opens(credential) else None


def _opens(credential: Credential) -> bool:
    from pdpp.model.errors import PdppError

    try:
        _try(credential)
    except PdppError as problem:
        if problem.status in (401, 403):
            return False
        raise
    return True


def _enrol(provider_url: str, command: str, browser: bool | None) -> Credential:
    """Get a new credential from the provider's owner."""
    from pdpp.enrolment.provider import discover
    from pdpp.enrolment.registration import register

    endpoints = discover(provider_url, command)
    client_id = register(endpoints)
    seen = _has_screen() if browser is None else browser
    if seen and endpoints.authorization_endpoint is not None:
        from pdpp.enrolment.browser import enrol_by_browser

        return enrol_by_browser(endpoints, client_id, _open)
    from pdpp.enrolment.device import ask_code, await_approval

    code = ask_code(endpoints, client_id)
    note(f"Open {visible(code.address, lines=False)} in a browser and type this code:")
    note(f"\n    {visible(code.user_code, lines=False)}\n")
    if code.address_with_code is not None:
        note(f"or open {visible(code.address_with_code, lines=False)}")
    note("Waiting for the owner to approve. Ctrl-C gives up.")
    with Progress("") as progress:
        return await_approval(
            endpoints,
            client_id,
            code,
            lambda left: progress.say(lambda: f"{left:.0f} seconds left"),
        )


def _has_screen() -> bool:
    """Tell whether a browser that is opened here would be seen by the person who runs this."""
    if not sys.stderr.isatty() or "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, _SCREENS))


def _open(address: str) -> None:
    import webbrowser

    note("Approve in your browser; if no page opens, open this address yourself:")
    note(f"\n    {visible(address, lines=False)}\n")
    note("Waiting for the owner to approve. Ctrl-C gives up.")
    webbrowser.open(address)


def _try(candidate: Credential) -> tuple[Credential, "Schema"]:
    """Ask the provider what a credential opens."""
    from pdpp.client.client import Client

    with Client(candidate.provider_url, candidate.token) as client:
        schema = client.schema()
    credential = candidate._replace(
        token_kind=schema.token_kind or candidate.token_kind,
        grant_id=schema.bearer.grant_id,
        package_id=schema.bearer.package_id,
        client_id=candidate.client_id or schema.bearer.client_id,
    )
    return credential, schema


def _line(credential: Credential) -> str:
    name = credential.grant_id or credential.package_id or credential.token_kind
    return f"{credential.provider_url}  {name}"


def _next_lines(url: str, root: Sequence[str]) -> list[str]:
    """Return what to do with a new credential; ``root`` is the option that finds it."""
    install = ["pdpp", "mcp", "install", "claude-code", "--provider-url", url, *root]
    return [
        "",
        "Look around:",
        f"  {shlex.join(['pdpp', 'read', 'streams', '--provider', url, *root])}",
        "Let an agent read through it:",
        f"  {shlex.join(install)}",
    ]


def _opened(schema: "Schema") -> list[str]:
    """Return what a grant opens, a line for each connection."""
    streams: dict[str, list[str]] = {id: [] for id in schema.connections}
    for stream in schema.streams:
        for id in stream.record_counts:
            streams.setdefault(id, []).append(stream.name)
    lines = [f"  {schema.connections.get(id, id)}: {', '.join(n)}" for id, n in streams.items()]
    lines += [f"  {stream.name}" for stream in schema.streams if not stream.record_counts]
    return [visible(line, lines=False) for line in lines]
