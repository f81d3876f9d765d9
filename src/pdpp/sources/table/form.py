"""Forms: the ways in which people's tables write times and numbers, and how each is read."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from functools import cache
from types import MappingProxyType
from typing import Any

from pdpp.model.declaration import Kind
from pdpp.sources.reading.times import local_text, moment_text

ZONED = "rfc3339"
POINT, COMMA = ".", ","

_DATES = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y"),
    *("%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%Y.%m.%d", "%Y.%m.%d.", "%d.%m.%Y."),
    *("%d %b %Y", "%d-%b-%Y", "%d %b %y", "%d-%b-%y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
)
_CLOCKS = ("%H:%M:%S", "%H:%M:%S.%f", "%H:%M", "%I:%M %p", "%I:%M:%S %p")
TIME_FORMS: Mapping[str, Kind] = MappingProxyType(
    {
        ZONED: Kind.DATE_TIME,
        **dict.fromkeys(_DATES, Kind.DATE),
        **{
            f"{date}{between}{clock}": Kind.DATE_TIME
            for date in _DATES
            for between in (" ", "T", ", ")
            for clock in _CLOCKS
        },
        "%Y-%m-%d %H:%M:%S %z": Kind.DATE_TIME,
    }
)
_OF_ANY_SIGNS = frozenset({ZONED, *(form for form in TIME_FORMS if "%z" in form)})
COMPACT = "%Y%m%d"
"""A day in eight digits, which could be any number: only a column of days is read as such."""
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_TIME_LIKE = re.compile(
    r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}"
    rf"|\d{{1,2}}[- ]{_MONTH}[- ]\d{{2,4}}|{_MONTH} \d{{1,2}}, \d{{4}}",
    re.IGNORECASE,
)
_COMPACT = re.compile(r"(?:19|20)\d{6}\Z", re.ASCII)
_DIRECTIVES: Mapping[str, str] = MappingProxyType({"b": "a", "B": "a", "p": "a"})
"""The parts of a form that are written with letters; the others are numbers."""
_DIRECTIVE = re.compile("%([a-zA-Z])")
_LETTERS, _DIGITS = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")
_WHOLE = re.compile(r"[+-]?(?:0|[1-9]\d{0,17})\Z", re.ASCII)
_NUMBERS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        POINT: re.compile(
            r"[+-]?(?:0|[1-9]\d{0,14}|[1-9]\d{0,2}(?:[, '\u00a0\u202f]\d{3})+"
            # In India, lakhs: 12,34,567.
            r"|[1-9]\d?(?:,\d{2})+,\d{3})(?:\.\d{1,12})?\Z"
        ),
        COMMA: re.compile(
            r"[+-]?(?:0|[1-9]\d{0,14}|[1-9]\d{0,2}(?:[. '\u00a0\u202f]\d{3})+)(?:,\d{1,12})?\Z"
        ),
    }
)
_SEPARATORS = re.compile(r"[ '\u00a0\u202f]")
_WORDS: Mapping[str, bool] = MappingProxyType(
    {"true": True, "false": False, "yes": True, "no": False, "ja": True, "nein": False}
)


def is_time_like(text: str) -> bool:
    """Tell whether a text begins as dates do."""
    return _TIME_LIKE.match(text) is not None


def is_compact_day(text: str) -> bool:
    """Tell whether a text could be a day in eight digits."""
    return _COMPACT.match(text) is not None


def possible_forms(text: str) -> frozenset[str]:
    """Return the forms that have the same signs between numbers and words as a text.

    A time is in none of the others. To try all of them for a column takes half a second.
    """
    return _forms_by_signs().get(_signs(text), frozenset()) | _OF_ANY_SIGNS


@cache
def _forms_by_signs() -> Mapping[str, frozenset[str]]:
    forms: dict[str, set[str]] = {}
    for form in TIME_FORMS:
        written = _DIRECTIVE.sub(lambda found: _DIRECTIVES.get(found[1], "9"), form)
        forms.setdefault(_signs(written), set()).add(form)
    return {signs: frozenset(alike) for signs, alike in forms.items()}


def _signs(text: str) -> str:
    """Return a text with 9 for each number and a for each word, without spaces.

    A space may stand before a day of one digit.
    """
    return _LETTERS.sub("a", _DIGITS.sub("9", "".join(text.split())))


def read_time(text: str, form: str, zone: tzinfo | None) -> str | None:
    """Return a time that is written in a form as the text of a record, or None."""
    if form == ZONED:
        return moment_text(text.strip())
    try:
        moment = datetime.strptime(text.strip(), form)  # noqa: DTZ007 - the zone comes after
    except ValueError:
        return None
    if form == COMPACT or TIME_FORMS[form] is Kind.DATE:
        return moment.date().isoformat()
    return local_text(moment, zone)[0]


def read_whole(text: str) -> int | None:
    """Return a whole number; one with zeros before it is a code and stays text."""
    return int(text) if _WHOLE.match(text.strip()) else None


def read_number(text: str, form: str) -> float | None:
    """Return a number that is written with a decimal point or comma, or None."""
    bare = text.strip()
    if not _NUMBERS[form].match(bare):
        return None
    bare = _SEPARATORS.sub("", bare)
    return float(
        bare.replace(",", "") if form == POINT else bare.replace(".", "").replace(",", ".")
    )


def read_word(text: str) -> bool | None:
    """Return a yes or no."""
    return _WORDS.get(text.strip().lower())


def reader(kind: str, form: str, zone: tzinfo | None) -> Callable[[Any], Any]:
    """Return what makes the value of a record of a raw value; None where it does not fit."""
    if kind in (Kind.DATE, Kind.DATE_TIME):
        return lambda raw: read_time(raw, form, zone) if isinstance(raw, str) else None
    if kind == Kind.INTEGER:
        return lambda raw: read_whole(raw) if isinstance(raw, str) else _only(raw, int)
    if kind == Kind.NUMBER:
        return lambda raw: (
            read_number(raw, form or POINT) if isinstance(raw, str) else _only(raw, int, float)
        )
    if kind == Kind.BOOLEAN:
        return lambda raw: read_word(raw) if isinstance(raw, str) else _only(raw, bool)
    if kind == Kind.TEXT:
        return lambda raw: raw if isinstance(raw, str) else _spelled(raw)
    return lambda raw: raw


def _only(raw: Any, *types: type) -> Any:
    fits = isinstance(raw, types) and (bool in types or not isinstance(raw, bool))
    return raw if fits else None


def _spelled(raw: Any) -> str | None:
    return str(raw) if isinstance(raw, int | float) and not isinstance(raw, bool) else None
