"""The table of requirements, and what a test claims of it.

``@pytest.mark.scenario("S033")`` says that a test carries a scenario;
``@pytest.mark.scenario("S033", 1, 3)`` that it asserts lines 1 and 3 of it. A claim holds on the
transports whose clients the test is parametrised over; a test that is not says ``on="stdio http"``.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

TABLE = Path(__file__).with_name("requirements.toml")
TRANSPORTS = ("stdio", "http", "rest", "cli")
PROPERTY = "scenario"
"""The name under which a report carries the claims of its test."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a scenario, and the transports it has to be run on."""

    id: str
    says: str
    on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario with its lines, and how many of them its text has."""

    id: str
    title: str
    count: int
    lines: tuple[Line, ...]


class Claim(NamedTuple):
    """What one marker of a test says: a scenario, a line of it or none, and where it was run."""

    scenario: str
    line: int | None
    on: tuple[str, ...]


class WrongClaim(Exception):
    """A marker that says nothing that the table knows."""


def scenarios() -> Mapping[str, Scenario]:
    """Return every scenario by its id."""
    return read(TABLE)


@cache
def read(path: Path) -> Mapping[str, Scenario]:
    """Return the scenarios of a table."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return {id: _scenario(id, entry) for id, entry in table.items()}


def _scenario(id: str, entry: Mapping[str, Any]) -> Scenario:
    numbers = sorted(int(key) for key in entry if key.isdigit())
    lines = tuple(_line(f"{id}.{n}", entry[str(n)], entry["on"]) for n in numbers)
    return Scenario(id, entry["title"], entry["count"], lines)


def _line(id: str, told: Any, on: str) -> Line:
    own = told if isinstance(told, dict) else {"says": told}
    return Line(id, own["says"], _transports(own.get("on", on)))


def _transports(told: str) -> tuple[str, ...]:
    named = told.split()
    if not named or set(named) - set(TRANSPORTS):
        raise WrongClaim(f"on takes some of: {' '.join(TRANSPORTS)}")
    return tuple(name for name in TRANSPORTS if name in named)


def claims_of(item: pytest.Item) -> list[Claim]:
    """Return what the markers of a test say; raise where the table does not know it."""
    return [claim for mark in item.iter_markers("scenario") for claim in _claims(mark, item)]


def _claims(mark: pytest.Mark, item: pytest.Item) -> Iterator[Claim]:
    id, *numbers = mark.args or (None,)
    known = scenarios().get(id) if isinstance(id, str) else None
    if known is None or mark.kwargs.keys() - {"on"}:
        raise WrongClaim("a scenario marker takes an id from S001 to S100, lines of it, and on=")
    on = _transports(mark.kwargs["on"]) if "on" in mark.kwargs else _seen(item)
    if not numbers:
        yield Claim(known.id, None, on)
        return
    for number in numbers:
        if type(number) is not int or not 1 <= number <= len(known.lines):
            raise WrongClaim(f"{known.id} has the lines 1 to {len(known.lines)}, not {number!r}")
        if not on:
            raise WrongClaim(f"{known.id}: a test of no client's kind says where it runs: on=")
        yield Claim(known.id, number, on)


def _seen(item: pytest.Item) -> tuple[str, ...]:
    """Return the transports of the clients that a test is parametrised over."""
    call = getattr(item, "callspec", None)
    values = [] if call is None else list(call.params.values())
    words = [word for value in values for word in (value if isinstance(value, tuple) else [value])]
    named = {word.partition("-")[0] for word in words if isinstance(word, str) and "-" in word}
    return tuple(name for name in ("stdio", "http") if name in named)
