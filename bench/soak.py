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
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from bench.process import Process, serving
from bench.report import Row, table, tell
from bench.soak_callers import Log, call
from bench.soak_capacity import BOUND_MS, Capacity, Unsustained, measure
from bench.soak_imports import importing
from bench.soak_traffic import Ask, traffic
from bench.soak_verdict import HEADING, THIRDS, Span, verdict
from bench.stock import Stock, open_stock
from bench.world import LEAST_RECORDS
from pdpp.cli.seeding import seed
from pdpp.service.settings import Settings
from pdpp.store.sqlite.store import SqliteStore

_SHARE = 0.8
_SAMPLE_SECONDS = 0.5


class Watch:
    """Keeps the log of each span, and looks at the server while it is asked."""

    def __init__(self, server: Process, seconds: float, spans: int) -> None:
        self._server = server
        self._each = seconds / spans
        self._logs = [Log() for _ in range(spans)]
        self._samples: list[list[tuple[float, int]]] = [[] for _ in range(spans)]
        self._used, self._answered = self._cpu_seconds(), 0

    def note(self, due: float, waited: float, error: str | None) -> None:
        """Note a request in the span in which it was due."""
        self._logs[min(len(self._logs) - 1, int(due / self._each))].add(waited, error)

    def follow(self, asking: threading.Thread) -> list[Span]:
        """Look until nobody asks any more; print each span when it is over."""
        print(HEADING, flush=True)
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
        log = self._logs[len(spans)]
        spans.append(Span(log, megabytes, round(files), *self._cpu_ms()))
        print(f"{len(spans) * self._each / 60:>6.1f}   {spans[-1].line}", flush=True)

    def _cpu_seconds(self) -> tuple[float, float]:
        return self._server.cpu_seconds(), time.process_time()

    def _cpu_ms(self) -> tuple[float, float]:
        """Return what a request answered since the last time took of server and callers."""
        used, answered = self._cpu_seconds(), sum(len(log.waited) for log in self._logs)
        count = max(1, answered - self._answered)
        server, callers = (
            1e3 * (now - before) / count for now, before in zip(used, self._used, strict=True)
        )
        self._used, self._answered = used, answered
        return server, callers


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
    watch = Watch(server, seconds, max(THIRDS, round(seconds / 60)))
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
    parser.add_argument(
        "--measure", type=float, default=12.0, help="seconds a rate is offered to find the capacity"
    )
    parser.add_argument(
        "--bound", type=float, default=BOUND_MS, help="milliseconds that the p99 may be"
    )
    parser.add_argument("--records", type=int, default=50_000, help="how many records")
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="where stores are kept")
    parser.add_argument("--json", type=Path, help="where the result goes; else into the folder")
    chosen = parser.parse_args()
    if platform.system() != "Linux":
        parser.error("memory and open files are read the Linux way; run this on Linux")
    if chosen.records < LEAST_RECORDS:
        parser.error(f"--records is at least {LEAST_RECORDS}")
    if min(chosen.minutes, chosen.measure, chosen.bound) <= 0 or not 0 < chosen.share <= 1:
        parser.error("--minutes, --measure and --bound are above 0, and --share is up to 1")
    return chosen


def main() -> int:
    """Run the soak; return 1 where the verdict is not a good one."""
    chosen = _arguments()
    stock = open_stock(chosen.folder, chosen.records, fresh=False, say=tell)
    with TemporaryDirectory(dir=chosen.folder) as made:
        data = Path(made) / "data"
        asks = traffic(stock, prepare(stock, data))
        with (
            serving("product", data) as server,
            importing(Path(made) / "export", data) as imports,
        ):
            found = _capacity(chosen, server.port, asks)
            rate = chosen.rate if found is None else chosen.share * found.sustained
            conditions = _conditions(chosen, found, rate)
            print(", ".join(f"{name} {value}" for name, value in conditions.items()), flush=True)
            spans = soak(server, asks, 60 * chosen.minutes, rate)
        rows = verdict(spans, imports.done, imports.errors, chosen.bound)
    print(table(rows))
    target: Path = chosen.json or chosen.folder / "soak.json"
    target.write_bytes(orjson.dumps(_document(conditions, spans, rows), option=orjson.OPT_INDENT_2))
    return int(any(row.verdict == "MISSED" for row in rows))


def _capacity(chosen: argparse.Namespace, port: int, asks: Sequence[Ask]) -> Capacity | None:
    """Return what the server sustains, unless it was said at which rate to ask."""
    if chosen.rate is not None:
        return None
    return measure(port, asks, chosen.measure, chosen.bound, tell)


def _conditions(chosen: argparse.Namespace, found: Capacity | None, rate: float) -> dict[str, Any]:
    measured = {name: round(value, 1) for name, value in asdict(found).items()} if found else {}
    return {
        "minutes": chosen.minutes,
        "records": chosen.records,
        "bound": chosen.bound,
        **measured,
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
                "p50_ms": round(span.p50, 3),
                "p99_ms": round(span.p99, 3),
                "errors": span.log.errors[:10],
                "megabytes": round(span.megabytes, 1),
                "files": span.files,
                "cpu_ms": round(span.cpu_ms, 3),
                "callers_ms": round(span.callers_ms, 3),
            }
            for span in spans
        ],
        "rows": [row.as_json() for row in rows],
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unsustained as problem:
        sys.exit(f"There is no capacity to take a part of: {problem}.")
