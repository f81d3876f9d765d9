"""Imports: what bringing an export in costs beyond reading and parsing it, for every format.

``python -m bench.imports --records 100000 --rounds 5`` prints these rows alone.
"""

import gc
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import orjson

from bench import personal_exports, social_exports, table_exports
from bench.exports import MAKERS, claude_code
from bench.process import children, peak_megabytes
from bench.report import Row, print_alone
from pdpp.model import instant
from pdpp.service.settings import Settings
from pdpp.serving import COLLECTOR_ROUNDS
from pdpp.serving.memory import keep_memory
from pdpp.sources.importing.destination import find_destination
from pdpp.sources.importing.recognition import RecognisedExport, recognise_export
from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.task import ImportEnvironment, ImportTask
from pdpp.sources.importing.turns import short_turns
from pdpp.sources.item import START, Item
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import OwnerChoices
from pdpp.store.catalogue import Feed
from pdpp.store.intake import Intake
from pdpp.store.scope import owner_reaches
from pdpp.store.sqlite.store import SqliteStore

_ROOT = Path(__file__).parents[1]
_MOST_THINGS = 20_000
_COSTLY = frozenset({"mail", "markdown", "calendar_ics", "notion", "gpx", "photos", "documents"})
"""Formats of which a fifth as many things takes as long to read."""
_FEWER = 5
_MOST_ROUNDS = 5
_LOOK_SECONDS = 0.003
_LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds for reading alone and for the import, and how often one goes into the other."""

    label: str
    records: int
    reading: float
    importing: float
    ratio: float
    cpu_ratio: float
    megabytes: float

    def row(self, key: str) -> Row:
        """Return what the import took as a multiple of reading alone."""
        note = (
            f"{self.records / self.importing:,.0f} records/s imported, "
            f"{self.records / self.reading:,.0f}/s only read; CPU {self.cpu_ratio:.2f} ×"
        )
        return Row(f"import, {self.label} ({key})", self.ratio, "×", 3, note)


def every_maker() -> dict[str, Callable[[Path, int], Path]]:
    """Return what writes an export of each source."""
    more = (personal_exports, social_exports, table_exports)
    return {**MAKERS, **{key: make for module in more for key, make in module.MAKERS.items()}}


def import_rows(records: int, rounds: int, formats: int | None = None) -> Iterator[Row]:
    """Yield the cost of an import against reading alone, the most memory, and the first record.

    Of all formats, or of the first ``formats``.
    """
    things = min(_MOST_THINGS, records // 10)
    costs = []
    for key, make in islice(every_maker().items(), formats):
        with TemporaryDirectory() as folder:
            count = things // _FEWER if key in _COSTLY else things
            costs.append(_measured(make(Path(folder), count), min(rounds, _MOST_ROUNDS)))
        yield costs[-1].row(key)
    note = f"the most of {len(costs)} formats, {things:,} things each or a fifth of that"
    yield Row("import, memory", max(cost.megabytes for cost in costs), "MB", 300, note)
    yield _first_record(things)


def _measured(path: Path, rounds: int) -> Cost:
    """Measure the import of one export in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.imports", "measure", str(path), str(rounds)],
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


class Took(NamedTuple):
    """How long something took, by the clock and of processors, also in other processes."""

    clock: float
    cpu: float


def _timed(do: Callable[[], object]) -> Took:
    clock, cpu = time.perf_counter(), _cpu_seconds()
    do()
    return Took(time.perf_counter() - clock, _cpu_seconds() - cpu)


def _cpu_seconds() -> float:
    """Return the processor time of this process, and of those it started that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def read_alone(export: RecognisedExport, path: Path) -> int:
    """Read and parse an export to its records, and return how many they are."""
    parts = export.source.parts(open_tree(path), export.recognition)
    return sum(isinstance(found, Item) for part in parts for found in part.findings(START))


def _import(export: RecognisedExport, path: Path, data: Path) -> Took:
    """Import an export into a new store; making that is not counted, writing to the disk is."""
    store, state = SqliteStore(data), ImportState(data)

    def intake(feed: Feed) -> Intake:
        return Intake(store, feed, now=instant.now(), line_bytes=Settings().line_bytes)

    tree = open_tree(path)
    destination = find_destination(store, state, tree, export, None)
    task = ImportTask(tree, export, destination, ImportEnvironment(store, state, intake, 1 << 30))
    declaration = task.settle()
    with short_turns():  # As the program has them.
        took = _timed(lambda: task.run(declaration))
    store.close()
    return took


def _cost(path: Path, rounds: int) -> Cost:
    """Import again and again, each time between two readings; the middle one of the ratios counts.

    The machine's speed may change from one second to the next, so an import is compared with what
    was read right before and after it.
    """
    export = recognise_export(open_tree(path), OwnerChoices())
    records = read_alone(export, path)
    took: list[tuple[Took, Took]] = []
    for _ in range(rounds):
        with TemporaryDirectory() as data:
            before = _timed(lambda: read_alone(export, path))
            whole = _import(export, path, Path(data))
            after = _timed(lambda: read_alone(export, path))
        alone = Took((before.clock + after.clock) / 2, (before.cpu + after.cpu) / 2)
        took.append((alone, whole))
    return Cost(
        label=export.source.label,
        records=records,
        reading=min(alone.clock for alone, _ in took),
        importing=min(whole.clock for _, whole in took),
        ratio=median(whole.clock / alone.clock for alone, whole in took),
        cpu_ratio=median(whole.cpu / alone.cpu for alone, whole in took),
        megabytes=_most_megabytes(export, path),
    )


def _most_megabytes(export: RecognisedExport, path: Path) -> float:
    """Return the most memory that this process took, and beside it another one that it imports by.

    An import of its own is looked at: to look takes time.
    """
    most: dict[int, float] = {}
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_SECONDS):
            for pid in children():
                most[pid] = max(most.get(pid, 0), peak_megabytes(pid))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        with TemporaryDirectory() as data:
            _import(export, path, Path(data))
    finally:
        ended.set()
        looking.join()
    return peak_megabytes(os.getpid()) + max(most.values(), default=0)


def _measure(path: str, rounds: str) -> None:
    """Measure the import of one export, with the collector and memory as the program has them."""
    gc.set_threshold(*COLLECTOR_ROUNDS)
    keep_memory()
    cost = _cost(Path(path), int(rounds))
    sys.stdout.buffer.write(orjson.dumps(asdict(cost)))


def main() -> None:
    """Measure one export for another process, or print the rows of all."""
    if sys.argv[1:2] == ["measure"]:
        _measure(*sys.argv[2:])
    else:
        print_alone("bench.imports", __doc__, import_rows, 100_000)


if __name__ == "__main__":
    main()
