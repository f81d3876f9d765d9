from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.store.tables.records.aggregates import ExactSum


def added(*values: int | float) -> Decimal:
    total = ExactSum()
    for value in values:
        total.step(value)
    return Decimal(total.final())


def test_a_sum_of_money_is_written_as_money() -> None:
    assert added(*[-0.1] * 7_936, -0.04) == Decimal("-793.64")
    assert added(0.1, 0.2) == Decimal("0.3")
    assert added(*[19.99] * 100_000) == 1_999_000


@given(st.lists(st.integers(-(10**9), 10**9), max_size=50))
def test_amounts_of_two_places_add_up_to_the_cent(cents: list[int]) -> None:
    assert added(*(cent / 100 for cent in cents)) == Decimal(sum(cents)) / 100


_SMALL, _LARGE = 5e-324, 1.7976931348623157e308


@pytest.mark.parametrize(
    "values",
    [(1e300, 1e300), (0.1234567, 1e15), (2**62, 2**62, 0.5), (_SMALL, _LARGE), (1e16, 1.0, -3)],
)
def test_nothing_of_a_sum_is_lost(values: tuple[float, ...]) -> None:
    exact = sum((Fraction(Decimal(repr(value))) for value in values), Fraction(0))
    assert Fraction(added(*values)) == exact
    assert Fraction(added(*reversed(values))) == exact


def test_whole_numbers_stay_whole() -> None:
    assert added(2**53 + 1, 2) == 2**53 + 3
