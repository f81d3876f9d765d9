"""Dates: when a message was sent, in the many ways in which programs write that."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_IS_UTC = re.compile(r"-0000\s*(?:\([^()]*\))?\s*\Z")
_USUAL = re.compile(
    r"[A-Z][a-z]{2}, \d\d? [A-Z][a-z]{2} [12]\d{3} \d\d:\d\d:\d\d"
    r" (?:\+(?:0\d|1[0-7])|-(?:0[1-9]|1[0-7]))[0-5]\d(?: \([A-Z]{3,5}\))?"
)
"""A date as RFC 5322 has it, of which nothing has to be changed before it is read."""
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_HALF_OF_DAY = re.compile(r"\s?\b([AP])\.?M\b\.?", re.IGNORECASE)
_FRACTION = re.compile(r"(:\d\d)\.\d+")
_OFFSET = re.compile(
    r"(?:\b(?:GMT|UTC|UT)\s*|(?<![A-Za-z]))-?([+-])(\d\d?)(?::?(\d\d))?(?=\s*(?:\(|\Z))"
)
_FIRST_YEAR = 1900


def first_moment(texts: Iterable[str]) -> datetime | None:
    """Return the first of some dates that can be read."""
    for text in texts:
        try:
            return _moment(text.strip())
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def _moment(text: str) -> datetime:
    if _USUAL.fullmatch(text):
        return parsedate_to_datetime(text)
    if _ISO.match(text):
        return datetime.fromisoformat(re.sub(r" (?=[+-]\d)", "", text))
    half = _HALF_OF_DAY.search(text)
    plain = _FRACTION.sub(r"\1", _HALF_OF_DAY.sub("", text))
    moment = parsedate_to_datetime(_OFFSET.sub(_four_digits, plain))
    if half is not None and moment.hour <= 12:
        moment = moment.replace(hour=moment.hour % 12 + (12 if half.group(1) in "pP" else 0))
    if moment.year < 200:
        # Programs that counted years since 1900 wrote the year 2000 as 100.
        moment = moment.replace(year=moment.year + _FIRST_YEAR)
    if moment.tzinfo is not None and abs(moment.utcoffset() or timedelta()) >= timedelta(hours=18):
        raise ValueError("no zone is so far off")
    # RFC 5322: "-0000" is UTC of a machine that does not tell its zone; the library reads it as a
    # local time.
    return moment.replace(tzinfo=UTC) if _IS_UTC.search(text) else moment


def _four_digits(offset: re.Match[str]) -> str:
    sign, hours, minutes = offset.groups()
    return f"{sign}{int(hours):02}{minutes or '00'}"
