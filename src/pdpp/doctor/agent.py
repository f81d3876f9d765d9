"""The agent: connects to ``/mcp`` as the hosts of both eras do."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from pdpp.doctor.authorization import bearer
from pdpp.doctor.discovery import HELLO
from pdpp.doctor.finding import StepBroken, StepUntried
from pdpp.doctor.state import ExaminationState
from pdpp.doctor.wire import json_of, short_line

LEGACY, MODERN = "2025-11-25", "2026-07-28"

_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_AS_IS = "Let the proxy pass bodies and the headers Mcp-Method, Mcp-Name and MCP-Protocol-Version."


def legacy(state: ExaminationState) -> str:
    """Shake hands, list the tools and call one, as hosts of today do."""
    answer = _ask(state, "initialize", HELLO["params"], {})
    if "serverInfo" not in answer:
        raise StepBroken("the handshake says nothing about the server", _AS_IS)
    headers = {"MCP-Protocol-Version": str(answer.get("protocolVersion", LEGACY))}
    names = _names(_ask(state, "tools/list", {}, headers))
    called = _ask(state, "tools/call", {"name": "schema", "arguments": {}}, headers)
    if called.get("isError"):
        raise StepBroken("the schema tool failed", "The log of the server says why.")
    return f"{names} tools, and one that answered"


def modern(state: ExaminationState) -> str:
    """Discover and list the tools without a handshake, as the newest revision has it."""
    for method in ("server/discover", "tools/list"):
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        answer = _ask(state, method, {"_meta": _META}, headers)
    return f"{_names(answer)} tools"


def owner(state: ExaminationState) -> str:
    """See that an owner's token is turned away."""
    with nullcontext() if state.approver is None else state.approver.owner_token() as secret:
        if secret is None:
            raise StepUntried("needs a token of the owner's: give --data with the server's folder")
        reply = state.wire.post_json(state.mcp_url, HELLO, bearer(secret))
    error = reply.document.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    if reply.status != 403 or code != "owner_token_refused":
        raise StepBroken(
            f"an owner's token is answered with {reply.status}",
            "Let the proxy pass /mcp on to the server itself.",
        )
    return "refused"


def _ask(
    state: ExaminationState, method: str, params: Any, headers: Mapping[str, str]
) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    reply = state.wire.post_json(state.mcp_url, message, {**bearer(state.access), **headers})
    document = json_of(reply, method)
    result = document.get("result")
    if not isinstance(result, dict):
        error = document.get("error")
        said = error.get("message") if isinstance(error, dict) else error
        raise StepBroken(f"{method} was refused: {short_line(str(said))}", _AS_IS)
    return result


def _names(answer: Mapping[str, Any]) -> int:
    tools = answer.get("tools")
    if not isinstance(tools, list) or not tools:
        raise StepBroken("no tools are listed", _AS_IS)
    return len(tools)
