"""Findings: what one step of an examination showed, and what to do about it."""

from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """How a step ended."""

    OK = "ok"
    BROKEN = "broken"
    UNTRIED = "untried"

    @property
    def sign(self) -> str:
        """Return the mark that stands before a line."""
        return {Outcome.OK: "✓", Outcome.BROKEN: "✗", Outcome.UNTRIED: "–"}[self]


class Finding(NamedTuple):
    """One step: its name, what it is about, how it ended, and how to mend it."""

    step: str
    about: str
    outcome: Outcome
    says: str
    fix: str | None = None


class Broken(Exception):
    """A step found something wrong; ``fix`` says in plain words what to do."""

    def __init__(self, says: str, fix: str) -> None:
        super().__init__(says)
        self.says = says
        self.fix = fix


class Untried(Exception):
    """A step could not be tried, which is nobody's fault; the message says why."""
