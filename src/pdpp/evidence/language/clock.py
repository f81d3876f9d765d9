"""Times of day: "7pm", "7 p.m." and "19:00" are one time, written in different words."""

import re
from collections.abc import Iterator

from pdpp.evidence.analyse import indexed_text
from pdpp.evidence.language.spellings import is_english
from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.terms import distinct

_NOON = 12
_MOST = 16
"""How many times of day of a question are looked for as others write them: each takes a look at
all records that hold its numbers."""
_MOST_SAID = 2
"""How many are looked for in words: each is several, which stand in many texts."""
_HALF_DAY = re.compile(
    r"(?<![\w.,:])(?P<hour>0?[1-9]|1[0-2])(?:[:.h](?P<minutes>[0-5]\d))?\s?(?P<half>[ap])\.?\s?m\b\.?",
    re.IGNORECASE,
)
_WHOLE_DAY = re.compile(
    r"(?<![\w.,:/-])(?P<hour>[01]?\d|2[0-3])[:h](?P<minutes>[0-5]\d)(?![\w:]|[.,/-]\d)",
    re.IGNORECASE,
)
_SAID = {
    "15": (("en", "quarter past", 0), ("de", "viertel nach", 0)),
    "30": (("en", "half past", 0), ("de", "halb", 1)),
    "45": (("en", "quarter to", 1), ("de", "viertel vor", 1), ("de", "dreiviertel", 1)),
}
"""How people say minutes before an hour, and how many hours that one is later."""
_HOURS = {
    language: indexed_text(names).split()
    for language, names in (
        ("en", "twelve one two three four five six seven eight nine ten eleven"),
        ("de", "zwölf eins zwei drei vier fünf sechs sieben acht neun zehn elf"),
    )
}
_NAMED = {
    0: {"en": "midnight", "de": "mitternacht", "fr": "minuit", "es": "medianoche"},
    _NOON: {"en": "noon midday", "de": "mittag", "fr": "midi", "es": "mediodia"},
}
"""The hours that have a name, by language."""


def with_plain_clocks(text: str) -> str:
    """Return a text whose times of day are in words that texts hold: "7pm" as "7 pm"."""
    if not any(map(str.isdecimal, text)):
        return text
    return _WHOLE_DAY.sub(r"\g<hour>:\g<minutes>", _HALF_DAY.sub(_with_half, text))


def _with_half(clock: "re.Match[str]") -> str:
    minutes = f":{clock['minutes']}" if clock["minutes"] else ""
    return f"{clock['hour']}{minutes} {clock['half'].lower()}m"


def clock_terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of times of day in such a text, each with a term that may stand for it."""
    if not any(map(str.isdecimal, text)):
        return
    halves = list(_HALF_DAY.finditer(text))
    starts = {clock.start() for clock in halves}
    of_day = [clock for clock in _WHOLE_DAY.finditer(text) if clock.start() not in starts]
    for clock in halves[:_MOST]:
        yield from _of_half(clock["hour"], clock["minutes"] or "", f"{clock['half'].lower()}m")
    for clock in of_day[:_MOST]:
        yield from _of_day(clock["hour"], clock["minutes"])
    for clock in [*halves, *of_day][:_MOST_SAID]:
        yield from _in_words(clock)


def _in_words(clock: "re.Match[str]") -> Iterator[tuple[str, str]]:
    """Yield the words of a time of day, each with the ways in which people say it."""
    parts = clock.groupdict()
    hour, minutes = parts["hour"], parts["minutes"] or ""
    half = f"{parts['half'].lower()}m" if "half" in parts else ""
    said = list(_said(_hour_of_day(hour, half), minutes or "00"))
    for word in filter(None, (hour, minutes, half)):
        yield from ((word, term) for term in said)


def _hour_of_day(hour: str, half: str) -> int:
    """Return an hour by 24 hours, which it is already without a half of the day."""
    return int(hour) % _NOON + (_NOON if half == "pm" else 0) if half else int(hour)


def _of_half(hour: str, minutes: str, half: str) -> Iterator[tuple[str, str]]:
    """Yield the terms of a time in one half of the day: "16" for "4" and for "pm"."""
    of_day = _hour_of_day(hour, half)
    yield hour, str(of_day)
    yield half, f"{of_day} {minutes or '00'}"
    last = minutes or hour
    yield last, f"{last}{half}"
    yield half, f"{last}{half}"
    for word in filter(None, (hour, minutes, half)):
        yield from ((word, written) for written in _written_with_h(of_day, minutes or "00"))


def _of_day(hour: str, minutes: str) -> Iterator[tuple[str, str]]:
    """Yield the terms of a time by 24 hours, as it is written by twelve."""
    half = "pm" if int(hour) >= _NOON else "am"
    of_half = str(int(hour) % _NOON or _NOON)
    yield hour, of_half
    yield hour, f"{of_half}{half}"
    yield minutes, f"{minutes}{half}"
    for word in (hour, minutes):
        yield from ((word, written) for written in _written_with_h(int(hour), minutes))
    if not int(minutes):
        yield minutes, half
        yield minutes, f"{of_half}{half}"


def _said(hour: int, minutes: str) -> Iterator[str]:
    """Yield a time in words: "half past eight", "halb neun", "noon"."""
    for language, said, later in _SAID.get(minutes, ()):
        named = (hour + later) % _NOON
        yield f"{said} {_HOURS[language][named]}"
        yield f"{said} {named or _NOON}"
    if minutes == "00":
        for language, names in _NAMED.get(hour, {}).items():
            for name in names.split():
                # French makes "mid" of "midi", which is a word of English.
                stem = stems_of(language)[name]
                yield name if is_english(stem) else stem


def _written_with_h(hour: int, minutes: str) -> list[str]:
    """Return a time as French and Portuguese write it, which is one word: "9h30" or "09h30"."""
    return distinct(f"{written}h{minutes}" for written in (hour, f"{hour:02}"))
