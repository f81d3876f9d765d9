"""Join what the processes of a test run wrote down: ``python -m tests.counting FOLDER``."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from coverage import CoverageData
from coverage.parser import PythonParser
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


def write_data(reached: dict[str, set[int]], modules: Iterable[Path], file: Path) -> None:
    """Write what was reached of some modules as the data of ``coverage``."""
    file.unlink(missing_ok=True)
    data = CoverageData(str(file))
    for path in sorted(map(str, modules)):
        source = Path(path).read_text("utf-8")
        probes = probe(source).probes
        numbers = reached.get(path, set())
        marks = [number in numbers for number in range(len(probes))]
        data.add_arcs({path: set(arcs_of(probes, marks, possible_arcs(source)))})
        data.touch_file(path)
    data.write()


if __name__ == "__main__":
    write_data(joined(Path(sys.argv[1])), PROGRAM.rglob("*.py"), Path(DATA))
