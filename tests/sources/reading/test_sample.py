"""Samples of many things."""

import pytest

from pdpp.sources.reading.sample import spread


@pytest.mark.parametrize(
    ("count", "most", "expected"),
    [
        (0, 3, []),
        (2, 3, [0, 1]),
        (3, 3, [0, 1, 2]),
        (4, 3, [0, 1, 2]),
        (5, 3, [0, 1, 3]),
        (9, 3, [0, 3, 6]),
    ],
)
def test_a_sample_is_taken_from_all_over(count: int, most: int, expected: list[int]) -> None:
    assert spread(range(count), most) == expected
