"""Launches: the program and the adapter, from their start to their answers."""

import compileall
import os
import pty
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import IO

from bench.agent import LEGACY, message, result_of
from bench.estate import Estate
from bench.process import Memory, Process
from bench.report import Row
from pdpp.credentials import Cache, Credential

_SOURCE = Path(__file__).parents[1] / "src"
_QUERY = "invoice 4471"


@dataclass(frozen=True, slots=True)
class Moment:
    """Milliseconds since a start: by the clock, and of the processor."""

    wall: float
    cpu: float


_End = Callable[[Sequence[str], Mapping[str, str]], Moment]
"""How a process is run to its end: its command, its environment, what it took."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A bare interpreter from start to end, then the adapter: its answers, and its memory."""

    bare: Moment
    opened: Moment
    searched: Moment
    memory: Memory


def stdio_rows(server: Process, estate: Estate, runs: int) -> Iterator[Row]:
    """Yield how soon the adapter answers and what it occupies."""
    launches = _launches(f"http://127.0.0.1:{server.port}", estate.token, runs)
    bare = [launch.bare for launch in launches]
    for what, moments in (
        ("first answer", [launch.opened for launch in launches]),
        ("first tool answer", [launch.searched for launch in launches]),
    ):
        cpu = median(moment.cpu for moment in moments)
        note = f"by the clock, of {runs} runs; {cpu:.0f} ms CPU"
        waited = median(moment.wall for moment in moments)
        yield Row(f"stdio, launch to {what}", waited, "ms", 150, note)
        yield _against_bare(f"stdio, launch to {what}, against python -c pass", moments, bare)
    memory = sorted((launch.memory for launch in launches), key=lambda found: found.resident)
    middle = memory[len(memory) // 2]
    note = f"resident; {middle.own:.0f} MB its own"
    yield Row("stdio, memory after a search", middle.resident, "MB", 40, note)


def program_rows(server: Process, estate: Estate, runs: int) -> Iterator[Row]:
    """Yield how soon a person who typed a command has its output."""
    url = f"http://127.0.0.1:{server.port}"
    with _cached(url, estate.token) as root:
        search = ("read", "search", _QUERY, "--cache-root", root)
        schema = ("read", "schema", "--cache-root", root)
        for name, arguments, end in (
            ("pdpp --help", ("--help",), _ended),
            ("pdpp read search", search, _ended),
            ("pdpp read search in a terminal", search, _ended_in_terminal),
            ("pdpp read schema in a terminal, a table", schema, _ended_in_terminal),
        ):
            pairs = [_run(arguments, end) for _ in range(runs)]
            ours, bare = [mine for mine, _ in pairs], [its for _, its in pairs]
            waited, cpu = (median(getattr(mine, kind) for mine in ours) for kind in ("wall", "cpu"))
            note = f"by the clock, of {runs} runs; {cpu:.0f} ms CPU"
            yield Row(f"{name}, launch to end", waited, "ms", 200, note)
            yield _against_bare(f"{name}, launch to end, against python -c pass", ours, bare)


def _run(arguments: Sequence[str], end: _End) -> tuple[Moment, Moment]:
    """Run the program to its end, and an interpreter that does nothing just after it."""
    environment = _environment()
    command = [sys.executable, "-m", "pdpp", *arguments]
    return end(command, environment), _bare(environment)


def _against_bare(name: str, ours: Sequence[Moment], bare: Sequence[Moment]) -> Row:
    pairs = list(zip(ours, bare, strict=True))
    waited = median(mine.wall / its.wall for mine, its in pairs)
    cpu = median(mine.cpu / its.cpu for mine, its in pairs)
    alone = median(its.wall for its in bare)
    return Row(name, waited, "×", 8, f"by the clock; {cpu:.1f} × CPU; it takes {alone:.0f} ms")


@contextmanager
def _cached(provider_url: str, token: str) -> Iterator[str]:
    """Keep a token in a cache of its own, and code compiled as that of an installed program is."""
    compileall.compile_dir(str(_SOURCE), quiet=1)
    with TemporaryDirectory() as root:
        Cache(Path(root) / "clients").store(Credential(provider_url, token, "client"))
        yield root


def _launches(provider_url: str, token: str, runs: int) -> list[Launch]:
    """Launch again and again."""
    with _cached(provider_url, token) as root:
        command = [
            *(sys.executable, "-m", "pdpp", "mcp"),
            *("--provider-url", provider_url, "--cache-root", root),
        ]
        environment = _environment()
        return [_launch(command, environment) for _ in range(runs)]


def _environment() -> dict[str, str]:
    """Return an environment as a host gives: no setting of ours, compiled code in use."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PDPP_") and name != "PYTHONDONTWRITEBYTECODE"
    }


def _launch(command: Sequence[str], environment: Mapping[str, str]) -> Launch:
    bare = _bare(environment)
    started = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        adapter = Process(process.pid, 0)
        about = {"name": "bench", "version": "1"}
        opening = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": about}
        _ask(process.stdin, process.stdout, message("initialize", opening))
        opened = _since(started, adapter)
        call = {"name": "search", "arguments": {"query": _QUERY}}
        _ask(process.stdin, process.stdout, message("tools/call", call, 2))
        searched = _since(started, adapter)
        memory = adapter.memory()
        process.stdin.close()
    return Launch(bare, opened, searched, memory)


def _bare(environment: Mapping[str, str]) -> Moment:
    """Return what an interpreter that does nothing takes to come and go."""
    return _ended([sys.executable, "-c", "pass"], environment)


def _ended(command: Sequence[str], environment: Mapping[str, str]) -> Moment:
    """Return what a process takes to come and go."""
    before, started = _children_cpu(), time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return Moment(1e3 * (time.perf_counter() - started), 1e3 * (_children_cpu() - before))


def _ended_in_terminal(command: Sequence[str], environment: Mapping[str, str]) -> Moment:
    """Return what a process takes to come and go that a person looks at."""
    before, started = _children_cpu(), time.perf_counter()
    ours, theirs = pty.openpty()
    coloured = {**environment, "TERM": "xterm-256color", "COLUMNS": "80"}
    with subprocess.Popen(command, env=coloured, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        with suppress(OSError):
            while os.read(ours, 65_536):
                pass
        os.close(ours)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Moment(1e3 * (time.perf_counter() - started), 1e3 * (_children_cpu() - before))


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _ask(source: IO[bytes], sink: IO[bytes], request: bytes) -> None:
    source.write(request + b"\n")
    source.flush()
    result_of(sink.readline())


def _since(started: float, process: Process) -> Moment:
    return Moment(1e3 * (time.perf_counter() - started), 1e3 * process.cpu_seconds())
