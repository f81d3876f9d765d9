"""Times of a Takeout as words: a day in the account's language, a clock, and the zone as a word."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import lru_cache

_CLOCK = re.compile(
    r"(?<!\d)(\d{1,2})[:.](\d{2})[:.](\d{2})(?!\d)(?:[\s\u202f\u00a0]*([AaPp])\.?[\s\u00a0]?[Mm]\.?(?![a-zA-Z]))?"
)
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_DAY_FIRST = re.compile(r"\b(\d{1,2})[./-]\s?(\d{1,2})[./-]\s?((?:19|20)\d{2})\b")
_YEAR_FIRST = re.compile(r"\b((?:19|20)\d{2})[./-]\s?(\d{1,2})[./-]\s?(\d{1,2})\b")
_VIETNAMESE = re.compile(r"\b(\d{1,2}) (?:thg|tháng) (\d{1,2}),? ((?:19|20)\d{2})\b")
_DIRECTION = re.compile("[\u200e\u200f\u061c]")
"""Marks for the direction of writing, which stand among Arabic digits."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_MONTHS = {
    beginning: number
    for number, beginnings in enumerate(
        (
            "jan gen ene sty led oca янв tammi січ ιαν ian jaan ינו",
            "feb fév fev feb lut úno şub фев helmi лют φεβ veebr פבר",
            "mar mär mrt maa már bře мар бер μαρ μάρ מרץ",
            "apr avr abr ápr kwi dub nis апр huhti кві απρ אפר",
            "may mai mei mag maj máj kvě май мая touko тра μαΐ μάι מאי",
            "jun juin giu jún cze červn červen haz июн kesä чер ιουν iun juuni יוני",
            "jul juil lug júl lip červenc tem июл heinä лип ιουλ iul juuli יולי",
            "aug aoû ago sie srp ağu авг elo сер αυγ agu אוג",
            "sep set szep wrz zář eyl сен syys вер σεπ ספט",
            "oct okt ott out paź říj eki окт loka жов οκτ אוק",
            "nov lis kas ноя marras лис νοε noi נוב",
            "dec dez déc dic gru pro ara дек joulu гру δεκ des dets דצמ",
        ),
        start=1,
    )
    for beginning in beginnings.split()
}
"""How the names of months begin in the languages that Takeout writes most."""
_LONGEST_BEGINNING = max(map(len, _MONTHS))
_EASTERN = re.compile(r"((?:19|20)\d{2})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]")
_HALF = re.compile(r"[午上下오][前後午전후]|[πμ]\.μ\.|(?<=\d )[صم](?!\w)")
_AFTERNOON = frozenset({"午後", "下午", "오후", "μ.μ.", "م"})
"""What stands beside a clock of twelve hours, where that is neither AM nor PM."""
_DAY = re.compile(r"\b\d{1,2}\b(?![:.]\d)")
_HOURS = {
    **dict.fromkeys(("UTC", "GMT", "WET", "Z"), 0),
    **dict.fromkeys(("BST", "WEST", "CET", "MEZ", "SEČ", "IST"), 1),
    **dict.fromkeys(("CEST", "MESZ", "SELČ", "EET"), 2),
    **dict.fromkeys(("EEST", "MSK"), 3),
    **dict.fromkeys(("EST", "CDT"), -5),
    **dict.fromkeys(("CST", "MDT"), -6),
    **dict.fromkeys(("MST", "PDT"), -7),
    **dict.fromkeys(("JST", "KST"), 9),
    **dict.fromkeys(("SGT", "HKT", "AWST"), 8),
    **dict.fromkeys(("WIB", "ICT"), 7),
    "PKT": 5,
    "AEST": 10,
    "AEDT": 11,
    "NZST": 12,
    "NZDT": 13,
    "BRT": -3,
    "EDT": -4,
    "PST": -8,
}
_AMBIGUOUS = frozenset({"IST", "BST", "CST"})
"""Words that mean several zones: a time with one of them floats."""
_OFFSET = re.compile(r"(?:UTC|GMT)([+-]\d{1,2})(?::?(\d{2}))?")

_LONGEST = 200
"""Characters of a time in words, with room to spare."""


def read_time(text: str) -> tuple[str | None, bool]:
    """Return a time as it stands there, and whether it floats because of its zone's word."""
    text = _DIRECTION.sub("", text)
    clock = _CLOCK.search(text)
    if clock is None:
        return None, False
    # A text that is no time may be as long as a file, and is not worth remembering.
    read = _day_and_zone if len(text) <= _LONGEST else _day_and_zone.__wrapped__
    day, zone = read(text[: clock.start()], text[clock.end() :])
    if day is None:
        return None, False
    hour = int(clock[1])
    if clock[4]:
        hour = hour % 12 + (12 if clock[4] in "Pp" else 0)
    elif half := _HALF.search(text):
        hour = hour % 12 + (12 if half[0] in _AFTERNOON else 0)
    try:
        moment = datetime.combine(day, time(hour, int(clock[2]), int(clock[3])))
    except ValueError:
        return None, False
    if zone is None:
        return moment.isoformat(), True
    return moment.replace(tzinfo=zone).astimezone(UTC).isoformat().replace("+00:00", "Z"), False


# A chat has many messages of one day, and of a day everything but the clock is the same.
@lru_cache(maxsize=256)
def _day_and_zone(before: str, after: str) -> tuple[date | None, timezone | None]:
    """Return the day and the zone that the words before and behind a clock tell."""
    around = f"{before} {after}"
    if match := _EASTERN.search(around) or _YEAR_FIRST.search(around):
        year, month, day = (int(part) for part in match.groups())
    elif match := _DAY_FIRST.search(around) or _VIETNAMESE.search(around):
        day, month, year = (int(part) for part in match.groups())
    else:
        found = _YEAR.search(around)
        # The last one: in "martes, 3 de noviembre" the day of the week begins as a month does.
        months = [named for word in _WORD.findall(before) if (named := _month(word))]
        days = _DAY.findall(before)
        if found is None or not months or not days:
            return None, None
        year, month, day = int(found[0]), months[-1], int(days[0])
    try:
        return date(year, month, day), _zone(after)
    except ValueError:
        return None, None


def _month(word: str) -> int | None:
    """Return the month whose name a word is; of two beginnings the longer one counts."""
    # In Hebrew the word "in" stands before a month, as one of its letters.
    plain = word.lower().removeprefix("ב")
    for length in range(_LONGEST_BEGINNING, 2, -1):
        number = _MONTHS.get(plain[:length])
        if number is not None:
            return number
    return None


def _zone(text: str) -> timezone | None:
    if match := _OFFSET.search(text):
        minutes = int(match[1]) * 60 + (int(match[2] or 0) * (-1 if match[1][0] == "-" else 1))
        return timezone(timedelta(minutes=minutes)) if abs(minutes) < 24 * 60 else None
    words = [word for word in re.findall(r"\b[A-ZČ]{1,5}\b", text) if word in _HOURS]
    if not words or words[-1] in _AMBIGUOUS:
        return None
    return timezone(timedelta(hours=_HOURS[words[-1]]))
