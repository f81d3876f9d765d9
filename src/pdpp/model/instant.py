"""Instants: a moment as whole microseconds since 1970 UTC, and as RFC 3339 text."""

import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta

Clock = Callable[[], int]
"""Returns now, as microseconds since 1970 UTC."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BARE_EPOCH = EPOCH.replace(tzinfo=None)
SECOND = 1_000_000
DAY = 86_400 * SECOND
_FARTHEST_ZONE = 14 * 3_600 * SECOND
"""No clock shows a time that is farther from that in UTC."""

_LONGEST = len("2026-01-31T08:00:00.123456789+01:00")
_USUAL_LENGTH = len("2026-01-31T08:00:00Z")
_FRACTION_LENGTHS = frozenset(map(len, ("2026-01-31T08:00:00.123Z", "2026-01-31T08:00:00.123456Z")))
_USUAL_MARKS = "--T::"
"""Every third character from the fifth on, before the seconds."""
_SECOND_MARKS = ((4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"))
_MARKS = {
    _USUAL_LENGTH: (*_SECOND_MARKS, (19, "Z")),
    **{size: (*_SECOND_MARKS, (19, "."), (size - 1, "Z")) for size in _FRACTION_LENGTHS},
}
"""What stands where in the usual texts of each length."""
_MICROSECOND = timedelta(microseconds=1)
_read = datetime.fromisoformat
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_DATE_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})?\Z", re.ASCII
)


def now() -> int:
    """Return the wall clock, as microseconds since 1970 UTC."""
    return time.time_ns() // 1000


def of_datetime(moment: datetime) -> int:
    """Return the instant of an aware datetime."""
    return (moment - EPOCH) // _MICROSECOND


def parse(text: str) -> int | None:
    """Return the instant that RFC 3339 text names, or None.

    A date alone is its first moment in UTC; a time without a zone is read as UTC.
    """
    # A few comparisons instead of a pattern: every record that comes in is dated here.
    size = len(text)
    usual = size == _USUAL_LENGTH or (size in _FRACTION_LENGTHS and text[19] == ".")
    if usual and text[-1] == "Z" and text[4:17:3] == _USUAL_MARKS:
        try:
            passed = _read(text[:-1]) - _BARE_EPOCH
        except (TypeError, ValueError):  # The first where a zone stands in place of a fraction.
            return None
        return (passed.days * 86_400 + passed.seconds) * SECOND + passed.microseconds
    if size > _LONGEST:
        return None
    if not _DATE_TIME.match(text):
        return _parse_date(text)
    try:
        moment = datetime.fromisoformat(text.upper() if text[-1] == "z" else text)
    except ValueError:
        return None
    microseconds = (moment - (_BARE_EPOCH if moment.tzinfo is None else EPOCH)) // _MICROSECOND
    return microseconds if _FIRST <= microseconds <= _LAST else None


def floats(text: str) -> bool:
    """Tell whether a time names no zone."""
    return text[-1:] not in ("Z", "z") and text[-6:-5] not in ("+", "-")


def may_be_one(text: str, other: str) -> bool:
    """Tell whether two times, of which one alone names its zone, may be one moment."""
    moment, own = parse(text), parse(other)
    if moment is None or own is None or floats(text) == floats(other):
        return False
    return abs(moment - own) <= _FARTHEST_ZONE


def parse_each(texts: Sequence[str]) -> Sequence[int | None]:
    """Return the instant that each text names, or None; quicker than one after another."""
    # What stands at one place in all texts is compared at once.
    joined, count, sizes = "".join(texts), len(texts), set(map(len, texts))
    size = sizes.pop() if len(sizes) == 1 else 0
    marks = _MARKS.get(size)
    if marks is None or not all(joined[at::size] == mark * count for at, mark in marks):
        return [*map(parse, texts)]
    try:
        passed = [_read(text) - EPOCH for text in texts]
    except ValueError:
        return [*map(parse, texts)]
    return [(some.days * 86_400 + some.seconds) * SECOND + some.microseconds for some in passed]


def _parse_date(text: str) -> int | None:
    if not _DATE.match(text):
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return (day - EPOCH.date()).days * DAY


_FIRST = of_datetime(datetime.min.replace(tzinfo=UTC))
_LAST = of_datetime(datetime.max.replace(tzinfo=UTC))


def to_datetime(instant: int) -> datetime:
    """Return an instant as an aware datetime in UTC."""
    return EPOCH + timedelta(microseconds=instant)


def to_text(instant: int) -> str:
    """Return an instant as RFC 3339 text in UTC, with a fraction only where there is one."""
    # Where very many are written, `instant_json` is quicker. Nothing heavy is imported here,
    # because every launch of the program takes this module.
    return f"{(_BARE_EPOCH + timedelta(0, 0, instant)).isoformat()}Z"


def to_date_text(instant: int) -> str:
    """Return the UTC day of an instant."""
    return to_datetime(instant).date().isoformat()
