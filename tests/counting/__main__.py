"""Join what the processes of a test run wrote down and report: ``python -m tests.counting FOLDER``.

The report is made here because a run of ``coverage`` for the lines and one for their share would
read and analyse every module twice.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

from coverage import Coverage, CoverageData
from coverage.parser import PythonParser
from coverage.report import SummaryReporter
from coverage.results import Numbers
from tests.counting.probes import arcs_of, probe

DATA = ".coverage"
PROGRAM = Path(__file__).parents[2] / "src" / "pdpp"


def joined(folder: Path) -> dict[str, set[int]]:
    """Return the probes that any process reached, by file."""
    reached: dict[str, set[int]] = {}
    for written in folder.glob("marks-*"):
        for path, numbers in json.loads(written.read_bytes()).items():
            reached.setdefault(path, set()).update(numbers)
    return reached


def possible_arcs(source: str) -> frozenset[tuple[int, int]]:
    """Return the ways from line to line that a module has, as the report sees them."""
    if not source.strip():
        return frozenset()
    parser = PythonParser(text=source)
    parser.parse_source()
    return frozenset(parser.arcs())


def reached_arcs(path: Path, numbers: set[int]) -> set[tuple[int, int]]:
    """Return the ways of a module that were taken where these probes were reached."""
    source = path.read_text("utf-8")
    probes = probe(source).probes
    marks = [number in numbers for number in range(len(probes))]
    return set(arcs_of(probes, marks, possible_arcs(source)))


def write_data(
    reached: dict[str, set[int]],
    modules: Iterable[Path],
    file: Path,
    each: Callable[..., Any] = map,
) -> None:
    """Write what was reached of some modules as the data of ``coverage``.

    ``each`` maps as ``map`` does; several processes may do so.
    """
    file.unlink(missing_ok=True)
    data = CoverageData(str(file))
    paths = sorted(modules)
    marked = [reached.get(str(path), set()) for path in paths]
    for path, arcs in zip(paths, each(reached_arcs, paths, marked), strict=True):
        data.add_arcs({str(path): arcs})
        data.touch_file(str(path))
    data.write()


def report_part(file: Path, modules: Sequence[Path]) -> tuple[list[str], Numbers]:
    """Return the rows of some modules that were not reached whole, and their numbers together."""
    coverage = Coverage(str(file))
    coverage.load()
    reporter = SummaryReporter(coverage)
    table = StringIO()
    reporter.report([str(module) for module in modules], outfile=table)
    rows = [line for line in table.getvalue().splitlines() if line.startswith("src/")]
    return rows, reporter.total


def report(file: Path, parts: Sequence[Sequence[Path]], each: Callable[..., Any] = map) -> float:
    """Print what was not reached; return the part that was, in per cent.

    ``each`` maps as ``map`` does: to analyse all modules takes one core 13 seconds.
    """
    rows: list[str] = []
    whole = Numbers()
    for own, total in each(report_part, [file] * len(parts), parts):
        rows += own
        whole += total
    print("Name, statements, missing, branches, partly taken, covered, missing lines")
    print("\n".join(sorted(rows)))
    return whole.pc_covered


def main(folder: Path) -> None:
    """Report, and fail where less is covered than the project asks for."""
    modules = sorted(PROGRAM.rglob("*.py"))
    count = os.cpu_count() or 1
    with ProcessPoolExecutor(count) as pool:
        write_data(joined(folder), modules, Path(DATA), pool.map)
        covered = report(Path(DATA), [modules[at::count] for at in range(count)], pool.map)
    least = Coverage(DATA).get_option("report:fail_under")
    if covered < float(str(least)):
        sys.exit(f"{covered:.1f} % of the program is covered by the tests, less than {least} %.")
    print(f"All good: format, lint, types, imports, tests; {covered:.0f} % covered.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
