"""The soak: mixed traffic at a part of a server's capacity, for long, with imports beside it.

Run as ``python -m bench.soak --minutes 30``. It talks to a server of its own on 127.0.0.1 alone,
stops by itself, prints a line a minute, and ends with a verdict: whether waiting stays as short as
it was, memory stays flat, and nothing fails.
"""

import argparse
import os
import platform
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from bench.process import Process, serving
from bench.report import Row, table
from bench.soak_callers import Log, call, capacity
from bench.soak_imports import importing
from bench.soak_traffic import Ask, traffic
from bench.stock import Stock, open_stock
from bench.world import LEAST_RECORDS
from pdpp.cli.seeding import seed
from pdpp.resource.settings import Settings
from pdpp.store.sqlite.store import SqliteStore

_SHARE = 0.8
_WARM_SECONDS = 3.0
_THIRDS = 3
_SAMPLE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Span:
    """What a minute, or a shorter part of a short run, came to."""

    log: Log
    megabytes: float
    files: int
    cpu_ms: float
    """Processor time of the server a request, which other work on the machine moves little."""

    @property
    def line(self) -> str:
        """Return the span for a person."""
        p50, p99 = (percentile(self.log.waited, part) for part in (50, 99))
        return (
            f"{len(self.log.waited):>8,}  {p50:>8.1f}  {p99:>8.1f}  {len(self.log.errors):>6}"
            f"  {self.megabytes:>6.1f}  {self.files:>5}  {self.cpu_ms:>6.2f}"
        )


_HEADING = "minute   requests    p50 ms    p99 ms  errors      MB  files  CPU ms"


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value that a part of a hundred are not above; nothing where there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part / 100))] if ordered else 0.0


def verdict(spans: Sequence[Span], imports: int, failed: Sequence[str]) -> list[Row]:
    """Return whether a run was as good at its end as at its beginning."""
    size = len(spans) // _THIRDS
    first, last = spans[:size], spans[-size:]
    before, after = (percentile(_waited(part), 99) for part in (first, last))
    lean, fat = (mean(span.megabytes for span in part) for part in (first, last))
    before_cpu, after_cpu = (mean(span.cpu_ms for span in part) for part in (first, last))
    errors = [error for span in spans for error in span.log.errors] + list(failed)
    asked = sum(len(span.log.waited) for span in spans)
    note = f"of {asked:,} requests and {imports} imports"
    if errors:
        note += f"; first: {' '.join(errors[0].split())[-120:]}"
    return [
        Row(
            "p99, last third against first",
            after / before if before else 0.0,
            "×",
            1.5,
            f"{before:.1f} ms, then {after:.1f} ms",
        ),
        Row(
            "processor time a request, last third against first",
            after_cpu / before_cpu if before_cpu else 0.0,
            "×",
            None,
            f"{before_cpu:.2f} ms, then {after_cpu:.2f} ms",
        ),
        Row("memory growth", 100 * (fat / lean - 1), "%", 10, f"{lean:.1f} MB, then {fat:.1f} MB"),
        Row("errors", len(errors), "", 0, note),
    ]


def _waited(spans: Sequence[Span]) -> list[float]:
    return [waited for span in spans for waited in span.log.waited]


class Watch:
    """Keeps the log of each span, and looks at the server while it is asked."""

    def __init__(self, server: Process, seconds: float, spans: int) -> None:
        self._server = server
        self._each = seconds / spans
        self._logs = [Log() for _ in range(spans)]
        self._samples: list[list[tuple[float, int]]] = [[] for _ in range(spans)]
        self._used, self._answered = server.cpu_seconds(), 0

    def note(self, due: float, waited: float, error: str | None) -> None:
        """Note a request in the span in which it was due."""
        self._logs[min(len(self._logs) - 1, int(due / self._each))].add(waited, error)

    def follow(self, asking: threading.Thread) -> list[Span]:
        """Look until nobody asks any more; print each span when it is over."""
        print(_HEADING, flush=True)
        spans: list[Span] = []
        start = time.perf_counter()
        while asking.is_alive():
            asking.join(_SAMPLE_SECONDS)
            now = min(len(self._logs) - 1, int((time.perf_counter() - start) / self._each))
            self._samples[now].append((self._server.memory().resident, _open_files(self._server)))
            while len(spans) < now:
                self._end(spans)
        while len(spans) < len(self._logs):
            self._end(spans)
        return spans

    def _end(self, spans: list[Span]) -> None:
        samples = self._samples[len(spans)] or [(self._server.memory().resident, 0)]
        megabytes, files = (mean(column) for column in zip(*samples, strict=True))
        spans.append(Span(self._logs[len(spans)], megabytes, round(files), self._cpu_ms()))
        print(f"{len(spans) * self._each / 60:>6.1f}   {spans[-1].line}", flush=True)

    def _cpu_ms(self) -> float:
        """Return the processor time a request since the last time, of those answered since then."""
        used, answered = self._server.cpu_seconds(), sum(len(log.waited) for log in self._logs)
        since, count = used - self._used, answered - self._answered
        self._used, self._answered = used, answered
        return 1e3 * since / max(1, count)


def _open_files(server: Process) -> int:
    return len(os.listdir(f"/proc/{server.pid}/fd"))


def prepare(stock: Stock, data: Path) -> str:
    """Copy a filled store, add the demo, and return a token for it."""
    shutil.copytree(stock.folder, data)
    store = SqliteStore(data)
    token = seed(store, Settings()).client
    store.close()
    return token


def soak(server: Process, asks: Sequence[Ask], seconds: float, rate: float) -> list[Span]:
    """Ask at a rate for some seconds and return what each minute came to."""
    watch = Watch(server, seconds, max(_THIRDS, round(seconds / 60)))
    asking = threading.Thread(
        target=call, args=(server.port, asks, seconds, rate, watch.note), daemon=True
    )
    asking.start()
    return watch.follow(asking)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="how long; 30 unless given")
    parser.add_argument("--rate", type=float, help="requests a second; else a part of the capacity")
    parser.add_argument("--share", type=float, default=_SHARE, help="which part; 0.8 unless given")
    parser.add_argument("--measure", type=float, default=20.0, help="seconds to find the capacity")
    parser.add_argument("--records", type=int, default=50_000, help="how many records")
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="where stores are kept")
    parser.add_argument("--json", type=Path, help="where the result goes; else into the folder")
    chosen = parser.parse_args()
    if platform.system() != "Linux":
        parser.error("memory and open files are read the Linux way; run this on Linux")
    if chosen.records < LEAST_RECORDS:
        parser.error(f"--records is at least {LEAST_RECORDS}")
    if chosen.minutes <= 0 or chosen.measure <= 0 or not 0 < chosen.share <= 1:
        parser.error("--minutes and --measure are above 0, and --share is up to 1")
    return chosen


def main() -> int:
    """Run the soak; return 1 where the verdict is not a good one."""
    chosen = _arguments()
    stock = open_stock(chosen.folder, chosen.records, fresh=False, say=_say)
    with TemporaryDirectory(dir=chosen.folder) as made:
        data = Path(made) / "data"
        asks = traffic(stock, prepare(stock, data))
        with (
            serving("product", data) as server,
            importing(Path(made) / "export", data) as imports,
        ):
            capacity(server.port, asks, _WARM_SECONDS)
            most = capacity(server.port, asks, chosen.measure)
            rate = chosen.rate or chosen.share * most
            conditions = _conditions(chosen, most, rate)
            print(", ".join(f"{name} {value}" for name, value in conditions.items()), flush=True)
            spans = soak(server, asks, 60 * chosen.minutes, rate)
        rows = verdict(spans, imports.done, imports.errors)
    print(table(rows))
    target: Path = chosen.json or chosen.folder / "soak.json"
    target.write_bytes(orjson.dumps(_document(conditions, spans, rows), option=orjson.OPT_INDENT_2))
    return int(any(row.verdict == "MISSED" for row in rows))


def _conditions(chosen: argparse.Namespace, most: float, rate: float) -> dict[str, Any]:
    return {
        "minutes": chosen.minutes,
        "records": chosen.records,
        "capacity": round(most, 1),
        "rate": round(rate, 1),
        "cores": os.cpu_count() or 0,
        "load": round(os.getloadavg()[0], 2),
    }


def _document(
    conditions: dict[str, Any], spans: Sequence[Span], rows: Sequence[Row]
) -> dict[str, Any]:
    return {
        "conditions": conditions,
        "spans": [
            {
                "requests": len(span.log.waited),
                "p50_ms": round(percentile(span.log.waited, 50), 3),
                "p99_ms": round(percentile(span.log.waited, 99), 3),
                "errors": span.log.errors[:10],
                "megabytes": round(span.megabytes, 1),
                "files": span.files,
                "cpu_ms": round(span.cpu_ms, 3),
            }
            for span in spans
        ],
        "rows": [row.as_json() for row in rows],
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
