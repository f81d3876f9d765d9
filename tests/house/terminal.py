"""A newcomer's terminal: the lines of a page typed as they stand, in a checkout of their own."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from tests.cli.shell import DEADLINE_SECONDS, environment

ROOT = Path(__file__).parents[2]
ADDRESS = "http://127.0.0.1:7377"
"""The server of the pages; a test's own listens elsewhere."""

Step = TypeVar("Step")

_COLUMNS = 120
_ENDING = '\nstatus=$?\nenv -0 > "$PDPP_TEST_ENV"\nexit $status'


def blocks(page: Path, language: str = "sh") -> list[str]:
    """Return the fenced blocks of a page that are in a language."""
    found = re.findall(r"```(\w+)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [body for name, body in found if name == language]


def commands(page: Path) -> list[str]:
    """Return every line that a page tells its reader to type, in order."""
    typed = "".join(blocks(page)).replace("\\\n", " ")
    lines = (re.sub(r"\s+#\s.*", "", line).strip() for line in typed.splitlines())
    return [line for line in lines if line]


def inline(page: Path) -> list[str]:
    """Return every command that a page names inside its text."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"`((?:make|pdpp|\.venv/bin/pdpp) [^`]+)`", text)


def way(ways: Mapping[str, Step], line: str) -> Step:
    """Return how a line is run, by the one pattern that it fits."""
    found = [run for pattern, run in ways.items() if re.fullmatch(pattern, line)]
    assert len(found) == 1, f"no test knows how to run this line: {line}"
    return found[0]


class Typed(NamedTuple):
    """A line that was typed to its end, and what the screen showed."""

    code: int
    screen: str


class Running:
    """A line that runs on: what it has said, and a way to answer and to end it."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int) -> None:
        self._process = process
        self._screen = screen
        self._said = b""

    @property
    def said(self) -> str:
        """Return what the screen has shown so far."""
        return self._said.decode(errors="replace").replace("\r\n", "\n")

    def until(self, wanted: str, times: int = 1) -> str:
        """Wait until the screen shows a text, so many times."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self.said.count(wanted) < times:
            assert time.monotonic() < deadline, self.said
            assert self._listen(), f"it ended without {wanted!r}: {self.said}"
        return self.said

    def answer(self, text: str) -> None:
        """Type a line into it."""
        os.write(self._screen, f"{text}\n".encode())

    def end(self) -> Typed:
        """Wait for its end."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self._listen():
            assert time.monotonic() < deadline, self.said
        return Typed(self._process.wait(DEADLINE_SECONDS), self.said)

    def interrupt(self) -> Typed:
        """Press Ctrl-C and wait for its end."""
        os.killpg(self._process.pid, signal.SIGINT)
        return self.end()

    def _listen(self) -> bool:
        """Take what comes to the screen within a moment; tell whether more can come."""
        if select.select([self._screen], [], [], 0.1)[0]:
            try:
                self._said += os.read(self._screen, 65_536)
            except OSError:
                return False
        return True


class Terminal:
    """A shell in a folder; what a line exports holds for the next."""

    def __init__(self, folder: Path, variables: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.url = ADDRESS
        home = folder / "home"
        home.mkdir(exist_ok=True)
        own = {"HOME": str(home), "NO_COLOR": "1", "NO_PROXY": "127.0.0.1"}
        self.variables = environment({**own, **(variables or {})})

    def type(self, line: str) -> Typed:
        """Type a line and wait for its end."""
        with self.running(line) as running:
            return running.end()

    def succeed(self, line: str) -> str:
        """Type a line that must succeed; return what the screen showed."""
        code, screen = self.type(line)
        assert code == 0, (line, screen)
        return screen

    @contextmanager
    def running(self, line: str) -> Iterator[Running]:
        """Type a line that runs on; it is ended with the block."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, _COLUMNS, 0, 0))
        kept = self.folder / "environment"
        process = subprocess.Popen(
            ["sh", "-c", line.replace(ADDRESS, self.url) + _ENDING],
            cwd=self.folder,
            env={**self.variables, "PDPP_TEST_ENV": str(kept)},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        try:
            yield Running(process, ours)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(ours)
        self._carry(kept)

    def _carry(self, kept: Path) -> None:
        """Take over what a line exported."""
        if kept.exists():
            pairs = kept.read_bytes().decode().split("\0")[:-1]
            self.variables = dict(pair.split("=", 1) for pair in pairs)
            del self.variables["PDPP_TEST_ENV"]
            kept.unlink()


def checkout(folder: Path) -> Path:
    """Return a fresh checkout of this project, built: the environment is that of the tests."""
    for name in ("Makefile", "pyproject.toml", "requirements", "src", "tests", ".ci"):
        (folder / name).symlink_to(ROOT / name)
    made = folder / ".venv"
    made.mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (made / name).symlink_to(Path(sys.prefix) / name)
    for name in ("run.stamp", "dev.stamp"):
        (made / name).touch()
    return folder
