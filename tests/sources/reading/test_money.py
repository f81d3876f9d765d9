from decimal import Decimal

import pytest

from pdpp.sources.reading.money import exact, members


@pytest.mark.parametrize(
    ("amount", "number"),
    [
        ("-4.50", -4.5),
        ("0.00", 0.0),
        ("123456789012.345678", Decimal("123456789012.345678")),
        ("0.123456789012345678901", 0.12345678901234568),
    ],
)
def test_an_amount_is_a_number_to_the_digit_as_far_as_one_is_kept(
    amount: str, number: float | Decimal
) -> None:
    told = members("amount", Decimal(amount))
    assert told == {"amount": number, "amount_text": amount}
    assert type(told["amount"]) is type(number)


@pytest.mark.parametrize(
    ("text", "amount"),
    [("1,234.50", "1234.50"), ("-1.234,50", "-1234.50"), ("12,5", "12.5"), ("1,2,3", None)],
)
def test_of_two_signs_in_an_amount_the_first_divides_thousands(
    text: str, amount: str | None
) -> None:
    assert exact(text) == (None if amount is None else Decimal(amount))
