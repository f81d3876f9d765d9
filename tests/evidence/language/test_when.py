"""Time expressions, by the calendar of the one who asks."""

from datetime import date, timedelta

import pytest

from pdpp.evidence.language.calendar_words import (
    DAYS_AGO,
    MONTHS,
    NUMBERS,
    RELATIVE,
    SEASONS,
    WEEKDAYS,
    with_usual_letters,
)
from pdpp.evidence.language.when import Unit, day_named, in_years, moments

TODAY = date(2026, 11, 15)  # a Sunday


@pytest.mark.parametrize(
    ("text", "unit", "start", "days"),
    [
        ("on 2023-06-03", Unit.DAY, date(2023, 6, 3), 1),
        ("the 3rd of June 2023", Unit.DAY, date(2023, 6, 3), 1),
        ("June 3, 2023", Unit.DAY, date(2023, 6, 3), 1),
        ("am 3.6.2023", Unit.DAY, date(2023, 6, 3), 1),
        ("in May 2025", Unit.MONTH, date(2025, 5, 1), 31),
        ("im Dezember 2025", Unit.MONTH, date(2025, 12, 1), 31),
        ("summer of 2024", Unit.SEASON, date(2024, 6, 1), 92),
        ("winter 2024", Unit.SEASON, date(2024, 12, 1), 90),
        ("in 2019", Unit.YEAR, date(2019, 1, 1), 365),
        ("yesterday", Unit.DAY, date(2026, 11, 14), 1),
        ("gestern", Unit.DAY, date(2026, 11, 14), 1),
        ("last week", Unit.WEEK, date(2026, 11, 2), 7),
        ("this week", Unit.WEEK, date(2026, 11, 9), 7),
        ("last month", Unit.MONTH, date(2026, 10, 1), 31),
        ("last year", Unit.YEAR, date(2025, 1, 1), 365),
        ("last friday", Unit.DAY, date(2026, 11, 13), 1),
        ("two weeks ago", Unit.WEEK, date(2026, 10, 26), 7),
        ("3 days ago", Unit.DAY, date(2026, 11, 12), 1),
        ("22/10/2026", Unit.DAY, date(2026, 10, 22), 1),
        ("10/22/2026", Unit.DAY, date(2026, 10, 22), 1),
        ("7/7/2026", Unit.DAY, date(2026, 7, 7), 1),
        ("am 22.10.", Unit.DAY_OF_YEAR, date(2024, 10, 22), 1),
        ("bis 3.6.", Unit.DAY_OF_YEAR, date(2024, 6, 3), 1),
        ("le 22/10", Unit.DAY_OF_YEAR, date(2024, 10, 22), 1),
        ("vor 3 Tagen", Unit.DAY, date(2026, 11, 12), 1),
        ("vor zwei Wochen", Unit.WEEK, date(2026, 10, 26), 7),
        ("il y a deux semaines", Unit.WEEK, date(2026, 10, 26), 7),
        ("hace 2 años", Unit.YEAR, date(2024, 1, 1), 366),
        ("há três meses", Unit.MONTH, date(2026, 8, 1), 31),
        ("un mese fa", Unit.MONTH, date(2026, 10, 1), 31),
        ("drie dagen geleden", Unit.DAY, date(2026, 11, 12), 1),
        ("mardi prochain", Unit.DAY, date(2026, 11, 17), 1),
        ("demain", Unit.DAY, date(2026, 11, 16), 1),
        ("le 1er juin 2026", Unit.DAY, date(2026, 6, 1), 1),
        ("em março de 2025", Unit.MONTH, date(2025, 3, 1), 31),
        ("il 3 giugno 2023", Unit.DAY, date(2023, 6, 3), 1),
        ("marzo del 2024", Unit.MONTH, date(2024, 3, 1), 31),
        ("in mei 2025", Unit.MONTH, date(2025, 5, 1), 31),
        ("3 marca 2024", Unit.DAY, date(2024, 3, 3), 1),
        ("w październiku 2024", Unit.MONTH, date(2024, 10, 1), 31),
        ("pazdziernik 2024", Unit.MONTH, date(2024, 10, 1), 31),
        ("Eylül 2024", Unit.MONTH, date(2024, 9, 1), 30),
        ("im Marz 2024", Unit.MONTH, date(2024, 3, 1), 31),
        ("on Friday", Unit.DAY, date(2026, 11, 13), 1),
        ("am Freitag", Unit.DAY, date(2026, 11, 13), 1),
        ("venerdi scorso", Unit.DAY, date(2026, 11, 13), 1),
        ("geçen cuma", Unit.DAY, date(2026, 11, 13), 1),
        ("na sexta-feira", Unit.DAY, date(2026, 11, 13), 1),
        ("next Tuesday", Unit.DAY, date(2026, 11, 17), 1),
        ("this Sunday", Unit.DAY, date(2026, 11, 22), 1),
        ("ontem", Unit.DAY, date(2026, 11, 14), 1),
        ("letzte Woche", Unit.WEEK, date(2026, 11, 2), 7),
        ("la semana pasada", Unit.WEEK, date(2026, 11, 2), 7),
        ("nächste Woche", Unit.WEEK, date(2026, 11, 16), 7),
        ("l'année dernière", Unit.YEAR, date(2025, 1, 1), 365),
        ("w zeszłym miesiącu", Unit.MONTH, date(2026, 10, 1), 31),
        ("in may", Unit.MONTH_OF_YEAR, date(2024, 5, 1), 31),
        ("MAYIS 2024", Unit.MONTH, date(2024, 5, 1), 31),
        ("kasim 2023", Unit.MONTH, date(2023, 11, 1), 30),
        ("geçen PAZARTESİ", Unit.DAY, date(2026, 11, 9), 1),
        ("aujourd’hui", Unit.DAY, date(2026, 11, 15), 1),
    ],
)
def test_what_a_time_expression_means(text: str, unit: Unit, start: date, days: int) -> None:
    (moment,) = moments(f"what happened {text}?", TODAY)
    assert (moment.unit, moment.start) == (unit, start)
    assert moment.end - moment.start == timedelta(days=days)


@pytest.mark.parametrize(
    "text",
    [
        *("may I go", "this may help", "April said", "99.99.2024", "call 2024 now"),
        *("INV-2024-12", "2024-12-0113", "RE-2024-03-05"),
        *("photos of Maja", "shoes of marca", "in Mart", "mars bar", "the sun set", "dom sob"),
        *("Kasim called", "03/04/2026", "13/14/2026", "1/22/10/2026", "bis 2.5 kg", "ab 3.11.2"),
        *("Marco called", "Tom Friday", "Domingo said", "guten Morgen", "hier ist es", "ter sexta"),
    ],
)
def test_what_names_no_time(text: str) -> None:
    assert moments(text, TODAY) == []


@pytest.mark.parametrize("table", [MONTHS, SEASONS, WEEKDAYS, NUMBERS, DAYS_AGO, RELATIVE])
def test_names_are_read_however_their_letters_are_written(table: dict[str, object]) -> None:
    for name in table:
        for form in (name.upper(), name.replace("i", "ı"), name.replace("s", "ſ")):
            after = ("{}", "3 {} 2024", "geçen {}", "{} 2024", "{} days ago")
            for text in (words.format(form) for words in after):
                usual = with_usual_letters(text).lower()
                expected = [moment.start for moment in moments(usual, TODAY)]
                assert [moment.start for moment in moments(text.lower(), TODAY)] == expected
                moments(text, TODAY)


def test_a_day_without_a_year_comes_round() -> None:
    (moment,) = moments("on 29 February", TODAY)
    assert moment.unit is Unit.DAY_OF_YEAR
    assert list(in_years(moment, 2023, 2025)) == [(date(2024, 2, 29), date(2024, 3, 1))]
    (loose,) = moments("dentist march", TODAY)
    assert (loose.unit, loose.start.month, loose.loose) == (Unit.MONTH_OF_YEAR, 3, True)
    (month,) = moments("in March", TODAY)
    assert not month.loose
    assert list(in_years(month, 2025, 2025)) == [(date(2025, 3, 1), date(2025, 4, 1))]


def test_a_day_of_the_week_is_looked_for_as_a_word_too() -> None:
    (moment,) = moments("what comes on Friday", TODAY)
    assert moment.loose
    (moment,) = moments("what came last Friday", TODAY)
    assert not moment.loose


@pytest.mark.parametrize(
    ("value", "start", "end"),
    [
        ("2026-03-01", date(2026, 3, 1), date(2026, 3, 2)),
        ("2026-03", date(2026, 3, 1), date(2026, 4, 1)),
        ("2026", date(2026, 1, 1), date(2027, 1, 1)),
        ("March", date(2026, 3, 1), date(2026, 4, 1)),
        ("December", date(2025, 12, 1), date(2026, 1, 1)),
        ("yesterday", date(2026, 11, 14), date(2026, 11, 15)),
    ],
)
def test_an_operator_names_days(value: str, start: date, end: date) -> None:
    assert day_named(value, TODAY) == (start, end)


def test_an_operator_that_names_no_day() -> None:
    assert day_named("soon", TODAY) is None
