"""The hosted MCP endpoint: bearers are admitted here, then the adapter reads ``/v1`` in process."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import orjson

from pdpp.authz.client_metadata import READ_SCOPE
from pdpp.authz.principal import Principal
from pdpp.disconnect import Receive
from pdpp.evidence.budget import json_length
from pdpp.mcp import exact_rpc
from pdpp.mcp.kernel import Context, Surface
from pdpp.mcp.kernel.http import HttpRefusal, McpEndpoint, Scope, Send
from pdpp.mcp.kernel.protocol import Headers
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.reading.field_facts import FieldFacts
from pdpp.mcp.reading.reader import ChildGrant, GrantReader
from pdpp.mcp.reading.resource_client import JsonCodec, ResourceClient
from pdpp.mcp.reading.stream_name import StreamName
from pdpp.mcp.reading.transport import App, InProcessTransport
from pdpp.mcp.server import make_kernel
from pdpp.mcp.tools.surface import surface_of
from pdpp.model.errors import AuthenticationError, OwnerTokenRefused, PdppError
from pdpp.service.challenge import METADATA_PATH, add_challenge
from pdpp.service.failure import explained
from pdpp.service.origin import LOOPBACK, from_proxy, public_origin
from pdpp.service.per_caller import PerCaller
from pdpp.service.service import INNER, Service
from pdpp.service.settings import Settings
from pdpp.store.numbers import read_answer, write_decimal

MCP_PATH = "/mcp"
ICON_PATH = "/icon.svg"
ORIGIN = "pdpp.origin"
"""The member of a request's scope that names the address a trusted proxy served."""

_MOST_REMEMBERED = 4_096
_CALLS_AT_ONCE = 4
"""How many messages of one caller are handled at once. Hundreds of them in a loop serve nobody."""

_MANY_STREAMS = 300
"""From here on it takes longer to find words for what a caller may read than others should wait."""

_MANY_GRANTS = 300
"""From here on it takes longer to look at the grants of a package than others should wait."""

log = logging.getLogger("pdpp.hosted")

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class HostedCaller:
    """An admitted caller with the bearer that reads on its behalf."""

    bearer: str
    principal: Principal
    origin: str = ""
    """The address under which the caller knows this server."""


class BoundedDict(OrderedDict[K, V]):
    """Remembers as much as there is room for, and forgets the oldest."""

    def __setitem__(self, key: K, value: V) -> None:
        # Keyed by what callers send (addresses, grants), so without a bound it would grow with
        # them.
        super().__setitem__(key, value)
        if len(self) > _MOST_REMEMBERED:
            self.popitem(last=False)


def hosted_endpoint(app: App, service: Service) -> App:
    """Return the endpoint that serves the six tools over an application's own ``/v1``."""
    origin = service.settings.origin
    transports: BoundedDict[str, InProcessTransport] = BoundedDict()
    memory: BoundedDict[tuple[str, str, str], FieldFacts] = BoundedDict()
    turns = PerCaller(lambda: asyncio.Semaphore(_CALLS_AT_ONCE))

    def reader_of(context: Context) -> GrantReader:
        caller: HostedCaller = context.principal
        transport = transports.get(caller.origin)
        if transport is None:
            transport = transports[caller.origin] = InProcessTransport(
                app, caller.origin, {INNER: True}
            )
        return make_reader(transport, memory, caller)

    icons: list[JsonObject] = [
        {"src": origin + ICON_PATH, "mimeType": "image/svg+xml", "sizes": ["any"]}
    ]
    kernel = make_kernel(reader_of, icons, _describe)

    async def handle(
        message: object, *, headers: Headers, principal: HostedCaller
    ) -> JsonObject | None:
        async with turns.of(principal.principal.approval_id):
            await _get_ready(principal.principal)
            return await kernel.handle(message, headers=headers, principal=principal)

    endpoint = McpEndpoint(
        handle,
        allowed_hosts={*(f"{name}:*" for name in LOOPBACK), *LOOPBACK, urlsplit(origin).netloc},
        allowed_origins={origin, *(f"http://{name}:*" for name in LOOPBACK)},
        authenticate=BearerAdmission(service).admit,
        parse=exact_rpc.parse,
        encode=_encode,
    )
    return ProxyRewrite(endpoint, service.settings)


class ProxyRewrite:
    """Hands on what a trusted proxy vouches for as if it had come to our own address."""

    def __init__(self, endpoint: App, settings: Settings) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._host = urlsplit(settings.origin).netloc.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if from_proxy(scope, self._settings):
            scope = {**scope, ORIGIN: public_origin(scope, self._settings)}
            scope["headers"] = [self._at_home(header, scope[ORIGIN]) for header in scope["headers"]]
        await self._endpoint(scope, receive, send)

    def _at_home(self, header: tuple[bytes, bytes], origin: str) -> tuple[bytes, bytes]:
        name, value = header
        if name == b"host":
            return name, self._host
        if name == b"origin" and value.decode("latin-1") == origin:
            return name, self._settings.origin.encode()
        return header


class BearerAdmission:
    """Admits bearers of grants and packages; sends the others to where they can get one."""

    def __init__(self, service: Service) -> None:
        origin = service.settings.origin
        self._service = service
        self._resources = {origin, origin + MCP_PATH}

    async def admit(self, scope: Scope, headers: Headers) -> HostedCaller:
        """Return the caller of a request, or refuse it."""
        given = headers.get("authorization", "")
        origin = scope.get(ORIGIN) or public_origin(scope, self._service.settings, headers)
        try:
            if self._service.gate.takes_long(given):
                await self._service.get_ready(given)
            # An owner token would show an agent everything without the owner's consent to any of
            # it.
            principal = self._service.gate.admit(given, resources=self._resources)
            if principal.is_owner:
                raise OwnerTokenRefused(
                    "Owner tokens are not for agents; connect with a grant of your own."
                )
        except PdppError as error:
            raise _refusal(error, origin, self._service.new_request_id()) from None
        except Exception as problem:  # noqa: BLE001 - whatever it is becomes an answer
            failure = explained(problem, self._service.store, log, "admission to the adapter")
            raise _refusal(failure, origin, self._service.new_request_id()) from None
        return HostedCaller(given.partition(" ")[2].strip(), principal, origin)


def _refusal(error: PdppError, origin: str, request_id: str) -> HttpRefusal:
    if isinstance(error, AuthenticationError):
        add_challenge(error, origin, MCP_PATH)
        error.headers["Link"] = f'<{origin}{ICON_PATH}>; rel="icon"; type="image/svg+xml"'
    headers = {name.lower(): value for name, value in error.headers.items()}
    return HttpRefusal(error.status, error.body(request_id), {"request-id": request_id, **headers})


def make_reader(
    transport: InProcessTransport,
    memory: BoundedDict[tuple[str, str, str], FieldFacts],
    caller: HostedCaller,
) -> GrantReader:
    """Return a caller's way to the records: one grant, or the grants of a package."""
    principal = caller.principal
    client = ResourceClient(transport, caller.bearer, codec=_CODEC)
    reader = GrantReader(client, memory, principal.binding)
    reader.names = partial(principal.once, _stream_names)
    if principal.package is not None:
        reader.children = principal.once(_children)
        reader.client_of = lambda child: ResourceClient(
            transport, caller.bearer, child.grant_id, _CODEC
        )
    return reader


async def _get_ready(principal: Principal) -> None:
    """Have the grants of a package looked at in a thread, where they are many."""
    if len(principal.children) > _MANY_GRANTS:
        await asyncio.to_thread(principal.once, _children)


async def _describe(context: Context) -> Surface:
    """Return what the tools of a caller are like; hosts list them before each turn."""
    caller: HostedCaller = context.principal
    principal = caller.principal
    if len(principal.reaches) > _MANY_STREAMS:
        return await asyncio.to_thread(principal.once, _surface)
    return principal.once(_surface)


def _surface(principal: Principal) -> Surface:
    surface = surface_of(principal.once(_stream_names))
    return surface._replace(tools=WrittenTools(surface.tools))


class WrittenTools(tuple[JsonObject, ...]):
    """The tools of a caller with their JSON, which is the same each time they are listed."""

    json: orjson.Fragment

    def __new__(cls, tools: Sequence[JsonObject]) -> "WrittenTools":
        """Write the tools once."""
        written = super().__new__(cls, tools)
        written.json = orjson.Fragment(orjson.dumps(tools))
        return written


def _stream_names(principal: Principal) -> list[StreamName]:
    """Return what the streams are called that a caller may read, without asking the store.

    A package is admitted as a caller that reaches what its grants open that are good now.
    """
    names = (
        StreamName(reach.feed.connection.connector_key, reach.stream.name, reach.stream.label or "")
        for reach in principal.reaches
    )
    return list(dict.fromkeys(names))


def _children(package: Principal) -> Sequence[ChildGrant]:
    """Return the grants of a package that open something, in order; it may have thousands."""
    pairs = zip(package.children, package.problems, strict=True)
    known = (_child(child, problem) for child, problem in pairs)
    return sorted(filter(None, known), key=lambda c: (c.connector_key, c.connection_id))


def _child(principal: Principal, problem: PdppError | None) -> ChildGrant | None:
    child = _facts(principal)
    return child if child is None or problem is None else child._replace(problem=problem.code)


def _facts(principal: Principal) -> ChildGrant | None:
    """Return what a grant of a package opens, None where that is nothing."""
    if principal.grant is None or not principal.reaches:
        return None
    connection = principal.reaches[0].feed.connection
    return ChildGrant(
        principal.grant.id,
        connection.connection_id,
        connection.connector_key,
        connection.display_name,
        frozenset(reach.stream.name for reach in principal.reaches),
    )


def _encode(answer: dict[str, Any]) -> bytes:
    try:
        # Many times faster than the standard encoder. It refuses integers over 64 bits and lone
        # surrogates, which the slow way then writes.
        return orjson.dumps(answer, default=_write)
    except TypeError:
        return exact_rpc.encode(answer)


def _write(value: object) -> orjson.Fragment:
    """Return what the encoder does not know as JSON."""
    return value.json if isinstance(value, WrittenTools) else write_decimal(value)


def _length(value: object) -> int:
    try:
        written = orjson.dumps(value, default=write_decimal)
        return len(written) if written.isascii() else len(written.decode())
    except TypeError:
        return json_length(value)


_CODEC = JsonCodec(read_answer, _length, asyncio.to_thread)


def metadata(origin: str) -> Mapping[str, dict[str, Any]]:
    """Return the protected-resource documents by path."""
    shared = {
        "authorization_servers": [origin],
        "bearer_methods_supported": ["header"],
        "scopes_supported": [READ_SCOPE],
    }
    return {
        METADATA_PATH: {
            "resource": origin,
            **shared,
            "pdpp_core_query_base": f"{origin}/v1",
            "pdpp_mcp_endpoint": origin + MCP_PATH,
        },
        METADATA_PATH + MCP_PATH: {
            "resource": origin + MCP_PATH,
            **shared,
            "pdpp_core_query_base": f"{origin}/v1",
            "pdpp_mcp_endpoint": origin + MCP_PATH,
            "pdpp_token_kinds_supported": ["client", "mcp_package"],
        },
    }
