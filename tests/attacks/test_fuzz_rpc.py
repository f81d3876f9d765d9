"""Messages of every shape over both transports: an answer of the protocol, and never a fault."""

import json
import logging
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.contract import CODES, TRACES
from tests.attacks.dose import dose
from tests.attacks.mutation import ODD, Cut, Edit, cuts, edited, edits, encoded, json_values, spoilt
from tests.mcp.client import Result, bare_environment, connect_to, mcp_command
from tests.mcp.host import Host, Inside, check
from tests.mcp.launch import META, VERSION
from tests.serving import World, grant, living, seeded_store

from pdpp.mcp.kernel.rpc import INTERNAL_ERROR
from pdpp.mcp.stdio import MAX_BYTES
from pdpp.mcp.tools.definition import SIGNATURES

LETTER = "cin_home/messages:m-invoice-4471"
ARGUMENTS: dict[str, dict[str, Any]] = {
    "schema": {"stream": "messages", "connection_id": "cin_work", "detail": "full"},
    "query_records": {
        "stream": "messages",
        "connection_id": "cin_work",
        "filter": {"sent_at": {"gte": "2026-01-01T00:00:00Z"}, "unread": True},
        "fields": ["id", "subject"],
        "sort": "-sent_at",
        "limit": 2,
        "count": "exact",
        "expand": ["thread"],
        "expand_limit": {"thread": 1},
    },
    "aggregate": {
        "stream": "messages",
        "metric": "count",
        "group_by_time": "sent_at",
        "granularity": "month",
        "time_zone": "Europe/Lisbon",
        "filter": {"unread": False},
    },
    "search": {"query": "invoice", "streams": ["messages"], "limit": 2, "mode": "lexical"},
    "fetch": {"id": LETTER, "fields": ["id", "body"], "expand": ["thread"]},
    "read_record_field": {"id": LETTER, "field_path": "body", "offset_chars": 3, "limit_chars": 9},
}
assert ARGUMENTS.keys() == SIGNATURES.keys()


def message(method: str, params: Any, id: Any = 7) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


MESSAGES = [
    *(message("tools/call", {"name": n, "arguments": a}) for n, a in ARGUMENTS.items()),
    message("tools/call", {"name": "search", "arguments": {"query": "a"}, "_meta": META}),
    message("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}),
    message("server/discover", {"_meta": META}),
    message("tools/list", {}),
    message("resources/list", {"cursor": None}),
    message("resources/read", {"uri": "pdpp://record/cin_home%2Fmessages%3Am-invoice-4471"}),
    message("resources/templates/list", {}),
    message("ping", {}),
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}},
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with living(seeded_store(tmp_path_factory.mktemp("messages"))) as served:
        yield served


@pytest.fixture(scope="module")
def http(world: World) -> httpx.Client:
    return world.client()


@pytest.fixture(scope="module")
def host(world: World) -> Iterator[Host]:
    made = Inside(world.store).host(grant(world.store))
    yield made
    made.wire.close()


def check_message(content: bytes) -> None:
    """Check one answer of the protocol."""
    answer = json.loads(content)
    assert answer["jsonrpc"] == "2.0"
    if "error" in answer:
        assert answer["error"]["code"] != INTERNAL_ERROR, answer
        assert isinstance(answer["error"]["message"], str)
    else:
        assert answer["result"] is not None
    assert not any(trace in json.dumps(answer) for trace in TRACES[:3]), answer


HEADERS = [
    {},
    {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "search"},
    {"MCP-Protocol-Version": "2025-06-18"},
    {"MCP-Protocol-Version": "nothing"},
    {"Mcp-Name": "=?base64?////?="},
    {"Content-Type": "application/json; charset=utf-16"},
    {"Content-Type": "text/plain"},
    {"Accept": "text/html"},
    {"Mcp-Session-Id": "x" * 900},
    {"Last-Event-ID": "-1"},
]


def test_any_body_posted_is_answered_by_the_protocol(
    http: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    good = {"Content-Type": "application/json", "Accept": "application/json"}

    @settings(max_examples=dose(120))
    @given(
        st.sampled_from(MESSAGES),
        st.one_of(edits, cuts, json_values.map(encoded), st.sampled_from(ODD)),
        st.sampled_from(HEADERS),
    )
    def post(sent: dict[str, Any], change: Any, headers: dict[str, str]) -> None:
        answer = http.post("/mcp", content=body_of(sent, change), headers={**good, **headers})
        assert answer.status_code < 500, answer.text
        if answer.content:
            check_message(answer.content)

    with caplog.at_level(logging.ERROR, logger="pdpp"):
        post()
    assert [r for r in caplog.records if r.name.startswith("pdpp")] == []
    assert http.post("/mcp", json=message("ping", {}), headers=good).json()["result"] == {}


def body_of(sent: dict[str, Any], change: Any) -> bytes:
    """Return a message with something wrong: an edit, a cut, an odd id, or another body at all."""
    if isinstance(change, bytes):
        return change
    if isinstance(change, list) and change and isinstance(change[0], Edit):
        return encoded(edited(sent, change))
    if isinstance(change, list) and change and isinstance(change[0], Cut):
        return spoilt(encoded(sent), change)
    return encoded({**sent, "id": change})


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_any_arguments_are_taken_or_refused_with_a_code_of_the_contract(
    host: Host, tool: str, caplog: pytest.LogCaptureFixture
) -> None:
    @settings(max_examples=dose(50))
    @given(edits)
    def call(changes: list[Edit]) -> None:
        arguments = edited(ARGUMENTS[tool], changes)
        if not isinstance(arguments, dict):
            return
        raw = host.wire.request("tools/call", {"name": tool, "arguments": arguments})
        result = Result(tool, arguments, raw)
        if not result.is_error and not _bounded(arguments):
            return
        check(result)
        assert result.code is None or result.code in CODES, result.text

    with caplog.at_level(logging.ERROR, logger="pdpp"):
        call()
    assert [r for r in caplog.records if r.name.startswith("pdpp")] == []


def _bounded(arguments: dict[str, Any]) -> bool:
    """Tell whether the bounds of a result can be told from its arguments."""
    names = ("limit", "limit_chars", "before_chars", "after_chars")
    return all(isinstance(arguments.get(name, 0), int) for name in names)


TWICE = [
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
    b'{"jsonrpc":"2.0","jsonrpc":"1.0","id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":-0,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]',
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    + b"[" * 50_000
    + b"]" * 50_000
    + b"}",
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    + b'{"a":' * 20_000
    + b"1"
    + b"}" * 20_001,
]


@pytest.mark.parametrize("content", TWICE, ids=lambda content: content[:44].decode("latin-1"))
def test_what_json_leaves_open_is_decided_without_a_fault(
    http: httpx.Client, content: bytes
) -> None:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    answer = http.post("/mcp", content=content, headers=headers)
    assert answer.status_code in (200, 400)
    check_message(answer.content)


# stdio


@pytest.fixture(scope="module")
def command(world: World, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that serves an agent over stdio."""
    root: Path = tmp_path_factory.mktemp("stdio")
    return mcp_command(world.server.url, connect_to(world.server.url, root, grant(world.store)))


def converse(command: list[str], said: bytes) -> list[bytes]:
    """Say something to the real program, end, and return its lines after checking that it ends."""
    done = subprocess.run(
        command, input=said, capture_output=True, env=bare_environment(), timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout.splitlines()


PING = b'{"jsonrpc":"2.0","id":"last","method":"ping"}\n'


def test_any_lines_on_stdio_are_answered_one_by_one_and_the_last_too(command: list[str]) -> None:
    one = st.tuples(st.sampled_from(MESSAGES), st.one_of(edits, cuts, st.sampled_from(ODD)))

    @settings(max_examples=dose(6))
    @given(st.lists(one, min_size=5, max_size=25), st.sampled_from([b"\n", b"\r\n", b"\n\n \n"]))
    def talk(sent: list[tuple[dict[str, Any], Any]], ending: bytes) -> None:
        said = ending.join(body_of(*pair) for pair in sent)
        lines = converse(command, said + b"\n" + PING)
        for line in lines:
            check_message(line)
        assert b'"id":"last"' in b"".join(lines)

    talk()


@pytest.mark.parametrize(
    "said",
    [
        PING[:-1],
        PING[:20],
        b"x" * (MAX_BYTES + 5) + b"\n" + PING,
        b"\x00" * 1_000 + b"\n" + PING,
        b"\n" * 100_000 + PING,
        b"[" * 1_000_000 + b"\n" + PING,
        encoded(MESSAGES[3]) + b"\n" + encoded(MESSAGES[4])[:30],
        (encoded(MESSAGES[3]) + b"\n") * 40 + PING,
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}\n' * 50
        + PING,
    ],
    ids=lambda said: said[:40].decode("latin-1"),
)
def test_a_conversation_may_stop_anywhere(command: list[str], said: bytes) -> None:
    lines = converse(command, said)
    for line in lines:
        check_message(line)
    if said.endswith(PING):
        assert b'"id":"last"' in b"".join(lines)
