"""Number keys: texts that stand in the order of the numbers they are made of, exactly.

An engine compares whole numbers and binary fractions. A decimal that is neither stands in a cell as
the number next to it, and its key tells it apart from others that stand there as the same.

A key is ``2``, the power of ten (five thousand more, in four figures) and the digits of a positive
number, ``1`` for nothing, and for a negative one ``0`` and the same figures, each taken from nine,
with a mark after them that sorts after every figure.
"""

from decimal import Decimal

from pdpp.model.decimals import digits_of

LARGEST = 2**63 - 1
Number = int | float | Decimal

_OFFSET = 5_000
_FLOAT_WHOLE = 2**53
_NINES = str.maketrans("0123456789", "9876543210")
_END = "~"


def number_key(number: Number) -> str:
    """Return the key of a number; equal numbers have the same one."""
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    sign, figures, exponent = exact.as_tuple()
    digits = "".join(map(str, figures)).lstrip("0")
    if not digits:
        return "1"
    key = f"{len(digits) + int(exponent) + _OFFSET:04d}{digits.rstrip('0')}"
    return f"0{key.translate(_NINES)}{_END}" if sign else f"2{key}"


def number_of(key: str) -> Number:
    """Return the number that a key was made of, in the form in which it is shown."""
    if key == "1":
        return 0
    figures = key[1:] if key[0] == "2" else key[1:-1].translate(_NINES)
    power, digits = int(figures[:4]) - _OFFSET, figures[4:]
    exact = Decimal(f"{'' if key[0] == '2' else '-'}{digits}E{power - len(digits)}")
    if power >= len(digits) and exact.copy_abs() <= LARGEST:
        return int(exact)
    nearest = float(exact)
    return nearest if Decimal(repr(nearest)) == exact else exact


def near(number: Number) -> int | float:
    """Return the number of the engine that a number stands at.

    The order of what is returned is never against the order of the numbers. From 2**53 on floats
    leave out whole numbers that cells hold, so that the whole part is taken there.
    """
    if isinstance(number, int) or -_FLOAT_WHOLE < number < _FLOAT_WHOLE:
        return float(number) if isinstance(number, Decimal) else number
    exact = number if isinstance(number, Decimal) else Decimal(repr(number))
    if exact.copy_abs() <= LARGEST:
        return int(exact.to_integral_value("ROUND_FLOOR"))
    return float(number)


def number_json(number: Number) -> int | float | str:
    """Return a number as an answer says it; one that readers of JSON would round is a text."""
    return digits_of(number) if isinstance(number, Decimal) else number
