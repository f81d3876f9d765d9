"""The real program, as a person or a script starts it."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any

import httpx
from tests.engine import ENGINE, copy_store, program_environment
from tests.launching.process import PROGRAM, Program
from tests.serving import UNENCRYPTED

from pdpp.cli.program import run
from pdpp.serving.data_folder import open_store
from pdpp.store.port import Store

DEADLINE_SECONDS = 60

DECLARATION: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://sources.example/diary"},
    "connector_key": "diary",
    "declaration_version": "1",
    "publisher": {"id": "https://sources.example"},
    "display": {"name": "Diary"},
    "streams": [
        {
            "name": "entries",
            "description": "What happened on a day",
            "display": {"label": "Entries", "detail": "Text of the day"},
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "title": {"type": "string", "x_pdpp_role": "primary-title"},
                    "text": {"type": ["string", "null"], "x_pdpp_role": "body"},
                    "day": {"type": "string", "format": "date-time"},
                },
                "required": ["id"],
            },
            "primary_key": ["id"],
            "cursor_field": "day",
            "consent_time_field": "day",
            "selection": {"fields": True, "resources": True},
            "views": [{"id": "titles", "label": "Titles", "fields": ["id", "title"]}],
            "query": {"search": {"lexical_fields": ["title", "text"]}},
        },
        {
            "name": "moods",
            "description": "How it felt",
            "semantics": "append_only",
            "schema": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "mood": {"type": "string"}},
            },
            "primary_key": ["id"],
        },
    ],
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run of the program ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Return the JSON on stdout, the only thing there."""
        assert self.err == "", self.err
        answer: dict[str, Any] = json.loads(self.out)
        return answer

    def failed(self, *, code: int = 1) -> str:
        """Return the one line on stderr of a run that failed quietly otherwise."""
        assert self.code == code, (self.code, self.out, self.err)
        assert self.out == ""
        line, _, rest = self.err.partition("\n")
        assert rest == "", self.err
        assert line.startswith("error: "), line
        return line.removeprefix("error: ")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without what steers the program."""
    steering = ("PDPP_", "XDG_", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "MAKE", "MFLAGS")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(steering) or name == "XDG_STATE_HOME"
    }
    return kept | dict(extra or {})


def command(*arguments: str | Path) -> list[str]:
    return [*PROGRAM, *map(str, arguments)]


def pdpp(
    *arguments: str | Path,
    data: Path | None = None,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> Ended:
    """Run the program to its end."""
    where = environment(stored(_placed(arguments, data)) | dict(env or {}))
    with Program(
        command(*_placed(arguments, data)), stdin=PIPE, stdout=PIPE, stderr=PIPE, env=where
    ) as process:
        try:
            out, err = (told.decode() for told in process.communicate(stdin, DEADLINE_SECONDS))
        finally:
            process.kill()
    assert "Traceback" not in err, err
    return Ended(process.returncode, out, err)


def _placed(arguments: tuple[str | Path, ...], data: Path | None) -> tuple[str | Path, ...]:
    return arguments if data is None else (*arguments, "--data", data)


def stored(arguments: Iterable[str | Path]) -> dict[str, str]:
    """Return what tells a command where the store of its data folder is."""
    words = list(arguments)
    folder = next((words[at + 1] for at, word in enumerate(words[:-1]) if word == "--data"), None)
    return {} if folder is None else program_environment(Path(folder))


@contextmanager
def _with_environment(extra: Mapping[str, str]) -> Iterator[None]:
    """Let variables stand in the environment that nobody has set."""
    fresh = {name: value for name, value in extra.items() if name not in os.environ}
    os.environ.update(fresh)
    try:
        yield
    finally:
        for name in fresh:
            del os.environ[name]


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """Open the store of a data folder as commands do."""
    with _with_environment(program_environment(folder)), open_store(folder) as store:
        yield store


def pdpp_here(
    *arguments: str | Path, data: Path | None = None, stdin: bytes | None = None
) -> Ended:
    """Run the program in this process, where a test needs many quick runs."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    words = [str(argument) for argument in _placed(arguments, data)]
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        _reading(stdin),
        _with_environment(stored(words)),
    ):
        code = run(words)
    return Ended(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


@contextmanager
def _reading(content: bytes | None) -> Iterator[None]:
    """Let standard input be a pipe with some content, or stay what it is."""
    before = sys.stdin
    if content is not None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(content), "utf-8")
    try:
        yield
    finally:
        sys.stdin = before


@contextmanager
def started(
    *arguments: str | Path, env: Any = None, **streams: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Start the program with Ctrl-C as a terminal gives it, and end it with the block."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        where = environment(stored(arguments) | dict(env or {}))
        process = Program(command(*arguments), env=where, **streams)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until something holds while a process runs."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        with suppress(subprocess.TimeoutExpired):
            raise AssertionError(f"the program ended with {process.wait(timeout=0.02)}")


@dataclass(frozen=True, slots=True)
class Served:
    """A running server and where it writes."""

    process: subprocess.Popen[bytes]
    data: Path
    ready: dict[str, str]
    out: Path
    err: Path

    @property
    def url(self) -> str:
        return self.ready["url"]

    def get(self, path: str, token: str | None = None) -> httpx.Response:
        """Make one request on a connection of its own."""
        headers = {"Authorization": f"Bearer {token or self.ready['client_token']}"}
        return httpx.get(
            self.url + path, headers=headers, trust_env=False, timeout=30, verify=UNENCRYPTED
        )

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=DEADLINE_SECONDS)


@contextmanager
def serving(
    data: Path, notes: Path, *arguments: str | Path, env: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """Serve a folder on a free port; ``notes`` is a folder for what the server writes."""
    notes.mkdir(exist_ok=True)
    out, err, ready = notes / "out", notes / "err", notes / "ready.json"
    options = ["--port", "0", "--data", data, "--ready-file", ready, *arguments]
    with (
        out.open("wb") as stdout,
        err.open("wb") as stderr,
        started("serve", *options, stdout=stdout, stderr=stderr, env=env) as process,
    ):
        wait_for(ready.exists, process)
        yield Served(process, data, json.loads(ready.read_bytes()), out, err)
        process.terminate()
        process.wait(timeout=DEADLINE_SECONDS)


def copy_served(served: Served, target: Path) -> None:
    """Let a new data folder hold what a running server has."""
    if ENGINE == "postgres":
        copy_store(served.data, target)
    else:
        assert pdpp_here("backup", target, data=served.data).code == 0


def entry(key: str, **fields: Any) -> bytes:
    """Return one line of NDJSON for the diary."""
    data = {"id": key, "title": f"Day {key}", "day": "2026-01-31T08:00:00Z", **fields}
    line = {"key": key, "data": data, "emitted_at": "2026-02-01T00:00:00Z"}
    return json.dumps(line).encode() + b"\n"
