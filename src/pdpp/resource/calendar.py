"""Calendar buckets: which minute, hour, day … year an instant falls in, in a time zone."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pdpp.model import instant
from pdpp.model.errors import InvalidRequest

GRANULARITIES = ("minute", "hour", "day", "week", "month", "quarter", "year")

_NO_ZONES = ("localtime", "posixrules", "posix/", "right/")
"""What lies among the zones of a system and is none: its own clock, other counts of seconds."""


def zone(name: str) -> tzinfo:
    """Return a time zone by its IANA name."""
    if name == "UTC":
        return UTC
    with suppress(ZoneInfoNotFoundError, ValueError, OSError):
        if not name.startswith(_NO_ZONES):
            return ZoneInfo(name)
    raise InvalidRequest(
        "time_zone must be an IANA name such as UTC or Europe/Lisbon.", param="time_zone"
    )


def bucketer(granularity: str, place: tzinfo) -> Callable[[int], tuple[str, int]]:
    """Return what names the bucket of an instant and tells the instant at which it ends."""

    def bucket(moment: int) -> tuple[str, int]:
        local = _local(moment, place)
        by_clock = granularity in ("minute", "hour")
        name = _clock_name(granularity, local) if by_clock else _day_name(granularity, local)
        try:
            end = _clock_end(granularity, local) if by_clock else _day_end(granularity, local)
        except (OverflowError, ValueError):
            return name, moment + 1
        return name, instant.of_datetime(end)

    return bucket


def order_of(name: str) -> datetime | str:
    """Return what puts the buckets of one granularity in the order of time."""
    return datetime.fromisoformat(name) if "T" in name else name


def _local(moment: int, place: tzinfo) -> datetime:
    """Return a moment on the clock of a place; at the edges of the calendar there is only UTC."""
    at = instant.to_datetime(moment)
    try:
        return at.astimezone(place)
    except OverflowError:
        return at


def _clock_start(granularity: str, local: datetime) -> datetime:
    """Return where the hour or minute began on a clock that was never changed."""
    unchanged = timezone(local.utcoffset() or timedelta())
    start = local.replace(second=0, microsecond=0, tzinfo=unchanged)
    return start.replace(minute=0) if granularity == "hour" else start


def _clock_name(granularity: str, local: datetime) -> str:
    """Hours and minutes follow the local clock; the offset distinguishes repeated ones."""
    start = _clock_start(granularity, local)
    return start.isoformat(timespec="minutes").replace("+00:00", "Z")


def _clock_end(granularity: str, local: datetime) -> datetime:
    start = _clock_start(granularity, local).astimezone(UTC)
    end = start + (timedelta(hours=1) if granularity == "hour" else timedelta(minutes=1))
    if end.astimezone(local.tzinfo).utcoffset() != local.utcoffset():
        return _turn(local.astimezone(UTC).replace(microsecond=0), end, local)
    return end


def _turn(begin: datetime, end: datetime, local: datetime) -> datetime:
    """Return where the clock changes between two moments, to the second."""
    offset = begin.astimezone(local.tzinfo).utcoffset()
    while end - begin > timedelta(seconds=1):
        middle = begin + (end - begin) / 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(local.tzinfo).utcoffset() == offset:
            begin = middle
        else:
            end = middle
    return end


def _day_end(granularity: str, local: datetime) -> datetime:
    after = _day_after(granularity, local.date())
    midnight = datetime(after.year, after.month, after.day, tzinfo=local.tzinfo)
    return midnight.astimezone(UTC)


def _day_name(granularity: str, local: datetime) -> str:
    day = local.date()
    if granularity == "day":
        return day.isoformat()
    if granularity == "week":
        return (day - timedelta(days=day.weekday())).isoformat()
    if granularity == "month":
        return day.isoformat()[:7]
    if granularity == "quarter":
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    return f"{day.year:04}"


def _day_after(granularity: str, day: date) -> date:
    """Return the first day after the bucket of a day."""
    if granularity == "day":
        return day + timedelta(days=1)
    if granularity == "week":
        return day - timedelta(days=day.weekday()) + timedelta(days=7)
    if granularity == "month":
        return _month_after(day, 1)
    if granularity == "quarter":
        return _month_after(day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1), 3)
    return date(day.year + 1, 1, 1)


def _month_after(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, 1)
