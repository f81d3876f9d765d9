"""Instants: a moment as whole microseconds since 1970 UTC, and as RFC 3339 text."""

import re
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

Clock = Callable[[], int]
"""Returns now, as microseconds since 1970 UTC."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
DAY = 86_400 * SECOND

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_DATE_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})?\Z", re.ASCII
)


def now() -> int:
    """Return the wall clock, as microseconds since 1970 UTC."""
    return time.time_ns() // 1000


def of_datetime(moment: datetime) -> int:
    """Return the instant of an aware datetime."""
    delta = moment - EPOCH
    return (delta.days * 86_400 + delta.seconds) * SECOND + delta.microseconds


def parse(text: str) -> int | None:
    """Return the instant that RFC 3339 text names, or None.

    A date alone is its first moment in UTC; a time without a zone is read as UTC.
    """
    if _DATE.match(text):
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return None
        return (day - EPOCH.date()).days * DAY
    if not _DATE_TIME.match(text):
        return None
    try:
        moment = datetime.fromisoformat(text.replace(" ", "T").upper())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return of_datetime(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def to_datetime(instant: int) -> datetime:
    """Return an instant as an aware datetime in UTC."""
    return EPOCH + timedelta(microseconds=instant)


def to_text(instant: int) -> str:
    """Return an instant as RFC 3339 text in UTC, with a fraction only where there is one."""
    seconds, fraction = divmod(instant, SECOND)
    day, second = divmod(seconds, 86_400)
    minute, second = divmod(second, 60)
    hour, minute = divmod(minute, 60)
    tail = f".{fraction:06d}Z" if fraction else "Z"
    return f"{_day_text(day)}T{hour:02d}:{minute:02d}:{second:02d}{tail}"


@lru_cache(maxsize=4_096)
def _day_text(day: int) -> str:
    return (EPOCH.date() + timedelta(days=day)).isoformat()


def to_date_text(instant: int) -> str:
    """Return the UTC day of an instant."""
    return to_datetime(instant).date().isoformat()
