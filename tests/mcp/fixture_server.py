"""A server that mounts the kernel with the tools and resources the official judges ask for.

Run it as ``fixture_server.py stdio`` or ``fixture_server.py http``; the latter prints its address.
"""

import asyncio
import base64
import json
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any

from pdpp.mcp import stdio
from pdpp.mcp.kernel import Context, Kernel, ServerInfo, Tool, UnknownResource
from pdpp.mcp.kernel.protocol import MISSING_CAPABILITY
from pdpp.mcp.kernel.rpc import JsonObject, RpcError

PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\x0dIDAT"
    b"x\xdac\xfc\xcf\xc0P\x0f\0\x04\x85\x01\x80\x84\xa9\x8c!\0\0\0\0IEND\xaeB`\x82"
).decode()
SILENCE = base64.b64encode(b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0").decode()
NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
ECHO = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What to say back"}},
    "required": ["text"],
    "additionalProperties": False,
}
SCHEMA_2020_12: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def image() -> JsonObject:
    return {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def embedded(uri: str, media_type: str, words: str) -> JsonObject:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "text": words}}


def fixed(name: str, description: str, *content: JsonObject, **more: Any) -> Tool:
    async def call(arguments: JsonObject, context: Context) -> JsonObject:
        return {"content": list(content), **more}

    return Tool(name, {"description": description, "inputSchema": NO_ARGUMENTS}, call)


async def echo(arguments: JsonObject, context: Context) -> JsonObject:
    words = str(arguments.get("text"))
    return {"content": [text(words)], "structuredContent": {"text": words}}


async def wait(arguments: JsonObject, context: Context) -> JsonObject:
    print("waiting", file=sys.stderr, flush=True)
    try:
        if sys.argv[1:] == ["http"]:
            await asyncio.Event().wait()
        context.cancelled.wait()
    finally:
        print("given up", file=sys.stderr, flush=True)
    return {}


async def fail(arguments: JsonObject, context: Context) -> JsonObject:
    raise ValueError("a secret of the server")


async def print_words(arguments: JsonObject, context: Context) -> JsonObject:
    print("not a protocol message", flush=True)
    return {"content": [text("printed")]}


async def need_sampling(arguments: JsonObject, context: Context) -> JsonObject:
    if "sampling" not in context.client_capabilities:
        raise RpcError(
            MISSING_CAPABILITY,
            "This tool needs the client's sampling",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return {"content": [text("The client can sample.")]}


def tools() -> list[Tool]:
    echoes: JsonObject = {
        "description": "Says its text back.",
        "inputSchema": ECHO,
        "outputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
        "annotations": {"readOnlyHint": True, "idempotentHint": True, "destructiveHint": False},
    }
    plain = {"inputSchema": NO_ARGUMENTS}
    return [
        Tool("echo", echoes, echo),
        Tool("wait", {"description": "Never answers.", **plain}, wait),
        Tool("fail", {"description": "Breaks.", **plain}, fail),
        Tool("print", {"description": "Prints to standard output.", **plain}, print_words),
        Tool("test_missing_capability", {"description": "Samples.", **plain}, need_sampling),
        Tool(
            "json_schema_2020_12_tool",
            {"description": "Keeps a schema.", "inputSchema": SCHEMA_2020_12},
            echo,
        ),
        fixed(
            "test_simple_text", "Says a line.", text("This is a simple text response for testing.")
        ),
        fixed("test_image_content", "Shows a pixel.", image()),
        fixed(
            "test_audio_content",
            "Plays silence.",
            {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"},
        ),
        fixed(
            "test_embedded_resource",
            "Embeds a resource.",
            embedded("test://embedded-resource", "text/plain", "This is an embedded resource."),
        ),
        fixed(
            "test_multiple_content_types",
            "Says, shows and embeds.",
            text("Multiple content types test:"),
            image(),
            embedded("test://mixed-content-resource", "application/json", '{"test":"data"}'),
        ),
        fixed(
            "test_error_handling",
            "Answers with an error.",
            text("This tool intentionally returns an error for testing"),
            isError=True,
        ),
        fixed("test_streaming_elicitation", "Answers at once.", text("Nothing to ask.")),
        fixed("test_logging_tool", "Logs nothing to the client.", text("Logged elsewhere.")),
    ]


class Resources:
    async def list(self, _context: Context) -> Sequence[JsonObject]:
        return [
            {"uri": "test://static-text", "name": "text", "mimeType": "text/plain"},
            {"uri": "test://static-binary", "name": "binary", "mimeType": "image/png"},
        ]

    def templates(self) -> Sequence[JsonObject]:
        return [{"uriTemplate": "test://template/{id}/data", "name": "by id"}]

    async def read(self, uri: str, _context: Context) -> Sequence[JsonObject]:
        if uri == "test://static-text":
            words = "This is the content of the static text resource."
            return [{"uri": uri, "mimeType": "text/plain", "text": words}]
        if uri == "test://static-binary":
            return [{"uri": uri, "mimeType": "image/png", "blob": PIXEL}]
        if uri.startswith("test://template/"):
            words = json.dumps({"id": uri.split("/")[3], "templateTest": True})
            return [{"uri": uri, "mimeType": "application/json", "text": words}]
        raise UnknownResource(uri)


def kernel() -> Kernel:
    return Kernel(ServerInfo("fixture", "1.0.0", "Fixture"), tools(), Resources(), "Call echo.")


def serve_http() -> None:
    import uvicorn

    from pdpp.mcp.kernel.http import McpEndpoint

    hosts = ["localhost:*", "127.0.0.1:*"]
    endpoint = McpEndpoint(
        kernel().handle, allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
    )
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(endpoint, lifespan="off", log_level="warning", ws="none")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    stdio.run(kernel()) if sys.argv[1] == "stdio" else serve_http()
