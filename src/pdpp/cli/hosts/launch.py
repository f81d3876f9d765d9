"""How an agent's host reaches the server: by starting this program, or at an address."""

import sys
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

NAME = "pdpp"
"""What the server is called in every host."""

_LOCAL_NAMES = (".local", ".localhost", ".internal", ".lan", ".home.arpa", ".test")
"""Endings of names that no server of the internet has."""


class Launch(NamedTuple):
    """The program a host starts with its arguments, or the address it connects to."""

    command: tuple[str, ...] = ()
    url: str | None = None

    @property
    def program(self) -> str:
        """Return the program alone."""
        return self.command[0]

    @property
    def arguments(self) -> list[str]:
        """Return what the program is started with."""
        return list(self.command[1:])


def own_command() -> list[str]:
    """Return how this very program is started from anywhere.

    Not the first ``pdpp`` on the PATH: that may be another one of the same name.
    """
    beside = Path(sys.executable).with_name("pdpp.exe" if sys.platform == "win32" else "pdpp")
    # -P: an agent starts it in a folder of strangers, of which no module is run.
    return [str(beside)] if beside.is_file() else [sys.executable, "-P", "-m", "pdpp"]


def by_program(provider_url: str, options: Sequence[str] = ()) -> Launch:
    """Return the launch through ``pdpp mcp``, which reads with the kept credential."""
    return Launch((*own_command(), "mcp", "--provider-url", provider_url, *options))


def by_address(provider_url: str) -> Launch:
    """Return the launch over HTTP, with the host's own login."""
    return Launch(url=f"{provider_url}/mcp")


def is_on_internet(provider_url: str) -> bool:
    """Tell whether an address may be reached from anywhere: no private one, no name of a LAN."""
    host = (urlsplit(provider_url).hostname or "").rstrip(".")
    try:
        return ip_address(host.partition("%")[0]).is_global
    except ValueError:
        return "." in host and not host.endswith(_LOCAL_NAMES)


def usual(provider_url: str, options: Sequence[str] = (), *, remote: bool) -> Launch:
    """Return the way that works without asking: by address where the server is on the internet."""
    if remote and provider_url.startswith("https://") and is_on_internet(provider_url):
        return by_address(provider_url)
    return by_program(provider_url, options)
