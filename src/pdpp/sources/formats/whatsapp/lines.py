"""Chat lines: how WhatsApp begins a message, and in which order the numbers of a date stand."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

_MARKS = "\u200e\u200f\u202a\u202c\ufeff"
_DATE = r"(\d{1,4})([./-])\s?(\d{1,2})\2\s?(\d{1,4})\.?"
_HALF = r"(?:[\s\u202f\u00a0]?([AaPp])\.?[\s\u202f\u00a0]?[Mm]\.?)?"
_TIME = rf"(\d{{1,2}})[:.](\d{{2}})(?:[:.](\d{{2}}))?{_HALF}"
_BRACKETS = re.compile(rf"\[{_DATE},?\s{_TIME}\]\s?(.*)\Z", re.DOTALL)
_DASH = re.compile(rf"{_DATE},?\s{_TIME}\s-\s(.*)\Z", re.DOTALL)
_LONGEST_NAME = 100

ORDERS = ("DMY", "MDY", "YMD")


class Stamp(NamedTuple):
    """The numbers of a date and a time as they stand."""

    numbers: tuple[int, int, int]
    separator: str
    hour: int
    minute: int
    second: int
    half: str

    def moment(self, order: str) -> datetime | None:
        """Return the moment for one order of day, month and year."""
        named = dict(zip(order, self.numbers, strict=True))
        year = named["Y"] + 2_000 if named["Y"] < 100 else named["Y"]
        hour = self.hour
        if self.half:
            hour = hour % 12 + (12 if self.half in "pP" else 0)
        try:
            return datetime(year, named["M"], named["D"], hour, self.minute, self.second)  # noqa: DTZ001
        except ValueError:
            return None


class ChatLine(NamedTuple):
    """The first line of a message; a note by the program itself has no sender."""

    stamp: Stamp
    sender: str | None
    text: str


def chat_line(line: str) -> ChatLine | None:
    """Return the message that a line begins, or None where it goes on with one."""
    bare = line.lstrip(_MARKS)
    match = _BRACKETS.match(bare) or _DASH.match(bare)
    if match is None:
        return None
    first, separator, second, third, hour, minute, seconds, half, rest = match.groups()
    stamp = Stamp(
        (int(first), int(second), int(third)),
        separator,
        int(hour),
        int(minute),
        int(seconds or 0),
        half or "",
    )
    sender, colon, text = rest.lstrip(_MARKS).partition(": ")
    if not colon and rest.endswith(":"):
        sender, colon, text = rest.lstrip(_MARKS)[:-1], ":", ""
    if not colon or len(sender) > _LONGEST_NAME:
        return ChatLine(stamp, None, rest.lstrip(_MARKS))
    return ChatLine(stamp, sender.strip(_MARKS), text.lstrip(_MARKS))


@dataclass(slots=True)
class OrderGuess:
    """Finds the order of dates from every date of a file: it depends on the phone's language."""

    possible: set[str] = field(default_factory=lambda: set(ORDERS))
    _backwards: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ORDERS, 0))
    _last: dict[str, datetime] = field(default_factory=dict)
    _separator: str = ""
    _halves: bool = False

    def see(self, stamp: Stamp) -> None:
        """Take one more date into account."""
        self._separator, self._halves = stamp.separator, self._halves or bool(stamp.half)
        for order in ORDERS:
            moment = stamp.moment(order)
            if moment is None or (order == "YMD") != (stamp.numbers[0] > 31):
                self.possible.discard(order)
            else:
                last = self._last.get(order)
                self._backwards[order] += last is not None and moment < last
                self._last[order] = moment

    def order(self) -> tuple[str, bool]:
        """Return the likeliest order, and whether the dates leave no other."""
        left = [order for order in ORDERS if order in self.possible]
        if len(left) == 1:
            return left[0], True
        least = min(self._backwards[order] for order in left or ORDERS)
        best = [order for order in left or ORDERS if self._backwards[order] == least]
        if len(best) == 1:
            return best[0], bool(left)
        american = self._separator == "/" and self._halves
        return ("MDY" if american and "MDY" in best else best[0]), False


def guess_order(lines: Iterable[ChatLine]) -> tuple[str, bool]:
    """Return the order of the dates of a chat, and whether it is beyond doubt."""
    guess = OrderGuess()
    for line in lines:
        guess.see(line.stamp)
    return guess.order()
