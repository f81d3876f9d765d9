"""Timings: servers asked in turn, so that whatever else the machine does hits them alike."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.client import Client
from bench.process import Process

_ROUND_SECONDS = 0.12
_LEAST, _MOST = 3, 300


@dataclass(frozen=True, slots=True)
class Target:
    """A server and the requests to ask it, over and over."""

    server: Process
    requests: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds a request, round by round: as the client waits, and as the processor works."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]

    @property
    def wall_ms(self) -> float:
        """Return the usual time from request to answer."""
        return median(self.wall)

    @property
    def cpu_ms(self) -> float:
        """Return the usual processor time of the server."""
        return median(self.cpu)

    def ratio(self, other: "Timing") -> float:
        """Return how many times the processor time of another this is."""
        return median(mine / its for mine, its in zip(self.cpu, other.cpu, strict=True))

    def over(self, other: "Timing") -> float:
        """Return how many microseconds of processor time this takes beyond another."""
        return 1e3 * median(mine - its for mine, its in zip(self.cpu, other.cpu, strict=True))


def compare(targets: Mapping[str, Target], rounds: int) -> dict[str, Timing]:
    """Return the timing of each target after some rounds of taking turns.

    A run of one round is a trial of the benchmark itself: it asks a few requests once.
    """
    trial = rounds == 1
    runs = {name: _Run(target, trial=trial) for name, target in targets.items()}
    for _ in range(rounds):
        for run in runs.values():
            run.take_turn()
    for run in runs.values():
        run.client.__exit__(None, None, None)
    return {name: Timing(tuple(run.wall), tuple(run.cpu)) for name, run in runs.items()}


class _Run:
    """One target on its way through the rounds."""

    def __init__(self, target: Target, *, trial: bool) -> None:
        self.client = Client(target.server.port)
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self._target = target
        self._size = _LEAST if trial else self._warm_up()

    def _warm_up(self) -> int:
        """Ask everything twice; return how many requests fill a round."""
        requests = self._target.requests
        self._ask(requests)
        before = time.perf_counter()
        self._ask(requests)
        usual = (time.perf_counter() - before) / len(requests)
        return max(_LEAST, min(_MOST, round(_ROUND_SECONDS / usual)))

    def take_turn(self) -> None:
        """Ask for one round."""
        requests = self._target.requests
        chosen = [requests[turn % len(requests)] for turn in range(self._size)]
        before = self._target.server.cpu_seconds()
        took = self._ask(chosen)
        # The clock of another process moves in steps: a few quick requests may fall within one.
        while (used := self._target.server.cpu_seconds() - before) == 0:
            took += self._ask(chosen)
        self.wall.append(1e3 * median(took))
        self.cpu.append(1e3 * used / len(took))

    def _ask(self, requests: Sequence[bytes]) -> list[float]:
        took = []
        for request in requests:
            before = time.perf_counter()
            self.client.ask(request)
            took.append(time.perf_counter() - before)
        return took
