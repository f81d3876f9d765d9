"""Connecting: a credential for a provider goes into the cache, tried before it is kept."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import click

from pdpp.cli.options import examples
from pdpp.cli.output import show
from pdpp.credentials import (
    Cache,
    Credential,
    CredentialError,
    cache_folder,
    document_of,
    is_token,
    provider_origin,
)
from pdpp.mcp.client import ResourceClient
from pdpp.mcp.transport import Network

_LONGEST = 4_096


def provider(text: str) -> str:
    """Return a provider's address in the form it is kept under."""
    try:
        return provider_origin(text)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


@click.command(
    epilog=examples(
        "pdpp connect http://127.0.0.1:7377 --token-file token.txt",
        "pdpp grant create … --json | jq -r .client_token | "
        "pdpp connect http://127.0.0.1:7377 --token-file -",
        "pdpp connect --list",
        "pdpp connect https://data.example.org --forget",
    )
)
@click.argument("provider_url", type=provider, required=False)
@click.option(
    "--token-file",
    type=click.File("r", encoding="utf-8"),
    metavar="FILE",
    help="Read the token of a grant from a file, or from standard input with -.",
)
@click.option("--list", "list_all", is_flag=True, help="Show what is connected.")
@click.option("--forget", is_flag=True, help="Remove the credential for the provider.")
@click.option("--cache-root", metavar="DIR", help="Folder of the cache; PDPP_CACHE_ROOT too.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def connect(
    provider_url: str | None,
    token_file: Any,
    list_all: bool,
    forget: bool,
    cache_root: str | None,
    as_json: bool,
) -> None:
    """Keep a grant's token for a provider, so that agents and you can read there."""
    cache = Cache(cache_folder(cache_root, os.environ, provider_url))
    if list_all:
        found = [document_of(credential) for credential in cache.providers()]
        show(found, [_line(c) for c in cache.providers()] or ["Nothing."], as_json=as_json)
        return
    if provider_url is None:
        raise click.UsageError("Which provider? Give its address")
    if forget:
        gone = cache.forget(provider_url)
        line = "Forgotten." if gone else f"There was no credential for {provider_url}."
        show({"forgotten": gone}, [line], as_json=as_json)
        return
    credential, body = _try(provider_url, _token(token_file, provider_url))
    path = _store(cache, credential)
    show(document_of(credential), _told(credential, body, path), as_json=as_json)


def _token(source: Any, provider_url: str) -> str:
    if source is None:
        raise click.ClickException(
            "give the token of a grant with --token-file FILE, or - for standard input; make one "
            f"on the machine that serves {provider_url} with: pdpp grant create"
        )
    token: str = source.read(_LONGEST + 1).strip()
    if len(token) > _LONGEST or not is_token(token):
        raise click.ClickException("the file holds no token")
    return token


def _try(provider_url: str, token: str) -> tuple[Credential, dict[str, Any]]:
    """Ask the provider what the token opens."""
    network = Network(provider_url)
    try:
        answer = asyncio.run(ResourceClient(network, token).get(["schema"], {"view": "compact"}))
    finally:
        network.close()
    bearer = answer.body.get("bearer")
    facts = bearer if isinstance(bearer, dict) else {}
    credential = Credential(
        provider_url,
        token,
        str(facts.get("token_kind", "client")),
        grant_id=facts.get("grant_id"),
        client_id=facts.get("client_id"),
    )
    return credential, answer.body


def _store(cache: Cache, credential: Credential) -> Path:
    try:
        return cache.store(credential)
    except CredentialError as problem:
        sys.stderr.write(f"error: {problem}\n")
        raise click.exceptions.Exit(problem.exit_code) from None


def _line(credential: Credential) -> str:
    name = credential.grant_id or credential.package_id or credential.token_kind
    return f"{credential.provider_url}  {name}"


def _told(credential: Credential, body: dict[str, Any], path: Path) -> list[str]:
    connectors = [c for c in body.get("connectors", []) if isinstance(c, dict)]
    names = [
        str(connection.get("display_name") or connection.get("connection_id"))
        for connector in connectors
        for connection in connector.get("granted_connections", [])
    ]
    return [
        f"Connected to {credential.provider_url}; the credential is in {path}.",
        f"It opens {body.get('stream_count', 0)} streams of: {', '.join(names) or 'nothing'}.",
        "",
        "Let an agent read through it:",
        f"  pdpp mcp config claude-code --provider-url {credential.provider_url}",
    ]
