"""Numbers: which of a JSON text are kept exactly, so that none is ever changed in silence.

Whole numbers of 64 bits are kept as they are, fractions as the nearest binary number wherever that
reads back as the same decimal; with up to 15 digits it always does.
"""

import json
from decimal import Decimal
from typing import Any

import orjson

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
    """Tell whether a parsed text may have lost something: most have not.

    A text that is written again byte by byte as it came has lost nothing. Otherwise a member that
    stands twice leaves fewer members than there are colons after quotes; a text with spaces before
    its colons is looked at as well.
    """
    if _written(parsed) == text:
        return _has_huge(parsed)
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
