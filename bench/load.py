"""Load: many callers at once, and the memory the server takes meanwhile."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path

from bench.client import Client
from bench.process import Memory, serving

CALLERS = 16
_SAMPLE_EVERY = 10


def measure_memory(
    folder: Path, requests: Sequence[bytes], seconds: float
) -> tuple[Memory, Memory, float]:
    """Return what a new server takes idle and at most under load, and its answers a second."""
    with serving("product", folder) as server, ExitStack() as stack:
        callers = [stack.enter_context(Client(server.port)) for _ in range(CALLERS)]
        callers[0].ask(requests[0])
        idle = server.memory()
        samples = [idle]
        turns, started = 0, time.perf_counter()
        coming = cycle(requests)
        while turns * CALLERS < len(requests) or time.perf_counter() - started < seconds:
            for caller in callers:
                caller.send(next(coming))
            if turns % _SAMPLE_EVERY == 0:
                samples.append(server.memory())
            for caller in callers:
                caller.receive()
            turns += 1
        rate = turns * CALLERS / (time.perf_counter() - started)
        samples.append(server.memory())
    return idle, max(samples, key=lambda sample: sample.resident), rate
