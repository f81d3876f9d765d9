"""An agent: asks a server over MCP, and what its model would be shown of the answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import count
from typing import Any
from urllib.parse import urlsplit

_VERSION = "2025-06-18"
_SECONDS = 30


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """An answer in the two halves of which hosts show a model one or the other."""

    text: str
    structured: Mapping[str, Any]

    @property
    def spelled(self) -> str:
        """Return the structured half as a model would get it."""
        return json.dumps(self.structured, ensure_ascii=False, separators=(",", ":"))


class DemoAgent:
    """Speaks to ``/mcp`` with one token, as any client does."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=_SECONDS)
        self._token = token
        self._numbers = count(1)

    def open(self) -> Mapping[str, Any]:
        """Shake hands; return what the server says of itself."""
        about = {"name": "pdpp-demo", "version": "1"}
        opening = {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": about}
        return self._ask("initialize", opening)

    def tools(self) -> ToolAnswer:
        """Return the tools: their names, and what a model carries of them."""
        listed = self._ask("tools/list", {})
        return ToolAnswer("\n".join(tool["name"] for tool in listed["tools"]), listed)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool; a refusal is an answer too."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        if "content" not in result:
            return ToolAnswer(f"{result['error']['code']}: {result['error']['message']}", result)
        text = "\n".join(block["text"] for block in result["content"])
        return ToolAnswer(text, result["structuredContent"])

    def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send one message; return its result, or the whole answer of one who is turned away."""
        message = {
            "jsonrpc": "2.0",
            "id": next(self._numbers),
            "method": method,
            "params": params,
        }
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": _VERSION,
        }
        self._connection.request("POST", "/mcp", json.dumps(message), headers)
        answer: dict[str, Any] = json.loads(self._connection.getresponse().read())
        result: dict[str, Any] = answer.get("result", answer)
        return result

    def close(self) -> None:
        """Hang up."""
        self._connection.close()
