"""Each promise has mutants, deliberate small breaks of the code, and the suite catches them all."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine import ENGINE
from tests.promises.mutants import strays
from tests.promises.mutants.hunt import ROOT, Nursery, nursing
from tests.promises.mutants.table import MUTANTS

PAGE = (ROOT / "docs" / "promises.md").read_text()
ROWS = re.findall(r"^\| \*\*(.+?)\*\*.* \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
"""The promises of the page: what is promised, the tests that hold it, the mutants."""

HUNTED = [one for one in MUTANTS.values() if ENGINE == "sqlite" or not one.embedded]
"""Those that tests on this engine can catch."""

PROMISES = list(dict.fromkeys(mutant.promise for mutant in HUNTED))


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with nursing() as started:
        yield started


@pytest.mark.parametrize("promise", PROMISES)
def test_the_suite_catches_whatever_breaks_a_promise(
    nursery: Nursery, promise: str, tmp_path: Path
) -> None:
    own = [mutant for mutant in HUNTED if mutant.promise == promise]
    assert nursery.hunt(own, tmp_path) == {}


def test_the_hunt_tells_of_mutants_that_are_not_caught(nursery: Nursery, tmp_path: Path) -> None:
    told = nursery.hunt(strays.MUTANTS, tmp_path)
    assert told[strays.HARMLESS.name] == "not caught"
    assert told[strays.MISSING.name].startswith("no test was run")
    assert told[strays.CRUDE.name].startswith("failed by accident")
    assert "RuntimeError" in told[strays.CRUDE.name]
    assert told[strays.LOST.name].startswith("no test was run")
    assert "ModuleNotFoundError" in told[strays.LOST.name]


def paths(text: str) -> list[str]:
    return re.findall(r"`(tests/[^`]*)`", text)


@pytest.mark.parametrize(("promise", "held", "broken"), ROWS, ids=[row[0] for row in ROWS])
def test_a_promise_names_tests_that_exist_and_the_mutants_they_catch(
    promise: str, held: str, broken: str
) -> None:
    own = [mutant for mutant in MUTANTS.values() if mutant.promise == promise]
    assert own
    assert broken == "; ".join(mutant.name for mutant in own)
    assert all((ROOT / path).exists() for path in paths(held))
    for test in (test for mutant in own for test in mutant.tests):
        assert any(test.startswith(path) for path in paths(held)), test


def test_every_mutant_is_of_a_promise_on_the_page() -> None:
    assert {mutant.promise for mutant in MUTANTS.values()} == {row[0] for row in ROWS}
    assert PAGE.count("\n| **") == len(ROWS)
