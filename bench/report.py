"""The report: rows with a goal and a verdict, as a table for people and JSON for programs."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

_HEADINGS = ("measure", "result", "goal", "verdict", "how it came about")


@dataclass(frozen=True, slots=True)
class Row:
    """One measure; a goal is the most it may be, or with ``at_least`` the least.

    ``parts`` are what a sum is made of, for programs only.
    """

    name: str
    value: float
    unit: str
    goal: float | None
    note: str
    at_least: bool = False
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Return whether the goal is met."""
        if self.goal is None:
            return "–"
        met = self.value >= self.goal if self.at_least else self.value <= self.goal
        return "met" if met else "MISSED"

    def cells(self) -> tuple[str, ...]:
        """Return the row as it is shown."""
        sign = "≥" if self.at_least else "≤"
        goal = "–" if self.goal is None else f"{sign} {self.goal:,g} {self.unit}"
        return self.name, f"{_number(self.value)} {self.unit}", goal, self.verdict, self.note

    def as_json(self) -> dict[str, Any]:
        """Return the row for programs."""
        return {**asdict(self), "verdict": self.verdict}


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def tell(text: str) -> None:
    """Say how far a run is, beside what it prints in the end."""
    print(text, file=sys.stderr, flush=True)


def taken(rows: Iterable[Row]) -> list[Row]:
    """Return rows once all are measured; each is told at once, so that a cut run has told some."""
    listed: list[Row] = []
    for row in rows:
        name, result, _, verdict, note = row.cells()
        tell(f"  {name}: {result}, {verdict} ({note})")
        listed.append(row)
    return listed


def table(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table whose columns line up."""
    cells = [_HEADINGS, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def print_alone(
    module: str, description: str | None, rows_of: Callable[[int, int], Iterable[Row]], records: int
) -> None:
    """Take the measures of one module by themselves and print them.

    ``rows_of`` takes how many records to measure with and how often.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--records", type=int, default=records, help="how many records")
    parser.add_argument("--rounds", type=int, default=9, help="how often each measure is taken")
    chosen = parser.parse_args()
    sys.stdout.write(table(taken(rows_of(chosen.records, chosen.rounds))) + "\n")
