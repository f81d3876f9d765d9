import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.counting.importing import FOLDER
from tests.mcp.launch import DEADLINE, META, Lines, Server, command, environment

from pdpp.mcp import stdio
from pdpp.mcp.kernel import rpc


@pytest.fixture
def server() -> Iterator[Server]:
    with Server("stdio") as running:
        yield running


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
    server.request(0, "ping")
    assert server.receive()["id"] == 0
    for line in (b"hello", b'{"id":', b"\xff\xfe", b"[" * 100_000):
        server.write(line)
        answer = server.receive()
        assert (answer["id"], answer["error"]["code"]) == (None, rpc.PARSE_ERROR)
    server.write(b"")
    server.write(b"  \r")
    server.request(1, "ping")
    assert server.receive()["id"] == 1


@pytest.mark.scenario("S055", 1, on="stdio")
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
    assert server.output.next() is None


def test_requests_piped_in_are_answered_before_the_process_ends() -> None:
    sent = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).encode() + b"\n"
        for id in range(50)
    )
    done = subprocess.run(
        command("stdio"), input=sent, capture_output=True, env=environment(), timeout=DEADLINE
    )
    answered = sorted(json.loads(line)["id"] for line in done.stdout.splitlines())
    assert answered == list(range(50))
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
    lines = Lines(parent.stdout)
    lines.next()
    parent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    parent.stdin.flush()
    assert json.loads(lines.next() or b"")["id"] == 1
    os.close(write_end)
    assert parent.wait(DEADLINE) == 0
    assert lines.next() is None
    parent.stdin.close()
    parent.stdout.close()
    os.close(read_end)


def test_a_process_whose_parent_dies_before_a_word_was_said_ends_too() -> None:
    script = (
        "import os\n"
        "from pdpp.mcp import stdio\n"
        "from pdpp.mcp.kernel import Kernel, ServerInfo\n"
        "parents = iter([10, 10, 1])\n"
        "os.getppid = lambda: next(parents)\n"
        "stdio.WATCH_SECONDS = 0.001\n"
        "stdio.run(Kernel(ServerInfo('orphan', '1'), []))\n"
    )
    silent, client = os.pipe()
    done = subprocess.run(
        [sys.executable, "-c", script], stdin=silent, env=environment(), timeout=DEADLINE
    )
    os.close(silent)
    os.close(client)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "opening",
    [
        b"no json",
        b"[]",
        b"x" * (stdio.MAX_BYTES + 1),
        b'{"jsonrpc":"2.0","method":"initialize"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}',
    ],
    ids=lambda opening: opening[:60].decode(),
)
def test_a_conversation_may_open_with_anything(opening: bytes) -> None:
    ping = b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n'
    done = subprocess.run(
        command("stdio"),
        input=opening + b"\n" + ping,
        capture_output=True,
        env=environment(),
        timeout=DEADLINE,
    )
    assert {"jsonrpc": "2.0", "id": 2, "result": {}} in map(json.loads, done.stdout.splitlines())
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_conversation_may_be_empty() -> None:
    done = subprocess.run(
        command("stdio"), input=b"", capture_output=True, env=environment(), timeout=DEADLINE
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_neither_an_event_loop_nor_a_logger_is_imported() -> None:
    script = (
        "import sys\n"
        "from pdpp.cli import stdio\n"
        "from pdpp.credentials import Cache, Credential\n"
        "from pdpp.mcp import server\n"
        "from pdpp.mcp.reading import network\n"
        "from pdpp.mcp.tools import registry\n"
        "from pdpp.mcp import stdio\n"
        "registry.operation('search')\n"
        "print({'asyncio', 'logging', 'dataclasses', 'inspect'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env={**environment(), FOLDER: ""},
        timeout=DEADLINE,
    )
    assert done.stdout == b"set()\n"
