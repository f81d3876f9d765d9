"""Imports: what bringing an export in costs beyond reading and parsing it, for every format."""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from bench.exports import MAKERS, claude_code
from bench.report import Row
from pdpp.model import instant
from pdpp.resource.ingest import write_lines
from pdpp.resource.settings import Settings
from pdpp.sources.arrival import Arrival, Rails, destination
from pdpp.sources.drawer import Drawer
from pdpp.sources.item import START, Item
from pdpp.sources.source import Wishes
from pdpp.sources.tree import open_tree
from pdpp.sources.verdict import Verdict, judge
from pdpp.store.catalogue import Feed
from pdpp.store.scope import owner_reaches
from pdpp.store.sqlite.store import SqliteStore

_ROOT = Path(__file__).parents[1]
_MOST_THINGS = 2_000
_TURNS = 2
_LARGER = 20
_LOOK_SECONDS = 0.003
_LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of the processor for reading alone and for the import, and what it came to."""

    label: str
    records: int
    reading: float
    importing: float
    megabytes: float


def import_rows(records: int) -> Iterator[Row]:
    """Yield the cost of an import against reading alone, the most memory, and the first record."""
    things = min(_MOST_THINGS, records // 10)
    costs = []
    for key, make in MAKERS.items():
        with TemporaryDirectory() as folder:
            (Path(folder) / "export").mkdir()
            path = make(Path(folder) / "export", things)
            turns = [_measured(path, Path(folder) / f"data {turn}") for turn in range(_TURNS)]
        cost = turns[0]
        ratio = median(turn.importing / turn.reading for turn in turns)
        rate = median(turn.records / turn.importing for turn in turns)
        alone = median(turn.records / turn.reading for turn in turns)
        note = f"CPU; {rate:,.0f} records/s imported, {alone:,.0f}/s only read"
        costs.append(max(turn.megabytes for turn in turns))
        yield Row(f"import, {cost.label} ({key})", ratio, "×", 3, note)
    note = f"the most of {len(costs)} formats, {things:,} things each"
    yield Row("import, memory", max(costs), "MB", 300, note)
    yield _first_record(_LARGER * things)


def _measured(path: Path, data: Path) -> Cost:
    """Measure one import in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.imports", str(path), str(data)],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    return Cost(**orjson.loads(done.stdout))


def _first_record(messages: int) -> Row:
    """Launch the program on a long log and wait until a search would find something."""
    with TemporaryDirectory() as folder:
        path = claude_code(Path(folder), messages)
        data = Path(folder) / "data"
        started = time.perf_counter()
        command = [sys.executable, "-m", "pdpp", "import", str(path), "--yes", "--json"]
        with subprocess.Popen(
            [*command, "--data", str(data)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                waited = _wait_for_records(data, started)
            finally:
                process.terminate()
    note = f"by the clock, from the launch of the program, in a log of {messages:,} messages"
    return Row("import, first searchable record", 1e3 * waited, "ms", None, note)


def _wait_for_records(data: Path, started: float) -> float:
    while time.perf_counter() - started < _LONGEST_WAIT:
        if (data / "imports").exists():
            store = SqliteStore(data)
            try:
                reaches = owner_reaches(store.catalogue())
                if sum(store.counts(reaches).values()):
                    return time.perf_counter() - started
            finally:
                store.close()
        time.sleep(_LOOK_SECONDS)
    raise TimeoutError("nothing was imported")


# In the measured process


def _read_alone(verdict: Verdict, path: Path) -> tuple[int, float]:
    """Return how many records an export holds, and the time it takes to read and parse them."""
    tree = open_tree(path)
    began = time.process_time()
    count = 0
    for part in verdict.source.parts(tree, verdict.found):
        count += sum(isinstance(found, Item) for found in part.read(START))
    return count, time.process_time() - began


def _import(verdict: Verdict, path: Path, data: Path) -> float:
    store, drawer = SqliteStore(data), Drawer(data)

    def write(feed: Feed, lines: Sequence[bytes]) -> Mapping[str, Any]:
        limit = Settings().line_bytes
        return write_lines(store, feed, lines, now=instant.now(), line_bytes=limit)

    goal = destination(store.catalogue(), drawer, verdict, None)
    arrival = Arrival(open_tree(path), verdict, goal, Rails(store, drawer, write, 1 << 30))
    declaration = arrival.settle()
    began = time.process_time()
    arrival.run(declaration)
    took = time.process_time() - began
    store.close()
    return took


def main() -> None:
    """Measure the import of one export."""
    path, data = map(Path, sys.argv[1:])
    verdict = judge(open_tree(path), Wishes())
    _read_alone(verdict, path)
    records, reading = _read_alone(verdict, path)
    importing = _import(verdict, path, data)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cost = Cost(verdict.source.label, records, reading, importing, megabytes)
    sys.stdout.buffer.write(orjson.dumps(asdict(cost)))


if __name__ == "__main__":
    main()
