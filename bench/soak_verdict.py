"""The verdict: what each minute of a soak came to, and whether the end was as good as the start."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median

from bench.report import Row
from bench.soak_callers import Log, percentile

THIRDS = 3
HEADING = "minute   requests    p50 ms    p99 ms  errors      MB  files  CPU ms"


@dataclass(frozen=True, slots=True)
class Span:
    """What a minute, or a shorter part of a short run, came to."""

    log: Log
    megabytes: float
    files: int
    cpu_ms: float
    """Processor time of the server a request, which other work on the machine moves little."""
    callers_ms: float
    """Processor time of the callers a request: what measuring takes from what is measured."""

    @property
    def p50(self) -> float:
        """Return how long half of the requests took at most."""
        return percentile(self.log.waited, 50)

    @property
    def p99(self) -> float:
        """Return how long all but one of a hundred requests took at most."""
        return percentile(self.log.waited, 99)

    @property
    def line(self) -> str:
        """Return the span for a person."""
        return (
            f"{len(self.log.waited):>8,}  {self.p50:>8.1f}  {self.p99:>8.1f}"
            f"  {len(self.log.errors):>6}  {self.megabytes:>6.1f}  {self.files:>5}"
            f"  {self.cpu_ms:>6.2f}"
        )


def verdict(
    spans: Sequence[Span], imports: int, failed: Sequence[str], bound_ms: float
) -> list[Row]:
    """Return whether a run was good, and as good at its end as at its beginning."""
    lean, fat = (mean(span.megabytes for span in part) for part in _ends(spans))
    return [
        *_waiting(spans, bound_ms),
        *_work(spans),
        Row("memory growth", 100 * (fat / lean - 1), "%", 10, f"{lean:.1f} MB, then {fat:.1f} MB"),
        _errors(spans, imports, failed),
    ]


def _ends(spans: Sequence[Span]) -> tuple[Sequence[Span], Sequence[Span]]:
    size = len(spans) // THIRDS
    return spans[:size], spans[-size:]


def _waiting(spans: Sequence[Span], bound_ms: float) -> list[Row]:
    """Judge by the minutes: over all requests of a third, one disturbed minute would decide."""
    before, after = (median(span.p99 for span in part) for part in _ends(spans))
    each = [span.p99 for span in spans]
    worst = max(each)
    return [
        Row(
            "p99 of a minute, last third against first",
            after / before if before else 0.0,
            "×",
            1.5,
            f"medians: {before:.1f} ms, then {after:.1f} ms",
        ),
        Row("p99 of a minute", median(each), "ms", bound_ms, "the median of all minutes"),
        Row(
            "p99 of the worst minute", worst, "ms", None, f"{each.index(worst) + 1} of {len(each)}"
        ),
    ]


def _work(spans: Sequence[Span]) -> list[Row]:
    before, after = (mean(span.cpu_ms for span in part) for part in _ends(spans))
    return [
        Row(
            "processor time a request, last third against first",
            after / before if before else 0.0,
            "×",
            None,
            f"{before:.2f} ms, then {after:.2f} ms",
        ),
        Row(
            "processor time of the callers a request",
            mean(span.callers_ms for span in spans),
            "ms",
            None,
            "on the same machine as the server",
        ),
    ]


def _errors(spans: Sequence[Span], imports: int, failed: Sequence[str]) -> Row:
    errors = [error for span in spans for error in span.log.errors] + list(failed)
    asked = sum(len(span.log.waited) for span in spans)
    note = f"of {asked:,} requests and {imports} imports"
    if errors:
        note += f"; first: {' '.join(errors[0].split())[-120:]}"
    return Row("errors", len(errors), "", 0, note)
