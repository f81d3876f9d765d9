"""Decimals: numbers that JSON says and binary fractions cannot hold, kept to the digit.

A number with a point or an exponent is read as a float wherever that is written again as the same
number; with up to 15 digits it always is. Any other is read as a ``Decimal``, which no encoder
writes by accident. ``decimal`` is imported only when one is met: most programs never do.
"""

import json
import os
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from decimal import Decimal

_ALWAYS_EXACT = 16
"""A number of so many characters, the point or the exponent among them, has at most 15 digits."""

_WRITTEN_OUT = range(-7, 21)
"""Powers of ten of the first digit between which a number is written without an exponent."""


def read_fraction(text: str) -> "float | Decimal":
    """Return the number that JSON writes with a point or an exponent, exactly."""
    number = float(text)
    # Close to nothing floats have fewer digits, and past the largest they end.
    if len(text) <= _ALWAYS_EXACT and (1e-300 < number < 1e300 or -1e300 < number < -1e-300):
        return number
    from decimal import Decimal

    exact = Decimal(text)
    return number if _is_finite(number) and Decimal(repr(number)) == exact else exact


def _is_finite(number: float) -> bool:
    # Infinity minus itself is no number, and no number minus itself is none either.
    return number - number == 0


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a value that was read from JSON is a number, or a boolean."""
    if value is None or isinstance(value, int | float | str | dict | list):
        return isinstance(value, int | float)
    from decimal import Decimal

    return isinstance(value, Decimal)


def digits_of(number: "Decimal") -> str:
    """Return a decimal as JSON writes it, the same for all that are equal."""
    sign, figures, exponent = number.as_tuple()
    written = "".join(map(str, figures)).lstrip("0")
    if not written:
        return "0"
    bare = written.rstrip("0")
    power = len(written) + int(exponent) - 1
    before = "-" if sign else ""
    if power in _WRITTEN_OUT:
        return before + _written_out(bare, power)
    rest = f".{bare[1:]}" if len(bare) > 1 else ""
    return f"{before}{bare[0]}{rest}e{power:+d}"


def _written_out(figures: str, power: int) -> str:
    if power < 0:
        return "0." + "0" * (-power - 1) + figures
    whole = figures[: power + 1].ljust(power + 1, "0")
    rest = figures[power + 1 :]
    return f"{whole}.{rest}" if rest else whole


def read_json(text: bytes | str) -> Any:
    """Return the value that JSON says, with every number as it is written."""
    return json.loads(text, parse_float=read_fraction)


class ExactEncoder(json.JSONEncoder):
    """Writes decimals as numbers, to the digit."""

    def default(self, o: object) -> object:
        """Return a text that stands for a decimal until everything is written."""
        from decimal import Decimal

        if isinstance(o, Decimal):
            return _MARK + digits_of(o)
        return super().default(o)

    def encode(self, o: object) -> str:
        """Return a value as JSON."""
        text = super().encode(o)
        if _MARK not in text:
            return text
        # The encoder of the standard library has no way to write a number that it does not know.
        first, *others = text.split(f'"{_MARK}')
        return first + "".join(other.replace('"', "", 1) for other in others)


_MARK = os.urandom(12).hex()
"""What no text of a record can begin with: nobody is ever told it."""
