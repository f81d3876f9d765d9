"""MCP revisions: which era a message belongs to, what its envelope must carry, its error codes.

The legacy era opens with an ``initialize`` handshake; the modern era has none, and every request
carries its revision and the client's capabilities in ``params._meta``.
"""

import binascii
from collections.abc import Mapping

from pdpp.mcp.kernel import rpc
from pdpp.mcp.kernel.rpc import INVALID_PARAMS, JsonObject, RpcError, RpcRequest

MODERN_VERSIONS = ("2026-07-28",)
LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
VERSION_WITHOUT_HEADER = "2025-03-26"

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER = "io.modelcontextprotocol/serverInfo"

HEADER_VERSION = "mcp-protocol-version"
HEADER_METHOD = "mcp-method"
HEADER_NAME = "mcp-name"

LEGACY_RESOURCE_NOT_FOUND = -32002
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

Headers = Mapping[str, str]

_NAMED_BY = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
_LEGACY_STATUS = dict.fromkeys((rpc.PARSE_ERROR, rpc.INVALID_REQUEST, UNSUPPORTED_VERSION), 400)
_REFUSED = dict.fromkeys((INVALID_PARAMS, HEADER_MISMATCH, MISSING_CAPABILITY), 400)
_MODERN_STATUS = _LEGACY_STATUS | _REFUSED | {rpc.METHOD_NOT_FOUND: 404}


def is_modern(method: object, params: object, headers: Headers | None) -> bool:
    """Say whether a message claims a revision without a handshake."""
    version = (headers or {}).get(HEADER_VERSION)
    # Any sign of the newer era counts, so that a message which mixes both is refused for what it
    # lacks and not read as the other one.
    named = method == "server/discover" or META_VERSION in _meta(params)
    return named or (version is not None and version not in LEGACY_VERSIONS)


def revision(request: RpcRequest, headers: Headers | None) -> tuple[str, JsonObject]:
    """Return the revision a request is read by, and the client capabilities it tells."""
    if is_modern(request.method, request.params, headers):
        return check_envelope(request, headers)
    return (headers or {}).get(HEADER_VERSION, VERSION_WITHOUT_HEADER), {}


def negotiate(requested: object) -> str:
    """Return the revision a handshake settles on: the client's own, else our newest."""
    if not isinstance(requested, str):
        raise RpcError(INVALID_PARAMS, "initialize needs protocolVersion, a string")
    return requested if requested in LEGACY_VERSIONS else LEGACY_VERSIONS[0]


def check_version_header(headers: Headers) -> None:
    """Refuse a revision header that names none of ours."""
    version = headers.get(HEADER_VERSION)
    if version is not None and version not in LEGACY_VERSIONS + MODERN_VERSIONS:
        raise unsupported(version)


def check_envelope(request: RpcRequest, headers: Headers | None) -> tuple[str, JsonObject]:
    """Check what every modern request carries; return its revision and client capabilities."""
    meta = _meta(request.params)
    # An unknown revision in the header is the better answer than a missing member, because it lists
    # the revisions that would do.
    if headers is not None and META_VERSION not in meta:
        check_version_header(headers)
    missing = [key for key in (META_VERSION, META_CAPABILITIES) if key not in meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    version, capabilities = meta[META_VERSION], meta[META_CAPABILITIES]
    if not isinstance(version, str) or not isinstance(capabilities, dict):
        raise RpcError(INVALID_PARAMS, f"{META_VERSION} is a string, {META_CAPABILITIES} an object")
    if headers is not None:
        _check_headers(request, version, headers)
    if version not in MODERN_VERSIONS:
        raise unsupported(version)
    return version, capabilities


def unsupported(version: str) -> RpcError:
    """Return the error for a revision we don't serve, with the ones we do."""
    data = {"supported": list(MODERN_VERSIONS), "requested": version}
    return RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def status(answer: JsonObject, modern: bool) -> int:
    """Return the HTTP status an answer travels with."""
    if "error" not in answer:
        return 200
    error = answer["error"]
    code = error.get("code", 0) if isinstance(error, dict) else 0
    return (_MODERN_STATUS if modern else _LEGACY_STATUS).get(code, 200)


def http_status(message: object, answer: JsonObject | None, headers: Headers) -> int:
    """Return the HTTP status of what a message got; one that was owed no answer is accepted."""
    if answer is None:
        return 202
    if not isinstance(message, dict):
        return 400
    if "error" not in answer:
        return 200
    return status(answer, is_modern(message.get("method"), message.get("params"), headers))


def _meta(params: object) -> JsonObject:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _check_headers(request: RpcRequest, version: str, headers: Headers) -> None:
    # Proxies route and allow by these headers, so they must say what the body says; else a message
    # could pass one rule and be run as another.
    _check_header("MCP-Protocol-Version", headers.get(HEADER_VERSION), version)
    _check_header("Mcp-Method", headers.get(HEADER_METHOD), request.method)
    name = request.params.get(_NAMED_BY.get(request.method, ""))
    if isinstance(name, str):
        _check_header("Mcp-Name", _decoded(headers.get(HEADER_NAME)), name)


def _check_header(name: str, header: str | None, body: str) -> None:
    if header != body:
        fault = "is missing" if header is None else "differs from the message"
        raise RpcError(HEADER_MISMATCH, f"Header mismatch: {name} {fault}")


def _decoded(header: str | None) -> str | None:
    if header is None or not (header.startswith("=?base64?") and header.endswith("?=")):
        return header
    try:
        return binascii.a2b_base64(header[9:-2], strict_mode=True).decode("utf-8")
    except ValueError:
        return None
