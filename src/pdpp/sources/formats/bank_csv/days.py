"""Days: what banks write where a day stands, in the years of the common calendar."""

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from types import MappingProxyType

from pdpp.sources.table.form import (
    COMPACT,
    TIME_FORMS,
    ZONED,
    is_compact_day,
    is_time_like,
    possible_forms,
    read_time,
)

_BEHIND_DAY = re.compile(
    r"(?<=\d) (?:(?:[ECMP][SD]T|GMT|UTC|BST|CES?T)|as of \d{1,4}[/.-]\d{1,2}[/.-]\d{1,4})\Z"
)
"""A zone, or the day from which a booking counts."""
_COMMA = re.compile(r"(?<=\d),(?= \d{1,2}:\d\d)")
"""What stands between a day and an hour."""
_TAIWAN = re.compile(r"(\d{3})(?=[/.-])", re.ASCII)
_TAIWAN_IN_A_ROW = re.compile(
    r"0?(0[6-9]\d|1[0-4]\d)((?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))\Z", re.ASCII
)
"""No other form of a day that is known has a month where this one has it."""
_IN_CHARACTERS = re.compile(r"(\D{0,4}?)\s*(\d{1,4}|元)\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日?")
_BUDDHIST = re.compile(r"(\d{1,2}[/.-]\d{1,2}[/.-])(25\d\d)(?!\d)", re.ASCII)
_FIRST_DATES = 40
_BEFORE_BUDDHIST = 543
_BEFORE_TAIWAN = 1911
_BEFORE = MappingProxyType(
    {"民國": _BEFORE_TAIWAN, "中華民國": _BEFORE_TAIWAN, "令和": 2018, "平成": 1988, "西暦": 0}
)
_BY_DIGITS = MappingProxyType({3: "民國", 4: "西暦"})


def bare_day(text: str) -> str:
    """Return a time without a zone or a second day behind it: the first day is when it was.

    Banks of Taiwan count years from 1912, so that 2026 is 115, and those of Thailand from the
    Buddha, so that it is 2569.
    """
    day = _COMMA.sub("", _BEHIND_DAY.sub("", text.strip()))
    if match := _IN_CHARACTERS.match(day):
        return _plain_day(match, day[match.end() :])
    if match := _TAIWAN_IN_A_ROW.match(day):
        return f"{int(match[1]) + _BEFORE_TAIWAN}{match[2]}"
    if match := _TAIWAN.match(day):
        return f"{int(match[1]) + _BEFORE_TAIWAN}{day[match.end() :]}"
    return _BUDDHIST.sub(lambda found: f"{found[1]}{int(found[2]) - _BEFORE_BUDDHIST}", day, 1)


def _plain_day(match: re.Match[str], rest: str) -> str:
    """Return a day that is written with the characters for year, month and day."""
    era, year, month, day = match.groups()
    # Without an era only the number of digits tells the calendar; two could be of any.
    before = _BEFORE.get(era.strip() or _BY_DIGITS.get(len(year), ""))
    if before is None:
        return match.string
    count = before + (1 if year == "元" else int(year))
    return f"{count:04}-{int(month):02}-{int(day):02}{rest}"


def is_day(text: str) -> bool:
    """Tell whether a cell begins with a day in any of the forms that are read."""
    return any(is_time_like(day) or is_compact_day(day) for day in (text, bare_day(text)))


def day_forms(texts: Sequence[str], remembered: str = "") -> list[str]:
    """Return the ways to write dates that fit most rows, the more usual first.

    A row that has something else there, such as a sum at the end, is told when it is read. A form
    that was ``remembered`` counts where no other fits more rows: few days may not tell it again.
    """
    told = [text.strip() for text in texts if text.strip()]
    if told and all(is_compact_day(text) and read_time(text, COMPACT, None) for text in told):
        return [COMPACT]
    dates = [text for text in told if is_time_like(text)]
    if not dates or 2 * len(dates) < len(told):
        return []
    forms = [form for form in TIME_FORMS if form != ZONED] + [ZONED]
    some = [(text, possible_forms(text)) for text in dates[:_FIRST_DATES]]
    left = [
        form
        for form in forms
        if any(form in possible and read_time(text, form, None) for text, possible in some)
    ]
    days = {form: [read_time(text, form, None) for text in dates] for form in left}
    fits = {form: len(read) - read.count(None) for form, read in days.items()}
    most = max(fits.values(), default=0)
    if 2 * most < len(told):
        return []
    disorder = {form: _disorder(days[form]) for form in left if fits[form] == most}
    if remembered in disorder:
        better = [form for form in disorder if disorder[form][0] < disorder[remembered][0]]
        return [remembered, *better]
    best = min(disorder, key=lambda form: disorder[form])
    # How long a time a table spans is a guess; that its rows are in order is none.
    as_good = [form for form in disorder if disorder[form][0] == disorder[best][0]]
    return [best, *(form for form in as_good if days[form] != days[best])]


def _disorder(read: Sequence[str | None]) -> tuple[int, int]:
    """Return how badly the days of a column are ordered, and how long a time they span.

    Statements go forward or backward in time. Of day and month the one that is right leaves them
    in order, and within a few months.
    """
    days = [day for day in read if day is not None]
    pairs = list(pairwise(days))
    falls = sum(later < earlier for earlier, later in pairs)
    rises = sum(later > earlier for earlier, later in pairs)
    span = date.fromisoformat(max(days)[:10]) - date.fromisoformat(min(days)[:10])
    return min(falls, rises), span.days
