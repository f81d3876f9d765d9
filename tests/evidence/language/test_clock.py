"""Times of day, as people write them."""

import pytest

from pdpp.evidence.language.clock import clock_terms, with_plain_clocks


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("at 7pm", "at 7 pm"),
        ("7 P.M. sharp", "7 pm sharp"),
        ("4:30pm", "4:30 pm"),
        ("4.30 a.m.", "4:30 am"),
        ("19h30", "19:30"),
        ("3:52:18", "3:52:18"),
        ("a scale of 1:25000", "a scale of 1:25000"),
        ("INV-12:30-4", "INV-12:30-4"),
        ("13pm", "13pm"),
        ("no number", "no number"),
    ],
)
def test_times_of_day_are_written_in_words_that_texts_hold(written: str, plain: str) -> None:
    assert with_plain_clocks(written) == plain


@pytest.mark.parametrize(
    ("plain", "terms"),
    [
        ("4:30 pm", {("4", "16"), ("pm", "16 30"), ("30", "30pm"), ("pm", "30pm")}),
        ("7 pm", {("7", "19"), ("pm", "19 00"), ("7", "7pm"), ("pm", "7pm")}),
        ("12 am", {("12", "0"), ("am", "0 00"), ("12", "12am"), ("am", "12am")}),
        ("16:30", {("16", "4"), ("16", "4pm"), ("30", "30pm")}),
        ("19:00", {("19", "7"), ("19", "7pm"), ("00", "00pm"), ("00", "pm"), ("00", "7pm")}),
        ("at seven", set()),
    ],
)
def test_a_time_of_day_is_looked_for_as_others_write_it(
    plain: str, terms: set[tuple[str, str]]
) -> None:
    assert set(clock_terms(plain)) == terms
