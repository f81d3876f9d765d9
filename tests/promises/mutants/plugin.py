"""A plugin of pytest that notes how each test ended: well, by an assertion, or by some accident."""

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

NOTES = "MUTANT_NOTES"
PROFILE = "mutant"

settings.register_profile(
    PROFILE,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    report_multiple_bugs=False,
)
"""A break is to be seen, not to be made small."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note how a part of a test ended."""
    report = yield
    if call.when == "call" or not report.passed:
        error = None if call.excinfo is None else call.excinfo.value
        _note({"test": item.nodeid, "ended": _ended(report, error), "error": repr(error)[:400]})
    return report


def _ended(report: pytest.TestReport, error: BaseException | None) -> str:
    if report.passed:
        return "well"
    return "asserted" if report.when == "call" and _asserts(error) else "accident"


def _asserts(error: BaseException | None) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_asserts, error.exceptions))
    return isinstance(error, AssertionError | pytest.fail.Exception)


def _note(entry: dict[str, Any]) -> None:
    with Path(os.environ[NOTES]).open("a") as notes:
        notes.write(json.dumps(entry) + "\n")
