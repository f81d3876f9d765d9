"""The MCP kernel: one dispatch for both transports and both protocol eras."""

import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pdpp.mcp.kernel import protocol, rpc
from pdpp.mcp.kernel.rpc import INVALID_PARAMS, JsonObject, RequestId, RpcError, RpcRequest

FIXED_TTL_MS = 300_000


NEVER = threading.Event()
"""For requests that nobody cancels, or whose cancellation ends their coroutine."""


class Context(NamedTuple):
    """What a handler may know about its request; ``principal`` is the transport's own value."""

    request_id: RequestId
    principal: Any
    protocol_version: str
    client_capabilities: Mapping[str, Any]
    cancelled: threading.Event

    @property
    def modern(self) -> bool:
        """Whether the request belongs to the era without a handshake."""
        return self.protocol_version in protocol.MODERN_VERSIONS


class ServerInfo(NamedTuple):
    """How the server names itself."""

    name: str
    version: str
    title: str | None = None
    icons: Sequence[JsonObject] = ()

    def as_json(self) -> JsonObject:
        """Return the ``Implementation`` object of the protocol."""
        return {name: value for name, value in self._asdict().items() if value}


class Tool(NamedTuple):
    """A tool: its name, its definition without the name, and the coroutine that runs it."""

    name: str
    definition: JsonObject
    call: Callable[[JsonObject, Context], Awaitable[JsonObject]]


class Surface(NamedTuple):
    """What a client is told before it calls anything."""

    instructions: str
    tools: Sequence[JsonObject]


class UnknownResource(Exception):
    """A resource address that names nothing the caller may read."""


class ResourceProvider(Protocol):
    """Where resources come from."""

    async def list(self, context: Context, /) -> Sequence[JsonObject]: ...

    def templates(self) -> Sequence[JsonObject]: ...

    async def read(self, uri: str, context: Context, /) -> Sequence[JsonObject]: ...


class Kernel:
    """Answers MCP messages; holds no state between them."""

    def __init__(
        self,
        server: ServerInfo,
        tools: Sequence[Tool],
        resources: ResourceProvider | None = None,
        instructions: str = "",
        describe: Callable[[Context], Awaitable[Surface]] | None = None,
    ) -> None:
        """Take the parts; ``describe`` tells each caller of its own tools where that differs."""
        surface = Surface(instructions, [{"name": t.name, **t.definition} for t in tools])

        async def described(_: Context) -> Surface:
            return surface

        self._resources, self._describe = resources, describe or described
        self._tools = {tool.name: tool for tool in tools}
        self._server = server.as_json()
        self._capabilities: JsonObject = {"tools": {}, "prompts": {}}
        self._fixed: dict[str, JsonObject] = {"prompts/list": {"prompts": []}}
        if resources is not None:
            self._capabilities["resources"] = {}
            templates = list(resources.templates())
            self._fixed["resources/templates/list"] = {"resourceTemplates": templates}

    async def handle(
        self,
        message: object,
        *,
        headers: protocol.Headers | None = None,
        principal: object = None,
        cancelled: threading.Event = NEVER,
    ) -> JsonObject | None:
        """Answer one message; a notification and a response get None.

        ``headers`` are an HTTP request's, by lower-case name; a transport without any passes None.
        ``cancelled`` is set when nobody waits for the answer any more.
        """
        try:
            request = rpc.read(message)
            if request is None:
                protocol.check_version_header(headers or {})
                return None
        except RpcError as error:
            return error.answer()
        try:
            version, capabilities = protocol.revision(request, headers)
            context = Context(request.id, principal, version, capabilities, cancelled)
            result = await self._dispatch(request, context)
            if context.modern:
                result = {"resultType": "complete", **_freshness(request.method), **result}
            return rpc.success(request.id, result)
        except RpcError as error:
            return error.answer(request.id)
        # Its words may name what the caller may not see, so they go to the log and not into the
        # answer.
        except Exception:  # noqa: BLE001 - it is logged
            rpc.log_fault("request %r failed in %s", request.id, request.method)
            return rpc.internal(request.id)

    async def _dispatch(self, request: RpcRequest, context: Context) -> JsonObject:
        if request.method.endswith("/list") and request.params.get("cursor") is not None:
            raise RpcError(INVALID_PARAMS, "Unknown cursor: every list is one page")
        if request.method in self._fixed:
            return self._fixed[request.method]
        match request.method:
            case "tools/call":
                return await self._call_tool(request.params, context)
            case "tools/list":
                return {"tools": (await self._describe(context)).tools}
            case "resources/list" if self._resources is not None:
                return {"resources": list(await self._resources.list(context))}
            case "resources/read" if self._resources is not None:
                return await _read(self._resources, _text(request.params, "uri"), context)
            case "initialize" if not context.modern:
                version = protocol.negotiate(request.params.get("protocolVersion"))
                about = {"protocolVersion": version, "serverInfo": self._server}
                return {**about, **await self._about(context)}
            case "ping" if not context.modern:
                return {}
            case "server/discover" if context.modern:
                versions = {"supportedVersions": list(protocol.MODERN_VERSIONS)}
                meta = {"_meta": {protocol.META_SERVER: self._server}}
                return {**versions, **await self._about(context), **meta}
        raise RpcError(rpc.METHOD_NOT_FOUND, f"Method not found: {_seen(request.method)}")

    async def _call_tool(self, params: JsonObject, context: Context) -> JsonObject:
        name = _text(params, "name")
        arguments = params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "arguments must be an object")
        if name not in self._tools:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {_seen(name)}")
        return await self._tools[name].call(arguments, context)

    async def _about(self, context: Context) -> JsonObject:
        """Return what both eras open with."""
        instructions = (await self._describe(context)).instructions
        described = {"instructions": instructions} if instructions else {}
        return {"capabilities": self._capabilities, **described}


async def _read(resources: ResourceProvider, uri: str, context: Context) -> JsonObject:
    try:
        return {"contents": list(await resources.read(uri, context))}
    except UnknownResource:
        code = INVALID_PARAMS if context.modern else protocol.LEGACY_RESOURCE_NOT_FOUND
        raise RpcError(code, "Resource not found", {"uri": uri}) from None


def _text(params: JsonObject, key: str) -> str:
    value = params.get(key)
    if not isinstance(value, str):
        raise RpcError(INVALID_PARAMS, f"{key} is required and must be a string")
    return value


def _seen(name: str) -> str:
    """Return a name that a caller sent, short and with every character to be seen."""
    return ascii(name[:80])


def _freshness(method: str) -> JsonObject:
    """Return how long the era without a handshake may keep a result."""
    if method in ("resources/list", "resources/read"):
        # A grant can be revoked at any time, and no cache may outlive that.
        return {"ttlMs": 0, "cacheScope": "private"}
    if method.endswith("/list") or method == "server/discover":
        return {"ttlMs": FIXED_TTL_MS, "cacheScope": "private"}
    return {}
