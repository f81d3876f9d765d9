"""Hunting mutants: the tests of each are run in a process that is broken as it says."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.promises.mutants.mutant import Mutant

ROOT = Path(__file__).parents[3]
_HOOK = Path(__file__).with_name("hook")
_STEERING = ("PYTEST_", "COVERAGE_", "COV_CORE_", "PDPP_", "HYPOTHESIS_")


class Nursery:
    """The process in which mutants live, one after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._answer()

    def hunt(self, mutants: Sequence[Mutant], folder: Path) -> dict[str, str]:
        """Return the mutants that were not caught, each with the reason."""
        assert self._process.stdin is not None
        asked = [str(folder), [mutant.name for mutant in mutants]]
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        self._answer()
        verdicts = {m.name: _verdict(folder / str(i)) for i, m in enumerate(mutants)}
        return {name: reason for name, reason in verdicts.items() if reason is not None}

    def _answer(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "\n", "the nursery ended"


@contextmanager
def nursing() -> Iterator[Nursery]:
    """Start a nursery, and end it with the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.promises.mutants.nursery"],
        cwd=ROOT,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Nursery(process)


def _verdict(folder: Path) -> str | None:
    """Return what is wrong with how the tests of a mutant ended; at least one must assert."""
    notes = folder / "notes"
    found: list[dict[str, Any]] = (
        [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    )
    accidents = [note for note in found if note["ended"] == "accident"]
    if accidents:
        return f"failed by accident: {accidents}"
    if any(note["ended"] == "asserted" for note in found):
        return None
    return "not caught" if found else f"no test was run: {(folder / 'said').read_text()[-2_000:]}"


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_STEERING)}
    return kept | {
        "PYTHONPATH": os.pathsep.join((str(_HOOK), str(ROOT), str(ROOT / "src"))),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
