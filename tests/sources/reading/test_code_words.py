"""Code words: what codes are in plain words, and what is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.sources.reading.code_words import plain_words, titled_words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("StepCount", "step count"),
        ("IN_FERRY", "in ferry"),
        ("private_supergroup", "private supergroup"),
        ("GuildTextChat", "guild text chat"),
        ("AsleepREM", "asleep REM"),
        ("UVExposure", "UV exposure"),
        ("VO2Max", "VO2 max"),
        ("DietaryVitaminB12", "dietary vitamin B12"),
        ("to-read", "to read"),
    ],
)
def test_a_code_is_told_in_words(code: str, words: str) -> None:
    assert plain_words(code) == words


@pytest.mark.parametrize("text", ["", "Trail run, hilly", "Überweisung", "Café_Tejo", "#9"])
def test_what_is_no_code_stays(text: str) -> None:
    assert plain_words(text) == text


def test_a_title_begins_with_a_capital() -> None:
    assert titled_words("bloodGlucose") == "Blood glucose"


@given(st.text())
def test_no_letter_is_lost_and_words_stay_words(text: str) -> None:
    words = plain_words(text)
    assert plain_words(words) in (words, words.lower())
    kept = "".join(letter for letter in text if letter not in " _.-")
    assert "".join(letter for letter in words if letter not in " _.-").lower() == kept.lower()
