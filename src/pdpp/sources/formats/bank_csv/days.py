"""Days: what banks write where a day stands, in the years of the common calendar."""

import re
from types import MappingProxyType

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
