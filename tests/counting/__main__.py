"""Join what the processes of a test run wrote down and report: ``python -m tests.counting FOLDER``.

The report is made here because ``coverage`` would parse every module once for the ways that it has,
once for the lines, and once for their share.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from coverage import Coverage, CoverageData
from coverage.plugin import FileReporter
from coverage.report import SummaryReporter
from coverage.results import Numbers
from coverage.types import TMorf
from tests.counting.probes import Arc, arcs_of, probe

DATA = ".coverage"
PROGRAM = Path(__file__).parents[2] / "src" / "pdpp"


class Part(NamedTuple):
    """What was reached of some modules."""

    arcs: dict[str, set[Arc]]
    rows: list[str]
    """A row for each module that was not reached whole."""
    numbers: Numbers


class ParsingOnce(Coverage):
    """Coverage in memory that parses a module once, whoever asks for it."""

    def __init__(self) -> None:
        super().__init__(data_file=None)
        self._parsed: dict[str, FileReporter] = {}

    def _get_file_reporter(self, morf: TMorf) -> FileReporter:
        name = str(morf)
        if name not in self._parsed:
            self._parsed[name] = super()._get_file_reporter(morf)
        return self._parsed[name]

    def possible_arcs(self, path: str) -> frozenset[Arc]:
        """Return the ways from line to line that a module has, as the report sees them."""
        return frozenset(self._get_file_reporter(path).arcs())


def joined(folder: Path) -> dict[str, set[int]]:
    """Return the probes that any process reached, by file."""
    reached: dict[str, set[int]] = {}
    for written in folder.glob("marks-*"):
        for path, numbers in json.loads(written.read_bytes()).items():
            reached.setdefault(path, set()).update(numbers)
    return reached


def reached_arcs(source: str, numbers: set[int], possible: frozenset[Arc]) -> set[Arc]:
    """Return the ways of a module that were taken where these probes were reached."""
    probes = probe(source).probes
    marks = [number in numbers for number in range(len(probes))]
    return set(arcs_of(probes, marks, possible))


def analyse(reached: Mapping[str, set[int]]) -> Part:
    """Return what was reached of some modules, given the probes of each."""
    coverage = ParsingOnce()
    data = coverage.get_data()
    arcs = {
        path: reached_arcs(Path(path).read_text("utf-8"), numbers, coverage.possible_arcs(path))
        for path, numbers in reached.items()
    }
    _add(data, arcs)
    reporter = SummaryReporter(coverage)
    table = StringIO()
    reporter.report(list(reached), outfile=table)
    rows = [line for line in table.getvalue().splitlines() if line.startswith("src/")]
    return Part(arcs, rows, reporter.total)


def _add(data: CoverageData, arcs: Mapping[str, set[Arc]]) -> None:
    data.add_arcs(arcs)
    for path in arcs:
        data.touch_file(path)


def write_data(parts: Sequence[Part], file: Path) -> None:
    """Write what was reached as the data of ``coverage``."""
    file.unlink(missing_ok=True)
    data = CoverageData(str(file))
    for part in parts:
        _add(data, part.arcs)
    data.write()


def report(parts: Sequence[Part]) -> float:
    """Print what was not reached; return the part that was, in per cent."""
    print("Name, statements, missing, branches, partly taken, covered, missing lines")
    print("\n".join(sorted(row for part in parts for row in part.rows)))
    return sum((part.numbers for part in parts), Numbers()).pc_covered


def main(folder: Path) -> None:
    """Report, and fail where less is covered than the project asks for."""
    count = os.cpu_count() or 1
    reached = joined(folder)
    modules = [str(path) for path in sorted(PROGRAM.rglob("*.py"))]
    shares = [modules[at::count] for at in range(count)]
    with ProcessPoolExecutor(count) as pool:
        marked = [{path: reached.get(path, set()) for path in share} for share in shares]
        parts = list(pool.map(analyse, marked))
    write_data(parts, Path(DATA))
    covered = report(parts)
    least = Coverage(DATA).get_option("report:fail_under")
    if covered < float(str(least)):
        sys.exit(f"{covered:.1f} % of the program is covered by the tests, less than {least} %.")
    print(f"All good: format, lint, types, imports, tests; {covered:.0f} % covered.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
