"""Scanning: matches in a text of any length, a block at a time and within a budget."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pdpp.evidence.analyse import Match, Phrase, find

BLOCK_CHARS = 65_536
"""How much is looked through between two looks at the budget: about a millisecond."""

_CONTEXT_CHARS = 4_096
"""What is seen before and after a block, so that a match on its edge is found whole."""


def _never() -> bool:
    return False


class ScanBudget(NamedTuple):
    """How many matches are enough, and what says that there is no more time."""

    matches: int
    out_of_time: Callable[[], bool] = _never


class Scan(NamedTuple):
    """Matches in order of start; not ``complete`` where the budget ended before the text did."""

    matches: list[Match]
    complete: bool


def scan(text: str, phrases: Sequence[Phrase], budget: ScanBudget) -> Scan:
    """Return the first matches of phrases in a text, as many as the budget allows.

    A match is found if it spans less than the context of a block, which all but phrases with pages
    of separators between their words do.
    """
    if len(text) <= BLOCK_CHARS:
        matches = find(text, phrases)
        return Scan(matches[: budget.matches], len(matches) <= budget.matches)
    matches = []
    for start in range(0, len(text), BLOCK_CHARS):
        if len(matches) > budget.matches or budget.out_of_time():
            return Scan(matches[: budget.matches], complete=False)
        matches += _block(text, start, phrases)
    return Scan(matches[: budget.matches], len(matches) <= budget.matches)


def _block(text: str, start: int, phrases: Sequence[Phrase]) -> list[Match]:
    """Return the matches that begin in one block."""
    # A match that begins in the context belongs to the neighbour, which finds it too; so each is
    # counted once.
    first, end = max(0, start - _CONTEXT_CHARS), start + BLOCK_CHARS
    seen = find(text[first : end + _CONTEXT_CHARS], phrases)
    placed = (Match(at.start + first, at.end + first, at.phrase) for at in seen)
    return [match for match in placed if start <= match.start < end]
