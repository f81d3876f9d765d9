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
        ("4:20 pm", {"4": "16 16h20", "20": "20pm 16h20", "pm": "16_20 20pm 16h20"}),
        ("7 pm", {"7": "19 7pm 19h00", "pm": "19_00 7pm 19h00"}),
        ("1 am", {"1": "1 1am 1h00 01h00", "am": "1_00 1am 1h00 01h00"}),
        ("16:20", {"16": "4 4pm 16h20", "20": "20pm 16h20"}),
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
    apart = {term for _, term in clock_terms(halves) if " " in term}
    assert len([term for term in apart if term.replace(" ", "").isdecimal()]) == 16
    assert len([term for term in apart if term.startswith(("quarter", "half"))]) == 4


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ("8:30", {"half past eight", "half past 8", "halb neun", "halb 9"}),
        ("8:30 pm", {"half past eight", "half past 8", "halb neun", "halb 9"}),
        ("12:30", {"half past twelve", "half past 12", "halb eins", "halb 1"}),
        ("21:15", {"quarter past nine", "viertel nach neun"}),
        ("8:45", {"quarter to nine", "viertel vor neun", "dreiviertel neun"}),
        ("12:00", {"noon", "midday", "mittag", "midi"}),
        ("12 pm", {"noon"}),
        ("12 am", {"midnight", "mitternacht", "minuit"}),
    ],
)
def test_a_time_of_day_is_looked_for_as_people_say_it(plain: str, said: set[str]) -> None:
    terms: dict[str, set[str]] = {}
    for word, term in clock_terms(plain):
        terms.setdefault(word, set()).add(term)
    assert all(said <= some for some in terms.values())


def test_a_time_of_day_that_has_no_name_is_looked_for_in_no_words() -> None:
    assert not {"noon", "midnight"} & {term for _, term in clock_terms("12:05, 1 pm")}
