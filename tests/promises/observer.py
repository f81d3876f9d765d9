"""Looks at two worlds through one grant, by every way there is to look, and compares the bytes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.cli.reading.desk import Desk
from tests.cli.shell import Ended
from tests.mcp.sight import object_calls, text_calls
from tests.promises.caller import Params, Reply
from tests.promises.commands import SAVED
from tests.promises.messages import Message, tool_call
from tests.promises.probes import Probe
from tests.promises.twins import Twin, Twins
from tests.serving import Running, World

from pdpp.credentials import Cache, Credential

_REQUEST_ID = re.compile(rb"req_[0-9a-f]{16}")
_MARK = re.compile(rb"(pdpp_mark_\d+)=[\w-]+")
"""The cookie that a page gives a browser it has not seen."""

_MOST_PAGES = 5
_MOST_STEPS = 2

T = TypeVar("T")


class Interference(AssertionError):
    """Something hidden changed an answer."""


def seen(reply: Reply) -> Reply:
    """Return everything of an answer but what is made up anew for each request: its id, a mark."""
    headers = tuple(
        (name, _MARK.sub(rb"\1", value)) for name, value in reply.headers if name != b"request-id"
    )
    return Reply(reply.status, headers, _REQUEST_ID.sub(b"req", reply.body))


class Switch:
    """An application at one address that is now the one world and now the other."""

    app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request to the world of the moment."""
        assert self.app is not None, "no world is served"
        await self.app(scope, receive, send)


@dataclass(slots=True)
class Observer:
    """Asks both twins the same and compares what they say; counts how much it asked."""

    pair: Twins
    asked: dict[str, int] = field(default_factory=dict)
    _bookmarks: dict[tuple[str, str], str] = field(default_factory=dict)
    _cursors: dict[str, str] = field(default_factory=dict)

    def _compare(self, surface: str, what: object, left: T, right: T) -> T:
        self.asked[surface] = self.asked.get(surface, 0) + 1
        if left != right:
            raise Interference(f"{surface}: {what}\n{left}\n{right}")
        return left

    # /v1

    def ask(self, probe: Probe, params: Params) -> dict[str, Any]:
        """Send one request to both; return the body of a good list, or nothing."""
        left, right = (seen(self._send(twin, probe, params)) for twin in self.pair.both)
        reply = self._compare("v1", (probe.method, probe.path, params), left, right)
        assert reply.status < 500, (probe, reply)
        good = reply.status == 200 and b'"object":"list"' in reply.body
        body: dict[str, Any] = orjson.loads(reply.body) if good else {}
        return body

    def _send(self, twin: Twin, probe: Probe, params: Params) -> Reply:
        return twin.caller.exchange(probe.method, probe.path, params, probe.headers)

    def follow(self, probe: Probe) -> None:
        """Ask, and go on through the pages of a list."""
        params = probe.params
        for _ in range(_MOST_PAGES):
            body = self.ask(probe, params)
            if "next_cursor" not in body:
                return
            params = [*probe.params, ("cursor", body["next_cursor"])]

    def watch_changes(self) -> None:
        """Read what changed in every visible stream since the last time."""
        for connection_id, stream in self.pair.sight.feeds():
            since = self._bookmarks.get((connection_id, stream), "beginning")
            asked = [("changes_since", since), ("limit", "2"), ("connection_id", connection_id)]
            probe = Probe(f"/v1/streams/{stream}/records")
            params = asked
            while True:
                body = self.ask(probe, params)
                if "next_changes_since" in body:
                    self._bookmarks[(connection_id, stream)] = body["next_changes_since"]
                    break
                params = [*asked, ("cursor", body["next_cursor"])]

    def turn_pages(self, sorts: Sequence[str] = ("sent_at", "-amount", "label", "")) -> None:
        """Go one page further in sessions that stay open while things are written."""
        for sort in sorts:
            asked = [("limit", "1"), *([("sort", sort)] if sort else [])]
            held = self._cursors.pop(sort, None)
            params = [*asked, ("cursor", held)] if held else asked
            body = self.ask(Probe("/v1/streams/messages/records"), params)
            if "next_cursor" in body:
                self._cursors[sort] = body["next_cursor"]

    # /mcp

    def tell(self, message: Message) -> dict[str, Any]:
        """Send one message to both; return the result of a tool, or nothing."""
        left, right = (seen(self._post(twin, message)) for twin in self.pair.both)
        reply = self._compare(f"mcp {message.era}", message, left, right)
        assert reply.status < 500, (message, reply)
        answer = orjson.loads(reply.body) if reply.body else {}
        assert answer.get("error", {}).get("code") != -32603, (message, reply)
        result: dict[str, Any] = answer.get("result", {})
        return result if "structuredContent" in result else {}

    def _post(self, twin: Twin, message: Message) -> Reply:
        return twin.caller.exchange("POST", "/mcp", (), message.headers(), message.body())

    def go_on(self, message: Message) -> None:
        """Send a message and then what each half of its answer offers first."""
        for _ in range(_MOST_STEPS):
            result = self.tell(message)
            if not result:
                return
            texts = [*text_calls(result["content"][0]["text"])]
            objects = [*object_calls(result["structuredContent"])]
            uri = result.get("_meta", {}).get("pdpp/resource_uri")
            if uri is not None:
                self.tell(Message("resources/read", {"uri": uri}, message.era))
            if not texts and not objects:
                return
            if objects and objects[0] not in texts[:1]:
                self.tell(tool_call(objects[0].tool, objects[0].arguments, message.era))
            shown = (texts or objects)[-1]
            message = tool_call(shown.tool, shown.arguments, message.era)

    # pdpp read

    def run(self, program: "Program", words: Sequence[str]) -> str:
        """Run one command of the program against both worlds; return what it printed."""
        left, right = (program.run(twin, words) for twin in self.pair.both)
        return self._compare("pdpp read", words, left, right).out


@dataclass(frozen=True, slots=True)
class Program:
    """The program, connected to one address where both worlds are served in turn."""

    switch: Switch
    server: Running
    root: Path
    apart: bool = False
    """Whether each command is a process of its own."""

    def run(self, twin: Twin, words: Sequence[str]) -> Ended:
        """Run a command as somebody who sees one of the worlds."""
        self.switch.app = twin.caller.app
        Cache(self.root / "clients").store(Credential(self.server.url, twin.caller.token, "client"))
        desk = Desk(World(twin.store, self.server), self.root, twin.caller.token)
        file = self.root / SAVED
        file.unlink(missing_ok=True)
        placed = [str(file) if word == SAVED else word for word in words]
        ended = desk.run("read", *placed) if self.apart else desk.here("read", *placed)
        out = ended.out + (file.read_bytes().hex() if file.exists() else "")
        return Ended(ended.code, anonymous(out), anonymous(ended.err))


def anonymous(text: str) -> str:
    """Return a text without what is made up anew for each request."""
    return _REQUEST_ID.sub(b"req", text.encode()).decode()


def merge(counts: Mapping[str, int], total: dict[str, int]) -> None:
    """Add what one observer asked to what all did."""
    for surface, number in counts.items():
        total[surface] = total.get(surface, 0) + number
