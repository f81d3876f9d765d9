"""Client documents: an https address as a client id, whose document says who the client is.

The address is a stranger's choice, so it is fetched with care: every address the name resolves to
must be public, the connection goes to the very address that was checked, nothing is followed, and
size and time are bounded.
"""

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

import orjson

from pdpp.authz.client_metadata import Description, read_metadata
from pdpp.model.errors import OAuthError
from pdpp.wire.http import HttpClient, HttpLimits, HttpReply, Unreachable

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_LONGEST = 1_024
_URL = re.compile(r"https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?(/[!-~]*)\Z", re.IGNORECASE)
_FORBIDDEN = re.compile(r"[?#\\@<>\"]|%2f|%5c|//|/\.{1,2}(/|\Z)", re.IGNORECASE)
_NUMBER = re.compile(r"(\d+|0x[0-9a-f]*)\Z", re.IGNORECASE)
_TRANSLATED = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Tell whether an address is on the open internet, whatever it is wrapped in."""
    parsed: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        # An IPv4 address can travel inside an IPv6 one in four ways. Each is unwrapped and judged,
        # or refused, so that no spelling of an address inside the house passes for a public one.
        if parsed.teredo is not None:
            return False
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if parsed in _TRANSLATED:
            inner = IPv4Address(int(parsed) & 0xFFFF_FFFF)
        if inner is not None:
            parsed = inner
    return parsed.is_global and not (parsed.is_multicast or parsed.is_reserved)


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host."""
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in entries]


@cache
def _usual_context() -> ssl.SSLContext:
    # Made with the first fetch: it reads every certificate authority this machine knows.
    return ssl.create_default_context()


@dataclass(frozen=True, slots=True)
class DocumentFetcher:
    """Fetches client documents, a few at a time."""

    resolve: Resolve = resolve
    allowed: Callable[[str], bool] = is_public
    context: Callable[[], ssl.SSLContext] = _usual_context
    seconds: float = 5.0
    most_bytes: int = 32 << 10
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(4))

    async def fetch(self, client_id: str) -> Description:
        """Return what the document of a client says of it."""
        parts = _checked(client_id)
        host = str(parts.hostname)
        try:
            async with self.turns:
                reply = await asyncio.wait_for(self._get(client_id, parts), self.seconds)
        except Unreachable as problem:
            raise _unfetched(host, problem.cause) from None
        except TimeoutError:
            raise _unfetched(host, "it did not answer in time") from None
        except (OSError, UnicodeError):
            raise _unfetched(host, "there is no such name") from None
        return _read(client_id, host, reply)

    async def _get(self, client_id: str, parts: SplitResult) -> HttpReply:
        addresses = await self.resolve(str(parts.hostname), parts.port or 443)
        # All of them, not the first: the name may be made to lead to a public and a private address
        # in turn (DNS rebinding).
        if not addresses or not all(self.allowed(address) for address in addresses):
            raise _unfetched(str(parts.hostname), "it is not at a public address")
        http = HttpClient(HttpLimits(self.seconds, self.most_bytes), trust=self.context)
        headers = {"Accept": "application/json", "User-Agent": "pdpp-server"}
        # In a thread: the client blocks, but never longer than its limits. It connects to the
        # address that was judged; a second look at the name could give another.
        return await asyncio.to_thread(
            http.request, "GET", client_id, headers, address=addresses[0]
        )


def _checked(client_id: str) -> SplitResult:
    if len(client_id) > _LONGEST or not _URL.match(client_id):
        raise _refuse("is not at a plain https address with a path")
    parts = urlsplit(client_id)
    beyond = client_id.removeprefix("https://")
    if parts.path == "/" or _FORBIDDEN.search(beyond) or _is_number(str(parts.hostname)):
        raise _refuse("is not at a plain https address with a path")
    try:
        _ = parts.port
    except ValueError:
        raise _refuse("is not at a plain https address with a path") from None
    return parts


def _is_number(host: str) -> bool:
    """Tell whether a host is an address in one of its many spellings, and not a name."""
    return "." not in host or _NUMBER.match(host.rpartition(".")[2]) is not None


def _read(client_id: str, host: str, reply: HttpReply) -> Description:
    if reply.status != 200:
        raise _unfetched(host, f"it answered with status {reply.status}")
    # A compressed answer of a few bytes could unfold to gigabytes.
    if reply.headers.get("content-encoding", "identity") != "identity":
        raise _unfetched(host, "its answer is compressed")
    media_type = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise _unfetched(host, "it answered with something else than JSON")
    try:
        document = orjson.loads(reply.body)
    except orjson.JSONDecodeError:
        raise _unfetched(host, "its answer is not JSON") from None
    # The document must name its own address; else anybody could present another client's document
    # under an address of their own.
    if not isinstance(document, dict) or document.get("client_id") != client_id:
        raise _refuse(f"at {host} names another client_id")
    if document.get("token_endpoint_auth_method", "none") != "none" or "client_secret" in document:
        raise _refuse(
            f"at {host} asks for client authentication, and only public clients are served"
        )
    return read_metadata(document)


def _unfetched(host: str, reason: str) -> OAuthError:
    return _refuse(f"cannot be fetched from {host}: {reason}")


def _refuse(problem: str) -> OAuthError:
    return OAuthError(f"The client's document {problem}.", error="invalid_client")
