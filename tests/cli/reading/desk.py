"""A person at a desk: the real program, connected to a real server, in a pipe or a terminal."""

import fcntl
import io
import os
import pty
import re
import select
import shlex
import struct
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.cli.shell import DEADLINE_SECONDS, Ended, command, environment, pdpp
from tests.launching.process import Program
from tests.serving import UNENCRYPTED, World, grant

from pdpp.cli.program import run
from pdpp.credentials import Cache, Credential

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Desk:
    """A server, and a folder where a grant for it is kept."""

    world: World
    root: Path
    token: str

    @property
    def url(self) -> str:
        return self.world.server.url

    @property
    def variables(self) -> dict[str, str]:
        return {"PDPP_CACHE_ROOT": str(self.root)}

    def run(self, *words: str | Path, env: Mapping[str, str] | None = None) -> Ended:
        """Run the program to its end, in a process of its own."""
        return pdpp(*words, env={**self.variables, **(env or {})})

    def here(self, *words: str | Path) -> Ended:
        """Run the program in this process, where a test needs many quick runs."""
        with _variables(self.variables), _streams() as (out, err):
            code = run([str(word) for word in words])
        return Ended(code, *(_text(stream) for stream in (out, err)))

    def read(self, *words: str | Path) -> str:
        """Return what a read prints, which must not fail."""
        ended = self.here("read", *words)
        assert (ended.code, ended.err) == (0, ""), ended
        return ended.out

    def typed(self, line: str) -> Ended:
        """Run a line that the program showed, as a shell would."""
        program, *words = shlex.split(line)
        assert program == "pdpp"
        return self.here(*words)

    def get(self, path: str, **params: Any) -> httpx.Response:
        """Ask the server itself."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.get(
            self.url + path,
            params=params or None,
            headers=headers,
            trust_env=False,
            timeout=30,
            verify=UNENCRYPTED,
        )

    def terminal(
        self, *words: str | Path, columns: int = 80, env: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """Run the program in a terminal of so many columns; return its exit code and the screen."""
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        kept = {k: v for k, v in environment(self.variables).items() if k not in _STEERING}
        process = Program(
            command(*words),
            stdin=child,
            stdout=child,
            stderr=child,
            env={**kept, "TERM": "xterm-256color", **(env or {})},
        )
        os.close(child)
        try:
            screen = _drained(parent)
            return process.wait(DEADLINE_SECONDS), screen
        finally:
            process.kill()
            process.wait()
            os.close(parent)


_STEERING = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TERM")


def _drained(terminal: int) -> str:
    said, deadline = b"", time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            chunk = os.read(terminal, 65_536)
        except OSError:
            break
        if not chunk:
            break
        said += chunk
    return said.decode().replace("\r\n", "\n")


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith("PDPP_")]:
        del os.environ[name]
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _streams() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    before = sys.stdout, sys.stderr
    made = tuple(io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "ab")
    sys.stdout, sys.stderr = made
    try:
        yield made[0], made[1]
    finally:
        sys.stdout, sys.stderr = before


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    found: str = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
    return found


def at_desk(world: World, root: Path, **selection: Any) -> Desk:
    """Connect a person to a server under a new grant; nothing selected is everything."""
    token = grant(world.store, **selection)
    Cache(root / "clients").store(Credential(world.server.url, token, "client"))
    return Desk(world, root, token)


def shown(screen: str) -> str:
    """Return what a person sees of a screen: its text without colours."""
    return ANSI.sub("", screen)


def commands(text: str, what: str) -> list[str]:
    """Return the commands that are shown after a word, in order."""
    return re.findall(rf"^ *{re.escape(what)}: (pdpp .*)$", text, re.MULTILINE)
