"""Test clients: the real adapter over stdio and over HTTP, in both eras of the protocol.

``Estate`` is a served store whose clients live as long as it does; it also tells what reached
``/v1``, whether over the network or in process.
"""

import contextlib
import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol, cast

import httpx
from tests.launching.process import Program
from tests.mcp.launch import DEADLINE, META, VERSION, Lines, environment
from tests.mcp.recorder import Recorder
from tests.serving import UNLIMITED, World, running

from pdpp.app import make_app
from pdpp.authz.selection import Selection, make_package, resolve
from pdpp.credentials import Cache, Credential
from pdpp.model import instant
from pdpp.service.settings import Settings
from pdpp.store.port import Store

KINDS = ("stdio-legacy", "stdio-modern", "http-legacy", "http-modern")
HOSTED = ("http-legacy", "http-modern")
TRANSPORTS = ("stdio-modern", "http-legacy")
"""One client of each transport, where the era makes no difference."""

LEGACY = {"stdio": "2025-11-25", "http": "2025-06-18"}
ACCEPT = "application/json, text/event-stream"

Arguments = Mapping[str, Any]


class Failure(Exception):
    """A protocol error in an answer."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error.get("message"))
        self.code = error["code"]
        self.data = error.get("data")


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered, whole."""

    tool: str
    arguments: Arguments
    raw: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Return the text half."""
        [block] = self.raw["content"]
        assert block["type"] == "text"
        return str(block["text"])

    @property
    def structured(self) -> Any:
        """Return the structured half."""
        return self.raw["structuredContent"]

    @property
    def is_error(self) -> bool:
        """Tell whether the tool refused."""
        return bool(self.raw["isError"])

    @property
    def code(self) -> str | None:
        """Return the code of the refusal, if it is one."""
        return str(self.structured["error"]["code"]) if self.is_error else None


class Wire(Protocol):
    """Carries one request to a server and its answer back."""

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]: ...

    def close(self) -> None: ...


class Client:
    """A client under one token; what it saw is kept for the checks that follow."""

    def __init__(self, kind: str, token: str, wire: Wire, opening: Mapping[str, Any]) -> None:
        self.kind = kind
        self.token = token
        self.wire = wire
        self.opening = opening
        self.seen: list[Result] = []

    @property
    def is_modern(self) -> bool:
        """Tell whether the client speaks without a handshake."""
        return self.kind.endswith("modern")

    def call(self, tool: str, arguments: Arguments | None = None) -> Result:
        """Call a tool."""
        given = dict(arguments or {})
        raw = self.wire.request("tools/call", {"name": tool, "arguments": given})
        found = Result(tool, given, raw)
        self.seen.append(found)
        return found

    def good(self, tool: str, arguments: Arguments | None = None) -> Result:
        """Call a tool that must not refuse."""
        found = self.call(tool, arguments)
        assert not found.is_error, found.text
        return found

    def refused(self, code: str, tool: str, arguments: Arguments | None = None) -> Result:
        """Call a tool that must refuse with a code, in both halves."""
        found = self.call(tool, arguments)
        assert found.code == code, found.text
        assert found.text.startswith(f"{code}: ")
        return found

    def tools(self) -> list[dict[str, Any]]:
        """List the tools."""
        return cast(list[dict[str, Any]], self.wire.request("tools/list", {})["tools"])

    def resources(self) -> list[dict[str, Any]]:
        """List the resources."""
        return cast(list[dict[str, Any]], self.wire.request("resources/list", {})["resources"])

    def templates(self) -> list[str]:
        """List the forms of addresses."""
        listed = self.wire.request("resources/templates/list", {})["resourceTemplates"]
        return [template["uriTemplate"] for template in listed]

    def read(self, uri: str) -> str:
        """Read one resource."""
        [content] = self.wire.request("resources/read", {"uri": uri})["contents"]
        assert content["uri"] == uri
        return str(content["text"])


def _answer(message: Mapping[str, Any]) -> dict[str, Any]:
    if "error" in message:
        raise Failure(message["error"])
    return cast(dict[str, Any], message["result"])


class HttpWire:
    """Posts each message to ``/mcp``."""

    def __init__(self, http: httpx.Client, version: str) -> None:
        self._http = http
        self._version = version
        self._ids = count(1)

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return its result."""
        headers = {"Accept": ACCEPT}
        body = dict(params)
        if self._version == VERSION:
            body["_meta"] = META
            headers["Mcp-Method"] = method
            name = params.get("name", params.get("uri"))
            if name is not None:
                headers["Mcp-Name"] = f"=?base64?{b64encode(name.encode()).decode()}?="
        if method != "initialize":
            headers["MCP-Protocol-Version"] = self._version
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": body}
        answer = self._http.post("/mcp", json=message, headers=headers).json()
        assert answer["id"] == message["id"]
        return _answer(answer)

    def close(self) -> None:
        """Leave the connection to the server's own end."""


def mcp_command(provider_url: str, cache_root: Path) -> list[str]:
    """Return the command that serves an agent from a cache."""
    address, root = ["--provider-url", provider_url], ["--cache-root", str(cache_root)]
    return [sys.executable, "-m", "pdpp", "mcp", *address, *root]


class StdioWire:
    """Speaks to a real ``pdpp mcp`` process."""

    def __init__(self, provider_url: str, cache_root: Path, version: str) -> None:
        self.process = Program(
            mcp_command(provider_url, cache_root),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=bare_environment(),
        )
        assert self.process.stdin
        assert self.process.stdout
        self._input = self.process.stdin
        self._lines = Lines(self.process.stdout)
        self._version = version
        self._ids = count(1)

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return its result."""
        body = {**params, "_meta": META} if self._version == VERSION else dict(params)
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": body}
        self.write(message)
        line = self._lines.next()
        assert line is not None, "the process ended"
        answer = json.loads(line)
        assert answer["id"] == message["id"]
        return _answer(answer)

    def write(self, message: Mapping[str, Any]) -> None:
        """Send one message as a line."""
        self._input.write(json.dumps(message).encode() + b"\n")
        self._input.flush()

    def close(self) -> None:
        """End the process as hosts do, and check that it ends well and said nothing aside."""
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        code = self.process.wait(DEADLINE)
        assert self.process.stdout
        assert self.process.stderr
        rest, said = self.process.stdout.read(), self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        assert (code, rest, said) == (0, b"", b"")


def bare_environment(**more: str) -> dict[str, str]:
    """Return an environment without any setting of the project but the ones given."""
    kept = {k: v for k, v in environment().items() if not k.startswith("PDPP_")}
    return {**kept, **more}


def run_pdpp(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the program to its end, with nothing on its input."""
    command = [sys.executable, "-m", "pdpp", *arguments]
    with Program(
        command,
        cwd=cwd,
        env=bare_environment(HOME=str(cwd), **variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            out, err = (said.decode() for said in process.communicate(timeout=DEADLINE))
        finally:
            process.kill()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


# Served stores


@dataclass(slots=True)
class Estate:
    """A served store with its clients."""

    world: World
    folder: Path
    recorder: Recorder
    _clients: dict[tuple[str, str], Client] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        """Return the store behind the server."""
        return self.world.store

    def client(self, kind: str, token: str) -> Client:
        """Return the client of a kind under a token; it is started once."""
        known = (kind, token)
        if known not in self._clients:
            self._clients[known] = self._open(kind, token)
        return self._clients[known]

    def _open(self, kind: str, token: str) -> Client:
        transport, _, era = kind.partition("-")
        version = VERSION if era == "modern" else LEGACY[transport]
        wire: HttpWire | StdioWire
        if transport == "http":
            wire = HttpWire(self.world.server.client(token), version)
        else:
            root = self.folder / f"cache-{len(self._clients)}"
            wire = StdioWire(self.world.server.url, connect(self, root, token), version)
        opening = open_wire(wire, version)
        return Client(kind, token, wire, opening)

    def package(self, *selections: Selection) -> tuple[str, dict[str, str]]:
        """Approve a package; return its token, and its grants by connection."""
        allowances = [
            allowance
            for selection in selections or (Selection(),)
            for allowance in resolve(selection, self.store.catalogue())
        ]
        allowances.sort(key=lambda allowance: allowance.connection_id)
        package, grants, secret, token = make_package(
            tuple(allowances), client_id="test-client", purpose="a test", now=instant.now()
        )
        self.store.vault.keep_package(package, grants, [token])
        return secret, {grant.allowances[0].connection_id: grant.id for grant in grants}

    def close(self) -> None:
        """End every client."""
        for client in self._clients.values():
            client.wire.close()


def open_wire(wire: Wire, version: str) -> dict[str, Any]:
    """Open a conversation the way its era does; return what the server says of itself."""
    if version == VERSION:
        return wire.request("server/discover", {})
    about = {"name": "test", "version": "1"}
    opening = {"protocolVersion": version, "capabilities": {}, "clientInfo": about}
    said = wire.request("initialize", opening)
    assert said["protocolVersion"] == version
    if isinstance(wire, StdioWire):
        wire.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return said


def connect(estate: Estate, root: Path, token: str, kind: str = "client") -> Path:
    """Keep a token for an estate's server in a cache, and return its root."""
    return connect_to(estate.world.server.url, root, token, kind)


def connect_to(address: str, root: Path, token: str, kind: str = "client") -> Path:
    """Keep a token for a server in a cache, and return its root."""
    Cache(root / "clients").store(Credential(address, token, kind))
    return root


def compact(value: Any) -> str:
    """Return a value as JSON without a space to spare."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@contextmanager
def estate(store: Store, folder: Path, settings: Settings = UNLIMITED) -> Iterator[Estate]:
    """Serve a store until the block ends, noting what reaches ``/v1``."""
    recorder = Recorder()
    try:
        with (
            recorder.in_process(),
            running(recorder.around(make_app(store, settings))) as server,
        ):
            made = Estate(World(store, server), folder, recorder)
            try:
                yield made
            finally:
                made.close()
    finally:
        store.close()
