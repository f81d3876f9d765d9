import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mcp import fixture_server
from tests.mcp.launch import DEADLINE, META, Server, command, environment

from pdpp.mcp import rpc, stdio


@pytest.fixture
def server() -> Iterator[Server]:
    with Server("stdio") as running:
        yield running


def converse(sent: bytes, **options: Any) -> list[Any]:
    """Return the answers of a connection whose client sends these bytes and leaves."""
    reader, sink = os.pipe()
    with tempfile.TemporaryFile() as source:
        source.write(sent)
        source.seek(0)
        connection = stdio.Connection(fixture_server.kernel(), source.fileno(), sink, **options)
        asyncio.run(connection.serve())
    os.close(sink)
    with os.fdopen(reader, "rb") as pipe:
        return [json.loads(line) for line in pipe]


def test_both_eras_are_served_by_one_process(server: Server) -> None:
    server.request(1, "initialize", protocolVersion="2025-11-25", capabilities={})
    assert server.receive()["result"]["protocolVersion"] == "2025-11-25"
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    server.request(2, "server/discover", _meta=META)
    assert server.receive()["result"]["supportedVersions"] == ["2026-07-28"]
    server.request("3", "ping")
    assert server.receive() == {"jsonrpc": "2.0", "id": "3", "result": {}}


def test_requests_are_answered_while_others_run_and_stop_when_cancelled(server: Server) -> None:
    server.request(1, "tools/call", name="wait")
    assert server.log.next() == b"waiting"
    server.request(2, "tools/call", name="echo", arguments={"text": "meanwhile"})
    assert server.receive()["id"] == 2
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    for params in ({"requestId": 99}, {"requestId": True}, {"requestId": None}, {}, [1]):
        server.send({**cancelled, "params": params})
    server.request(3, "ping")
    assert server.receive()["id"] == 3
    server.send({**cancelled, "params": {"requestId": 1, "reason": "enough"}})
    assert server.log.next() == b"given up"
    server.request(4, "ping")
    assert server.receive()["id"] == 4


def test_an_id_in_use_is_refused_and_free_again_afterwards(server: Server) -> None:
    server.request(1, "tools/call", name="wait")
    assert server.log.next() == b"waiting"
    server.request(1, "ping")
    answer = server.receive()
    assert (answer["id"], answer["error"]["code"]) == (1, rpc.INVALID_REQUEST)
    server.request("1", "ping")
    assert server.receive()["id"] == "1"
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 1}}
    server.send({"jsonrpc": "2.0", **cancel})
    assert server.log.next() == b"given up"
    server.request(1, "ping")
    assert server.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_line_that_is_no_json_is_answered_and_the_next_is_served(server: Server) -> None:
    for line in (b"hello", b'{"id":', b"\xff\xfe", b"[" * 100_000):
        server.write(line)
        answer = server.receive()
        assert (answer["id"], answer["error"]["code"]) == (None, rpc.PARSE_ERROR)
    server.write(b"")
    server.write(b"  \r")
    server.request(1, "ping")
    assert server.receive()["id"] == 1


def test_only_protocol_messages_reach_standard_output(server: Server) -> None:
    server.request(1, "tools/call", name="print")
    assert server.receive()["result"]["content"][0]["text"] == "printed"
    assert server.log.next() == b"not a protocol message"
    server.request(2, "tools/call", name="fail")
    assert server.receive()["error"]["code"] == rpc.INTERNAL_ERROR


def test_the_process_ends_when_its_input_does(server: Server) -> None:
    server.request(1, "tools/call", name="wait")
    assert server.log.next() == b"waiting"
    server.stdin.close()
    assert server.process.wait(DEADLINE) == 0
    assert server.log.next() == b"given up"
    assert server.output.next() is None


def test_requests_piped_in_are_answered_before_the_process_ends() -> None:
    sent = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).encode() + b"\n"
        for id in range(50)
    )
    done = subprocess.run(
        command("stdio"), input=sent, capture_output=True, env=environment(), timeout=DEADLINE
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == list(range(50))
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_process_ends_when_nobody_reads_its_output(server: Server) -> None:
    assert server.process.stdout
    server.process.stdout.close()
    server.request(1, "ping")
    assert server.process.wait(DEADLINE) == 0


def test_the_process_ends_quietly_on_an_interrupt(server: Server) -> None:
    server.request(1, "ping")
    server.receive()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(DEADLINE) == 0
    assert server.log.next() is None


def test_the_process_ends_when_its_parent_dies() -> None:
    read_end, write_end = os.pipe()
    launch = (
        "import subprocess, sys, os\n"
        "child = subprocess.Popen(sys.argv[1:], stdin=0, stdout=1)\n"
        "print(child.pid, flush=True)\n"
        "os.read(int(os.environ['HOLD']), 1)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", launch, *command("stdio")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**environment(), "HOLD": str(read_end)},
        pass_fds=[read_end],
    )
    assert parent.stdout
    assert parent.stdin
    parent.stdout.readline()
    parent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    parent.stdin.flush()
    assert json.loads(parent.stdout.readline())["id"] == 1
    os.close(write_end)
    assert parent.wait(DEADLINE) == 0
    assert parent.stdout.read() == b""
    parent.stdin.close()
    parent.stdout.close()
    os.close(read_end)


def test_a_connection_ends_when_its_parent_changes() -> None:
    parents = iter([10, 10, 1])
    source, client = os.pipe()
    connection = stdio.Connection(
        fixture_server.kernel(), source, 1, parent=lambda: next(parents), watch_seconds=0.001
    )
    asyncio.run(asyncio.wait_for(connection.serve(), DEADLINE))
    os.close(client)


def test_a_line_over_the_limit_is_refused_and_the_next_is_served() -> None:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    for size in (len(ping) + 1, 65_536, 200_000):
        answers = converse(b"x" * size + b"\n" + ping, max_bytes=len(ping))
        assert [answer["id"] for answer in answers] == [None, 1]
        assert answers[0]["error"]["code"] == rpc.INVALID_REQUEST


def test_an_input_that_ends_inside_a_line_over_the_limit_is_refused() -> None:
    assert [a["error"]["code"] for a in converse(b"x" * 10, max_bytes=9)] == [rpc.INVALID_REQUEST]


def test_an_input_that_cannot_be_read_is_an_input_that_ended() -> None:
    read_end, sink = os.pipe()
    asyncio.run(stdio.Connection(fixture_server.kernel(), sink, sink).serve())
    os.close(read_end)
    os.close(sink)


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=12)), st.integers(min_value=0, max_value=8))
def test_lines_are_split_exactly_at_the_newlines(parts: list[bytes], limit: int) -> None:
    text = b"\n".join(parts)
    source, client = os.pipe()
    os.write(client, text)
    os.close(client)
    lines = list(stdio._lines(source, limit))
    os.close(source)
    expected = (None if len(line) > limit else line for line in text.split(b"\n"))
    assert lines == [line for line in expected if line is None or line.strip()]
