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
        ("serial AB7AM", "serial AB7AM"),
        ("no number", "no number"),
    ],
)
def test_times_of_day_are_written_in_words_that_texts_hold(written: str, plain: str) -> None:
    assert with_plain_clocks(written) == plain


@pytest.mark.parametrize(
    ("plain", "terms"),
    [
        ("4:30 pm", {"4": "16 16h30", "30": "30pm 16h30", "pm": "16_30 30pm 16h30"}),
        ("7 pm", {"7": "19 7pm 19h00", "pm": "19_00 7pm 19h00"}),
        ("12 am", {"12": "0 12am 0h00 00h00", "am": "0_00 12am 0h00 00h00"}),
        ("16:30", {"16": "4 4pm 16h30", "30": "30pm 16h30"}),
        ("9:05", {"9": "9 9am 9h05 09h05", "05": "05am 9h05 09h05"}),
        ("19:00", {"19": "7 7pm 19h00", "00": "00pm pm 7pm 19h00"}),
        ("at seven", {}),
    ],
)
def test_a_time_of_day_is_looked_for_as_others_write_it(plain: str, terms: dict[str, str]) -> None:
    found: dict[str, set[str]] = {}
    for word, term in clock_terms(plain):
        found.setdefault(word, set()).add(term.replace(" ", "_"))
    assert found == {word: set(written.split()) for word, written in terms.items()}


def test_of_many_times_of_day_only_some_are_looked_for_as_others_write_them() -> None:
    halves = " ".join(f"{hour}:{minutes} pm" for hour in range(1, 12) for minutes in (15, 30, 45))
    assert len({term for _, term in clock_terms(halves) if " " in term}) == 16
