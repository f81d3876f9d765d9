import json
import os
import threading
from collections.abc import Generator, Iterable, Iterator
from functools import partial
from typing import Any

import pytest
from tests.mcp import fixture_server
from tests.mcp.launch import DEADLINE

from pdpp.mcp.kernel import Context, Kernel, ServerInfo, Tool, rpc
from pdpp.mcp.kernel.connection import LineConnection
from pdpp.mcp.kernel.rpc import JsonObject
from pdpp.mcp.lines import write_line


def call(id: int, name: str) -> bytes:
    params = {"name": name}
    message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


def cancel(id: int) -> bytes:
    params = {"requestId": id}
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    return json.dumps(message).encode()


class Gates:
    """A tool that stays until a test lets it go, deaf to cancellation."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.leave = threading.Event()
        self.contexts: list[Context] = []
        self.kernel = Kernel(ServerInfo("gates", "1"), [Tool("gate", {}, self._call)])

    async def _call(self, _arguments: JsonObject, context: Context) -> JsonObject:
        self.contexts.append(context)
        self.entered.release()
        assert self.leave.wait(3 * DEADLINE)
        return {"content": []}


def converse(
    lines: Iterable[bytes | None], kernel: Kernel | None = None, **more: float
) -> list[Any]:
    """Return the answers to a client that sends these lines and leaves."""
    reader, sink = os.pipe()
    write = partial(write_line, sink)
    connection = LineConnection(kernel or fixture_server.kernel(), write, **more)
    connection.serve(lines)
    os.close(sink)
    with os.fdopen(reader, "rb") as pipe:
        return [json.loads(line) for line in pipe]


def test_a_line_over_the_limit_is_refused_and_the_next_is_served() -> None:
    refused, served = converse([None, b'{"jsonrpc":"2.0","id":1,"method":"ping"}'])
    assert (refused["id"], refused["error"]["code"]) == (None, rpc.INVALID_REQUEST)
    assert served == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_requests_that_outlast_the_grace_are_given_up() -> None:
    gates = Gates()

    def lines() -> Iterator[bytes]:
        yield call(1, "gate")
        assert gates.entered.acquire(timeout=DEADLINE)

    assert converse(lines(), gates.kernel, grace_seconds=0.001) == []
    assert gates.contexts[0].cancelled.is_set()
    gates.leave.set()


def test_work_that_does_not_hear_that_it_was_cancelled_holds_nobody_up() -> None:
    gates = Gates()

    def lines() -> Iterator[bytes]:
        yield call(1, "gate")
        assert gates.entered.acquire(timeout=DEADLINE)
        yield cancel(1)
        yield call(1, "gate")
        assert gates.entered.acquire(timeout=DEADLINE)
        gates.leave.set()

    [answer] = converse(lines(), gates.kernel)
    assert answer == rpc.success(1, {"content": []})


def test_many_requests_take_turns_and_one_that_waits_for_its_turn_can_be_cancelled() -> None:
    gates = Gates()

    def lines() -> Iterator[bytes]:
        for id in range(30):
            yield call(id, "gate")
        for _ in range(8):
            assert gates.entered.acquire(timeout=DEADLINE)
        assert not gates.entered.acquire(blocking=False)
        yield cancel(29)
        gates.leave.set()

    answers = converse(lines(), gates.kernel, grace_seconds=DEADLINE)
    assert sorted(answer["id"] for answer in answers) == list(range(29))
    assert sorted(context.request_id for context in gates.contexts) == list(range(29))


def test_a_conversation_ends_when_nobody_reads_the_answers() -> None:
    reader, sink = os.pipe()
    os.close(reader)
    connection = LineConnection(fixture_server.kernel(), partial(write_line, sink))
    lines = iter([b'{"jsonrpc":"2.0","id":1,"method":"ping"}', b"never read"])
    connection.serve(lines)
    os.close(sink)
    assert not connection.open
    assert next(lines) == b"never read"


def test_a_tool_that_waits_for_a_loop_is_a_fault_of_ours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Elsewhere:
        def __await__(self) -> Generator[None, None, None]:
            yield

    async def suspend(arguments: JsonObject, context: Context) -> JsonObject:
        await Elsewhere()
        return {}

    kernel = Kernel(ServerInfo("looping", "1"), [Tool("suspend", {}, suspend)])
    [answer] = converse([call(1, "suspend")], kernel)
    assert (answer["id"], answer["error"]["code"]) == (1, rpc.INTERNAL_ERROR)
    assert "waits for an event loop" in caplog.text
