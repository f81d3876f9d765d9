"""Providers: which server a command reads, under which kept grant, and how a refusal is told."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TextIO, TypeVar, cast

import click

from pdpp.cli.options import OWNER_DATA, OWNER_FOLDER
from pdpp.cli.output import Refused
from pdpp.client.client import Client
from pdpp.credentials import (
    CredentialError,
    is_token,
    open_cache,
    provider_origin,
    refuse_owner_environment,
)
from pdpp.model.errors import PdppError
from pdpp.wire.answer import is_about_token

_LONGEST_TOKEN = 4_096
UNREACHABLE, OWNER, NOT_CONNECTED = 69, 77, 78

F = TypeVar("F", bound=Callable[..., Any])

_EXITS = {
    "server_unreachable": UNREACHABLE,
    "owner_token_refused": OWNER,
}
_CODES = {UNREACHABLE: "server_unreachable", OWNER: "owner_credential_refused"}
_FIXES = {
    "grant_stream_not_allowed": "pdpp read streams",
    "field_not_granted": "pdpp read schema STREAM",
    "unknown_field": "pdpp read schema STREAM",
    "invalid_filter": "pdpp read schema STREAM",
    "invalid_expand": "pdpp read schema STREAM",
    "invalid_cursor": "the same command without --cursor",
    "cursor_expired": "the same command with --changes-since beginning",
}


def sourced(function: F) -> F:
    """Give a command ``--provider``, ``--cache-root`` and, for the owner, ``--data``."""

    @wraps(function)
    def run(*, data: Path | None, **given: Any) -> Any:
        context = click.get_current_context()
        data = data or context.meta.get(OWNER_DATA)
        if data is not None and (given.get("provider") or given.get("cache_root")):
            raise click.UsageError("--data reads a folder of yours; leave --provider out", context)
        # The commands that an answer shows carry what this one was given, wherever it stood.
        context.params["data"] = context.meta[OWNER_DATA] = data
        return function(**given)

    return cast(F, granted(OWNER_FOLDER(run)))


def granted(function: F) -> F:
    """Give a command ``--provider`` and ``--cache-root``."""
    provider = click.option(
        "--provider",
        metavar="URL",
        help="The server to read. Default: PDPP_PROVIDER_URL, or the only one connected.",
    )
    root = click.option(
        "--cache-root", metavar="DIR", help="Folder of the cache. Or set PDPP_CACHE_ROOT."
    )
    return provider(root(function))


@contextmanager
def connected(provider: str | None, cache_root: str | None) -> Iterator[Client]:
    """Open the server that a command reads; explain a refusal with the command that helps."""
    data = click.get_current_context().meta.get(OWNER_DATA)
    if data is not None:
        from pdpp.cli.reading.local import local_client

        with mending(None), local_client(data) as client:
            yield client
        return
    with mending(None):
        refuse_owner_environment(os.environ)
        url = _chosen(provider, cache_root)
        cache = open_cache(cache_root, os.environ, url)
        with (
            mending(cache.connect_command(url)),
            Client.connected(url, cache_root=str(cache.root)) as client,
        ):
            yield client


def read_token(source: TextIO) -> str:
    """Return the token that a file holds."""
    token = source.read(_LONGEST_TOKEN + 1).strip()
    if len(token) > _LONGEST_TOKEN or not is_token(token):
        raise click.ClickException("the file holds no token")
    return token


@contextmanager
def keyed(provider: str, token: str) -> Iterator[Client]:
    """Open a server with a token that the caller holds, the owner's perhaps."""
    url = _origin(provider)
    with mending(f"pdpp connect {url}"), Client(url, token) as client:
        yield client


@contextmanager
def mending(connect_command: str | None) -> Iterator[None]:
    """Tell what a server or the cache refuses with the command that mends it."""
    try:
        yield
    except CredentialError as problem:
        raise _uncredited(problem) from None
    except PdppError as problem:
        raise refusal(problem, connect_command) from None


def _origin(text: str) -> str:
    try:
        return provider_origin(text)
    except ValueError as problem:
        raise click.UsageError(str(problem), click.get_current_context()) from None


def _chosen(provider: str | None, cache_root: str | None) -> str:
    named = provider or os.environ.get("PDPP_PROVIDER_URL")
    if named:
        return _origin(named)
    cache = open_cache(cache_root, os.environ, None)
    credentials = cache.providers()
    if not credentials:
        command = cache.connect_command("URL")
        raise CredentialError(f"not connected to any server; run: {command}")
    if len(credentials) > 1:
        names = ", ".join(credential.provider_url for credential in credentials)
        raise click.UsageError(
            f"Several servers are connected; choose with --provider: {names}",
            click.get_current_context(),
        )
    return credentials[0].provider_url


def _uncredited(problem: CredentialError) -> Refused:
    code = _CODES.get(problem.exit_code, "not_connected")
    what, _, fix = str(problem).partition("; ")
    error = {"code": code, "message": what if fix.startswith("run: ") else str(problem)}
    command = fix.removeprefix("run: ") if fix.startswith("run: ") else None
    return Refused(error, command, problem.exit_code)


def refusal(problem: PdppError, connect_command: str | None) -> Refused:
    """Return a server's error in words: its code, its message, and what to do."""
    error = dict(problem.body("")["error"])
    if not error.get("request_id"):
        error.pop("request_id", None)
    return Refused(error, _fix(problem, connect_command), _exit_code(problem))


def _exit_code(problem: PdppError) -> int:
    """Return how the program ends; other servers have codes of their own for a token that ended."""
    return _EXITS.get(problem.code) or (NOT_CONNECTED if is_about_token(problem) else 1)


def _fix(problem: PdppError, connect_command: str | None) -> str | None:
    if _exit_code(problem) in (OWNER, NOT_CONNECTED) and connect_command is not None:
        return connect_command
    choices = problem.detail.get("available_connections")
    if isinstance(choices, list):
        return " or ".join(_choice(choice) for choice in choices if isinstance(choice, Mapping))
    if isinstance(problem.detail.get("blob_id"), str):
        return f"pdpp read blob {problem.detail['blob_id']} -o FILE"
    fix = _FIXES.get(problem.code)
    return None if fix is None else fix.replace("STREAM", _stream())


def _stream() -> str:
    """Return the stream that the command is about, where it names one."""
    named = click.get_current_context().params.get("stream")
    return named if isinstance(named, str) else "STREAM"


def _choice(choice: Mapping[str, Any]) -> str:
    return f"--connection {choice.get('connection_id')} ({choice.get('display_name')})"
