"""Chat lines: how WhatsApp begins a message, and in which order the numbers of a date stand."""

import re
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from pdpp.sources.formats.whatsapp import persian

# Marks of writing direction, which phones put before and inside a line, and the byte order mark.
MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_BARE = str.maketrans(
    {
        **dict.fromkeys(MARKS, None),
        **{chr(0x660 + digit): str(digit) for digit in range(10)},
        **{chr(0x6F0 + digit): str(digit) for digit in range(10)},
        **{chr(0x966 + digit): str(digit) for digit in range(10)},
        "\u00a0": " ",
        "\u202f": " ",
        "\u060c": ",",
    }
)
"""Headers as if every phone wrote them in plain digits and spaces."""

_BEFORE_NOON = (
    *("a.m.", "a. m.", "am", "上午", "오전", "午前", "ص"),
    *("π.μ.", "ق.ظ.", "sa", "pg", "de.", "vm.", "ap.", "öö", "לפנה״צ", "e paradites"),
    *("凌晨", "清晨", "早上", "पूर्वाह्न", "முற்பகல்", "ಪೂರ್ವಾಹ್ನ", "ਪੂ.ਦੁ.", "පෙ.ව."),
)
_AFTER_NOON = (
    *("p.m.", "p. m.", "pm", "下午", "오후", "午後", "م"),
    *("μ.μ.", "ب.ظ.", "ch", "ptg", "du.", "nm.", "ip.", "ös", "אחה״צ", "e pasdites"),
    *("中午", "晚上", "अपराह्न", "பிற்பகல்", "ಅಪರಾಹ್ನ", "ਬਾ.ਦੁ.", "ප.ව."),
)
_NOONS = "|".join(re.escape(word) for word in (*_BEFORE_NOON, *_AFTER_NOON))
_DATE = (
    r"(?P<first>\d{1,4})(?P<separator>[./-])\s?(?P<second>\d{1,2})(?P=separator)\s?"
    r"(?P<era>[A-Z])?(?P<third>\d{1,4})\.?(?:\s?BE|\sг\.)?"
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan januar january janv janvier ene enero gen gennaio janeiro januari",
            "feb februar february févr février febrero febbraio fev fevereiro februari",
            "mar märz mär march mars marzo março mrt maart",
            "apr april avr avril abr abril aprile",
            "may mai mayo mag maggio maio mei",
            "jun juni june juin junio giu giugno junho",
            "jul juli july juil juillet julio lug luglio julho",
            "aug august août ago agosto augustus",
            "sep sept september septembre septiembre set settembre setembro",
            "oct okt oktober october octobre octubre ott ottobre out outubro",
            "nov november novembre noviembre novembro",
            "dec dez dezember december déc décembre dic diciembre dicembre dezembro",
        ),
        1,
    )
    for name in names.split()
}
_MONTH = r"(?P<name>[^\W\d_]{3,10})\.?"
_NAMED_YEAR = r"(?:,?\s(?:de\s)?(?P<named_year>\d{4}))?"
_CHINESE = r"(?P<year>\d{4})[年년]\s?(?P<month>\d{1,2})[月월]\s?(?P<day>\d{1,2})[日일]"
_TIME = (
    rf"(?:(?P<early>{_NOONS})\s?)?(?P<hour>\d{{1,2}})(?:[:.]|\sh\s)(?P<minute>\d{{2}})"
    rf"(?:(?:[:.]|\smin\s)(?P<second_>\d{{2}})(?:\ss)?)?(?:\s?(?P<late>{_NOONS}))?(?:\sч\.?|\.)?"
)
_HEADERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_DATE},?\s(?:(?!{_NOONS})\w{{1,4}}\.?\s)?{_TIME}\Z",
        rf"{_TIME},?\s{_DATE}\Z",
        rf"{_CHINESE},?\s?{_TIME}\Z",
        rf"{_MONTH}\s(?P<day>\d{{1,2}}){_NAMED_YEAR},?\s{_TIME}\Z",
        rf"(?P<day>\d{{1,2}})\.?\s(?:de\s)?{_MONTH}{_NAMED_YEAR},?\s"
        rf"(?:(?!{_NOONS})\w{{1,4}}\.?\s)?{_TIME}\Z",
    )
)
_LONGEST_HEADER = 60
_LONGEST_NAME = 100
# The year before the first of each Japanese era: Reiwa, Heisei, Showa.
_ERAS = {"R": 2_018, "H": 1_988, "S": 1_925}
# Phones in Thailand count from 543 years earlier: the year of two digits after 2007 is 50 and more.
_BUDDHIST = 543
_BUDDHIST_FROM = 50
# A phone without the time begins with 1970.
_OLDEST_YEAR = 1_900

ORDERS = ("DMY", "MDY", "YMD")


class Stamp(NamedTuple):
    """The numbers of a date and a time as they stand."""

    numbers: tuple[int, int, int]
    separator: str
    hour: int
    minute: int
    second: int
    half: str
    padded: bool = False
    named: bool = False
    """Whether the month stands there as a word: the numbers are then year, which may be 0 for none,
    month and day."""

    @property
    def year(self) -> int:
        """Return the year of a date whose month is a word; 0 where it tells none."""
        return self.numbers[0]

    @property
    def month(self) -> int:
        """Return the month of such a date."""
        return self.numbers[1]

    def moment(self, order: str) -> datetime | None:
        """Return the moment for one order of day, month and year."""
        named = dict(zip("YMD" if self.named else order, self.numbers, strict=True))
        day = _day(_whole_year(named["Y"]), named["M"], named["D"])
        hour = self.hour
        if self.half:
            # Twelve at night is 12 a.m.
            hour = hour % 12 + (12 if self.half in "pP" else 0)
        try:
            return datetime.combine(day, time(hour, self.minute, self.second)) if day else None
        except ValueError:
            return None

    def is_of_another_phone(self, order: str) -> bool:
        """Tell whether only another order than that of the chat makes a day of it."""
        others = (other for other in ORDERS if (other == "YMD") == (self.numbers[0] > 31))
        return self.moment(order) is None and any(map(self.moment, others))


def _whole_year(year: int) -> int:
    """Return a year with its century; nobody wrote messages before 2009."""
    if year >= 100:
        return year
    return year + (2_500 if year >= _BUDDHIST_FROM else 2_000)


def _day(year: int, month: int, day: int) -> date | None:
    """Return the day of a date in the calendar that its year tells; None where there is none."""
    if persian.FIRST_YEAR <= year <= persian.LAST_YEAR:
        return persian.gregorian_day(year, month, day)
    if year < _OLDEST_YEAR:  # Of the Islamic calendar, whose months begin when somebody says so.
        return None
    try:
        return date(year - _BUDDHIST if year > 2_400 else year, month, day)
    except ValueError:
        return None


class ChatLine(NamedTuple):
    """The first line of a message; a note by the program itself has no sender."""

    stamp: Stamp
    sender: str | None
    text: str


def chat_line(line: str) -> ChatLine | None:
    """Return the message that a line begins, or None where it goes on with one."""
    bare = line.lstrip(MARKS)
    if not bare or not (bare[0] == "[" or bare[0].isdigit() or _begins_with_month(bare)):
        return None
    header, rest = _split(bare)
    stamp = _stamp(header) if header else None
    if stamp is None:
        return None
    rest = rest.lstrip(MARKS)
    sender, colon, text = rest.partition(": ")
    if not colon and rest.endswith(":"):
        sender, colon, text = rest[:-1], ":", ""
    if not colon or len(sender) > _LONGEST_NAME:
        return ChatLine(stamp, None, rest)
    return ChatLine(stamp, _name(sender), text)


def _begins_with_month(line: str) -> bool:
    return line[:10].partition(" ")[0].rstrip(".").lower() in _MONTHS


def _split(line: str) -> tuple[str, str]:
    """Split a line into its header and what follows, in each of the three ways to write it."""
    if line[0] == "[":
        header, bracket, rest = line[1 : _LONGEST_HEADER + 20].partition("]")
        return (header, line[len(header) + 2 :].removeprefix(" ")) if bracket else ("", rest)
    header, dash, _ = line[:_LONGEST_HEADER].partition(" - ")
    if dash:
        return header, line[len(header) + 3 :]
    return _split_at_colon(line)


def _split_at_colon(line: str) -> tuple[str, str]:
    """Split a line as iPhones wrote it until 2018, with nothing but a colon behind the time.

    These told seconds. Without them it takes a name to tell a message from a line of a plan.
    """
    header, _, rest = line.partition(": ")
    told = _HEADERS[0].match(header[:_LONGEST_HEADER].translate(_BARE))
    if told is None or not (told["second_"] or 0 < rest.find(":") <= _LONGEST_NAME):
        return "", ""
    return header, rest


def _name(sender: str) -> str:
    """Return who wrote; somebody who is no contact has a tilde before the name."""
    return sender.translate(_BARE).strip().removeprefix("~").strip()


def _stamp(header: str) -> Stamp | None:
    bare = header.translate(_BARE).strip()
    for pattern in _HEADERS:
        if match := pattern.match(bare):
            return _numbers(match.groupdict())
    return None


def _numbers(groups: dict[str, str | None]) -> Stamp | None:
    half = (groups["early"] or groups["late"] or "").lower()
    clock = (int(groups["hour"] or 0), int(groups["minute"] or 0), int(groups["second_"] or 0))
    noon = "" if not half else ("a" if half in _BEFORE_NOON else "p")
    if groups.get("name"):
        month = _MONTHS.get(str(groups["name"]).lower())
        date = (int(groups["named_year"] or 0), month or 0, int(groups["day"] or 0))
        return Stamp(date, " ", *clock, noon, named=True) if month else None
    if "year" in groups:
        date = (int(groups["year"] or 0), int(groups["month"] or 0), int(groups["day"] or 0))
        return Stamp(date, "年", *clock, noon)
    written = [groups["first"] or "", groups["second"] or "", groups["third"] or ""]
    date = (int(written[0]), int(written[1]), int(written[2]))
    if groups["era"]:
        date = (date[0], date[1], date[2] + _ERAS.get(groups["era"].upper(), 0))
    padded = any(len(text) == 2 and text[0] == "0" for text in written[:2])
    return Stamp(date, groups["separator"] or "", *clock, noon, padded)


@dataclass(slots=True)
class OrderGuess:
    """Finds the order of dates from every date of a file: it depends on the phone's language."""

    possible: set[str] = field(default_factory=lambda: set(ORDERS))
    _fits: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ORDERS, 0))
    _backwards: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ORDERS, 0))
    _last: dict[str, datetime] = field(default_factory=dict)
    _first: dict[str, datetime] = field(default_factory=dict)
    _latest: dict[str, datetime] = field(default_factory=dict)
    _separator: str = ""
    _halves: bool = False
    _padded: bool = False

    def see(self, stamp: Stamp) -> None:
        """Take one more date into account; one whose month is a word can be read in one way."""
        if stamp.named:
            self.possible = {"YMD"}
            return
        self._separator, self._halves = stamp.separator, self._halves or bool(stamp.half)
        self._padded = self._padded or stamp.padded
        for order in ORDERS:
            moment = stamp.moment(order)
            # No day or month is larger than 31, and no phone writes the year first with two digits.
            if moment is None or (order == "YMD") != (stamp.numbers[0] > 31):
                self.possible.discard(order)
                continue
            self._fits[order] += 1
            last = self._last.get(order)
            self._backwards[order] += last is not None and moment < last
            self._last[order] = moment
            self._first[order] = min(moment, self._first.get(order, moment))
            self._latest[order] = max(moment, self._latest.get(order, moment))

    def order(self) -> tuple[str, bool]:
        """Return the likeliest order, and whether the dates leave no other.

        Where none fits every date, because somebody pasted a line of another phone into a message,
        the one that fits most counts. Of several it is the one in which time goes backwards least,
        then the one in which the chat took the least time; phones set to American dates never pad
        them with zeros.
        """
        most = max(self._fits.values())
        fitting = self.possible or {order for order in ORDERS if self._fits[order] == most}
        left = [order for order in ORDERS if order in fitting]
        if len(self.possible) == 1:
            return left[0], True
        if self._padded and len(left) > 1 and "MDY" in left:
            left.remove("MDY")
        least = min(self._backwards[order] for order in left)
        best = [order for order in left if self._backwards[order] == least]
        if len(best) == 1:
            return best[0], bool(self.possible)
        spans = {order: self._span(order) for order in best}
        if len(set(spans.values())) > 1:
            return min(best, key=lambda order: spans[order]), False
        american = self._separator == "/" and self._halves
        return ("MDY" if american and "MDY" in best else best[0]), False

    def _span(self, order: str) -> timedelta:
        if order not in self._first:
            return timedelta.max
        return self._latest[order] - self._first[order]
