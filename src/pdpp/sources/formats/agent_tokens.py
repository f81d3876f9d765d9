"""Agent tokens: how many tokens the answers of a session took, whatever the agent calls them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_HIGHEST = 10**15
"""More than any session takes; what is above it is no count."""


class Tokens(NamedTuple):
    """What an answer took: all that went in, what of this came from a cache, and what came out."""

    input: int = 0
    cached: int = 0
    output: int = 0


class ToldAnswer(NamedTuple):
    """What an answer took as it was told last, and when that was."""

    tokens: Tokens
    at: str = ""


_NONE = Tokens()
_UNTOLD = ToldAnswer(_NONE)


@dataclass(slots=True)
class TokenCount:
    """The tokens of a session so far.

    Agents tell an answer's tokens again with each of its pieces. ``answers`` are the last that
    were told, at most ``most`` of them: what is told anew of one of them takes its place. What an
    agent kept of a long talk is written again: nothing counts from before ``passed``, when the
    latest was told that is no longer among them.
    """

    total: Tokens = _NONE
    answers: dict[str, ToldAnswer] = field(default_factory=dict)
    most: int = 0
    passed: str = ""

    def take(self, answer: str, tokens: Tokens, at: str = "") -> None:
        """Take in what one answer took."""
        before = self.answers.get(answer, _UNTOLD).tokens
        if tokens == before or (at and at <= self.passed and answer not in self.answers):
            return
        # A place in a log keeps the answers of its time: few are replaced, and none is changed.
        answers = self.answers.copy() if self.most else self.answers
        answers.pop(answer, None)
        if self.most and len(answers) == self.most:
            self.passed = max(self.passed, answers.pop(next(iter(answers))).at)
        answers[answer] = ToldAnswer(tokens, at)
        self.answers = answers
        sums = zip(self.total, tokens, before, strict=True)
        self.total = Tokens(*(max(0, min(all_ + new - old, _HIGHEST)) for all_, new, old in sums))

    def take_total(self, tokens: Tokens) -> None:
        """Take in what the whole session took; a lower number than before began anew."""
        if tokens < self.answers.get("", ToldAnswer(tokens)).tokens:
            self.answers = {}
        self.take("", tokens)

    def state(self) -> dict[str, Any]:
        """Return everything as JSON data."""
        return {"total": self.total, "answers": self.answers, "passed": self.passed}

    def members(self) -> dict[str, int]:
        """Return what the record of a session says, without what was not told."""
        names = ("input_tokens", "cached_tokens", "output_tokens")
        return {name: count for name, count in zip(names, self.total, strict=True) if count}


def resumed_count(state: Mapping[str, Any], most: int) -> TokenCount:
    """Return a count as its ``state`` left it."""
    answers = {
        name: ToldAnswer(Tokens(*tokens), at)
        for name, (tokens, at) in state.get("answers", {}).items()
    }
    return TokenCount(Tokens(*state.get("total", ())), answers, most, state.get("passed", ""))


def summed(told: Any, *names: str) -> int:
    """Return the sum of some members that are counts."""
    total = 0
    for name in names if isinstance(told, dict) else ():
        value = told.get(name)
        if type(value) is int and 0 <= value <= _HIGHEST:
            total += value
    return total
