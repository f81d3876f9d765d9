"""Choices: what the owner ticked on the consent page."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pdpp.model.grant import Interval
from pdpp.model.instant import DAY

FeedKey = tuple[str, str]
"""A connection and one of its streams."""


class Term(StrEnum):
    """How long an approval lasts."""

    DAY = "1d"
    WEEK = "7d"
    MONTH = "30d"
    QUARTER = "90d"
    YEAR = "365d"
    ALWAYS = "always"

    def end(self, start: int) -> int | None:
        """Return when an approval that begins at a moment ends; None is never."""
        return None if self is Term.ALWAYS else start + int(self.value[:-1]) * DAY


class LookBack(StrEnum):
    """How far back an agent may look."""

    MONTH = "30d"
    QUARTER = "90d"
    YEAR = "365d"
    EVERYTHING = "all"
    DATES = "dates"

    def interval(self, now: int) -> Interval | None:
        """Return the time from the first moment of a day in UTC on; None is no limit."""
        if self in (LookBack.EVERYTHING, LookBack.DATES):
            return None
        since = now - int(self.value[:-1]) * DAY
        return Interval(since - since % DAY)


@dataclass(frozen=True, slots=True)
class ConsentChoice:
    """What the owner ticked: a stream counts only where its connection is ticked too.

    ``fields`` names the ticked fields of each stream where the owner picks them; a request with
    details names its fields itself.
    """

    connections: frozenset[str] = frozenset()
    streams: frozenset[FeedKey] = frozenset()
    fields: Mapping[FeedKey, frozenset[str]] = field(default_factory=dict)
    time: Interval | None = None
    term: Term = Term.MONTH
