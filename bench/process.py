"""A measured process: started, asked how much time and memory it takes, and ended."""

import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen

from bench.engine import APPLICATION, Backends, environment, place_of

_ROOT = Path(__file__).parents[1]
_SCHEDULED = 2
"""The kind of clock that counts a process's own time on a processor, to the nanosecond."""


_LOOK_SECONDS = 0.25
_QUIET_SECONDS = 5.0
_LONGEST_WAIT = 240.0


class DidNotStart(Exception):
    """A process ended before it could be measured; what it printed says why."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes: all that is resident, its fair share of what is shared, and what is its own."""

    resident: float
    proportional: float
    own: float


@dataclass(frozen=True, slots=True)
class Process:
    """A running server."""

    pid: int
    port: int
    backends: Callable[[], Sequence[int]] = tuple
    """The processes of a database that work for it, whose time counts as its own."""

    def cpu_seconds(self) -> float:
        """Return the processor time used by all its threads, and by its database for it."""
        used = cpu_seconds(self.pid)
        for pid in self.backends():
            with suppress(OSError):  # a connection may be closed meanwhile
                used += cpu_seconds(pid)
        return used

    def wait_until_idle(self, rounds: int) -> None:
        """Wait until it has put its index together, which it does when nobody asks.

        A run of few rounds is a trial of the benchmark itself and waits less.
        """
        end = time.monotonic() + _LONGEST_WAIT
        quiet_since = time.monotonic()
        quiet = min(_QUIET_SECONDS, _LOOK_SECONDS * rounds * 3)
        while time.monotonic() - quiet_since < quiet and time.monotonic() < end:
            before = self.cpu_seconds()
            time.sleep(_LOOK_SECONDS)
            if self.cpu_seconds() - before > _LOOK_SECONDS / 20:
                quiet_since = time.monotonic()

    def memory(self) -> Memory:
        """Return what it occupies now."""
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()[1:]
        sizes = {name: int(rest[0]) / 1024 for name, *rest in map(str.split, lines)}
        return Memory(sizes["Rss:"], sizes["Pss:"], sizes["Anonymous:"])


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    return time.clock_gettime(~pid << 3 | _SCHEDULED)


def children() -> Sequence[int]:
    """Return the processes that this one started and that still run."""
    started: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread may end meanwhile
            started += map(int, (task / "children").read_text().split())
    return started


def peak_megabytes(pid: int) -> float:
    """Return the most memory that a process has taken until now; 0 of one that is gone.

    The system's count of resources begins with that of the process which started this one.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    _, _, after = status.partition("VmHWM:")
    return int(after.split()[0]) / 1024 if after else 0.0


@contextmanager
def serving(kind: str, folder: Path) -> Iterator[Process]:
    """Run the product or the floor over a store, in a process of its own."""
    name = f"{APPLICATION}-{secrets.token_hex(4)}"
    place = place_of(folder)
    with (
        ExitStack() as stack,
        Popen(
            [sys.executable, "-m", "bench.serve", kind, str(folder.resolve())],
            cwd=_ROOT,
            stdout=PIPE,
            text=True,
            env=environment(name),
        ) as process,
    ):
        assert process.stdout is not None
        try:
            port = process.stdout.readline()
            if not port:
                raise DidNotStart(f"the {kind} ended before it served")
            if place is None:
                yield Process(process.pid, int(port))
            else:
                backends = stack.enter_context(closing(Backends(place, name)))
                yield Process(process.pid, int(port), backends)
        finally:
            process.terminate()
