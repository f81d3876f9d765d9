"""What a run of all tests leaves behind: how the tests of each line ended, by transport."""

import json
from pathlib import Path

import pytest
from tests.house.requirements import PROPERTY, Claim

RECORD = Path(".cache") / "scenarios.json"
PASSED, FAILED = "passed", "failed"


class Record:
    """Takes the outcomes off the reports of a run, of one process or of many."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ended: dict[str, dict[str, set[str]]] = {}
        path.unlink(missing_ok=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how one part of a test ended, for each line that the test asserts."""
        if report.passed and report.when != "call":
            return
        for name, value in report.user_properties:
            if name == PROPERTY and isinstance(value, list):
                for told in value:
                    self._note(Claim(*told), report.outcome)

    def _note(self, claim: Claim, outcome: str) -> None:
        ended = self._ended.setdefault(f"{claim.scenario}.{claim.line}", {})
        for transport in claim.on:
            ended.setdefault(transport, set()).add(outcome)

    def pytest_sessionfinish(self) -> None:
        """Write what was noted."""
        self._path.parent.mkdir(exist_ok=True)
        told = {
            line: {transport: sorted(outcomes) for transport, outcomes in ended.items()}
            for line, ended in self._ended.items()
        }
        self._path.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", "utf-8")


def is_whole(config: pytest.Config) -> bool:
    """Tell whether a run is one of all tests, seen from the process that reports it."""
    narrowed = ("keyword", "markexpr", "collectonly", "lf", "deselect", "ignore", "ignore_glob")
    return (
        not hasattr(config, "workerinput")
        and config.args_source is pytest.Config.ArgsSource.TESTPATHS
        and not any(config.getoption(name, None) for name in narrowed)
    )
