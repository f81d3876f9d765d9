"""Starts the fixture server as a real process and talks to it with deadlines."""

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import pytest

FIXTURE = Path(__file__).with_name("fixture_server.py")
DEADLINE = 20.0
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def environment() -> dict[str, str]:
    """Return this process's environment.

    Nothing is added to the path: what the interpreter has installed is what is tested. So these
    programs and those of the commands are forked from one process.
    """
    return {**os.environ}


def find_judges() -> Path:
    """Return the folder of the official programs; without them a test is skipped, but not in CI."""
    folder = Path(__file__).with_name("judges") / "node_modules"
    if not (folder / ".bin" / "node").exists():
        reason = "the official MCP judges are not installed: run `make judges` (it needs npm)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


def command(transport: str) -> list[str]:
    """Return the command that starts the fixture server."""
    return [sys.executable, str(FIXTURE), transport]


class Lines:
    """The lines of a pipe, each within a deadline; None at its end."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._file = pipe.fileno()
        self._held = b""

    def next(self, seconds: float = DEADLINE) -> bytes | None:
        end = time.monotonic() + seconds
        while b"\n" not in self._held:
            ready, _, _ = select.select([self._file], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no line within {seconds} s, but {self._held!r}")
            chunk = os.read(self._file, 65536)
            if not chunk:
                return None
            self._held += chunk
        line, _, self._held = self._held.partition(b"\n")
        return line


class Server:
    """A running fixture server."""

    def __init__(self, transport: str) -> None:
        self.transport = transport
        self.process = subprocess.Popen(
            command(transport),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.stdin = self.process.stdin
        self.output = Lines(self.process.stdout)
        self.log = Lines(self.process.stderr)

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        if self.transport == "http":
            self.process.terminate()
        self.process.wait(DEADLINE)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe
            pipe.close()

    def write(self, line: bytes) -> None:
        """Send one line as it is."""
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def send(self, message: object) -> None:
        """Send one message."""
        self.write(json.dumps(message).encode())

    def request(self, id: object, method: str, **params: Any) -> None:
        """Send one request."""
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    def receive(self) -> Any:
        """Return the next message."""
        line = self.output.next()
        assert line is not None
        return json.loads(line)
