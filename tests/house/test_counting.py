"""The counter of lines says what a tracer says, at a price at which every test can be counted."""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from coverage import Coverage
from coverage.parser import PythonParser
from tests.counting.__main__ import analyse, joined, write_data
from tests.counting.importing import FOLDER, HOOK
from tests.counting.probes import MARKS, probe

EVERY_CONSTRUCT = '''"""A module."""

from __future__ import annotations

import asyncio
import contextlib
import functools

CONSTANT = 1
"""What it is."""


def branches(number):
    """Go one way."""
    if number > 1: number = 1
    if number:
        kept = 1
    if number == 5:
        never = 1
    elif number == 1:
        kept = 2
    else:
        never = 2
    if (
        number == 7
        or number == 8
    ):
        return None


def loops(numbers):
    for number in numbers:
        if number == 2:
            continue
        if number == 3:
            break
    else:
        ended = 1
    while numbers:
        numbers = numbers[1:]
    while True:
        break
    for number in ():
        never = 1
    return [number for number in numbers if number]


def matches(value):
    match value:
        case 1:
            return "one"
        case [first, *_] if first:
            return "many"
        case {"a": 1} | {"b": 2}:
            return "never"
        case str():
            pass
    match value:
        case 5:
            return 5
        case _:
            return None


def tries(value):
    try:
        if value:
            raise value
    except (KeyError, IndexError):
        kept = 1
    except ValueError as error:
        kept = error
    else:
        kept = 2
    finally:
        kept = 3
    with contextlib.suppress(KeyError):
        with contextlib.nullcontext():
            raise KeyError
    return kept


def decorated():
    @functools.cache
    @functools.wraps(
        loops
    )
    def inner():
        return 1

    return inner


class Thing:
    """A class."""

    name: str = "x"

    @property
    def never(self):
        yield 1
        return

    async def waits(self):
        async with contextlib.AsyncExitStack():
            async for _ in self._numbers():
                pass

    async def _numbers(self):
        nonlocal_number = 1
        def change():
            nonlocal nonlocal_number
            global CONSTANT
            CONSTANT = nonlocal_number
        change()
        yield 1


branches(0)
branches(1)
loops([1, 2])
loops([3])
for some in (1, [2], "x", 7):
    matches(some)
tries(None)
tries(IndexError())
tries(ValueError())
decorated()
asyncio.run(Thing().waits())
'''


def report_of(coverage: Coverage, folder: Path) -> dict[str, Any]:
    file = folder / "report.json"
    coverage.json_report(outfile=str(file))
    (report,) = orjson.loads(file.read_bytes())["files"].values()
    return {name: report[name] for name in ("executed_lines", "missing_lines", "missing_branches")}


@pytest.mark.parametrize("end", [EVERY_CONSTRUCT.index("\n\nbranches(0)"), None])
def test_the_counter_says_what_a_tracer_says(tmp_path: Path, end: int | None) -> None:
    module = tmp_path / "module.py"
    module.write_text(EVERY_CONSTRUCT[:end])
    tracer = Coverage(data_file=None, branch=True, include=[str(module)], config_file=False)
    tracer.start()
    try:
        exec(compile(module.read_text(), module, "exec"), {"__name__": "traced"})  # noqa: S102
    finally:
        tracer.stop()

    probed = probe(module.read_text())
    marks = [0] * len(probed.probes)
    exec(compile(probed.tree, module, "exec"), {"__name__": "counted", MARKS: marks})  # noqa: S102
    reached = {str(module): {at for at, mark in enumerate(marks) if mark}}
    write_data([analyse(reached)], tmp_path / "data")
    counter = Coverage(data_file=tmp_path / "data", branch=True, config_file=False)
    counter.load()
    assert report_of(counter, tmp_path) == report_of(tracer, tmp_path)


def test_a_report_parses_each_module_once_and_says_what_coverage_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "src" / "module.py"
    module.parent.mkdir()
    module.write_text(EVERY_CONSTRUCT)
    parsed: list[str] = []
    parse = PythonParser.parse_source
    with monkeypatch.context() as patch:

        def parse_and_tell(parser: PythonParser) -> None:
            parsed.append(parser.text)
            parse(parser)

        patch.setattr(PythonParser, "parse_source", parse_and_tell)
        part = analyse({str(module): {0, 1, 2, 3}})
    assert len(parsed) == 1
    write_data([part], tmp_path / "data")
    counter = Coverage(data_file=tmp_path / "data")
    counter.load()
    table = StringIO()
    assert counter.report(file=table) == part.numbers.pc_covered
    (row,) = part.rows
    assert row in table.getvalue().splitlines()


@pytest.mark.parametrize("ending", ["pass", "__import__('os')._exit(0)"])
def test_a_program_with_the_hook_writes_down_what_it_ran(tmp_path: Path, ending: str) -> None:
    root = Path(__file__).parents[2]
    path = os.pathsep.join((str(HOOK), str(root / "src")))
    subprocess.run(
        [sys.executable, "-c", f"import pdpp.model.instant as i; i.parse('2026'); {ending}"],
        env={**os.environ, FOLDER: str(tmp_path), "PYTHONPATH": path},
        check=True,
    )
    reached = joined(tmp_path)
    module = root / "src" / "pdpp" / "model" / "instant.py"
    probes = probe(module.read_text()).probes
    lines = {line for at in reached[str(module)] for line in probes[at].lines}
    inside = 1 + next(
        at
        for at, line in enumerate(module.read_text().splitlines(), 1)
        if line.startswith("def parse(")
    )
    assert any(inside < line < inside + 20 for line in lines)
    assert not any(name.startswith("writing") for name in os.listdir(tmp_path))
