"""Agents' own programs at the versions of ``package.json``, each with a home folder of its own."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import command
from tests.serving import World, grant, living, seeded_store

from pdpp.credentials import Cache, Credential

BIN = Path(__file__).parent / "node_modules" / ".bin"
DEADLINE = 120
NOWHERE = "http://127.0.0.1:1"
"""Where requests to other machines go: a port on which nothing listens."""

QUICK = {
    "GEMINI_CLI_NO_RELAUNCH": "true",
    "QWEN_CODE_NO_RELAUNCH": "true",
    "NODE_COMPILE_CACHE": str(BIN.parent / ".compiled"),
}
"""Programs of many megabytes: they start once, not a second time for more memory, and what was
compiled of them is kept for the next start."""


@dataclass(frozen=True, slots=True)
class Home:
    """A person's home folder, from which nothing reaches the network."""

    folder: Path
    url: str
    variables: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return the environment of a program that is started here."""
        proxies = {"HTTP_PROXY": NOWHERE, "HTTPS_PROXY": NOWHERE}
        own = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
        path = os.pathsep.join([str(BIN), "/usr/local/bin", "/usr/bin", "/bin"])
        return (
            {"HOME": str(self.folder), "PATH": path, "TERM": "dumb"}
            | proxies
            | own
            | QUICK
            | {**self.variables}
        )

    def run(self, *arguments: str) -> str:
        """Run a program to its end and return all that it printed."""
        work = self.folder / "work"
        work.mkdir(exist_ok=True)
        done = subprocess.run(
            arguments,
            env=self.environment(),
            cwd=work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stdout[-2_000:], done.stderr[-2_000:])
        return done.stdout + done.stderr

    def pdpp(self, *arguments: str) -> str:
        """Run our own program."""
        return self.run(*command(*arguments))

    def block(self, client: str, way: str = "program") -> str:
        """Return the block that is printed for a client, without the remarks."""
        done = subprocess.run(
            command("mcp", "config", client, "--provider-url", self.url, "--by", way),
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=True,
        )
        return done.stdout

    def call(self, tool: str, arguments: dict[str, object]) -> dict[str, Any]:
        """Return what the adapter itself answers to a call."""
        about = {"protocolVersion": "2025-06-18", "capabilities": {}}
        about |= {"clientInfo": {"name": "test", "version": "1"}}
        messages = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": tool, "arguments": arguments},
            },
        ]
        done = subprocess.run(
            command("mcp", "--provider-url", self.url),
            input="".join(json.dumps(message) + "\n" for message in messages),
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=True,
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        result: dict[str, Any] = next(a["result"] for a in answers if a.get("id") == 2)
        return result

    def paste(self, client: str, place: str, way: str = "program", **more: object) -> None:
        """Put the block into a file of the home, whole; other settings go beside it."""
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        text = self.block(client, way)
        path.write_text(json.dumps(json.loads(text) | more) if more else text)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The demo world, served, only to be read."""
    with living(seeded_store(tmp_path_factory.mktemp("demo") / "store")) as world:
        yield world


@pytest.fixture
def home(demo: World, tmp_path: Path) -> Home:
    """A home folder that is connected to the demo."""
    url = demo.server.url
    Cache(tmp_path / ".pdpp" / "clients").store(Credential(url, grant(demo.store), "client"))
    return Home(tmp_path, url)


def needed(program: str) -> None:
    """Skip a test where a host's program is not installed."""
    if not (BIN / program).exists():
        pytest.skip(f"{program} is not here: npm ci in tests/hosts installs it")
