"""Variants: values of mixed types as bytes that sort as the embedded engine sorts the values.

A cell holds a number, a text, or nothing; numbers come first, then texts, then blobs, of which the
empty one stands for nothing. PostgreSQL has no column of mixed types, so such a column is a
``BYTEA`` whose bytes compare as the values do:

    number  01, the nearest double with its bits turned so that they sort, and how far a whole
            number is from that double
    text    02, its UTF-8
    blob    03, its bytes

Whole numbers and fractions of the same value are the same bytes, as they are equal to each other.
"""

import struct
from collections.abc import Sequence
from typing import Any

INDEXED_BYTES = 2_000
_LONGER = b"\0"
"""Ends what an index has of a longer value.

It then stands after the value that ends there, and before every other that is greater.
"""

_NUMBER, TEXT_KIND, _BLOB = b"\x01", b"\x02", b"\x03"
EXACT = 1 << 53
"""Up to here a double is every whole number."""
_SIGN = 1 << 63
_ALL = (1 << 64) - 1
_MIDDLE = 1 << 15
_WHOLE = 2.0**63

_double_bits = struct.Struct(">d")
_unsigned = struct.Struct(">Q")
_number = struct.Struct(">cQH")


def encode(value: Any) -> bytes | None:
    """Return the bytes that stand for a value; None stays what it is."""
    if type(value) is str:
        return TEXT_KIND + value.encode()
    if value is None:
        return None
    if isinstance(value, bytes | bytearray | memoryview):
        return _BLOB + bytes(value)
    nearest = float(value) + 0.0  # no negative zero
    (bits,) = _unsigned.unpack(_double_bits.pack(nearest))
    turned = bits ^ _ALL if bits & _SIGN else bits | _SIGN
    rest = value - int(nearest) if isinstance(value, int) else 0
    return _number.pack(_NUMBER, turned, _MIDDLE + rest)


def encoded_numbers(values: Sequence[int]) -> list[bytes]:
    """Return the bytes that stand for whole numbers from 0 to ``EXACT``, all of them at once."""
    count = len(values)
    doubles = struct.unpack(f">{count}Q", struct.pack(f">{count}d", *values))
    return [_number.pack(_NUMBER, bits | _SIGN, _MIDDLE) for bits in doubles]


def index_key(value: Any) -> bytes | None:
    """Return the bytes that stand for a value in an index, which has room for so many only.

    A longer text is its beginning: it compares with every shorter one as the whole does. Of two
    longer ones with the same beginning ``beyond_index`` decides.
    """
    whole = encode(value)
    if whole is None or len(whole) <= INDEXED_BYTES:
        return whole
    return whole[:INDEXED_BYTES] + _LONGER


def beyond_index(value: Any) -> bytes:
    """Return all bytes of a value that an index has the beginning of; none where it has all."""
    whole = encode(value)
    return b"" if whole is None or len(whole) <= INDEXED_BYTES else whole


def decode(stored: bytes | None) -> Any:
    """Return the value that bytes stand for; a number without a fraction comes back whole."""
    if stored is None:
        return None
    kind = stored[:1]
    if kind == TEXT_KIND:
        return str(stored[1:], "utf-8")
    if kind == _BLOB:
        return bytes(stored[1:])
    _, turned, rest = _number.unpack(stored)
    bits = turned ^ _SIGN if turned & _SIGN else turned ^ _ALL
    nearest: float = _double_bits.unpack(_unsigned.pack(bits))[0]
    if nearest.is_integer() and -_WHOLE <= nearest <= _WHOLE:
        whole = int(nearest) + rest - _MIDDLE
        return whole if -_SIGN <= whole < _SIGN else nearest
    return nearest
