"""The chain of receipts: each hash covers the one before it, and a seal covers both ends."""

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

from pdpp.store.receipts import Event

NOTHING = bytes(32)
"""What the first receipt of all follows."""

MOST_PROBLEMS = 20
_PURPOSE = b"pdpp receipts"

Row = tuple[Any, ...]
"""A receipt as it is stored: its number, its columns, its hash."""


class Head(NamedTuple):
    """Both ends of the chain: the first receipt kept and what it follows, the last and its hash."""

    first: int = 1
    before: bytes = NOTHING
    last: int = 0
    hash: bytes = NOTHING


def sealing_key(secret: bytes) -> bytes:
    """Return the key that seals the ends of a store's chain."""
    return hmac.digest(secret, _PURPOSE, "sha256")


def seal(head: Head, key: bytes) -> bytes:
    """Return what only the holder of the key can say about both ends."""
    ends = f"{head.first}:{head.before.hex()}:{head.last}:{head.hash.hex()}"
    return hmac.digest(key, ends.encode(), "sha256")


def is_sealed(head: Head, key: bytes, found: bytes) -> bool:
    """Tell whether a seal was made by the holder of the key for these ends."""
    return hmac.compare_digest(seal(head, key), found)


def link(before: bytes, number: int, columns: Row) -> bytes:
    """Return the hash of a receipt that follows another."""
    return hashlib.sha256(before + orjson.dumps((number, *columns))).digest()


def problems(rows: Iterable[Row], head: Head) -> Iterator[str]:
    """Yield what is wrong with a chain that should reach from one end to the other."""
    number, before = head.first - 1, head.before
    for found, *columns, stored in rows:
        if found != number + 1:
            yield _missing(number + 1, found - 1)
        elif not _follows(before, found, tuple(columns), stored):
            yield f"receipt {found} was changed, or the one it follows was"
        if columns[1] == Event.BROKEN:
            yield f"receipt {found} tells of tampering: {columns[-1]}"
        number, before = found, stored
    if number < head.last:
        yield _missing(number + 1, head.last)
    elif number > head.last:
        yield f"receipts {head.last + 1} to {number} were added from outside"
    elif before != head.hash:
        yield f"the end of the log is another than receipt {number}"


def _follows(before: bytes, number: int, columns: Row, stored: object) -> bool:
    try:
        return link(before, number, columns) == stored
    except TypeError:
        return False  # a value of a kind that is never written


def _missing(first: int, last: int) -> str:
    if last < first:
        return f"receipt {last + 1} is where another belongs"
    return f"receipt {first} is missing" if first == last else f"receipts {first} to {last} missing"
