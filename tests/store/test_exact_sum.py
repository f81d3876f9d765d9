from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.store.sqlite.records.aggregates import ExactSum


def added(*values: int | float) -> int | float | str:
    total = ExactSum()
    for value in values:
        total.step(value)
    return total.final()


def test_a_sum_of_money_is_written_as_money() -> None:
    assert added(*[-0.1] * 7_936, -0.04) == -793.64
    assert added(0.1, 0.2) == 0.3
    assert added(*[19.99] * 100_000) == 1_999_000.0


@given(st.lists(st.integers(-(10**9), 10**9), max_size=50))
def test_amounts_of_two_places_add_up_to_the_cent(cents: list[int]) -> None:
    assert added(*(cent / 100 for cent in cents)) == sum(cents) / 100


@pytest.mark.parametrize("values", [(1e300, 1e300), (0.1234567, 1e15), (2**62, 2**62, 0.5)])
def test_other_numbers_add_up_as_before(values: tuple[float, ...]) -> None:
    assert added(*values) == float(sum(map(Fraction, values)))


def test_whole_numbers_stay_whole() -> None:
    total = added(2**53 + 1, 2)
    assert total == 2**53 + 3
    assert isinstance(total, int)
