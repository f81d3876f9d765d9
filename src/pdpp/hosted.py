"""The hosted MCP endpoint: bearers are admitted here, then the adapter reads ``/v1`` in process."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

import orjson

from pdpp.authz.principal import Gate, Principal
from pdpp.evidence.budget import json_length
from pdpp.mcp import rpc
from pdpp.mcp.client import Codec, ResourceClient
from pdpp.mcp.facts import Facts
from pdpp.mcp.http import Endpoint, Refusal, Scope
from pdpp.mcp.kernel import Context
from pdpp.mcp.reading import Child, Reading
from pdpp.mcp.server import make_kernel
from pdpp.mcp.transport import App, InProcess
from pdpp.model.errors import AuthenticationError, OwnerTokenRefused, PdppError
from pdpp.model.instant import Clock
from pdpp.resource.endpoint import INNER, Service

MCP_PATH = "/mcp"
ICON_PATH = "/icon.svg"
METADATA_PATH = "/.well-known/oauth-protected-resource"
SCOPE = "pdpp:read"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_MOST_REMEMBERED = 4_096


K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Visitor:
    """An admitted caller with the bearer that reads on its behalf."""

    bearer: str
    principal: Principal


class Memory(OrderedDict[K, V]):
    """Remembers as much as there is room for, and forgets the oldest."""

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > _MOST_REMEMBERED:
            self.popitem(last=False)


def hosted_endpoint(app: App, service: Service) -> Endpoint:
    """Return the endpoint that serves the six tools over an application's own ``/v1``."""
    origin = service.settings.origin
    transport = InProcess(app, origin, {INNER: True})
    memory: Memory[tuple[str, str, str], Facts] = Memory()

    def reading_of(context: Context) -> Reading:
        return make_reading(transport, memory, context.principal, service.clock)

    icons = [{"src": origin + ICON_PATH, "mimeType": "image/svg+xml", "sizes": ["any"]}]
    door = Door(service.gate, origin)
    return Endpoint(
        make_kernel(reading_of, icons),
        allowed_hosts={*(f"{name}:*" for name in _LOOPBACK), *_LOOPBACK, urlsplit(origin).netloc},
        allowed_origins={origin, *(f"http://{name}:*" for name in _LOOPBACK)},
        authenticate=door.admit,
        encode=_encode,
    )


class Door:
    """Admits bearers of grants and packages; sends the others to where they can get one."""

    def __init__(self, gate: Gate, origin: str) -> None:
        self._gate = gate
        self._origin = origin
        self._resources = {origin, origin + MCP_PATH}

    async def admit(self, scope: Scope) -> Visitor:
        """Return the visitor of a request, or refuse it."""
        headers = dict(scope["headers"])
        given = headers.get(b"authorization", b"").decode("latin-1")
        try:
            principal = self._gate.admit(given or None, resources=self._resources)
            if principal.is_owner:
                raise OwnerTokenRefused(
                    "Owner tokens are not for agents; connect with a grant of your own."
                )
        except PdppError as error:
            raise self._refusal(error) from None
        return Visitor(given.partition(" ")[2].strip(), principal)

    def _refusal(self, error: PdppError) -> Refusal:
        headers: dict[str, str] = {}
        if isinstance(error, AuthenticationError):
            metadata = f"{self._origin}{METADATA_PATH}{MCP_PATH}"
            error.detail["resource_metadata"] = metadata
            headers = {
                "www-authenticate": f'Bearer resource_metadata="{metadata}", scope="{SCOPE}"',
                "link": f'<{self._origin}{ICON_PATH}>; rel="icon"; type="image/svg+xml"',
            }
        return Refusal(error.status, error.body("mcp"), headers)


def make_reading(
    transport: InProcess,
    memory: Memory[tuple[str, str, str], Facts],
    visitor: Visitor,
    clock: Clock,
) -> Reading:
    """Return a visitor's way to the records: one grant, or the grants of a package."""
    principal = visitor.principal
    client = ResourceClient(transport, visitor.bearer, codec=_CODEC)
    reading = Reading(client, memory, principal.binding)
    if principal.package is not None:
        now = clock()
        children = [
            child for found in principal.children if (child := _child(found, now)) is not None
        ]
        reading.children = sorted(children, key=lambda c: (c.connector_key, c.connection_id))
        reading.client_of = lambda child: ResourceClient(
            transport, visitor.bearer, child.grant_id, _CODEC
        )
    return reading


def _child(principal: Principal, now: int) -> Child | None:
    child, problem = _facts(principal), principal.problem(now)
    return child if child is None or problem is None else child._replace(problem=problem.code)


@lru_cache(maxsize=1_024)
def _facts(principal: Principal) -> Child | None:
    """Return what a grant of a package opens, None where that is nothing."""
    if principal.grant is None or not principal.reaches:
        return None
    connection = principal.reaches[0].feed.connection
    return Child(
        principal.grant.id,
        connection.connection_id,
        connection.connector_key,
        connection.display_name,
        frozenset(reach.stream.name for reach in principal.reaches),
    )


def _encode(answer: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(answer)
    except TypeError:
        return rpc.encode(answer)


def _length(value: object) -> int:
    try:
        return len(orjson.dumps(value).decode())
    except TypeError:
        return json_length(value)


_CODEC = Codec(orjson.loads, _length)


def metadata(origin: str) -> Mapping[str, dict[str, Any]]:
    """Return the protected-resource documents by path."""
    shared = {"bearer_methods_supported": ["header"], "scopes_supported": [SCOPE]}
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
