"""Dates: moments as the owner reads them, in the owner's zone and language."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from types import MappingProxyType
from typing import NamedTuple

from pdpp.model import instant


class DateLanguage(NamedTuple):
    """How a language writes a date: its own name, a pattern, and the names of the months."""

    name: str
    pattern: str
    months: tuple[str, ...]


def _months(names: str) -> tuple[str, ...]:
    return tuple(names.split())


_ENGLISH = _months(
    "January February March April May June July August September October November December"
)
LANGUAGES: Mapping[str, DateLanguage] = MappingProxyType(
    {
        "en": DateLanguage("English", "{day} {month} {year}", _ENGLISH),
        "de": DateLanguage(
            "Deutsch",
            "{day}. {month} {year}",
            _months(
                "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
            ),
        ),
        "es": DateLanguage(
            "Español",
            "{day} de {month} de {year}",
            _months(
                "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
                "diciembre"
            ),
        ),
        "fr": DateLanguage(
            "Français",
            "{day} {month} {year}",
            _months(
                "janvier février mars avril mai juin juillet août septembre octobre novembre "
                "décembre"
            ),
        ),
        "it": DateLanguage(
            "Italiano",
            "{day} {month} {year}",
            _months(
                "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre "
                "novembre dicembre"
            ),
        ),
        "nl": DateLanguage(
            "Nederlands",
            "{day} {month} {year}",
            _months(
                "januari februari maart april mei juni juli augustus september oktober november "
                "december"
            ),
        ),
        "pt": DateLanguage(
            "Português",
            "{day} de {month} de {year}",
            _months(
                "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
                "dezembro"
            ),
        ),
        "iso": DateLanguage("2026-03-14", "{year}-{number:02d}-{day:02d}", _ENGLISH),
    }
)


@dataclass(frozen=True, slots=True)
class Dates:
    """Writes moments for one reader."""

    zone: tzinfo
    language: str = "en"

    def local(self, moment: int) -> datetime:
        """Return a moment on the reader's clock; at the edges of the calendar there is only UTC."""
        at = instant.to_datetime(moment)
        try:
            return at.astimezone(self.zone)
        except OverflowError:
            return at

    def day(self, moment: int) -> str:
        """Return the day of a moment."""
        return self.written(self.local(moment).date())

    def moment(self, moment: int) -> str:
        """Return the day and the time of a moment."""
        at = self.local(moment)
        return f"{self.written(at.date())}, {at:%H:%M} {at.tzname()}"

    def exact(self, text: str) -> str:
        """Return the time of a field, to the second; return any other text unchanged."""
        moment = instant.parse(text)
        if moment is None or moment % instant.DAY == 0:
            return self.event(text) or text
        at = self.local(moment)
        return f"{self.written(at.date())}, {at:%H:%M:%S} {at.tzname()}"

    def event(self, text: str | None) -> str:
        """Return a time as records carry it; one without a time of day is that day anywhere."""
        moment = instant.parse(text) if text else None
        if moment is None or text is None:
            return ""
        if moment % instant.DAY == 0:
            return self.written(instant.to_datetime(moment).date())
        return self.moment(moment)

    def written(self, day: date) -> str:
        """Return a day of the calendar."""
        language = LANGUAGES[self.language]
        return language.pattern.format(
            day=day.day, month=language.months[day.month - 1], year=day.year, number=day.month
        )

    def month(self, name: str) -> str:
        """Return a month that is named as 2026-03."""
        year, _, number = name.partition("-")
        return f"{LANGUAGES[self.language].months[int(number) - 1]} {year}"

    def midnight(self, day: date) -> int:
        """Return the moment at which a day begins for the reader."""
        return instant.of_datetime(datetime(day.year, day.month, day.day, tzinfo=self.zone))
