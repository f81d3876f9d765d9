"""Persian dates: phones in Iran count years from 622 and begin them in spring."""

from datetime import date, timedelta

FIRST_YEAR, LAST_YEAR = 1387, 1429
"""The years 2008 to 2051. No other calendar that phones write counts them so."""
_BEGINNING = date(2008, 3, 20)
"""The first day of the first year."""
_CYCLE = 33
_LEAP = frozenset({1, 5, 9, 13, 17, 22, 26, 30})
"""The years of a cycle that have a day more. The rule holds from 1343 to 1472."""
_LONG_MONTHS, _LONG, _SHORT = 6, 31, 30


def gregorian_day(year: int, month: int, day: int) -> date | None:
    """Return the day that a Persian date means; None where there is no such day."""
    if not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month):
        return None
    before = sum(365 + _is_leap(earlier) for earlier in range(FIRST_YEAR, year))
    before += sum(_days_in(year, earlier) for earlier in range(1, month))
    return _BEGINNING + timedelta(before + day - 1)


def _is_leap(year: int) -> bool:
    return year % _CYCLE in _LEAP


def _days_in(year: int, month: int) -> int:
    if month == 12:
        return _SHORT if _is_leap(year) else _SHORT - 1
    return _LONG if month <= _LONG_MONTHS else _SHORT
