"""The heartbeat of a worker: every few seconds it tells the fleet how it is."""

import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from socket import gethostname

import pdpp
from pdpp.app import Application
from pdpp.model import instant
from pdpp.store.fleet import Fleet, WorkerReport

log = logging.getLogger("pdpp.fleet")

BEAT_SECONDS = 10.0
Applications = Callable[[], Iterable[Application]]


def memory_bytes() -> int:
    """Return how much memory this process takes; 0 where the system does not tell."""
    try:
        with open(f"/proc/{os.getpid()}/statm", encoding="ascii") as status:
            return int(status.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # pragma: no cover - other systems
        return 0


def make_report(name: str, started_at: int, applications: Iterable[Application]) -> WorkerReport:
    """Return what a worker tells of the applications that it runs."""
    running = list(applications)
    counts = [app.meter.own() for app in running]
    failing = ("receipts",) if any(app.service.recorder.failing for app in running) else ()
    return WorkerReport(
        name,
        pdpp.__version__,
        started_at,
        failing=failing,
        requests=sum(count.requests for count in counts),
        failures=sum(count.failures for count in counts),
        in_flight=sum(count.in_flight for count in counts),
        owners=len(running),
        memory_bytes=memory_bytes(),
    )


@contextmanager
def heartbeat(
    fleet: Fleet | None, applications: Applications, seconds: float = BEAT_SECONDS
) -> Iterator[None]:
    """Tell the fleet of this worker until the block ends; where there is none, nobody is told."""
    if fleet is None:
        yield
        return
    name = f"{gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"
    stopping = threading.Event()
    started_at = instant.now()

    def beat() -> None:
        while True:
            try:
                fleet.report(make_report(name, started_at, applications()))
            except Exception as problem:  # noqa: BLE001 - the next beat may succeed
                log.warning("the fleet could not be told: %s", type(problem).__name__)
            if stopping.wait(seconds):
                return

    thread = threading.Thread(target=beat, name="pdpp-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()
        try:
            fleet.leave(name)
        except Exception as problem:  # noqa: BLE001 - it is forgotten after a day
            log.warning("the fleet could not be told of the end: %s", type(problem).__name__)
