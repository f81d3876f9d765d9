"""Money: amounts as exact decimals, with the number that aggregates can add up."""

from decimal import Decimal, InvalidOperation

from pdpp.store.numbers import MOST_DIGITS

_LARGEST = Decimal(10) ** 15


def exact(text: str) -> Decimal | None:
    """Return the decimal that a text such as -1234.50 or 12,5 writes, or None."""
    plain = text.strip().replace("\u2212", "-").replace(" ", "")
    if "." in plain and "," in plain:
        # The one that stands first divides thousands.
        plain = plain.replace(min(".,", key=plain.index), "")
    if "." not in plain and plain.count(",") == 1:
        plain = plain.replace(",", ".")
    if "_" in plain:
        return None
    try:
        amount = Decimal(plain)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and abs(amount) < _LARGEST else None


def members(name: str, amount: Decimal) -> dict[str, float | Decimal | str]:
    """Return an amount as a number and as exact text, under a name and that name with _text.

    The number is exact too, unless it has more digits than a store keeps of one.
    """
    number = float(amount)
    digits = "".join(map(str, amount.as_tuple().digits)).strip("0")
    exact = Decimal(repr(number)) == amount or len(digits) > MOST_DIGITS
    return {name: number if exact else amount, f"{name}_text": format(amount, "f")}
