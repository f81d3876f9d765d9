"""Times and numbers as tables write them."""

from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model.declaration import Kind
from pdpp.sources.formats.bank_csv import days
from pdpp.sources.reading.times import zone_named
from pdpp.sources.table import guess
from pdpp.sources.table.form import (
    COMMA,
    POINT,
    TIME_FORMS,
    ZONED,
    possible_forms,
    read_number,
    read_time,
    read_whole,
    read_word,
    reader,
)


@given(
    st.sampled_from(sorted(set(TIME_FORMS) - {ZONED})),
    st.datetimes(datetime(1970, 1, 1), datetime(2068, 1, 1)),  # noqa: DTZ001 - local times
)
def test_a_time_written_in_a_form_is_read_back(form: str, moment: datetime) -> None:
    if "%z" in form:
        moment = moment.replace(tzinfo=timezone(timedelta(hours=2)))
    text = read_time(moment.strftime(form), form, None)
    assert text is not None
    assert form in possible_forms(moment.strftime(form))
    if TIME_FORMS[form] is Kind.DATE:
        assert text == moment.date().isoformat()
    else:
        micro = moment.microsecond if "%f" in form else 0
        kept = moment.replace(microsecond=micro, second=moment.second if "%S" in form else 0)
        assert text == kept.isoformat()


@pytest.mark.parametrize(
    "text",
    [
        *("2026-03-01", "1.3.2026", "01/ 3/26", "2026.03.01.", "1-Mar-26", "March 1, 2026"),
        *("01/03/2026, 1:05 pm", "2026-03-01T12:00:00.5", "2026-03-01  12:00", "1 May 26 12:00"),
        *("2026-03-01 12:00:00 +0200", "2026-03-01 12:00:00 Z", "2026-03-01T12:00:00Z", "at 7"),
    ],
)
def test_a_text_that_is_read_in_a_form_has_its_signs(text: str) -> None:
    read = {form for form in TIME_FORMS if read_time(text, form, None) is not None}
    assert read <= possible_forms(text)
    assert len(possible_forms(text)) <= 12


def test_a_column_of_days_is_tried_in_forms_of_its_signs_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: set[str] = set()

    def read_and_tell(text: str, form: str, zone: tzinfo | None) -> str | None:
        tried.add(form)
        return read_time(text, form, zone)

    for module in (guess, days):
        monkeypatch.setattr(module, "read_time", read_and_tell)
    assert days.day_forms(["01.02.2026", "14.02.2026"]) == ["%d.%m.%Y"]
    column = guess.ColumnGuess("day")
    column.see("14.02.2026")
    assert column.kind() == (Kind.DATE, "%d.%m.%Y")
    assert len(tried) <= 12


def test_a_local_time_takes_the_zone_that_is_given() -> None:
    zone = zone_named("Europe/Lisbon")
    assert read_time("01.07.2026 12:00", "%d.%m.%Y %H:%M", zone) == "2026-07-01T12:00:00+01:00"
    assert read_time("2026-07-01T12:00:00Z", ZONED, zone) == "2026-07-01T12:00:00Z"
    assert read_time("01.07.2026", "%d.%m.%Y", zone) == date(2026, 7, 1).isoformat()
    assert read_time("31.02.2026", "%d.%m.%Y", zone) is None


@pytest.mark.parametrize(
    ("text", "form", "number"),
    [
        ("12.50", POINT, 12.5),
        ("-1,234.50", POINT, -1_234.5),
        ("1 234.50", POINT, 1_234.5),
        ("1'234.50", POINT, 1_234.5),
        ("12,50", COMMA, 12.5),
        ("+1.234,50", COMMA, 1_234.5),
        (" 7 ", COMMA, 7.0),
        ("12,50", POINT, None),
        ("1.2.3", POINT, None),
        ("€ 5", POINT, None),
        ("", POINT, None),
        ("9" * 40, POINT, None),
        ("nan", POINT, None),
    ],
)
def test_numbers_are_read_in_the_form_they_are_written_in(
    text: str, form: str, number: float | None
) -> None:
    assert read_number(text, form) == number


def test_codes_with_zeros_before_them_are_no_numbers() -> None:
    assert read_whole("42") == 42
    assert read_whole("-7") == -7
    assert read_whole("0") == 0
    assert read_whole("007") is None
    assert read_whole("4.0") is None
    assert read_whole("١") is None


def test_words_for_yes_and_no_are_read() -> None:
    assert [read_word(word) for word in ("Yes", "NO", "true", "nein", "maybe")] == [
        True,
        False,
        True,
        False,
        None,
    ]


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        (Kind.DATE, "01.02.2026", "2026-02-01"),
        (Kind.DATE, 5, None),
        (Kind.INTEGER, "5", 5),
        (Kind.INTEGER, 5, 5),
        (Kind.INTEGER, True, None),
        (Kind.INTEGER, 5.5, None),
        (Kind.NUMBER, "5.5", 5.5),
        (Kind.NUMBER, 5, 5),
        (Kind.NUMBER, False, None),
        (Kind.BOOLEAN, "yes", True),
        (Kind.BOOLEAN, False, False),
        (Kind.BOOLEAN, 1, None),
        (Kind.TEXT, "x", "x"),
        (Kind.TEXT, 5, "5"),
        (Kind.TEXT, True, None),
        (Kind.TEXT, [1], None),
        (Kind.JSON, [1], [1]),
    ],
)
def test_a_value_is_read_as_its_kind_or_not_at_all(kind: Kind, raw: Any, value: Any) -> None:
    form = "%d.%m.%Y" if kind is Kind.DATE else ""
    assert reader(kind, form, None)(raw) == value
