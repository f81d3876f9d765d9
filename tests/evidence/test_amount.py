import pytest

from pdpp.evidence.amount import counted


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
