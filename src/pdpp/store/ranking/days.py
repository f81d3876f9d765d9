"""Days: what a record gets for having happened when the question says."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from pdpp.evidence.language.when import Moment, Unit, in_years
from pdpp.model.instant import SECOND

BONUS = {
    Unit.DAY: 0.35,
    Unit.DAY_OF_YEAR: 0.30,
    Unit.WEEK: 0.20,
    Unit.MONTH: 0.20,
    Unit.MONTH_OF_YEAR: 0.15,
    Unit.SEASON: 0.15,
    Unit.YEAR: 0.08,
}
_AFTER = 7
"""Days after a named day in which people still talk of it."""
_AFTER_PART = 1 / 3
_BEFORE = 12 * 3_600 * SECOND
"""How long before a named day it has begun elsewhere: a traveller's day is not the caller's."""
_BEFORE_PART = 0.6


def instant_of(day: date, zone: tzinfo) -> int:
    """Return when a day begins, in microseconds."""
    try:
        begins = datetime.combine(day, time(), zone).astimezone(UTC)
    except (OverflowError, ValueError):
        begins = datetime.combine(day, time(), UTC)
    return int((begins - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


def stretches(
    moment: Moment, zone: tzinfo, earliest: int, latest: int
) -> Iterator[tuple[int, int, float]]:
    """Yield the times that a moment means between two times, each with its bonus."""
    bonus = BONUS[moment.unit]
    days: Iterator[tuple[date, date]] = iter([(moment.start, moment.end)])
    if moment.recurs:
        days = in_years(moment, _year(earliest) - 1, _year(latest) + 1)
    for start, end in days:
        first, last = instant_of(start, zone), instant_of(end, zone)
        yield first, last, bonus
        if moment.unit in (Unit.DAY, Unit.DAY_OF_YEAR):
            yield first - _BEFORE, first, bonus * _BEFORE_PART
            try:
                after = instant_of(end + timedelta(days=_AFTER), zone)
            except OverflowError:
                continue
            yield last, after, bonus * _AFTER_PART


def _year(moment: int) -> int:
    return 1970 + moment // (SECOND * 31_556_952)
