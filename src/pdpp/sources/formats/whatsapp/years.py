"""Years: some telephones leave the year out, and then the chat as a whole must tell it."""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from pdpp.sources.formats.whatsapp.lines import Stamp

_HALF_A_YEAR = 6
_IN_NAMES = (
    re.compile(r"\b[A-Z]{3}-((?:19|20)\d{2})(?:0[1-9]|1[0-2])[0-3]\d-WA\d+"),
    re.compile(r"\b\d{8}-[A-Z]{3,8}-((?:19|20)\d{2})-[01]\d-[0-3]\d-"),
)
"""Names of files as WhatsApp gives them; the time in one is when it was sent."""


@dataclass(slots=True)
class YearCount:
    """Counts years through a chat: where the months begin anew, another year has begun.

    ``year`` is the year of the message seen last, counted from that of the first, which is 0 until
    it is known.
    """

    year: int = 0
    _month: int = 0

    def see(self, stamp: Stamp) -> Stamp:
        """Return the next message's date with its year."""
        if stamp.year:
            self.year = stamp.year
        elif self._month - stamp.month > _HALF_A_YEAR:
            self.year += 1
        elif stamp.month - self._month > _HALF_A_YEAR and self._month:
            self.year -= 1  # A message that lies before the one above it, over the turn of a year.
        self._month = stamp.month
        return replace_year(stamp, self.year)


def replace_year(stamp: Stamp, year: int) -> Stamp:
    """Return a date in a year."""
    return stamp._replace(numbers=(year, *stamp.numbers[1:]))


@dataclass(slots=True)
class YearGuess:
    """Finds the year of a chat's first message from everything in it that tells one."""

    missing: bool = False
    _count: YearCount = field(default_factory=YearCount)
    _first: int | None = None
    _last: Stamp | None = None

    def see(self, stamp: Stamp, text: str) -> None:
        """Take one more message into account."""
        self.missing = self.missing or not stamp.year
        before = self._count.year
        self._last = self._count.see(stamp)
        if stamp.year:
            self._know(stamp.year, before)
            return
        for pattern in _IN_NAMES:
            if match := pattern.search(text):
                self._know(int(match[1]), self._count.year)

    def _know(self, year: int, offset: int) -> None:
        if self._first is None:
            self._first = year - offset
            self._count = replace(self._count, year=year)

    def first_year(self, chosen: int | None, path: Path) -> tuple[int, bool]:
        """Return the year of the first message, and whether the chat itself or the owner told it.

        Where nothing does, the chat ended before the file was written.
        """
        years = self._count.year
        if chosen is not None:
            return chosen - (years if self._first is None else years - self._first), True
        if self._first is not None:
            return self._first, True
        written = _written(path)
        ended = replace_year(self._last, written.year).moment("YMD") if self._last else None
        return written.year - (ended is not None and ended > written) - years, False


def _written(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(tzinfo=None)
