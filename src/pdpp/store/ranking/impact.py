"""Impacts: how strongly a term marks one field of one record, from that field's words alone.

An impact is a number from 1 to 255. It depends on how often the term stands in the field and on how
long the field is, and on nothing else: no other field, record or stream can change it.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

LARGEST = 255
TOP = 1.9
"""The largest value an impact stands for: 1 + the saturation."""

_SATURATION = 0.9
_LENGTH_PART = 0.4
_USUAL_LENGTH = 30
_OFTEN = 16


def impacts_of(terms: Sequence[str]) -> tuple[tuple[str, ...], bytes]:
    """Return the distinct terms of a field, and the impact of each."""
    counts = Counter(terms)
    table = _by_count(len(terms))
    if len(counts) == len(terms):
        return tuple(counts), table[1:2] * len(counts)
    try:
        return tuple(counts), bytes(map(table.__getitem__, counts.values()))
    except IndexError:
        return tuple(counts), bytes(_impact(count, len(terms)) for count in counts.values())


@lru_cache(maxsize=4_096)
def _by_count(length: int) -> bytes:
    """Return the impacts of terms in a field of some length, by how often they stand there."""
    return bytes((0, *(_impact(count, length) for count in range(1, _OFTEN + 1))))


def _impact(count: int, length: int) -> int:
    damping = _SATURATION * (1 - _LENGTH_PART + _LENGTH_PART * length / _USUAL_LENGTH)
    return round(LARGEST * count / (count + damping)) or 1
