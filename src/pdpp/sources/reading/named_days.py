"""Named days: the day that the name of a file or a folder tells."""

import re
from collections.abc import Iterable
from datetime import date

_DAY = re.compile(
    r"(?<!\d)(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?=\D|\d{6}(?:\D|\Z)|\Z)"
)
"""The moment may follow without a mark: ``sms-20260131101532``."""
_IN_WORDS = re.compile(r"\b([A-Z][a-z]{2}) (\d{1,2}) (20\d\d)\b")
_AMERICAN = re.compile(r"(?<!\d)(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])-(20\d\d)(?!\d)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day_in(name: str) -> str:
    """Return the last day that a name tells, the year first, or nothing."""
    days = (_day(year, month, day) for year, _, month, day in _DAY.findall(name))
    return _last(days)


def day_in_words(name: str) -> str:
    """Return the last day that a name tells as ``Jan 31 2026``, or nothing."""
    found = _IN_WORDS.findall(name)
    known = [(month, day, year) for month, day, year in found if month in _MONTHS]
    return _last(_day(year, _MONTHS.index(month) + 1, day) for month, day, year in known)


def american_day_in(name: str) -> str:
    """Return the last day that a name tells as ``01-31-2026``, or nothing."""
    return _last(_day(year, month, day) for month, day, year in _AMERICAN.findall(name))


def _last(days: Iterable[str]) -> str:
    return next(filter(None, reversed(list(days))), "")


def _day(year: str, month: str | int, day: str) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
