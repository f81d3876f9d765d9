"""A worker in a process of its own: it counts, a step at a time, and saves each step."""

import sys
import time
from pathlib import Path

from tests.engine import open_store

from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.jobs.runner import JobRunner
from pdpp.model import instant
from pdpp.store.jobs import Json

LEASE_SECONDS = 1.5


def count(context: JobContext) -> Json:
    """Count on from the saved step; every step is written to a file with the worker's own mark."""
    trace, steps = Path(context.parameters["trace"]), int(context.parameters["steps"])
    step = int((context.state or {}).get("step", 0))
    while step < steps:
        context.check()
        step += 1
        with trace.open("a") as lines:
            lines.write(f"{step}\n")
        context.save({"step": step})
        context.progress(step, steps, f"step {step}")
        time.sleep(float(context.parameters["pause"]))
    return {"counted": step}


def make_runner(folder: Path, look_seconds: float = 0.05) -> JobRunner:
    """Return a runner with this kind of job over the store of a folder."""
    kinds = [JobKind("count", count)]
    return JobRunner(
        open_store(folder),
        kinds,
        instant.now,
        lease_seconds=LEASE_SECONDS,
        look_seconds=look_seconds,
    )


if __name__ == "__main__":
    runner = make_runner(Path(sys.argv[1]))
    runner.start()
    sys.stdin.read()
    runner.stop()
