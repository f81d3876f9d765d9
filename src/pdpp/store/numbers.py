"""Numbers: which of a JSON text are kept exactly, so that none is ever changed in silence.

Whole numbers of 64 bits are kept as they are, fractions as the nearest binary number wherever that
reads back as the same decimal; with up to 15 digits it always does.
"""

import json
from decimal import Decimal
from typing import Any

LARGEST = 2**63 - 1


class _Refused(ValueError):
    """A text holds something that cannot be kept as it stands."""


def parsing_problem(text: bytes) -> str | None:
    """Return what a JSON object says that is lost when it is parsed, or nothing."""
    try:
        json.loads(text, parse_int=_whole, parse_float=_fraction, object_pairs_hook=_members)
    except _Refused as problem:
        return str(problem)
    return None


def is_doubtful(text: bytes, parsed: Any) -> bool:
    """Tell whether a parsed text may have lost something: most have no such member or number.

    A member that stands twice leaves fewer members than there are colons after quotes; a text
    written with spaces before its colons is looked at as well.
    """
    members = _count(parsed)
    if members < 0 or text.count(b'":') != members:
        return True
    return any(spaced in text for spaced in _SPACED)


def _count(value: Any) -> int:
    """Return how many members there are in all, or a negative number where a number is doubtful."""
    kind = type(value)
    if kind is dict:
        total = len(value)
        for member in value.values():
            inside = _count(member) if type(member) not in _PLAIN else 0
            if inside < 0:
                return inside
            total += inside
        return total
    if kind is list:
        total = 0
        for member in value:
            inside = _count(member) if type(member) not in _PLAIN else 0
            if inside < 0:
                return inside
            total += inside
        return total
    return -1 if kind is float or (kind is int and abs(value) > LARGEST) else 0


_SPACED = (b" :", b"\t:", b"\n:", b"\r:")
_PLAIN = frozenset({str, bool, type(None)})


def _whole(text: str) -> int:
    number = int(text) if len(text) < 25 else LARGEST + 1
    if not -LARGEST - 1 <= number <= LARGEST:
        raise _Refused("A whole number has more than 64 bits; send it as a text.")
    return number


def _fraction(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")) or Decimal(repr(number)) != Decimal(text):
        raise _Refused("A number has more digits than can be kept exactly; send it as a text.")
    return number


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Refused("A member stands twice in one object.")
    return members
