"""The chain of receipts: each hash covers the one before it, and a seal covers both ends."""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import orjson

NOTHING = bytes(32)
"""What the first receipt of all follows."""

MOST_PROBLEMS = 20
_PURPOSE = b"pdpp receipts"


class ChainHead(NamedTuple):
    """Both ends of the chain: the first receipt kept and what it follows, the last and its hash."""

    first: int = 1
    before: bytes = NOTHING
    last: int = 0
    hash: bytes = NOTHING


class ChainLink(NamedTuple):
    """Receipts that were written together, as they stand in the file.

    ``length`` is None if it is unknown, and ``follows`` tells whether the hash is the one
    to come after another. ``tampering`` is what one of them says about the log itself.
    """

    length: int | None
    last: int
    hash: bytes
    follows: Callable[[bytes], bool]
    tampering: str | None = None


def sealing_key(secret: bytes) -> bytes:
    """Return the key that seals the ends of a store's chain."""
    return hmac.digest(secret, _PURPOSE, "sha256")


def seal(head: ChainHead, key: bytes) -> bytes:
    """Return what only the holder of the key can say about both ends."""
    ends = f"{head.first}:{head.before.hex()}:{head.last}:{head.hash.hex()}"
    return hmac.digest(key, ends.encode(), "sha256")


def is_sealed(head: ChainHead, key: bytes, stored_seal: bytes) -> bool:
    """Tell whether a seal was made by the holder of the key for these ends."""
    # In constant time, as for every value that only the holder of a key can make.
    return hmac.compare_digest(seal(head, key), stored_seal)


def link(before: bytes, last: int, latest: int, events: int, content: bytes) -> bytes:
    """Return the hash of a batch that follows other receipts and ends with a number."""
    # The hash before has a fixed length and the numbers end with a bracket, so no content can pose
    # as a part of them.
    digest = hashlib.sha256(before + orjson.dumps((last, latest, events)))
    digest.update(content)
    return digest.digest()


def problems(links: Iterable[ChainLink], head: ChainHead) -> Iterator[str]:
    """Yield what is wrong with a chain that should reach from one end to the other."""
    number, before = head.first - 1, head.before
    for link in links:
        # A batch of unknown length is taken to begin where it must; its hash still says whether it
        # follows.
        first = number + 1 if link.length is None else link.last - link.length + 1
        if first != number + 1:
            yield _missing(number + 1, first - 1)
        elif not link.follows(before):
            yield _changed(first, link.last)
        if link.tampering is not None:
            yield f"receipt {link.last} tells of tampering: {link.tampering}"
        number, before = link.last, link.hash
    if number < head.last:
        yield _missing(number + 1, head.last)
    elif number > head.last:
        yield f"receipts {head.last + 1} to {number} were added from outside"
    elif before != head.hash:
        yield f"the end of the log is another than receipt {number}"


def _missing(first: int, last: int) -> str:
    if last < first:
        return f"receipt {last + 1} is where another belongs"
    return f"receipt {first} is missing" if first == last else f"receipts {first} to {last} missing"


def _changed(first: int, last: int) -> str:
    if first >= last:
        return f"receipt {last} was changed, or the one it follows was"
    return f"receipts {first} to {last} were changed, or the one they follow was"
