"""Calendar buckets: which minute, hour, day … year an instant falls in, in a time zone."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pdpp.model import instant
from pdpp.model.errors import InvalidRequest

GRANULARITIES = ("minute", "hour", "day", "week", "month", "quarter", "year")
_FAR = 2**62


def zone(name: str) -> tzinfo:
    """Return a time zone by its IANA name."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidRequest(
            "time_zone is an IANA name such as UTC or Europe/Lisbon.", param="time_zone"
        ) from None


def bucketer(granularity: str, place: tzinfo) -> Callable[[int], tuple[str, int]]:
    """Return what names the bucket of an instant and tells the instant at which it ends."""

    def bucket(moment: int) -> tuple[str, int]:
        local = instant.to_datetime(moment).astimezone(place)
        try:
            if granularity in ("minute", "hour"):
                return _clock_bucket(granularity, local)
            return _day_bucket(granularity, local.date(), place)
        except OverflowError:
            return local.date().isoformat(), _FAR

    return bucket


def _clock_bucket(granularity: str, local: datetime) -> tuple[str, int]:
    """Hours and minutes are counted on the local clock and told apart by their offset."""
    start = local.replace(second=0, microsecond=0)
    if granularity == "hour":
        start = start.replace(minute=0)
    length = timedelta(hours=1) if granularity == "hour" else timedelta(minutes=1)
    begin = start.astimezone(UTC)
    end = begin + length
    turned = end.astimezone(local.tzinfo)
    if turned.utcoffset() != start.utcoffset():
        end = _turn(begin, end, local)
    name = start.isoformat(timespec="minutes").replace("+00:00", "Z")
    return name, instant.of_datetime(end)


def _turn(begin: datetime, end: datetime, local: datetime) -> datetime:
    """Return where the clock changes between two moments, to the minute."""
    offset = begin.astimezone(local.tzinfo).utcoffset()
    while end - begin > timedelta(minutes=1):
        middle = begin + (end - begin) / 2
        middle = middle.replace(second=0, microsecond=0)
        if middle.astimezone(local.tzinfo).utcoffset() == offset:
            begin = middle
        else:
            end = middle
    return end


def _day_bucket(granularity: str, day: date, place: tzinfo) -> tuple[str, int]:
    if granularity == "day":
        name, after = day.isoformat(), day + timedelta(days=1)
    elif granularity == "week":
        monday = day - timedelta(days=day.weekday())
        name, after = monday.isoformat(), monday + timedelta(days=7)
    elif granularity == "month":
        name, after = f"{day:%Y-%m}", _month_after(day, 1)
    elif granularity == "quarter":
        quarter = (day.month - 1) // 3
        name = f"{day:%Y}-Q{quarter + 1}"
        after = _month_after(day.replace(month=quarter * 3 + 1, day=1), 3)
    else:
        name, after = f"{day:%Y}", date(day.year + 1, 1, 1)
    midnight = datetime(after.year, after.month, after.day, tzinfo=place)
    return name, instant.of_datetime(midnight.astimezone(UTC))


def _month_after(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, 1)
