"""The page of the scenarios: each line of them, the tests that assert it, and how they ended.

``python -m tests.house.scenarios`` writes it; ``… verify`` fails unless the last run of all tests
passed every line on every transport; ``… claims`` prints what the tests claim.
"""

import json
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.house.record import FAILED, PASSED, RECORD
from tests.house.requirements import TRANSPORTS, Claim, Line, Scenario, claims_of, scenarios

ROOT = Path(__file__).parents[2]
PAGE = Path("docs") / "scenarios.md"
ABSENT = "not run"

_ROW = re.compile(r"^\| (S\d{3}\.\d+) \|.*\| ([a-z ]+) \|$", re.MULTILINE)
_HEAD = """\
# The scenarios, line by line

<!-- Made from the tests by `make docs`; what is changed here by hand is lost. -->

What was asked of this server is told in 100 scenarios. Here is each of their lines in our words,
with the tests that assert it, the transports those tests ran on, and how they ended when all tests
were run last. `make test` fails while a line has no test, misses a transport that it applies to, or
did not pass. Transports: `stdio` is `pdpp mcp`; `http` is `/mcp` and what leads to it; `rest` is
`/v1`; `cli` is the program."""


class Told(NamedTuple):
    """One claim of one test: the test without its parameters, and the claim."""

    test: str
    claim: Claim


Results = Mapping[str, str]
"""How each line ended, by its id."""


# What the tests claim


class _Collector:
    """Takes the claims off the tests that are collected."""

    def __init__(self) -> None:
        self.told: set[Told] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            test = item.nodeid.partition("[")[0]
            self.told |= {Told(test, claim) for claim in claims_of(item)}


def collect() -> list[Told]:
    """Collect the tests that carry scenarios, in this process; return what they claim."""
    carrying = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "node_modules" not in path.parts and "mark.scenario(" in path.read_text("utf-8")
    ]
    collector, said = _Collector(), StringIO()
    with redirect_stdout(said):
        asked = ["--collect-only", "-q", "-p", "xdist", "--rootdir", str(ROOT), *carrying]
        ended = pytest.main(asked, plugins=[collector])
    if ended != pytest.ExitCode.OK:
        raise SystemExit(f"The tests could not be collected.\n{said.getvalue()}")
    return sorted(collector.told, key=repr)


# What is missing


def gaps(told: Iterable[Told], known: Mapping[str, Scenario]) -> list[str]:
    """Return what the table asks for and no test claims, each as a sentence."""
    claims = [claim for _, claim in told]
    carried = {claim.scenario for claim in claims}
    found = [f"{id} has no test" for id in known if id not in carried]
    for scenario in known.values():
        if scenario.count != len(scenario.lines):
            found.append(f"{scenario.id} has {len(scenario.lines)} lines, not {scenario.count}")
        for number, line in enumerate(scenario.lines, 1):
            where = [c.on for c in claims if (c.scenario, c.line) == (scenario.id, number)]
            ran = {name for on in where for name in on}
            if not where:
                found.append(f"{line.id} has no test that asserts it")
            elif missing := [name for name in line.on if name not in ran]:
                found.append(f"{line.id} is not run on {', '.join(missing)}")
    return found


# How they ended


def results(record: Mapping[str, Any], known: Mapping[str, Scenario]) -> Results:
    """Return how each line ended in a recorded run: outcomes by line and transport."""
    return {
        line.id: _result(line, record.get(line.id, {})) for s in known.values() for line in s.lines
    }


def _result(line: Line, outcomes: Mapping[str, list[str]]) -> str:
    seen = {outcome for ended in outcomes.values() for outcome in ended}
    if FAILED in seen:
        return FAILED
    return PASSED if seen == {PASSED} and outcomes.keys() >= set(line.on) else ABSENT


def shown(page: str) -> Results:
    """Return how each line ended by what a page says."""
    return dict(_ROW.findall(page))


# The page


def page(told: Iterable[Told], ended: Results, known: Mapping[str, Scenario]) -> str:
    """Return the page."""
    claims = list(told)
    passed = sum(result == PASSED for result in ended.values())
    count = sum(len(scenario.lines) for scenario in known.values())
    sums = f"{len(known)} scenarios, {count} lines, {passed} of them passed."
    parts = [_section(scenario, claims, ended) for scenario in known.values()]
    return "\n\n".join([_HEAD, sums, *parts]) + "\n"


def _section(scenario: Scenario, told: list[Told], ended: Results) -> str:
    mine = [one for one in told if one.claim.scenario == scenario.id]
    rows = [
        _line_row(line, [one for one in mine if one.claim.line == number], ended)
        for number, line in enumerate(scenario.lines, 1)
    ]
    head = ["| line | what holds | asserted by | ran on | result |", "|---|---|---|---|---|"]
    parts = [f"## {scenario.id} {scenario.title}", "\n".join([*head, *rows])]
    naming = {one.test for one in mine if one.claim.line is not None}
    if beside := sorted({one.test for one in mine} - naming):
        parts.append("Also carried by " + ", ".join(map(_link, beside)) + ".")
    return "\n\n".join(parts)


def _line_row(line: Line, told: list[Told], ended: Results) -> str:
    tests = "<br>".join(_link(test) for test in sorted({one.test for one in told}))
    ran = {name for one in told for name in one.claim.on}
    where = " ".join(name for name in TRANSPORTS if name in ran)
    says = line.says.replace("|", "\\|")
    return f"| {line.id} | {says} | {tests} | {where} | {ended.get(line.id, ABSENT)} |"


def _link(test: str) -> str:
    path, _, name = test.partition("::")
    return f"[`{name}`](../{path})"


# The program


def recorded(root: Path) -> Results | None:
    """Return how each line ended in the last run of all tests, if there was one."""
    path = root / RECORD
    return results(json.loads(path.read_text("utf-8")), scenarios()) if path.exists() else None


def write() -> None:
    """Write the page, with how the last run of all tests ended, or what the page says of it."""
    path, ended = ROOT / PAGE, recorded(ROOT)
    if ended is None:
        ended = shown(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(page(collect(), ended, scenarios()), "utf-8")
    print(PAGE)


def verify(root: Path = ROOT) -> None:
    """Fail unless the last run of all tests passed every line, and the page says so."""
    ended = recorded(root)
    if ended is None:
        raise SystemExit("No run of all tests is recorded; run: make test")
    if wrong := [f"{id} {result}" for id, result in ended.items() if result != PASSED]:
        raise SystemExit("Lines of scenarios that did not pass: " + ", ".join(wrong))
    if shown((root / PAGE).read_text("utf-8")) != ended:
        raise SystemExit(f"{PAGE} is out of date; run: make docs")
    print(f"All {len(ended)} lines of the scenarios passed.")


def main(arguments: list[str]) -> None:
    """Do what is asked for."""
    if arguments == ["claims"]:
        print(json.dumps(collect()))
    else:
        {"verify": verify, "": write}[" ".join(arguments)]()


if __name__ == "__main__":
    main(sys.argv[1:])
