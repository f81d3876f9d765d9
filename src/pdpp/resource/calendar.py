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
        return _turn(local.astimezone(UTC), end, local.tzinfo)
    return end


def _turn(begin: datetime, end: datetime, place: tzinfo | None) -> datetime:
    """Return where the clock changes between two moments, to the second."""
    begin = begin.replace(microsecond=0)
    offset = begin.astimezone(place).utcoffset()
    while end - begin > timedelta(seconds=1):
        middle = begin + (end - begin) / 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(place).utcoffset() == offset:
            begin = middle
        else:
            end = middle
    return end


def _day_end(granularity: str, local: datetime) -> datetime:
    """Return where the days of a bucket end: at midnight, or where the clock goes back over it."""
    moment, place = local.astimezone(UTC), local.tzinfo
    first = _first_day(granularity, local.date())
    _, again = _beginnings(first, place)
    if moment < again:
        turn = _turn(moment, again, place)
        if turn.astimezone(place).date() < first:
            return turn
    once, again = _beginnings(_day_after(granularity, first), place)
    return once if moment < once else again


def _beginnings(day: date, place: tzinfo | None) -> tuple[datetime, datetime]:
    """Return the first and the last moment at which a day begins: the clock may go back over it."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=place)
    once, again = (midnight.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    if again < once:
        # The clock goes forward over this midnight, which it never shows: the day begins there.
        once = again = _turn(again, once, place)
    return once, again


def _day_name(granularity: str, local: datetime) -> str:
    first = _first_day(granularity, local.date())
    if granularity == "month":
        return first.isoformat()[:7]
    if granularity == "quarter":
        return f"{first.year:04}-Q{(first.month + 2) // 3}"
    return f"{first.year:04}" if granularity == "year" else first.isoformat()


def _first_day(granularity: str, day: date) -> date:
    """Return the first day of the bucket of a day."""
    if granularity == "day":
        return day
    if granularity == "week":
        return day - timedelta(days=day.weekday())
    if granularity == "month":
        return day.replace(day=1)
    if granularity == "quarter":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    return day.replace(month=1, day=1)


def _day_after(granularity: str, first: date) -> date:
    """Return the first day after the bucket that begins with a day."""
    if granularity in ("day", "week"):
        return first + timedelta(days=1 if granularity == "day" else 7)
    months = {"month": 1, "quarter": 3, "year": 12}[granularity]
    years, month = divmod(first.month - 1 + months, 12)
    return date(first.year + years, month + 1, 1)
