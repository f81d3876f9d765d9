"""Time expressions: the days, months, seasons and years that a question names.

A day is the caller's: "yesterday" depends on when and where it is asked. What names no year, such
as "in May" or "on 3 June", is meant of any year.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from enum import StrEnum
from typing import NamedTuple

from pdpp.evidence.language.calendar_words import (
    DAYS_AGO,
    MONTHS,
    NUMBERS,
    NUMBERS_ELSEWHERE,
    RELATIVE,
    SEASONS,
    STRETCHES,
    WEEKDAYS,
    with_usual_letters,
)


class Unit(StrEnum):
    """What a time expression names; a day or a month of any year comes round each year."""

    DAY = "day"
    DAY_OF_YEAR = "day-of-year"
    WEEK = "week"
    MONTH = "month"
    MONTH_OF_YEAR = "month-of-year"
    SEASON = "season"
    YEAR = "year"


class Moment(NamedTuple):
    """A stretch of days, from ``start`` up to and without ``end``, and where it was written.

    Of a day or month of any year the year of both means nothing. ``loose`` is a month without a
    word such as "in" before it, or a day of the week: the word may mean something else or stand in
    a text, and is looked for as well. The number of a ``counted`` one, as "3 days ago", is no part
    of a date that a text may hold.
    """

    unit: Unit
    start: date
    end: date
    span: tuple[int, int]
    loose: bool = False
    counted: bool = False

    @property
    def recurs(self) -> bool:
        """Tell whether this comes round each year."""
        return self.unit in (Unit.DAY_OF_YEAR, Unit.MONTH_OF_YEAR)


_LEAP_YEAR = 2024
_LAST_MONTH = 12
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_IN_MAY = re.compile(r"(?:in|during|since|early|late|mid|last)\s+may", re.IGNORECASE)
"""Nobody says these before the verb."""
_IN_DATES = frozenset({"maja", "marca", "mart", "marts", "nisan"})
"""Months beside a day or a year alone: else these are names, or brands and shops."""
_ALSO_WORDS = frozenset({"aralik", "aralık", "ekim", "mars", "mayo", "ocak", *_IN_DATES})
_ALSO_NAMES = frozenset({"april", "june", "august", "augustus", "julio", "kasim"})
_BARE_MONTH = "|".join(name for name in MONTHS if name not in _IN_DATES)
_LOOSE_MONTH = "|".join(name for name in MONTHS if len(name) > 3 and name not in _ALSO_WORDS)
_SEASON = "|".join(SEASONS)
_WEEKDAY = "|".join(WEEKDAYS)
_LAST = "last|past|letzten|vorigen|vorige|zeszły|ostatni|geçen|gecen"
_PAST = "pasado|passado|passada|dernier|scorso|scorsa"
_TO_COME = "prochain|próximo|que viene|que vem|prossimo"
_COMING = "this|next|coming|nächsten|diesen|kommenden|próximo|próxima|volgende|najbliższy|gelecek"
_TH = r"(?:st|nd|rd|th|er|\.)?"
_OF = r"(?:\s+(?:of|de|del|di))?"
_COUNT = r"(\d{1,3}|" + "|".join(NUMBERS) + ")"
_COUNT_ELSEWHERE = rf"(\d{{1,3}}|{'|'.join(NUMBERS_ELSEWHERE)})\s+({'|'.join(STRETCHES)})"
_ALONE, _ENDS = r"(?<!\w)(?<!\w-)", r"(?!-?\w)"
"""Around the numbers of a date: in "INV-2024-12" and "2024-12-0113" they are parts of a code."""
_Find = Callable[["re.Match[str]", date], tuple[Unit, date, date] | None]


def _days(unit: Unit, start: date, count: int = 1) -> tuple[Unit, date, date]:
    return unit, start, start + timedelta(days=count)


def _day(year: str | int, month: int, day: str | int) -> tuple[Unit, date, date] | None:
    try:
        return _days(Unit.DAY, date(int(year), month, int(day)))
    except (ValueError, OverflowError):
        return None


def _slashed(match: "re.Match[str]") -> tuple[Unit, date, date] | None:
    """Return a day with slashes, unless either number may be the month: 03/04 is two days."""
    one, other = int(match[1]), int(match[2])
    if one != other and max(one, other) <= _LAST_MONTH:
        return None
    return _day(match[3], min(one, other), max(one, other))


def _any_year(month: int, day: str) -> tuple[Unit, date, date] | None:
    try:
        return _days(Unit.DAY_OF_YEAR, date(_LEAP_YEAR, month, int(day)))
    except ValueError:
        return None


def _month(year: int, month: int, unit: Unit = Unit.MONTH) -> tuple[Unit, date, date] | None:
    try:
        start = date(year, month, 1)
        return unit, start, date(year + month // 12, month % 12 + 1, 1)
    except (ValueError, OverflowError):
        return None


def _season(year: int, name: str) -> tuple[Unit, date, date] | None:
    first = SEASONS[name.lower()]
    try:
        start = date(year, first, 1)
        return Unit.SEASON, start, date(year + (first + 2) // 12, (first + 2) % 12 + 1, 1)
    except (ValueError, OverflowError):
        return None


def _year(year: int) -> tuple[Unit, date, date] | None:
    return (Unit.YEAR, date(year, 1, 1), date(year + 1, 1, 1)) if 1 <= year < 9999 else None


def _named(name: str) -> int:
    return MONTHS[name.lower()]


def _bare_month(match: "re.Match[str]", _: date) -> tuple[Unit, date, date] | None:
    """Return a month without a year; "may" in small letters is mostly a verb."""
    name = match[1]
    if name.lower() in ("may", "mar") and name[0].islower() and not _IN_MAY.match(match[0]):
        return None
    return _month(_LEAP_YEAR, _named(name), Unit.MONTH_OF_YEAR)


def _loose_month(match: "re.Match[str]", _: date) -> tuple[Unit, date, date] | None:
    """Return a month that stands by itself; "April" with a capital may be a person."""
    name = match[1]
    if name.lower() in _ALSO_NAMES and name[0].isupper():
        return None
    return _month(_LEAP_YEAR, _named(name), Unit.MONTH_OF_YEAR)


def _relative(match: "re.Match[str]", today: date) -> tuple[Unit, date, date] | None:
    back = {"last": 1, "this": 0, "next": -1}[match[1].lower()]
    return _back(match[2].lower(), back, today)


def _relative_phrase(match: "re.Match[str]", today: date) -> tuple[Unit, date, date] | None:
    return _back(*RELATIVE[" ".join(match[1].lower().split())], today)


def _back(unit: str, back: int, today: date) -> tuple[Unit, date, date] | None:
    """Return the week, month, year or season so many ago."""
    if unit == "week":
        return _days(Unit.WEEK, today - timedelta(days=today.weekday() + 7 * back), 7)
    if unit == "weekend":
        saturday = today - timedelta(days=(today.weekday() - 5) % 7 + 7 * max(0, back - 1))
        return _days(Unit.DAY, saturday - timedelta(days=7 * (back < 0) * -1), 2)
    if unit == "month":
        months = today.year * 12 + today.month - 1 - back
        return _month(months // 12, months % 12 + 1)
    if unit == "year":
        return _year(today.year - back)
    return _season(today.year - back, unit)


def _ago(match: "re.Match[str]", today: date) -> tuple[Unit, date, date] | None:
    text = match[1].lower()
    return _counted_back(int(text) if text.isdecimal() else NUMBERS[text], match[2].lower(), today)


def _ago_elsewhere(match: "re.Match[str]", today: date) -> tuple[Unit, date, date] | None:
    text = match[1].lower()
    count = int(text) if text.isdecimal() else NUMBERS_ELSEWHERE[text]
    return _counted_back(count, STRETCHES[match[2].lower()], today)


def _counted_back(count: int, unit: str, today: date) -> tuple[Unit, date, date] | None:
    """Return the day, week, month or year so many ago."""
    try:
        if unit == "day":
            return _days(Unit.DAY, today - timedelta(days=count))
        if unit == "week":
            return _days(Unit.WEEK, today - timedelta(days=today.weekday() + 7 * count), 7)
        if unit == "month":
            months = today.year * 12 + today.month - 1 - count
            return _month(months // 12, months % 12 + 1)
        return _year(today.year - count)
    except (ValueError, OverflowError):
        return None


def _weekday(match: "re.Match[str]", today: date) -> tuple[Unit, date, date] | None:
    back = (today.weekday() - WEEKDAYS[match[1].lower()] - 1) % 7 + 1
    return _days(Unit.DAY, today - timedelta(days=back))


def _on_weekday(match: "re.Match[str]", today: date) -> tuple[Unit, date, date] | None:
    """Return the last day of the week of that name, which a text may name as well."""
    return _weekday(match, today)


def _coming_weekday(match: "re.Match[str]", today: date) -> tuple[Unit, date, date] | None:
    ahead = (WEEKDAYS[match[1].lower()] - today.weekday() - 1) % 7 + 1
    return _days(Unit.DAY, today + timedelta(days=ahead))


_RULES: tuple[tuple[str, _Find], ...] = (
    (
        rf"{_ALONE}(\d{{4}})[-/](\d{{1,2}})[-/](\d{{1,2}}){_ENDS}",
        lambda m, _: _day(m[1], int(m[2]), m[3]),
    ),
    (
        rf"\b(\d{{1,2}}){_TH}{_OF}\s+({_MONTH})\.?,?{_OF}\s+(\d{{4}})\b",
        lambda m, _: _day(m[3], _named(m[2]), m[1]),
    ),
    (
        rf"\b({_MONTH})\.?\s+(\d{{1,2}}){_TH},?\s+(\d{{4}})\b",
        lambda m, _: _day(m[3], _named(m[1]), m[2]),
    ),
    (r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b", lambda m, _: _day(m[3], int(m[2]), m[1])),
    (rf"{_ALONE}(?<!/)(\d{{1,2}})/(\d{{1,2}})/(\d{{4}}){_ENDS}", lambda m, _: _slashed(m)),
    (
        r"\b(?:am|vom|bis|zum|den|ab|seit)\s+(\d{1,2})\.(\d{1,2})\.(?!\d)",
        lambda m, _: _any_year(int(m[2]), m[1]),
    ),
    (
        rf"\ble\s+(\d{{1,2}})/(\d{{1,2}})(?!/){_ENDS}",
        lambda m, _: _any_year(int(m[2]), m[1]),
    ),
    (
        rf"\b({_MONTH})\.?,?\s+(?:(?:of|de|del|di)\s+)?(\d{{4}})\b",
        lambda m, _: _month(int(m[2]), _named(m[1])),
    ),
    (
        rf"{_ALONE}(\d{{4}})-(0[1-9]|1[0-2]){_ENDS}",
        lambda m, _: _month(int(m[1]), int(m[2])),
    ),
    (rf"\b({_SEASON})\s+(?:of\s+)?(\d{{4}})\b", lambda m, _: _season(int(m[2]), m[1])),
    (
        rf"\b(\d{{1,2}}){_TH}{_OF}\s+({_MONTH})\b(?!\s*,?\s*\d{{4}})",
        lambda m, _: _any_year(_named(m[2]), m[1]),
    ),
    (
        rf"\b({_MONTH})\s+(\d{{1,2}}){_TH}\b(?!\s*,?\s*\d{{4}})",
        lambda m, _: _any_year(_named(m[1]), m[2]),
    ),
    (
        rf"\b(?:in|last|this|during|since|of|early|late|mid|im|seit|en|em|desde|depuis"
        rf"|nel|sinds|w|we)\s+({_BARE_MONTH})\b",
        _bare_month,
    ),
    (r"\b(?:in|during|since|of|en|seit)\s+((?:19|20)\d\d)\b", lambda m, _: _year(int(m[1]))),
    (rf"\b(last|this|next)\s+(week|weekend|month|year|{_SEASON})\b", _relative),
    (
        r"\b(" + "|".join(DAYS_AGO) + r")\b",
        lambda m, today: _days(Unit.DAY, today - timedelta(days=DAYS_AGO[m[1].lower()])),
    ),
    (rf"\b{_COUNT}\s+(day|week|month|year)s?\s+ago\b", _ago),
    (rf"\b(?:vor|il\s+y\s+a|hace|há)\s+{_COUNT_ELSEWHERE}\b", _ago_elsewhere),
    (rf"\b{_COUNT_ELSEWHERE}\s+(?:fa|geleden)\b", _ago_elsewhere),
    (rf"\b(?:{_LAST})\s+({_WEEKDAY})\b", _weekday),
    (rf"\b({_WEEKDAY})\s+(?:{_PAST})\b", _weekday),
    (rf"\b(?:{_COMING})\s+({_WEEKDAY})\b", _coming_weekday),
    (rf"\b({_WEEKDAY})\s+(?:{_TO_COME})\b", _coming_weekday),
    (rf"\b(?:on|am|op|el|em|na|w|we)\s+({_WEEKDAY})\b", _on_weekday),
    (r"\b(" + "|".join(RELATIVE).replace(" ", r"\s+") + r")(?!\w)", _relative_phrase),
    (rf"{_ALONE}({_LOOSE_MONTH}){_ENDS}", _loose_month),
)
_CUES = "last this next ago vor il hace há fa geleden"
_HINTS = frozenset(
    word
    for text in (_CUES, *MONTHS, *WEEKDAYS, *DAYS_AGO, *RELATIVE)
    for word in re.findall(r"\w+", text)
)
"""Words of which every time expression without a number holds one; most questions hold none."""
_LOOSE = (_loose_month, _on_weekday)
_COUNTED = (_ago, _ago_elsewhere)
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), find) for pattern, find in _RULES)


def moments(text: str, today: date) -> list[Moment]:
    """Return the time expressions of a question, the most exact ones first."""
    expressions: list[Moment] = []
    text = with_usual_letters(text)
    if not _has_hint(text):
        return expressions
    for pattern, find in _COMPILED:
        for place in pattern.finditer(text):
            start, end = place.span()
            if any(start < moment.span[1] and moment.span[0] < end for moment in expressions):
                continue
            named = find(place, today)
            if named is not None:
                place_of = (start, end)
                loose, counted = find in _LOOSE, find in _COUNTED
                expressions.append(Moment(*named, place_of, loose, counted))
    return expressions


def _has_hint(text: str) -> bool:
    words = re.findall(r"\w+", text.lower())
    return not _HINTS.isdisjoint(words) or any(map(str.isdecimal, text))


def day_named(text: str, today: date) -> tuple[date, date] | None:
    """Return the days that the value of ``on:``, ``before:`` or ``after:`` names."""
    for moment in moments(text, today) or moments(f"in {text}", today):
        if not moment.recurs:
            return moment.start, moment.end
        return _latest(moment, today)
    return None


def _latest(moment: Moment, today: date) -> tuple[date, date]:
    """Return the last time that something came round, today included."""
    days = list(in_years(moment, today.year - 8, today.year))
    begun = [stretch for stretch in days if stretch[0] <= today]
    return begun[-1]


def in_years(moment: Moment, first: int, last: int) -> Iterator[tuple[date, date]]:
    """Yield the days of a moment that comes round each year, for some years."""
    length = moment.end - moment.start
    for year in range(max(1, first), min(9998, last) + 1):
        try:
            start = moment.start.replace(year=year)
        except ValueError:
            continue
        if moment.unit is Unit.MONTH_OF_YEAR:
            yield start, date(year + start.month // 12, start.month % 12 + 1, 1)
        else:
            yield start, start + length
