import asyncio
import json
import socket
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.mcp import fixture_server
from tests.mcp.launch import META, VERSION, Server
from tests.serving import UNENCRYPTED

from pdpp.disconnect import Receive
from pdpp.mcp.kernel import Context, Kernel, ServerInfo, Tool, http, rpc
from pdpp.mcp.kernel.protocol import Headers

POST = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


def message(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def post(url: str, body: object, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(url, content=content, headers=POST | headers, verify=UNENCRYPTED)


def post_modern(url: str, method: str, headers: dict[str, str], **params: Any) -> httpx.Response:
    sent = {"mcp-protocol-version": VERSION, "mcp-method": method, **headers}
    return post(url, message(method, _meta=META, **params), **sent)


def error_of(response: httpx.Response) -> tuple[int, int]:
    return response.status_code, response.json()["error"]["code"]


def test_a_request_is_answered_as_json_without_a_session(http_url: str) -> None:
    response = post(http_url, message("initialize", protocolVersion="2025-06-18"))
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    assert "mcp-session-id" not in response.headers
    assert response.json()["result"]["protocolVersion"] == "2025-06-18"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_legacy_revision_is_served_by_its_header(http_url: str, version: str) -> None:
    response = post(http_url, message("tools/list"), **{"mcp-protocol-version": version})
    assert response.status_code == 200
    assert "resultType" not in response.json()["result"]


def test_the_modern_revision_is_served_with_its_headers(http_url: str) -> None:
    response = post_modern(http_url, "server/discover", {})
    assert response.json()["result"]["supportedVersions"] == [VERSION]
    called = post_modern(
        http_url, "tools/call", {"mcp-name": "echo"}, name="echo", arguments={"text": "é"}
    )
    assert called.json()["result"]["structuredContent"] == {"text": "é"}


def test_modern_errors_travel_with_their_status(http_url: str) -> None:
    assert error_of(post_modern(http_url, "ping", {})) == (404, -32601)
    assert error_of(post_modern(http_url, "tools/list", {"mcp-method": "x"})) == (400, -32020)
    assert error_of(post_modern(http_url, "tools/call", {}, name="echo")) == (400, -32020)
    unknown = post_modern(http_url, "tools/call", {"mcp-name": "x"}, name="x")
    assert error_of(unknown) == (400, -32602)
    bare = post(http_url, message("tools/list"), **{"mcp-protocol-version": VERSION})
    assert error_of(bare) == (400, -32602)


def test_legacy_errors_travel_with_200(http_url: str) -> None:
    assert error_of(post(http_url, message("unknown"))) == (200, -32601)
    assert error_of(post(http_url, message("tools/call", name="x"))) == (200, -32602)
    assert error_of(post(http_url, message("resources/read", uri="x"))) == (200, -32002)


def test_an_unknown_revision_is_refused_with_those_that_are_served(http_url: str) -> None:
    for body in (message("ping"), {"jsonrpc": "2.0", "method": "notifications/initialized"}):
        response = post(http_url, body, **{"mcp-protocol-version": "1999-01-01"})
        assert error_of(response) == (400, -32022)
        assert response.json()["error"]["data"]["supported"] == [VERSION]


def test_a_repeated_header_is_a_mismatch(http_url: str) -> None:
    sent = [*POST.items(), ("mcp-protocol-version", VERSION)]
    sent += [("mcp-method", "tools/list")] * 2
    body = json.dumps(message("tools/list", _meta=META)).encode()
    response = httpx.post(http_url, content=body, headers=sent)
    assert error_of(response) == (400, -32020)


@pytest.mark.parametrize(
    "body",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
def test_what_is_owed_no_answer_is_accepted_with_202_and_no_body(
    http_url: str, body: object
) -> None:
    response = post(http_url, body)
    assert (response.status_code, response.content) == (202, b"")
    assert "content-type" not in response.headers


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", rpc.PARSE_ERROR),
        (b"{", rpc.PARSE_ERROR),
        (b"\xff", rpc.PARSE_ERROR),
        (b"[" * 100_000, rpc.PARSE_ERROR),
        ([], rpc.INVALID_REQUEST),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], rpc.INVALID_REQUEST),
        ("ping", rpc.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, rpc.INVALID_REQUEST),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_body_that_is_no_single_message_is_a_bad_request(
    http_url: str, body: object, code: int
) -> None:
    response = post(http_url, body)
    assert error_of(response) == (400, code)
    assert response.json()["id"] is None


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_other_methods_are_not_allowed(http_url: str, method: str) -> None:
    response = httpx.request(method, http_url)
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("media_type", ["text/plain", "", "application/jsonp"])
def test_a_body_of_another_type_is_refused(http_url: str, media_type: str) -> None:
    response = post(http_url, message("ping"), **{"content-type": media_type})
    assert error_of(response) == (415, rpc.INVALID_REQUEST)


def test_the_content_type_may_name_its_charset(http_url: str) -> None:
    sent = {"content-type": "Application/JSON; charset=utf-8"}
    assert post(http_url, message("ping"), **sent).status_code == 200


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json", 200),
        ("*/*", 200),
        ("text/html, Application/*;q=0.5", 200),
        ("text/event-stream", 406),
        ("", 406),
    ],
)
def test_a_client_must_accept_json(http_url: str, accept: str, status: int) -> None:
    assert post(http_url, message("ping"), accept=accept).status_code == status


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("host", "localhost:80", 200),
        ("host", "localhost", 403),
        ("host", "evil.example", 403),
        ("host", "localhost:80x", 403),
        ("host", "evil.example:80", 403),
        ("origin", "http://localhost:6274", 200),
        ("origin", "https://localhost:6274", 403),
        ("origin", "http://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "", 403),
    ],
)
def test_only_allowed_hosts_and_origins_are_served(
    http_url: str, header: str, value: str, status: int
) -> None:
    assert post(http_url, message("ping"), **{header: value}).status_code == status


def test_a_client_that_leaves_cancels_its_request() -> None:
    with Server("http") as server:
        line = server.output.next()
        assert line is not None
        address = urlsplit(line.decode())
        assert address.hostname
        assert address.port
        body = json.dumps(message("tools/call", name="wait")).encode()
        head = (
            f"POST {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection((address.hostname, address.port)) as client:
            client.sendall(head.encode() + body)
            assert server.log.next() == b"waiting"
        assert server.log.next() == b"given up"


Events = list[MutableMapping[str, Any]]


def exchange(endpoint: http.McpEndpoint, events: Events, **headers: str) -> Events:
    """Return what an endpoint sends for these events of an ASGI server."""
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    raw += [(b"host", b"here"), (b"content-type", b"application/json")]
    sent: Events = []
    received = iter(events)

    async def receive() -> MutableMapping[str, Any]:
        event = next(received, None)
        if event is None:
            await asyncio.Event().wait()
            raise AssertionError
        return event

    async def send(event: MutableMapping[str, Any]) -> None:
        sent.append(event)

    scope = {"type": "http", "method": "POST", "headers": raw}
    asyncio.run(endpoint(scope, receive, send))
    return sent


def endpoint(**options: Any) -> http.McpEndpoint:
    kernel = options.pop("kernel", fixture_server.kernel())
    return http.McpEndpoint(kernel.handle, allowed_hosts=["here"], allowed_origins=[], **options)


def chunks(*parts: bytes) -> Events:
    return [
        {"type": "http.request", "body": part, "more_body": number < len(parts)}
        for number, part in enumerate(parts, 1)
    ]


def test_a_body_in_parts_is_one_message() -> None:
    sent = exchange(endpoint(), chunks(b'{"jsonrpc":"2.0",', b'"id":1,"method":"ping"}'))
    assert json.loads(sent[1]["body"]) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_body_over_the_limit_is_refused_however_it_comes() -> None:
    small = endpoint(max_bytes=40)
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert exchange(small, chunks(ping))[0]["status"] == 200
    assert exchange(small, chunks(ping, b" "))[0]["status"] == 413
    assert exchange(small, [], **{"content-length": "41"})[0]["status"] == 413
    assert exchange(small, chunks(ping), **{"content-length": "many"})[0]["status"] == 200


def test_a_client_that_leaves_inside_its_body_gets_nothing() -> None:
    half: Events = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]
    assert exchange(endpoint(), half) == []


def test_an_answer_is_sent_though_the_server_repeats_its_events() -> None:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    events: Events = [*chunks(ping), {"type": "http.request", "body": b""}]
    assert exchange(endpoint(), events)[0]["status"] == 200


def test_a_caller_that_is_not_authenticated_is_told_so_before_anything_else() -> None:
    async def nobody(_scope: http.Scope, _headers: Headers) -> object:
        body: rpc.JsonObject = {"error": {"code": "authentication_error"}}
        raise http.HttpRefusal(401, body, {"www-authenticate": "Bearer"})

    sent = exchange(endpoint(authenticate=nobody), chunks(b"{"))
    assert sent[0]["status"] == 401
    assert (b"www-authenticate", b"Bearer") in sent[0]["headers"]
    assert json.loads(sent[1]["body"]) == {"error": {"code": "authentication_error"}}


def test_the_principal_reaches_the_tool() -> None:
    async def alice(_scope: http.Scope, _headers: Headers) -> object:
        return "alice"

    async def who(arguments: rpc.JsonObject, context: Context) -> rpc.JsonObject:
        return {"content": [{"type": "text", "text": context.principal}]}

    kernel = Kernel(ServerInfo("seer", "1"), [Tool("who", {}, who)])
    body = json.dumps(message("tools/call", name="who")).encode()
    sent = exchange(endpoint(kernel=kernel, authenticate=alice), chunks(body))
    assert json.loads(sent[1]["body"])["result"]["content"][0]["text"] == "alice"


class Waiting:
    """A tool that waits until it is let go, and remembers whether it was cancelled."""

    def __init__(self) -> None:
        self.entered, self.go, self.cancelled = asyncio.Event(), asyncio.Event(), False
        self.endpoint = endpoint(
            kernel=Kernel(ServerInfo("w", "1"), [Tool("wait", {}, self._call)])
        )

    async def _call(self, _arguments: rpc.JsonObject, _context: Context) -> rpc.JsonObject:
        self.entered.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return {"content": []}

    def begin(self, receive: Receive, sent: Events) -> asyncio.Task[None]:
        async def send(event: MutableMapping[str, Any]) -> None:
            sent.append(event)

        raw = [(b"host", b"here"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "headers": raw}
        return asyncio.create_task(self.endpoint(scope, receive, send))


def calling(*then: MutableMapping[str, Any]) -> tuple[Receive, asyncio.Event]:
    """Return a client that calls the tool, and sends more once it is told to."""
    body = json.dumps(message("tools/call", name="wait")).encode()
    events, more = iter([*chunks(body), *then]), asyncio.Event()
    sent: Events = []

    async def receive() -> MutableMapping[str, Any]:
        if sent:
            await more.wait()
        event = next(events, None)
        if event is None:
            await asyncio.Event().wait()
            raise AssertionError
        sent.append(event)
        return event

    return receive, more


def test_a_client_that_leaves_while_a_tool_waits_gets_nothing_and_ends_it() -> None:
    async def scene() -> None:
        waiting, sent = Waiting(), Events()
        receive, more = calling({"type": "http.request"}, {"type": "http.disconnect"})
        task = waiting.begin(receive, sent)
        await waiting.entered.wait()
        more.set()
        await task
        assert (waiting.cancelled, sent, task.cancelling()) == (True, [], 0)

    asyncio.run(scene())


def test_a_tool_that_waits_is_answered_while_its_client_stays() -> None:
    async def scene() -> None:
        waiting, sent = Waiting(), Events()
        receive, more = calling({"type": "http.request"})
        task = waiting.begin(receive, sent)
        await waiting.entered.wait()
        more.set()
        await asyncio.sleep(0)
        waiting.go.set()
        await task
        assert sent[0]["status"] == 200
        assert [other for other in asyncio.all_tasks() if other is not asyncio.current_task()] == []

    asyncio.run(scene())


def test_a_server_that_stops_ends_what_waits() -> None:
    async def scene() -> None:
        waiting, sent = Waiting(), Events()
        task = waiting.begin(calling()[0], sent)
        await waiting.entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (waiting.cancelled, sent) == (True, [])

    asyncio.run(scene())
