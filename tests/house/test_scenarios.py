"""Every line of every scenario has a test that asserts it, and the checks of that hold."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.house.record import RECORD
from tests.house.requirements import Claim, Line, Scenario, scenarios
from tests.house.scenarios import PAGE, ROOT, Told, gaps, page, results, shown, verify

TAKEN = [
    'scenario("S001")',
    'scenario("S100")',
    'scenario("S031", 1, 6, on="http")',
    'scenario("S031", 2, on="rest cli")',
]
REFUSED = {
    'scenario("S000")': "takes an id",
    'scenario("S101")': "takes an id",
    'scenario("s001")': "takes an id",
    'scenario("S1")': "takes an id",
    'scenario("S001", note="x")': "takes an id",
    "scenario": "takes an id",
    'scenario("S001", "S002", on="http")': "S001 has the lines 1 to 2, not 'S002'",
    'scenario("S001", 0, on="http")': "S001 has the lines 1 to 2, not 0",
    'scenario("S001", 3, on="http")': "S001 has the lines 1 to 2, not 3",
    'scenario("S001", True, on="http")': "S001 has the lines 1 to 2, not True",
    'scenario("S001", 1)': "S001: a test of no client's kind says where it runs",
    'scenario("S001", 1, on="")': "on takes some of: stdio http rest cli",
    'scenario("S001", 1, on="htpp")': "on takes some of: stdio http rest cli",
}
INI = "[pytest]\ntestpaths = .\nmarkers =\n    scenario(id): a promise\n"


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python apart from the run that this test is part of, without plugins it does not need."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COV", "PYTEST_"))}
    own = {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        # In an empty folder it would try all characters out anew, which takes seconds.
        "HYPOTHESIS_STORAGE_DIRECTORY": str(ROOT / ".hypothesis"),
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=kept | own,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def run_marked(
    folder: Path, tests: dict[str, str], *options: str
) -> subprocess.CompletedProcess[str]:
    """Run tests of these markers and bodies in a folder of their own."""
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (folder / "pytest.ini").write_text(INI)
    for number, (marker, body) in enumerate(tests.items()):
        written = f"@pytest.mark.{marker}\ndef test_it() -> None:\n    {body}\n"
        (folder / f"test_marked_{number}.py").write_text(f"import pytest\n\n\n{written}")
    return python(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "xdist", *options)


# Markers


def test_markers_that_the_table_knows_are_collected(tmp_path: Path) -> None:
    outcome = run_marked(tmp_path, dict.fromkeys(TAKEN, "pass"))
    assert outcome.returncode == pytest.ExitCode.OK, outcome.stdout
    assert f"{len(TAKEN)} passed" in outcome.stdout


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["one process", "several"])
def test_every_other_marker_stops_the_run_and_says_why(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    outcome = run_marked(tmp_path, dict.fromkeys(REFUSED, "pass"), *options)
    assert outcome.returncode != pytest.ExitCode.OK
    told = [line for line in outcome.stdout.splitlines() if line.startswith("test_it: ")]
    for why in REFUSED.values():
        assert any(why in line for line in told), (why, told)
    assert len(told) == len(REFUSED) or options


# The record of a run


ENDINGS = {
    'scenario("S001", 1, 2, on="stdio")': "pass",
    'scenario("S001", 2, on="http")': "assert False",
    'scenario("S002", 1, on="http")': "pytest.skip()",
    'scenario("S002")': "pass",
}


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["one process", "several"])
def test_a_run_of_all_tests_leaves_how_each_line_ended(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    run_marked(tmp_path, ENDINGS, *options)
    assert json.loads((tmp_path / RECORD).read_text()) == {
        "S001.1": {"stdio": ["passed"]},
        "S001.2": {"http": ["failed"], "stdio": ["passed"]},
        "S002.1": {"http": ["skipped"]},
    }


@pytest.mark.parametrize("options", [("-k", "it"), ("test_marked_0.py",), ("--collect-only",)])
def test_a_run_of_some_tests_leaves_the_record_alone(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    (tmp_path / RECORD).parent.mkdir()
    (tmp_path / RECORD).write_text("{}")
    run_marked(tmp_path, ENDINGS, *options)
    assert (tmp_path / RECORD).read_text() == "{}"


# What is missing


HTTP, BOTH = ("http",), ("stdio", "http")
KNOWN = {"S001": Scenario("S001", "One", 2, (Line("S001.1", "a", BOTH), Line("S001.2", "b", HTTP)))}
WHOLE = [Told("t.py::a", Claim("S001", 1, BOTH)), Told("t.py::b", Claim("S001", 2, HTTP))]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (WHOLE, []),
        (WHOLE[:1], ["S001.2 has no test that asserts it"]),
        ([*WHOLE[:1], Told("t.py::c", Claim("S001", None, HTTP))], ["S001.2 has no test that"]),
        ([Told("t.py::a", Claim("S001", 1, HTTP)), WHOLE[1]], ["S001.1 is not run on stdio"]),
        ([], ["S001 has no test", "S001.1 has no test that", "S001.2 has no test that"]),
    ],
)
def test_a_line_without_a_test_or_a_transport_is_missed(
    told: list[Told], expected: list[str]
) -> None:
    found = gaps(told, KNOWN)
    assert len(found) == len(expected)
    assert all(line.startswith(start) for line, start in zip(found, expected, strict=True))


def test_a_table_of_more_or_fewer_lines_than_the_text_is_told() -> None:
    wrong = {"S001": replace(KNOWN["S001"], count=3)}
    assert gaps(WHOLE, wrong) == ["S001 has 2 lines, not 3"]


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ({"stdio": ["passed"], "http": ["passed"]}, "passed"),
        ({"stdio": ["passed"], "http": ["passed"], "rest": ["failed"]}, "failed"),
        ({"stdio": ["passed"], "http": ["failed", "passed"]}, "failed"),
        ({"stdio": ["passed"], "http": ["passed", "skipped"]}, "not run"),
        ({"stdio": ["passed"]}, "not run"),
        ({}, "not run"),
    ],
)
def test_a_line_passes_where_all_its_tests_do_on_every_transport(
    outcomes: dict[str, list[str]], expected: str
) -> None:
    record = {"S001.1": outcomes, "S001.2": {"http": ["passed"]}}
    assert results(record, KNOWN) == {"S001.1": expected, "S001.2": "passed"}


# The last word of a run


def record_of(changed: dict[str, Any]) -> str:
    lines = [line for scenario in scenarios().values() for line in scenario.lines]
    passed = {line.id: {name: ["passed"] for name in line.on} for line in lines}
    return json.dumps(passed | changed)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with a record in which everything passed, and a page that says so."""
    for path in (RECORD, PAGE):
        (tmp_path / path).parent.mkdir()
    (tmp_path / RECORD).write_text(record_of({}))
    ended = results(json.loads(record_of({})), scenarios())
    (tmp_path / PAGE).write_text(page([], ended, scenarios()))
    return tmp_path


def test_a_run_in_which_every_line_passed_is_taken(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verify(checkout)
    assert capsys.readouterr().out == "All 206 lines of the scenarios passed.\n"


@pytest.mark.parametrize(
    ("outcome", "told"), [({"http": ["failed"]}, "S056.1 failed"), ({}, "S056.1 not run")]
)
def test_a_run_in_which_a_line_did_not_pass_is_not_taken(
    checkout: Path, outcome: dict[str, list[str]], told: str
) -> None:
    (checkout / RECORD).write_text(record_of({"S056.1": outcome}))
    with pytest.raises(SystemExit, match=told):
        verify(checkout)


def test_a_page_that_says_otherwise_is_not_taken(checkout: Path) -> None:
    written = (checkout / PAGE).read_text()
    (checkout / PAGE).write_text(written.replace(" passed |", " failed |", 1))
    with pytest.raises(SystemExit, match="out of date; run: make docs"):
        verify(checkout)


def test_without_a_run_nothing_is_taken(checkout: Path) -> None:
    (checkout / RECORD).unlink()
    with pytest.raises(SystemExit, match="run: make test"):
        verify(checkout)


# The real table, the real tests, the real page


@pytest.fixture(scope="module")
def told() -> list[Told]:
    """What the tests of this project claim."""
    ended = python(ROOT, "-m", "tests.house.scenarios", "claims")
    assert ended.returncode == 0, ended.stderr
    found = [(test, line, number, on) for test, (line, number, on) in json.loads(ended.stdout)]
    return [Told(test, Claim(line, number, tuple(on))) for test, line, number, on in found]


def test_the_table_has_every_scenario_and_its_lines_in_order() -> None:
    assert list(scenarios()) == [f"S{number:03}" for number in range(1, 101)]
    for scenario in scenarios().values():
        numbers = range(1, scenario.count + 1)
        assert [line.id for line in scenario.lines] == [f"{scenario.id}.{n}" for n in numbers]


def test_every_line_of_every_scenario_is_asserted_on_every_transport(told: list[Told]) -> None:
    assert gaps(told, scenarios()) == []


def test_the_page_is_as_the_tests_make_it(told: list[Told]) -> None:
    written = (ROOT / PAGE).read_text("utf-8")
    assert written == page(told, shown(written), scenarios()), f"{PAGE} is out of date: make docs"
