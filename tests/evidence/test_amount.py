import pytest

from pdpp.evidence.amount import counted, size_in_words, time_in_words, wait_in_words


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("record",), "0 records"),
        (1, ("record",), "1 record"),
        (2, ("record",), "2 records"),
        (64_000, ("record",), "64,000 records"),
        (1, ("connection fits", "connections fit"), "1 connection fits"),
        (3, ("connection fits", "connections fit"), "3 connections fit"),
    ],
)
def test_one_of_a_thing_is_told_in_the_singular(
    number: int, words: tuple[str, ...], told: str
) -> None:
    assert counted(number, *words) == told


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (1_234, "1.2 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (45_600_000, "45.6 MB"),
        (10**16, "10000.0 TB"),
    ],
)
def test_a_size_is_written_in_the_largest_unit_that_it_fills(count: int, words: str) -> None:
    assert size_in_words(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (59.9, "59 seconds"),
        (60, "1 minute"),
        (1_821, "30 minutes"),
        (3_600, "1 hour"),
        (86_399, "23 hours"),
        (10 * 86_400, "10 days"),
    ],
)
def test_a_time_is_written_in_the_largest_unit_that_it_fills(seconds: float, words: str) -> None:
    assert time_in_words(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (61, "2 minutes"),
        (512, "9 minutes"),
        (899, "15 minutes"),
        (900, "15 minutes"),
        (3_601, "2 hours"),
    ],
)
def test_a_wait_is_never_said_to_be_shorter_than_it_is(seconds: float, words: str) -> None:
    assert wait_in_words(seconds) == words
