"""A scripted model behind four protocols: it calls one tool once, then says that it is done."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

CALL_ID = "call_1"
DONE = "The end."


class ScriptedModel:
    """Answers as a model would: first with a call of the tool, and once its result is there, text.

    ``results`` are the texts of what the host showed the model of the tool's answer.
    """

    def __init__(self, tool: str, arguments: dict[str, Any]) -> None:
        self.tool, self.arguments = tool, arguments
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.results: list[str] = []
        handler = type("Handler", (_Handler,), {"model": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> "ScriptedModel":
        Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def events(self, path: str, body: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        """Yield the events of an answer in the protocol that was asked in."""
        self.asked.append((path, body))
        if path.endswith("/messages"):
            return self._anthropic(body)
        if path.endswith("/responses"):
            return self._responses(body)
        if "GenerateContent" in path or "generateContent" in path:
            return self._gemini(body)
        return self._chat(body)

    def _name(self, names: list[str]) -> str | None:
        """Return our tool among the names: in a namespace, or with the server's name in it."""
        ours = (n for n in names if n == self.tool or ("pdpp" in n and n.endswith(self.tool)))
        return next(ours, None)

    def _anthropic(self, body: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        results = [
            part
            for message in body["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
            if part.get("type") == "tool_result"
        ]
        name = self._name([tool["name"] for tool in body.get("tools", [])])
        self.results = [text_of(part.get("content")) for part in results]
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta: dict[str, Any] = {"type": "text_delta", "text": DONE}
        reason = "end_turn"
        if name is not None and not results:
            block = {"type": "tool_use", "id": CALL_ID, "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(self.arguments)}
            reason = "tool_use"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
        }
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield "message_start", {"type": "message_start", "message": message}
        yield (
            "content_block_start",
            {"type": "content_block_start", "index": 0, "content_block": block},
        )
        yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": 0}
        ended = {"stop_reason": reason, "stop_sequence": None}
        yield "message_delta", {"type": "message_delta", "delta": ended, "usage": usage}
        yield "message_stop", {"type": "message_stop"}

    def _responses(self, body: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        results = [item for item in body["input"] if item.get("type") == "function_call_output"]
        self.results = [text_of(item["output"]) for item in results]
        item: dict[str, Any] = {
            "type": "message",
            "role": "assistant",
            "id": "msg_1",
            "content": [{"type": "output_text", "text": DONE}],
        }
        call = self._function(body)
        if call is not None and not results:
            item = {"type": "function_call", "id": "fc_1", "call_id": CALL_ID, **call}
            item["arguments"] = json.dumps(self.arguments)
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        yield "response.created", {"type": "response.created", "response": {"id": "resp_1"}}
        yield "response.output_item.done", {"type": "response.output_item.done", "item": item}
        ended = {"id": "resp_1", "usage": usage, "output": [item]}
        yield "response.completed", {"type": "response.completed", "response": ended}

    def _function(self, body: dict[str, Any]) -> dict[str, str] | None:
        """Return the tool's name, which may stand in the namespace of its server."""
        for tool in body.get("tools", []):
            if tool.get("type") == "namespace":
                inner = self._name([each["name"] for each in tool["tools"]])
                if inner is not None:
                    return {"name": inner, "namespace": tool["name"]}
        name = self._name([tool.get("name", "") for tool in body.get("tools", [])])
        return None if name is None else {"name": name}

    def _gemini(self, body: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        parts = [part for turn in body["contents"] for part in turn.get("parts", [])]
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        self.results = [text_of(result["response"]) for result in results]
        names = [
            function["name"]
            for tool in body.get("tools", [])
            for function in tool.get("functionDeclarations", [])
        ]
        name = self._name(names)
        part: dict[str, Any] = {"text": DONE}
        if name is not None and not results:
            part = {"functionCall": {"name": name, "args": self.arguments}}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        yield None, {"candidates": [candidate], "usageMetadata": usage}

    def _chat(self, body: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        results = [message for message in body["messages"] if message["role"] == "tool"]
        self.results = [text_of(message["content"]) for message in results]
        name = self._name([tool["function"]["name"] for tool in body.get("tools", [])])
        delta: dict[str, Any] = {"role": "assistant", "content": DONE}
        reason = "stop"
        if name is not None and not results:
            function = {"name": name, "arguments": json.dumps(self.arguments)}
            call = {"index": 0, "id": CALL_ID, "type": "function", "function": function}
            delta, reason = {"role": "assistant", "tool_calls": [call]}, "tool_calls"
        head = {"id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        first = {"index": 0, "delta": delta, "finish_reason": None}
        yield None, {**head, "choices": [first]}
        last = {"index": 0, "delta": {}, "finish_reason": reason}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        yield None, {**head, "choices": [last], "usage": usage}
        yield None, "[DONE]"


def text_of(content: Any) -> str:
    """Return the text in what a host shows of a result, whatever it is wrapped in."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(part) for part in content)
    if isinstance(content, dict):
        for name in ("text", "output", "content"):
            if name in content:
                return text_of(content[name])
    return json.dumps(content, ensure_ascii=False)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def do_GET(self) -> None:
        """Answer what hosts ask before they begin, with nothing."""
        self._send(200, "application/json", b'{"data": [], "models": []}')

    def do_POST(self) -> None:
        """Answer one turn."""
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith(("count_tokens", ":countTokens")):
            self._send(200, "application/json", b'{"input_tokens": 1, "totalTokens": 1}')
            return
        events = [*self.model.events(path, body)]
        if path.endswith(":generateContent"):
            self._send(200, "application/json", json.dumps(events[0][1]).encode())
            return
        text = "".join(_event(name, data) for name, data in events)
        self._send(200, "text/event-stream", text.encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


def _event(name: str | None, data: Any) -> str:
    head = "" if name is None else f"event: {name}\n"
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
