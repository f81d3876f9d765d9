"""An agent: asks over MCP for tools, calls them, and sees one half of what they answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from bench.client import Client, post

LEGACY, MODERN = "2025-11-25", "2026-07-28"
HALVES = ("text", "structured")
Call = tuple[str, Mapping[str, Any]]


class Refused(Exception):
    """A tool or the protocol refused what was asked; the message is what it said."""


def message(method: str, params: Mapping[str, Any], id: int = 1) -> bytes:
    """Return a request of the protocol, on one line."""
    return orjson.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def listing(token: str, version: str = LEGACY) -> bytes:
    """Return the request for the list of tools, in the way of a revision."""
    params: dict[str, Any] = {}
    headers = {"MCP-Protocol-Version": version}
    if version == MODERN:
        headers["Mcp-Method"] = "tools/list"
        prefix = "io.modelcontextprotocol"
        params["_meta"] = {
            f"{prefix}/protocolVersion": version,
            f"{prefix}/clientCapabilities": {},
        }
    return _posted(token, message("tools/list", params), headers)


def calling(token: str, tool: str, arguments: Mapping[str, Any]) -> bytes:
    """Return the request that calls a tool."""
    body = message("tools/call", {"name": tool, "arguments": arguments})
    return _posted(token, body, {"MCP-Protocol-Version": LEGACY})


def _posted(token: str, body: bytes, headers: Mapping[str, str]) -> bytes:
    return post("/mcp", token, body, "application/json", {"Accept": "application/json", **headers})


def result_of(answer: bytes) -> dict[str, Any]:
    """Return the result in an answer, which must be a good one."""
    found = orjson.loads(answer)
    result: dict[str, Any] = found.get("result", {"isError": True})
    if result.get("isError"):
        raise Refused(answer[:1_000].decode("utf-8", "replace"))
    return result


@dataclass(frozen=True, slots=True)
class Seen:
    """What a model may be shown of a result: one half or the other."""

    text: str
    structured: str

    def half(self, name: str) -> str:
        """Return one half by its name."""
        return self.structured if name == "structured" else self.text


@dataclass(frozen=True, slots=True)
class Agent:
    """Calls tools over one connection under one token."""

    client: Client
    token: str

    def tools(self, version: str) -> bytes:
        """Return the list of tools as it is serialised for clients of a revision."""
        return orjson.dumps(result_of(self.client.ask(listing(self.token, version))))

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Seen:
        """Call a tool that must not refuse."""
        result = result_of(self.client.ask(calling(self.token, tool, arguments)))
        text = "".join(block["text"] for block in result["content"])
        return Seen(text, orjson.dumps(result["structuredContent"]).decode())
