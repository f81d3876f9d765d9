"""Keys: names of records that stay the same in every export of the same thing.

A reader names records by what the export says: an id of the service, or a digest of content. Such
a name may hold or betray a field that a grant hides, so the writer seals every ``RecordKey``, as
the record's key and inside its data, with a secret of the store before anything is stored.
"""

import hashlib
import hmac
from collections import OrderedDict

from pdpp.evidence.handle import key_problem

_DIGEST_CHARS = 32
_SEALED_BYTES = 15
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
"""Two letters for each ten bits. The library's base32 takes longer than the hash before it."""
_SHIFTS = range(8 * _SEALED_BYTES - 10, -1, -10)
_MOST_SEALED = 50_000
_MOST_GROUPS = 64
_MOST_THINGS = 200_000


class RecordKey(str):
    """The name of a record as its export gives it, before it is sealed."""

    __slots__ = ()


class KeySealer:
    """Turns the names of one source's records into keys that tell nothing.

    A sealed key is an HMAC under a secret of the store: the same name gives the same key in every
    import, and nobody without the secret can check a guess of what it was made from.
    """

    def __init__(self, secret: bytes, connector_key: str) -> None:
        # A secret of its own for each source: the same name in two of them gives keys that nobody
        # can connect.
        self._secret = hmac.digest(secret, f"pdpp import {connector_key}".encode(), "sha256")
        self._sealed: dict[str, str] = {}

    def seal(self, name: str) -> str:
        """Return the key for a name: 24 small letters and digits, 120 bits."""
        sealed = self._sealed.get(name)
        if sealed is None:
            # Names come in runs (a chat, its messages), so that what is forgotten at once is soon
            # known again.
            if len(self._sealed) >= _MOST_SEALED:
                self._sealed.clear()
            content = hmac.digest(self._secret, name.encode("utf-8", "surrogatepass"), "sha256")
            number = int.from_bytes(content[:_SEALED_BYTES], "big")
            sealed = "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])
            self._sealed[name] = sealed
        return sealed

    def seal_data(self, data: dict[str, object]) -> None:
        """Seal the members of a record that name records."""
        for name, value in data.items():
            if type(value) is RecordKey:
                data[name] = self.seal(value)


def digest_key(*parts: str | bytes) -> RecordKey:
    """Return a key made of content, for things that have no id of their own."""
    digest = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        # With its length before it, so that ("ab", "c") and ("a", "bc") are two things.
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return RecordKey(digest.hexdigest()[:_DIGEST_CHARS])


def safe_key(*parts: str) -> RecordKey:
    """Return the parts joined by a dot, or a digest of them where a handle could not carry that."""
    key = ".".join(parts)
    if key_problem(key) is None and key == key.strip():
        return RecordKey(key)
    return digest_key(*parts)


class SeenKeys:
    """Tells of each thing whether it comes for the first time.

    Only so many are remembered, so that memory stays bounded; then all are forgotten.
    """

    def __init__(self, most: int = 500_000) -> None:
        self._most = most
        self._seen: set[str] = set()

    def first(self, key: str) -> bool:
        """Tell whether a thing was not seen before, and remember it."""
        if key in self._seen:
            return False
        if len(self._seen) >= self._most:
            self._seen.clear()
        self._seen.add(key)
        return True


class Ordinals:
    """Numbers equal things within a group, such as a minute or a day, in the order they come.

    Only the latest groups and things are remembered, so that memory stays bounded.
    """

    def __init__(self) -> None:
        self._groups: OrderedDict[str, dict[str, int]] = OrderedDict()

    def number(self, group: str, key: str) -> int:
        """Return how often a thing was seen in its group, this time included."""
        counts = self._groups.setdefault(group, {})
        self._groups.move_to_end(group)
        if len(self._groups) > _MOST_GROUPS:
            self._groups.popitem(last=False)
        counts[key] = number = counts.pop(key, 0) + 1
        if len(counts) > _MOST_THINGS:
            del counts[next(iter(counts))]
        return number

    def key(self, group: str, *parts: str) -> RecordKey:
        """Return a key from content, with its number where the same content came before."""
        digest = digest_key(group, *parts)
        number = self.number(group, digest)
        return digest if number == 1 else RecordKey(f"{digest}-{number}")
