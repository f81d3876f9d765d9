"""Numbers: which of a JSON text are kept exactly, so that none is ever changed in silence.

Whole numbers of 64 bits are kept as they are, fractions as the nearest binary number wherever that
reads back as the same decimal, and any other number of up to 18 digits as a decimal. What holds one
of those begins with a brace and a space, so that all other data is read and written as quickly as
if there were none.
"""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson

from pdpp.model.decimals import digits_of, read_fraction, read_json
from pdpp.store.number_key import LARGEST, Number

MOST_DIGITS = 18
MOST_LEVELS = 254
"""How deeply a value can be nested that the encoder writes."""
_EXACT = b"{ "
"""How data begins that holds a decimal."""

_SMALLEST = Decimal("1e-307")
"""Below this, floats are further apart than one part in 2**53, and end."""


class Inexact(ValueError):
    """A text holds something that cannot be kept as it stands."""


class TooDeep(ValueError):
    """An object holds lists or objects inside each other that nothing can write again."""


def read_exactly(text: bytes) -> Any:
    """Return what a JSON object says; raise where something would be lost.

    Numbers that no float holds are decimals.
    """
    return json.loads(text, parse_int=_whole, parse_float=_fraction, object_pairs_hook=_members)


def read_data(data: bytes) -> Any:
    """Return the data of a record, with decimals where it holds any."""
    return read_json(data) if is_exact(data) else orjson.loads(data)


def read_answer(text: bytes) -> Any:
    """Return an answer in which records stand as they are kept."""
    # A text can end in the same characters; it is then only read more slowly.
    return read_json(text) if _EXACT + b'"' in text else orjson.loads(text)


def read_number(text: str) -> Number | None:
    """Return the number that a JSON text is, None where it is something else."""
    value = read_json(text)
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return value if number else None


def is_exact(data: bytes) -> bool:
    """Tell whether data holds a decimal that no float can be."""
    return data[:2] == _EXACT


def write_data(data: Any, option: int | None = None) -> bytes:
    """Return data as JSON, marked where it holds a decimal."""
    try:
        return orjson.dumps(data, option=option)
    except TypeError:
        text = orjson.dumps(data, default=write_decimal, option=option)
        return _EXACT + text[1:] if text[:1] == b"{" else text


def write_decimal(value: object) -> orjson.Fragment:
    """Return the digits of a decimal, for an encoder that does not know it."""
    if isinstance(value, Decimal):
        return orjson.Fragment(digits_of(value))
    raise TypeError(f"{type(value).__name__} is no JSON")


def is_doubtful(text: bytes, parsed: Mapping[str, Any]) -> bool:
    """Tell whether a parsed object may have lost something: most have not.

    A text that is written again byte by byte as it came has lost nothing. Otherwise a member that
    stands twice leaves fewer members than there are colons after quotes; a text with spaces before
    its colons is looked at as well.
    """
    written: bytes | None
    try:
        written, small = orjson.dumps(parsed, option=orjson.OPT_STRICT_INTEGER), True
    except TypeError:
        # A whole number of more than 53 bits, or more levels than can be written.
        written, small = _written(parsed), False
        if written is None and None in map(_written, parsed.values()):
            most = f"Lists and objects stand in each other on {MOST_LEVELS} levels at most."
            raise TooDeep(most) from None
    if written == text:
        return not small and _has_huge(parsed)
    members = _count(parsed)
    if members < 0 or text.count(b'":') != members or b" :" in text:
        return True
    # No text inside JSON holds these as they are, so that a look for one byte is mostly enough.
    return any(space in text and space + b":" in text for space in _OTHER_SPACES)


def _written(parsed: Any) -> bytes | None:
    """Return the shortest JSON of a value; None where it is nested too deeply to be written."""
    try:
        return orjson.dumps(parsed)
    except TypeError:
        return None


def _has_huge(value: Any) -> bool:
    """Tell whether an object or a list holds a whole number of more than 64 bits with its sign."""
    for member in value.values() if type(value) is dict else value:
        kind = type(member)
        if kind is int:
            if member > LARGEST:
                return True
        elif (kind is dict or kind is list) and _has_huge(member):
            return True
    return False


def _count(value: Any) -> int:
    """Return how many members there are in all, or a negative number where a number is doubtful."""
    kind = type(value)
    if kind is dict or kind is list:
        total = len(value) if kind is dict else 0
        for member in value.values() if kind is dict else value:
            inside = _count(member) if type(member) not in _PLAIN else 0
            if inside < 0:
                return inside
            total += inside
        return total
    return -1 if kind is float or (kind is int and abs(value) > LARGEST) else 0


_OTHER_SPACES = (b"\t", b"\n", b"\r")
_PLAIN = frozenset({str, bool, type(None)})


def _whole(text: str) -> int:
    number = int(text) if len(text) < 25 else LARGEST + 1
    if not -LARGEST - 1 <= number <= LARGEST:
        raise Inexact("A whole number has more than 64 bits; send it as a text.")
    return number


def _fraction(text: str) -> int | float | Decimal:
    number = read_fraction(text)
    if isinstance(number, float):
        if number - number != 0:
            raise Inexact("A number is too large to be kept; send it as a text.")
        return number
    if not _SMALLEST <= number.copy_abs() < Decimal("1.7e308"):
        raise Inexact("A number is too small or too large to be kept; send it as a text.")
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    if len(digits) > MOST_DIGITS:
        raise Inexact(f"A number has more than {MOST_DIGITS} digits; send it as a text.")
    whole = number == number.to_integral_value()
    return int(number) if whole and number.copy_abs() <= LARGEST else number


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Inexact("A JSON object has the same member twice.")
    return members
