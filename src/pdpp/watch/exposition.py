"""The exposition: measurements as the text that Prometheus reads."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from pdpp.store.fleet import WorkerReport
from pdpp.store.replica import ReplicaUse
from pdpp.watch.meter import BOUNDS, Meter, Timed

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[str, Mapping[str, str], float]


def family(name: str, kind: str, meaning: str, samples: Iterable[Sample]) -> Iterator[str]:
    """Yield the lines of one metric: what it is, then a line a sample."""
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"
    for suffix, labels, value in samples:
        yield f"{name}{suffix}{_labels(labels)} {_number(value)}"


def single(name: str, kind: str, meaning: str, value: float) -> Iterator[str]:
    """Yield the lines of a metric that is one number."""
    return family(name, kind, meaning, [("", {}, value)])


def request_lines(meter: Meter) -> Iterator[str]:
    """Yield the metrics of requests."""
    yield from family(
        "pdpp_requests_total",
        "counter",
        "Requests answered; status 499 is a client that left first.",
        (
            ("", {"route": route, "method": method, "status": str(status)}, times)
            for route, method, status, times in meter.answered()
        ),
    )
    yield from family(
        "pdpp_request_seconds",
        "histogram",
        "Time from a request to the end of its answer.",
        (sample for timed in meter.timed() for sample in _histogram(timed)),
    )
    yield from single(
        "pdpp_requests_in_flight", "gauge", "Requests being answered now.", meter.in_flight
    )


def _histogram(timed: Timed) -> Iterator[Sample]:
    route = {"route": timed.route}
    totals = list(accumulate(timed.buckets))
    for bound, total in zip((*map(_number, BOUNDS), "+Inf"), totals, strict=True):
        yield "_bucket", route | {"le": bound}, total
    yield "_sum", route, timed.seconds
    yield "_count", route, totals[-1]


def ingest_lines(meter: Meter) -> Iterator[str]:
    """Yield the metrics of lines that came in over HTTP."""
    outcomes = {"accepted": meter.accepted, "rejected": meter.rejected}
    return family(
        "pdpp_ingested_lines_total",
        "counter",
        "Lines sent to ingest over HTTP, by what became of them.",
        (("", {"outcome": name}, count) for name, count in outcomes.items()),
    )


def replica_lines(use: ReplicaUse | None) -> Iterator[str]:
    """Yield how the process that answers uses its replica, if it has one."""
    if use is None:
        return
    outcomes = {"replica": use.answered, "behind": use.behind, "failed": use.failures}
    yield from family(
        "pdpp_replica_reads_total",
        "counter",
        "Reads of this worker that its replica answered, was too far behind for, or failed at.",
        (("", {"outcome": name}, count) for name, count in outcomes.items()),
    )
    if use.lag is not None:
        meaning = "How far the replica was behind at most, at the last read of this worker."
        yield from single("pdpp_replica_lag_seconds", "gauge", meaning, use.lag)


def worker_lines(workers: Sequence[WorkerReport], now: int, late: int) -> Iterator[str]:
    """Yield the numbers of every worker of a fleet, by its name."""

    def is_up(worker: WorkerReport) -> bool:
        return now - worker.seen_at <= late

    kinds: tuple[tuple[str, str, str, Callable[[WorkerReport], float]], ...] = (
        ("pdpp_worker_up", "gauge", "Whether it told of itself lately.", is_up),
        (
            "pdpp_worker_ready",
            "gauge",
            "Whether it did, and all its parts do their work.",
            lambda w: is_up(w) and not w.failing,
        ),
        ("pdpp_worker_requests_total", "counter", "Requests it answered.", lambda w: w.requests),
        ("pdpp_worker_failures_total", "counter", "Of these, failures.", lambda w: w.failures),
        ("pdpp_worker_requests_in_flight", "gauge", "Requests it answers.", lambda w: w.in_flight),
        ("pdpp_worker_owners", "gauge", "Owners it has open.", lambda w: w.owners),
        ("pdpp_worker_memory_bytes", "gauge", "Memory it takes.", lambda w: w.memory_bytes),
    )
    for name, kind, meaning, value in kinds:
        samples = (("", {"worker": worker.name}, value(worker)) for worker in workers)
        yield from family(name, kind, meaning, samples)


def _labels(labels: Mapping[str, str]) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
