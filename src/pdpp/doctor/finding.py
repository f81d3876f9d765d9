"""Findings: what one step of an examination showed, and what to do about it."""

from enum import StrEnum
from typing import NamedTuple


class StepOutcome(StrEnum):
    """How a step ended."""

    OK = "ok"
    BROKEN = "broken"
    UNTRIED = "untried"

    @property
    def sign(self) -> str:
        """Return the mark that stands before a line."""
        return {StepOutcome.OK: "✓", StepOutcome.BROKEN: "✗", StepOutcome.UNTRIED: "–"}[self]


class Finding(NamedTuple):
    """One step: its name, what it is about, how it ended, and how to mend it."""

    step: str
    about: str
    outcome: StepOutcome
    says: str
    fix: str | None = None


class StepBroken(Exception):
    """A step found something wrong; ``fix`` says in plain words what to do."""

    def __init__(self, says: str, fix: str) -> None:
        super().__init__(says)
        self.says = says
        self.fix = fix


class StepUntried(Exception):
    """A step could not be tried, which is nobody's fault; the message says why."""
