"""A host that trusts nothing: every result it gets is checked against what is promised of all.

``Host`` speaks through any wire. ``KernelWire`` is the adapter in this process over any transport,
so that a test can note, delay or refuse what reaches a resource server.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any, cast

import jsonschema_rs
from tests.mcp.client import HttpWire, Result, Wire
from tests.mcp.sight import hidden_in, object_calls, text_calls
from tests.serving import UNLIMITED, Running

from pdpp.app import make_app
from pdpp.authz.principal import Gate
from pdpp.authz.selection import Selection, make_package, resolve
from pdpp.evidence.text import json_text
from pdpp.hosted import BoundedDict, HostedCaller, make_reader
from pdpp.mcp.drawing.escaping import plain
from pdpp.mcp.kernel import rpc
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.transport import HttpReply, InProcessTransport, Transport
from pdpp.mcp.server import make_kernel
from pdpp.mcp.tools.definition import definition
from pdpp.model import instant
from pdpp.store.port import Store

ORIGIN = "http://127.0.0.1:7377"
Before = Callable[[str, Mapping[str, str]], Awaitable[HttpReply | None]]


@cache
def _validator(tool: str) -> Any:
    told: Any = definition(tool)
    return jsonschema_rs.validator_for(told["outputSchema"])


def bounds(tool: str, arguments: Mapping[str, Any], failed: bool) -> tuple[int, int]:
    """Return how long the halves of a result may be."""
    if failed:
        return 4_000, 4_000
    if tool == "schema" and not arguments.get("stream"):
        return 24_000, 24_000
    if tool == "schema" and arguments.get("detail") != "full":
        return 10_000, 10_000
    if tool == "search" and (arguments.get("limit") or 10) <= 10:
        return 6_000, 10_000
    if tool in ("query_records", "aggregate") and not arguments.get("limit"):
        return 10_000, 10_000
    if tool == "read_record_field" and (arguments.get("limit_chars") or 4_096) <= 4_096:
        around = [arguments.get(name, 512) for name in ("before_chars", "after_chars")]
        if "query" not in arguments or sum(around) <= 3_000:
            return 6_000, 10_000
    return 30_000, 30_000


def check(result: Result) -> None:
    """Check what is promised of every result."""
    text, structured = result.text, json_text(result.structured)
    most_text, most_structured = bounds(result.tool, result.arguments, result.is_error)
    assert len(text) <= most_text, (result.tool, len(text))
    assert len(structured) <= most_structured, (result.tool, len(structured))
    _validator(result.tool).validate(result.structured)
    assert hidden_in(text) == []
    if result.is_error:
        error = result.structured["error"]
        assert error["type"]
        assert error["message"]
        assert text.startswith(f"{plain(error['code'])}: ")
    elif result.tool == "fetch":
        assert json.loads(text) == result.structured
    else:
        written = {call.key for call in object_calls(result.structured)}
        assert {call.key for call in text_calls(text)} <= written


class Host:
    """A client that checks whatever it is told."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Result:
        """Call a tool."""
        given = dict(arguments or {})
        raw = self.wire.request("tools/call", {"name": tool, "arguments": given})
        result = Result(tool, given, raw)
        check(result)
        return result

    def good(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Result:
        """Call a tool that must answer."""
        result = self.call(tool, arguments)
        assert not result.is_error, result.text
        return result

    def refused(
        self, code: str, tool: str, arguments: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Call a tool that must refuse; return the error."""
        result = self.call(tool, arguments)
        assert result.code == code, result.text
        return cast(dict[str, Any], result.structured["error"])

    def pages(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[Result]:
        """Yield the pages of a list by the calls that the pages show."""
        result = self.good(tool, arguments)
        yield result
        while following := [
            call for call in object_calls(result.structured.get("next", [])) if call.tool == tool
        ]:
            assert following[0].key in {call.key for call in text_calls(result.text)}
            result = self.good(tool, following[0].arguments)
            yield result


def hosted(server: Running, token: str) -> Host:
    """Return a host of the endpoint of a running server."""
    return Host(HttpWire(server.client(token), "2025-06-18"))


class Recording:
    """A transport that notes the requests, after something a test puts before them."""

    def __init__(self, inner: Transport, before: Before | None = None) -> None:
        self.origin = inner.origin
        self.targets: list[str] = []
        self.grants: list[str | None] = []
        self.before = before
        self._inner = inner

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> HttpReply:
        """Note a request and send it on."""
        assert method == "GET"
        self.targets.append(target)
        self.grants.append(headers.get("PDPP-Grant"))
        reply = await self.before(target, headers) if self.before is not None else None
        return reply if reply is not None else await self._inner.send(method, target, headers)


class KernelWire:
    """The adapter in this process."""

    def __init__(self, reader_of: Callable[[], GrantReader]) -> None:
        self._kernel = make_kernel(lambda _: reader_of())
        self._loop = asyncio.Runner()
        self._ids = count(1)

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return its result."""
        [answer] = self.together((method, params))
        return answer

    def refusal(self, method: str, params: Mapping[str, Any]) -> int:
        """Send one request that is refused by the protocol; return the code."""
        [answer] = self._answers((method, params))
        return int(answer["error"]["code"])

    def together(self, *requests: tuple[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Send requests at once and return their results."""
        answers = self._answers(*requests)
        assert all("result" in answer for answer in answers), answers
        return [answer["result"] for answer in answers]

    def _answers(self, *requests: tuple[str, Mapping[str, Any]]) -> list[dict[str, Any]]:

        async def ask() -> list[Any]:
            return await asyncio.gather(
                *(
                    self._kernel.handle(
                        {"jsonrpc": "2.0", "id": next(self._ids), "method": m, "params": dict(p)}
                    )
                    for m, p in requests
                )
            )

        return [json.loads(rpc.encode(answer)) for answer in self._loop.run(ask())]

    def close(self) -> None:
        """Close the event loop."""
        self._loop.close()


class Inside:
    """A store behind the adapter in this process; what it reads is noted."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.transport = Recording(InProcessTransport(make_app(store, UNLIMITED), ORIGIN))
        self._gate = Gate(store, instant.now)
        self._wires: list[KernelWire] = []

    def host(self, token: str) -> Host:
        """Return a host under a token."""
        memory: BoundedDict[Any, Any] = BoundedDict()

        def reader_of() -> GrantReader:
            visitor = HostedCaller(token, self._gate.admit(f"Bearer {token}"))
            return make_reader(cast(InProcessTransport, self.transport), memory, visitor)

        wire = KernelWire(reader_of)
        self._wires.append(wire)
        return Host(wire)

    def targets(self) -> list[str]:
        """Return what was read since the last time."""
        told, self.transport.targets = self.transport.targets, []
        return told

    def close(self) -> None:
        """Close the event loops and the store."""
        for wire in self._wires:
            wire.close()
        self.store.close()


@contextmanager
def inside(store: Store) -> Iterator[Inside]:
    """Put the adapter over a store until the block ends."""
    made = Inside(store)
    try:
        yield made
    finally:
        made.close()


def package(store: Store, *selections: Selection) -> tuple[str, dict[str, str]]:
    """Approve a package; return its token, and its grants by connection."""
    allowances = [
        allowance
        for selection in selections or (Selection(),)
        for allowance in resolve(selection, store.catalogue())
    ]
    allowances.sort(key=lambda allowance: allowance.connection_id)
    made, grants, secret, token = make_package(
        tuple(allowances), client_id="test-client", purpose="a test", now=instant.now()
    )
    store.vault.keep_package(made, grants, [token])
    return secret, {grant.allowances[0].connection_id: grant.id for grant in grants}
