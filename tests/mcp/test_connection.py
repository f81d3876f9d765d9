import asyncio
import json
import os
import threading
from collections.abc import Iterator
from typing import Any

from tests.mcp import fixture_server
from tests.mcp.launch import DEADLINE

from pdpp.mcp import rpc
from pdpp.mcp.connection import Connection


def converse(*lines: bytes | None) -> list[Any]:
    """Return the answers to a client that sends these lines and leaves."""
    reader, sink = os.pipe()
    connection = Connection(fixture_server.kernel(), lines, sink)
    asyncio.run(asyncio.wait_for(connection.serve(), DEADLINE))
    os.close(sink)
    with os.fdopen(reader, "rb") as pipe:
        return [json.loads(line) for line in pipe]


def test_a_line_over_the_limit_is_refused_and_the_next_is_served() -> None:
    refused, served = converse(None, b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert (refused["id"], refused["error"]["code"]) == (None, rpc.INVALID_REQUEST)
    assert served == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_conversation_ends_when_the_parent_changes() -> None:
    parents = iter([10, 10, 1])
    ended = threading.Event()

    def silence() -> Iterator[bytes]:
        ended.wait(DEADLINE)
        yield b"too late"

    connection = Connection(
        fixture_server.kernel(), silence(), 1, parent=lambda: next(parents), watch_seconds=0.001
    )
    asyncio.run(asyncio.wait_for(connection.serve(), DEADLINE))
    reader = next(thread for thread in threading.enumerate() if "_read" in thread.name)
    ended.set()
    reader.join(DEADLINE)
    assert not reader.is_alive()


def test_requests_that_outlast_the_grace_are_given_up() -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}}
    connection = Connection(
        fixture_server.kernel(), [json.dumps(call).encode()], 1, grace_seconds=0.001
    )
    asyncio.run(asyncio.wait_for(connection.serve(), DEADLINE))
