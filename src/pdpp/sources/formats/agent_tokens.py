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


_NONE = Tokens()


@dataclass(slots=True)
class TokenCount:
    """The tokens of a session so far.

    Agents tell an answer's tokens again with each of its pieces. ``answers`` are the last that
    were told, at most ``most`` of them: what is told anew of one of them takes its place.
    """

    total: Tokens = _NONE
    answers: dict[str, Tokens] = field(default_factory=dict)
    most: int = 0

    def take(self, answer: str, tokens: Tokens) -> None:
        """Take in what one answer took."""
        before = self.answers.get(answer, _NONE)
        if tokens == before:
            return
        # A place in a log keeps the answers of its time: few are replaced, and none is changed.
        answers = self.answers.copy() if self.most else self.answers
        answers.pop(answer, None)
        if self.most and len(answers) == self.most:
            del answers[next(iter(answers))]
        answers[answer] = tokens
        self.answers = answers
        self.total = Tokens(
            self.total.input + tokens.input - before.input,
            self.total.cached + tokens.cached - before.cached,
            self.total.output + tokens.output - before.output,
        )

    def take_total(self, tokens: Tokens) -> None:
        """Take in what the whole session took; a lower number than before began anew."""
        if tokens < self.answers.get("", tokens):
            self.answers = {}
        self.take("", tokens)

    def state(self) -> dict[str, Any]:
        """Return everything as JSON data."""
        return {"total": self.total, "answers": self.answers}

    def members(self) -> dict[str, int]:
        """Return what the record of a session says, without what was not told."""
        names = ("input_tokens", "cached_tokens", "output_tokens")
        return {name: count for name, count in zip(names, self.total, strict=True) if count}


def resumed_count(state: Mapping[str, Any], most: int) -> TokenCount:
    """Return a count as its ``state`` left it."""
    answers = {name: Tokens(*told) for name, told in state.get("answers", {}).items()}
    return TokenCount(Tokens(*state.get("total", ())), answers, most)


def summed(told: Any, *names: str) -> int:
    """Return the sum of some members that are counts."""
    total = 0
    for name in names if isinstance(told, dict) else ():
        value = told.get(name)
        if type(value) is int and 0 <= value <= _HIGHEST:
            total += value
    return total
