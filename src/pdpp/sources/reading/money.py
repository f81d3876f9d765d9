"""Money: amounts as exact decimals, with the number that aggregates can add up."""

from decimal import Decimal, InvalidOperation

_LARGEST = Decimal(10) ** 15


def exact(text: str) -> Decimal | None:
    """Return the decimal that a text such as -1234.50 or 12,5 writes, or None."""
    plain = text.strip().replace("\u2212", "-").replace(" ", "")
    if "." not in plain and plain.count(",") == 1:
        plain = plain.replace(",", ".")
    if "_" in plain:
        return None
    try:
        amount = Decimal(plain)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and abs(amount) < _LARGEST else None


def members(name: str, amount: Decimal) -> dict[str, float | str]:
    """Return an amount as a number and as exact text, under a name and that name with _text."""
    return {name: float(amount), f"{name}_text": format(amount, "f")}
