"""Samples: a few of many things, where to look at all of them would take too long."""

from collections.abc import Sequence
from typing import TypeVar

Thing = TypeVar("Thing")


def spread(things: Sequence[Thing], most: int) -> list[Thing]:
    """Return at most so many things, from all over: those that lie together are often alike."""
    count = min(most, len(things))
    return [things[number * len(things) // count] for number in range(count)]
