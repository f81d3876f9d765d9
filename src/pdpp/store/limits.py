"""Limits that all workers of a store share: how often somebody may ask, how often guess."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class RequestShare(NamedTuple):
    """How many requests a worker may let pass, and how many seconds until the next one if none."""

    given: int
    wait: float


@dataclass(slots=True)
class GuessCount:
    """How often somebody guessed at a secret, and until when the next guess has to wait."""

    count: int = 0
    until: int = 0


class GuessCounts(Protocol):
    """Keeps the counts of guessers."""

    def guesses(self, names: Sequence[str]) -> AbstractContextManager[list[GuessCount]]:
        """Hold the counts of some names, so that nobody else changes them; keep what becomes of
        them.
        """
        ...


class SharedLimits(GuessCounts, Protocol):
    """Counts in the database; each call is a short transaction of its own."""

    def take(self, name: str, wanted: int, rate: float, burst: int) -> RequestShare:
        """Take some requests from a bucket that fills at a rate and holds a burst."""
        ...
