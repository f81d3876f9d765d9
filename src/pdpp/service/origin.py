"""The public origin: under which address a request reached this server, and who sent it.

The configured address always wins. Without one, the word of a trusted proxy is taken, and of
nobody else. On the loopback interface every name of it is ours, because people type either.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from starlette.types import Scope

from pdpp.service.headers import headers_of
from pdpp.service.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
UNKNOWN = "unknown"
_HOST = re.compile(r"([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?\Z")
_PAIR = re.compile(r'(host|proto)="?([^",;]+)"?', re.IGNORECASE)


def public_origin(
    scope: Scope, settings: Settings, headers: Mapping[str, str] | None = None
) -> str:
    """Return the address under which the caller knows this server.

    ``headers`` are those of the request, where they have been read already.
    """
    if settings.public:
        return settings.origin
    headers = headers_of(scope) if headers is None else headers
    if from_proxy(scope, settings):
        return _forwarded(headers) or settings.origin
    host = headers.get("host", "")
    return f"http://{host}" if _is_another_name(host, settings.origin) else settings.origin


def from_proxy(scope: Scope, settings: Settings) -> bool:
    """Tell whether a request was handed on by a proxy that is trusted."""
    return _trusted(_peer(scope), settings)


def sender(scope: Scope, settings: Settings) -> str:
    """Return the address a request comes from, as far back as trusted proxies tell."""
    address = _peer(scope)
    forwarded_for = headers_of(scope).get("x-forwarded-for", "")
    # From the nearest hop backwards, and only as long as a trusted proxy vouches: whatever stands
    # left of the first stranger is that stranger's word.
    for earlier in reversed([part.strip() for part in forwarded_for.split(",") if part.strip()]):
        if not _trusted(address, settings):
            break
        address = earlier
    return address


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else UNKNOWN


def _trusted(address: str, settings: Settings) -> bool:
    if not settings.trusted_proxies:
        return False
    try:
        # Behind the percent sign stands the interface of a link-local address.
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    # A listener for both families sees IPv4 callers as ::ffff:a.b.c.d; networks are written either
    # way.
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return any(parsed in network for network in _networks(settings.trusted_proxies))


@lru_cache(maxsize=8)
def _networks(names: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(name, strict=False) for name in names)


def _forwarded(headers: Mapping[str, str]) -> str | None:
    """Return the origin that a trusted proxy names; the nearest one wrote last."""
    forwarded = dict(_PAIR.findall(headers.get("forwarded", "").lower().rpartition(",")[2]))
    scheme = _last(headers.get("x-forwarded-proto")) or forwarded.get("proto")
    host = (
        _last(headers.get("x-forwarded-host")) or forwarded.get("host") or headers.get("host", "")
    )
    if scheme not in ("http", "https") or not _HOST.match(host):
        return None
    default = {"http": ":80", "https": ":443"}[scheme]
    return f"{scheme}://{host.lower().removesuffix(default)}"


def _last(value: str | None) -> str:
    return (value or "").rpartition(",")[2].strip()


def _is_another_name(host: str, origin: str) -> bool:
    """Tell whether a host is a loopback name with the very port this server listens on."""
    own, _, port = urlsplit(origin).netloc.rpartition(":")
    name, _, asked = host.lower().rpartition(":")
    # The port too: another program on this machine listens on another port of the same names.
    return own in LOOPBACK and name in LOOPBACK and asked == port
