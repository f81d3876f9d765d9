"""Word parts: how a word or number that stands nowhere may be written apart.

"postbox" may stand as "post box", "TP1234" as "TP 1234", a phone number in groups of digits. A date
is such a word too: a day and a month, which may stand as "31 July", "July 31st" or "31.07.".
"""

import re
from calendar import month_name
from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product

from pdpp.evidence.analyse import indexed_text
from pdpp.evidence.language.calendar_words import MONTHS
from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.stop_words import STOP_WORDS
from pdpp.evidence.language.terms import distinct

_LEAST_LETTERS = 3
_SHORT = 4
"""Letters of a word whose halves may have two, as "wifi"."""
_LONGEST = 40
_COMPOUNDING = ("da", "de", "en", "fi", "nb", "nl", "sv")
"""Languages that write several words as one."""
_THOUSANDS = 3
_LONG_NUMBER = 7
"""From how many digits on a number is one of a phone or an account, which people write in groups.
What is shorter may have a mark at its thousands."""
_GROUPS = (3, 4, 2)
_WITH_COUNTRY = range(10, 16)
"""Digits of a number of a phone with the code of its country, or with the zero instead of it."""
_COUNTRY_DIGITS = (2, 3, 1)
"""Digits of the code of a country, as most have it first."""
_LEAST_OF_CODE = 2
_DAY_DIGITS = 2
_ORDINAL_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_ENGLISH_MONTHS = tuple(name.lower() for name in month_name[1:])
_DATED = ("da", "de", "en", "es", "fr", "it", "nb", "nl", "pl", "pt", "sv", "tr")
"""Languages whose months are known."""
_KIND_CHANGES = re.compile(r"(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)")


def ways_apart(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the parts that a folded word may be written in, the likeliest way first."""
    if len(text) > _LONGEST or not text.isalnum():
        return
    if text.isalpha():
        yield from _halves(text)
    elif not text.isdecimal():
        places = [place.start() for place in _KIND_CHANGES.finditer(text)]
        yield from ((text[:at], text[at:]) for at in sorted({*places[:1], *places[-1:]}))
        yield from _grouped(text) if len(text) >= 2 * _LONG_NUMBER else ()
        yield from _in_three(text, places[0]) if len(places) == 1 else ()
    elif len(text) >= _LONG_NUMBER:
        yield from _grouped(text)
        yield from _without_country(text) if len(text) in _WITH_COUNTRY else ()
    elif len(text) > _THOUSANDS:
        yield text[:-_THOUSANDS], text[-_THOUSANDS:]


def part_terms(part: str) -> tuple[str, ...]:
    """Return the terms that a part of a word may stand as."""
    if part in MONTHS:
        return _month_terms(MONTHS[part])
    if part.isdecimal() and part.isascii() and len(part) <= _DAY_DIGITS:
        return tuple(distinct([part, f"{int(part):02}", ordinal(int(part))]))
    return tuple(distinct([part, *(stems_of(language)[part] for language in _COMPOUNDING)]))


def date_apart(day: int, month: int) -> str:
    """Return a date as the parts that a text holds of it."""
    return f"{day} {_ENGLISH_MONTHS[month - 1]}"


def ordinal(number: int) -> str:
    """Return a number as English counts with it: 3 as "3rd"."""
    ending = "th" if number // 10 % 10 == 1 else _ORDINAL_ENDINGS.get(number % 10, "th")
    return f"{number}{ending}"


@cache
def _month_terms(month: int) -> tuple[str, ...]:
    """Return the terms of a month in every language that it is known in, and of its number."""
    names = [indexed_text(name) for name, number in MONTHS.items() if number == month]
    stems = (stems_of(language)[name] for name in names for language in _DATED)
    return tuple(distinct([f"{month:02}", *names, *stems]))


def _halves(word: str) -> Iterator[tuple[str, str]]:
    """Yield a word in two parts that each tell something, those of like length first."""
    least = 2 if len(word) == _SHORT else _LEAST_LETTERS
    cuts = range(least, len(word) - least + 1)
    for at in sorted(cuts, key=lambda at: (abs(len(word) - 2 * at), at)):
        if word[:at] not in STOP_WORDS and word[at:] not in STOP_WORDS:
            yield word[:at], word[at:]


def _in_three(code: str, change: int) -> Iterator[tuple[str, ...]]:
    """Yield a code of letters and digits with another cut in either: "HV2298771" as "HV 2298 771".

    A part of one letter or digit would stand in many texts.
    """
    head, tail = code[:change], code[change:]
    for at in range(_LEAST_OF_CODE, len(tail) - _LEAST_OF_CODE + 1):
        yield head, tail[:at], tail[at:]
    for at in range(_LEAST_OF_CODE, len(head) - _LEAST_OF_CODE + 1):
        yield head[:at], head[at:], tail


def _without_country(number: str) -> Iterator[tuple[str, ...]]:
    """Yield a number of a phone as people write it at home: "351912345678" as "912 345 678".

    There a number may begin with a zero, which stands for the code of the country.
    """
    if number.startswith("0"):
        numbers = [number[1:]]
    else:
        numbers = [f"{zero}{number[code:]}" for code in _COUNTRY_DIGITS for zero in ("", "0")]
    yield from ((home,) for home in numbers)
    yield from _grouped(*numbers)


def _grouped(*numbers: str) -> Iterator[tuple[str, ...]]:
    """Yield long numbers in groups of like length, but for the last or the first one."""
    for size, number in product(_GROUPS, numbers):
        rest = len(number) % size
        for first in (size, rest) if rest else (size,):
            cuts = [0, *range(first, len(number), size), len(number)]
            yield tuple(number[start:end] for start, end in pairwise(cuts))
