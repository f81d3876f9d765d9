"""Moments: the fixed span of the demo world and its times as RFC 3339 text."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

FIRST_DAY = date(2025, 5, 1)
LAST_DAY = date(2026, 10, 31)
LAST_SYNC = "2026-10-31T22:00:00Z"
SPAN_DAYS = (LAST_DAY - FIRST_DAY).days
LISBON = ZoneInfo("Europe/Lisbon")
KYOTO = ZoneInfo("Asia/Tokyo")


def at(day: date, hour: int, minute: int = 0, zone: ZoneInfo = LISBON) -> datetime:
    """Return a time of day, on the clocks of a place."""
    return datetime.combine(day, time(hour, minute), zone)


def utc_text(moment: datetime) -> str:
    """Return a moment as UTC text."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def local_text(moment: datetime) -> str:
    """Return a moment as text with the offset of its own place."""
    return moment.isoformat()


def emitted(moment: datetime) -> str:
    """Return when a record that happened at a moment reached the server."""
    return utc_text(moment.astimezone(UTC) + timedelta(minutes=4))


def spread(index: int, total: int) -> date:
    """Return the day of one of many things spread evenly over the whole span."""
    return FIRST_DAY + timedelta(days=index * SPAN_DAYS // total)
