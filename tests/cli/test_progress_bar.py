"""The bar, the rate and the time left."""

import pytest

from pdpp.cli.progress_bar import ProgressBar, duration


def test_a_line_tells_share_rate_and_what_is_left() -> None:
    line = ProgressBar(100.0).line(110.0, 5_000, 25, 100)
    assert line == "██████░░░░░░░░░░░░░░░░░░  25%  5,000 records  500/s  30 s left"


def test_at_first_and_at_the_end_nothing_is_guessed() -> None:
    assert "left" not in ProgressBar(0.0).line(1.0, 10, 5, 100)
    assert "left" not in ProgressBar(0.0).line(60.0, 10, 100, 100)
    assert "left" not in ProgressBar(0.0).line(60.0, 10, 0, 0)
    assert "100%" in ProgressBar(0.0).line(60.0, 10, 500, 100)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (60, "1 min 00 s"),
        (3_599, "59 min 59 s"),
        (7_260, "2 h 1 min"),
    ],
)
def test_durations_are_told_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words
