"""``pdpp mcp``: the adapter on standard input and output, started as fast as it can be."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pdpp.credentials import (
    Cache,
    Credential,
    CredentialError,
    open_cache,
    provider_origin,
    refuse_owner_environment,
)

if TYPE_CHECKING:
    from pdpp.mcp.reading.reader import GrantReader

USAGE = 64
_OPTIONS = ("--provider-url", "--cache-root")
_COMMAND = "pdpp mcp --provider-url URL"
_HINT = f"{_COMMAND} [--cache-root DIR]; PDPP_PROVIDER_URL says the address too"


def serve_stdio(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Serve one client on the standard streams; return the exit code."""
    variables = os.environ if environment is None else environment
    try:
        cache, credential = _credential(_parse(arguments), variables)
    except ValueError as problem:
        return _refuse(f"{problem}; use: {_HINT}", _COMMAND, USAGE)
    except CredentialError as problem:
        return _refuse(str(problem), str(problem).rpartition("run: ")[2], problem.exit_code)
    _serve(cache, credential)
    return 0


def _parse(arguments: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name, joined, value = rest.pop(0).partition("=")
        if name not in _OPTIONS:
            raise ValueError(f"unknown option {name!r}")
        if not joined:
            if not rest:
                raise ValueError(f"{name} needs a value")
            value = rest.pop(0)
        given[name] = value
    return given


def _credential(given: Mapping[str, str], variables: Mapping[str, str]) -> tuple[Cache, Credential]:
    """Return the credential of the provider that is named, and the cache it is in."""
    address = given.get("--provider-url") or variables.get("PDPP_PROVIDER_URL")
    if not address:
        refuse_owner_environment(variables)
        raise ValueError("no provider address")
    provider = provider_origin(address)
    cache = open_cache(given.get("--cache-root"), variables, provider)
    refuse_owner_environment(variables, cache.connect_command(provider))
    credential = cache.load(provider)
    _check_end(cache, credential)
    return cache, credential


def _check_end(cache: Cache, credential: Credential) -> None:
    import time

    if credential.expired(time.time()) and credential.refresh_token is None:
        raise CredentialError(
            f"the token for {credential.provider_url} has expired; "
            f"run: {cache.connect_command(credential.provider_url)}"
        )


def _refuse(problem: str, command: str, code: int) -> int:
    """Say on both streams why nothing can be read and which command mends it."""
    sys.stderr.write(f"error: {problem}\n")
    if not sys.stdin.isatty():
        from pdpp.mcp.stdio import refuse

        refuse(problem, command, "usage" if code == USAGE else "not_connected")
    return code


def _serve(cache: Cache, credential: Credential) -> None:
    from pdpp.mcp.kernel import Context
    from pdpp.mcp.server import make_kernel
    from pdpp.mcp.stdio import run

    opened: list[GrantReader] = []

    def reader_of(context: Context) -> "GrantReader":
        if not opened:
            from pdpp.mcp.reading.network import network_reader

            opened.append(network_reader(cache, credential))
        return opened[0].until(context.cancelled)

    run(make_kernel(reader_of))
