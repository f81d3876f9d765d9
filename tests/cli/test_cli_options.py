import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.cli.options import expiry, moment_after, time, words
from pdpp.model import instant


@given(st.integers(1, 9_999), st.sampled_from("mhdw"))
def test_a_duration_is_counted_from_now(number: int, unit: str) -> None:
    minutes = {"m": 1, "h": 60, "d": 1_440, "w": 10_080}[unit]
    assert moment_after(7, f"{number}{unit}") == 7 + number * minutes * 60 * instant.SECOND


@pytest.mark.parametrize(
    "text", ["", "d", "0d", "-1d", "1.5d", "10000d", "1y", "1 d", "٣d", "1d\n"]
)
def test_what_is_no_duration_and_no_time_is_refused(text: str) -> None:
    assert moment_after(0, text) is None
    with pytest.raises(click.BadParameter, match="neither"):
        expiry(text)


def test_an_expiry_can_be_a_day() -> None:
    assert expiry("2099-01-01") == instant.parse("2099-01-01")


@given(st.text())
def test_words_are_one_printable_line_or_refused(text: str) -> None:
    try:
        line = words(text)
    except click.BadParameter:
        return
    assert line == text.strip()
    assert line.encode()
    assert not any(ord(character) < 32 for character in line)


def test_a_time_is_read_as_rfc_3339_writes_it() -> None:
    assert time("1970-01-02") == instant.DAY
    with pytest.raises(click.BadParameter, match="is not a time"):
        time("30d")
