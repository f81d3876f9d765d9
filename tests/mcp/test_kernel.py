import asyncio
import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mcp import fixture_server
from tests.mcp.launch import META, VERSION

from pdpp.mcp.kernel import Context, Kernel, ServerInfo, Tool, protocol, rpc
from pdpp.mcp.kernel.rpc import JsonObject, RpcError

KERNEL = fixture_server.kernel()
BARE = Kernel(ServerInfo("bare", "0"), [])
METHODS = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "notifications/initialized",
    "notifications/cancelled",
]
CACHED = {"ttlMs": 300_000, "cacheScope": "private"}
UNCACHED = {"ttlMs": 0, "cacheScope": "private"}

LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUE: st.SearchStrategy[Any] = st.recursive(
    LEAF, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)
NAME = st.sampled_from(["echo", "test_simple_text", "test://static-text", "nothing"])
PARAMS = VALUE | st.fixed_dictionaries(
    {},
    optional={
        "_meta": st.just(META) | VALUE,
        "name": NAME | VALUE,
        "uri": NAME | VALUE,
        "arguments": VALUE,
        "cursor": VALUE,
        "protocolVersion": st.sampled_from(protocol.LEGACY_VERSIONS) | VALUE,
    },
)
MESSAGE = VALUE | st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUE,
        "id": st.integers() | st.text() | VALUE,
        "method": st.sampled_from(METHODS) | VALUE,
        "params": PARAMS,
        "result": VALUE,
        "error": VALUE,
    },
)


def answer_to(message: object, kernel: Kernel = KERNEL) -> Any:
    return asyncio.run(kernel.handle(message))


def ask(method: str, kernel: Kernel = KERNEL, **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    answer = answer_to(message, kernel)
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
    return answer.get("result", answer.get("error"))


def ask_modern(method: str, kernel: Kernel = KERNEL, **params: Any) -> Any:
    return ask(method, kernel, _meta=META, **params)


@given(MESSAGE, st.none() | st.dictionaries(st.sampled_from(["mcp-protocol-version"]), st.text()))
def test_any_json_value_gets_a_valid_answer_or_none(
    message: object, headers: dict[str, str] | None
) -> None:
    answer = asyncio.run(KERNEL.handle(message, headers=headers))
    if answer is None:
        return
    read_back = json.loads(rpc.encode(answer))
    assert read_back["jsonrpc"] == "2.0"
    assert ("result" in read_back) != ("error" in read_back)
    assert read_back["id"] is None or isinstance(read_back["id"], str | int)
    if "error" in read_back:
        assert isinstance(read_back["error"]["code"], int)
        assert isinstance(read_back["error"]["message"], str)
    else:
        assert isinstance(read_back["result"], dict)


def test_a_handshake_answers_with_the_revision_the_server_and_what_it_can() -> None:
    assert ask("initialize", protocolVersion="2025-06-18", capabilities={}) == {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "fixture", "version": "1.0.0", "title": "Fixture"},
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "instructions": "Call echo.",
    }


def test_discovery_answers_with_the_revisions_the_server_and_what_it_can() -> None:
    assert ask_modern("server/discover") == {
        "resultType": "complete",
        **CACHED,
        "supportedVersions": [VERSION],
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "instructions": "Call echo.",
        "_meta": {
            "io.modelcontextprotocol/serverInfo": {
                "name": "fixture",
                "version": "1.0.0",
                "title": "Fixture",
            }
        },
    }


def test_a_server_without_resources_or_instructions_claims_none() -> None:
    assert ask("initialize", BARE, protocolVersion="2025-11-25") == {
        "protocolVersion": "2025-11-25",
        "serverInfo": {"name": "bare", "version": "0"},
        "capabilities": {"tools": {}, "prompts": {}},
    }
    for method in ("resources/list", "resources/templates/list", "resources/read"):
        assert ask(method, BARE, uri="test://static-text")["code"] == rpc.METHOD_NOT_FOUND


def test_the_server_shows_its_icons() -> None:
    icon: JsonObject = {
        "src": "https://example.org/icon.svg",
        "mimeType": "image/svg+xml",
        "sizes": ["any"],
    }
    kernel = Kernel(ServerInfo("iconic", "1", icons=[icon]), [])
    assert ask("initialize", kernel, protocolVersion="2025-11-25")["serverInfo"]["icons"] == [icon]


def test_a_ping_is_answered_with_nothing() -> None:
    assert ask("ping") == {}


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "prompts/list"])
def test_lists_are_one_page_so_a_cursor_is_refused(method: str) -> None:
    assert ask(method, cursor="more")["code"] == rpc.INVALID_PARAMS
    assert "code" not in ask(method, cursor=None)


def test_the_tool_list_keeps_its_order() -> None:
    listed = ask("tools/list")
    assert [tool["name"] for tool in listed["tools"]] == [t.name for t in fixture_server.tools()]
    assert ask_modern("tools/list") == {"resultType": "complete", **CACHED, **listed}


def test_there_are_no_prompts() -> None:
    assert ask("prompts/list") == {"prompts": []}
    assert ask_modern("prompts/list") == {"resultType": "complete", **CACHED, "prompts": []}


def test_a_tool_result_is_passed_on_as_it_is() -> None:
    result = {"content": [{"type": "text", "text": "hi"}], "structuredContent": {"text": "hi"}}
    assert ask("tools/call", name="echo", arguments={"text": "hi"}) == result
    modern = ask_modern("tools/call", name="echo", arguments={"text": "hi"})
    assert modern == {"resultType": "complete", **result}


def test_resources_are_listed_and_read_and_never_kept() -> None:
    assert len(ask("resources/list")["resources"]) == 2
    assert ask_modern("resources/list").items() >= UNCACHED.items()
    read = ask_modern("resources/read", uri="test://template/5/data")
    assert read.items() >= UNCACHED.items()
    assert json.loads(read["contents"][0]["text"])["id"] == "5"
    templates = ask_modern("resources/templates/list")
    assert templates["resourceTemplates"][0]["uriTemplate"] == "test://template/{id}/data"


def test_an_unknown_resource_has_the_code_of_its_era() -> None:
    data = {"uri": "test://nothing"}
    error = {"code": -32002, "message": "Resource not found", "data": data}
    assert ask("resources/read", uri="test://nothing") == error
    assert ask_modern("resources/read", uri="test://nothing") == error | {"code": -32602}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {}),
        ("tools/call", {"name": 3}),
        ("tools/call", {"name": "nothing"}),
        ("tools/call", {"name": "echo", "arguments": []}),
        ("tools/call", {"name": "echo", "arguments": None}),
        ("resources/read", {}),
        ("resources/read", {"uri": []}),
        ("initialize", {}),
    ],
)
def test_parameters_of_the_wrong_shape_are_invalid_params(
    method: str, params: dict[str, Any]
) -> None:
    assert ask(method, **params)["code"] == rpc.INVALID_PARAMS


@pytest.mark.parametrize("method", ["unknown", "prompts/get", "logging/setLevel", "x" * 5000, ""])
def test_an_unknown_method_is_not_found(method: str) -> None:
    for error in (ask(method), ask_modern(method)):
        assert error["code"] == rpc.METHOD_NOT_FOUND
        assert len(error["message"]) < 120


@pytest.mark.parametrize("method", ["initialize", "ping"])
def test_the_modern_era_has_no_handshake_and_no_ping(method: str) -> None:
    assert ask_modern(method, protocolVersion=VERSION)["code"] == rpc.METHOD_NOT_FOUND


def test_discovery_without_an_envelope_says_what_is_missing() -> None:
    error = ask("server/discover")
    assert error["code"] == rpc.INVALID_PARAMS
    assert "protocolVersion" in error["message"]


def test_a_notification_with_an_unknown_revision_header_is_refused() -> None:
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer: Any = asyncio.run(KERNEL.handle(notification, headers={"mcp-protocol-version": "1"}))
    assert answer is not None
    assert answer["error"]["code"] == protocol.UNSUPPORTED_VERSION


def test_an_exception_of_a_tool_is_logged_and_never_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, "pdpp.mcp"):
        error = ask("tools/call", name="fail")
    assert error["code"] == rpc.INTERNAL_ERROR
    assert "secret" not in json.dumps(error)
    assert "request 7 failed in tools/call" in caplog.text
    assert "a secret of the server" in caplog.text


def test_a_tool_may_answer_with_a_protocol_error() -> None:
    error = ask_modern("tools/call", name="test_missing_capability")
    assert error["code"] == protocol.MISSING_CAPABILITY
    assert error["data"] == {"requiredCapabilities": {"sampling": {}}}
    meta = {**META, protocol.META_CAPABILITIES: {"sampling": {}}}
    assert "content" in ask("tools/call", name="test_missing_capability", _meta=meta)


def seen_by_a_tool(headers: dict[str, str] | None, meta: JsonObject | None) -> Context:
    seen: list[Context] = []

    async def look(arguments: JsonObject, context: Context) -> JsonObject:
        seen.append(context)
        return {"content": []}

    kernel = Kernel(ServerInfo("seer", "1"), [Tool("look", {}, look)])
    params: JsonObject = {"name": "look"} | ({"_meta": meta} if meta else {})
    message = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params}
    asyncio.run(kernel.handle(message, headers=headers, principal="alice"))
    return seen[0]


def test_a_tool_knows_its_request_and_its_caller() -> None:
    context = seen_by_a_tool(None, {**META, protocol.META_CAPABILITIES: {"roots": {}}})
    assert (context.request_id, context.principal) == ("a", "alice")
    assert (context.protocol_version, context.modern) == (VERSION, True)
    assert context.client_capabilities == {"roots": {}}


def test_a_legacy_request_is_read_by_its_header_or_the_revision_that_had_none() -> None:
    assert seen_by_a_tool(None, None).protocol_version == "2025-03-26"
    context = seen_by_a_tool({"mcp-protocol-version": "2025-11-25"}, None)
    assert (context.protocol_version, context.modern) == ("2025-11-25", False)


def test_an_error_keeps_its_own_id_where_none_is_given() -> None:
    assert RpcError(1, "no", id="x").answer()["id"] == "x"
    assert RpcError(1, "no", id="x").answer("y")["id"] == "y"
