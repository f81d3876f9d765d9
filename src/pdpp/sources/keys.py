"""Keys: names of records that stay the same in every export of the same thing.

A reader names records by what the export says: an id of the service, or a digest of content. Such
a name may hold or betray a field that a grant hides, so the writer seals every ``RecordKey``, as
the record's key and inside its data, with a secret of the store before anything is stored.
"""

import hashlib
from binascii import b2a_base64
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from pdpp.evidence.handle import key_problem
from pdpp.sources.reading.jsontext import scrub

_DIGEST_CHARS = 32
_SEALED_BYTES = 15
"""So many bytes are whole groups of base64, without padding."""
_KEY_CHARS = 20
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_PLAIN = frozenset({int, bool, type(None)})
"""Types of which a value and what JSON makes of it are the same."""
_TEXT = frozenset({str})
_MEMBER_CHARS = 10
"""About what the name of a member takes in JSON, with quotes and marks."""
_MOST_SEALED = 50_000
_MOST_GROUPS = 64
_MOST_THINGS = 200_000


class RecordKey(str):
    """The name of a record as its export gives it, before it is sealed."""

    __slots__ = ()


_TEXTS = frozenset({str, RecordKey})


class KeySealer:
    """Turns the names of one source's records into keys that tell nothing.

    A sealed key is a keyed hash under a secret of the store: the same name gives the same key in
    every import, and nobody without the secret can check a guess of what it was made from.
    """

    def __init__(self, secret: bytes, connector_key: str) -> None:
        # BLAKE2b takes a key by itself. HMAC with SHA-256 takes five times as long for short names.
        # The source's name goes first: one name in two sources gives keys that nobody can connect.
        self._hash = hashlib.blake2b(key=secret[:64], digest_size=_SEALED_BYTES)
        self._hash.update(f"pdpp import {connector_key}\0".encode())
        self._named: dict[str, str] = {}

    def seal(self, name: str) -> str:
        """Return the key for a name: 20 letters, digits and marks, 120 bits."""
        return _written(self._digest(name))

    def _seal_all(self, names: Iterable[str]) -> list[str]:
        """Return the keys for some names, written at once."""
        text = _written(b"".join(map(self._digest, names)))
        return [text[start : start + _KEY_CHARS] for start in range(0, len(text), _KEY_CHARS)]

    def _digest(self, name: str) -> bytes:
        hashed = self._hash.copy()
        hashed.update(name.encode("utf-8", "surrogatepass"))
        return hashed.digest()

    def key_of(self, name: str) -> str:
        """Return the key of a record: sealed, or as it stands where it need not be."""
        key: str = self.seal(name) if type(name) is RecordKey else scrub(name)
        return key

    def seal_records(self, names: Sequence[str], records: Sequence[Any]) -> list[str]:
        """Seal the members of records that name records; return the keys of their own names."""
        seal_data = self.seal_data
        if set(map(type, names)) == {RecordKey}:
            keys = self._seal_all(names)
            # What names another record mostly names one that came just before it.
            self._remember(zip(names, keys, strict=True))
        else:
            keys = [*map(self.key_of, names)]
        for record, name, key in zip(records, names, keys, strict=True):
            if type(record) is dict:
                seal_data(record, name, key)
        return keys

    def seal_data(self, data: dict[str, Any], name: str, key: str) -> None:
        """Seal the members that name records, and with the record's own key its own name."""
        for member, value in data.items():
            if type(value) is RecordKey:
                data[member] = key if value is name else self._seal_named(value)

    def _seal_named(self, name: str) -> str:
        """Return the key for a name inside data: many records name the same one."""
        sealed = self._named.get(name)
        if sealed is None:
            sealed = self.seal(name)
            self._remember([(name, sealed)])
        return sealed

    def _remember(self, sealed: Iterable[tuple[str, str]]) -> None:
        if len(self._named) >= _MOST_SEALED:
            self._named.clear()
        self._named.update(sealed)


def _written(digests: bytes) -> str:
    """Return digests as the keys are written, one after the other."""
    return b2a_base64(digests, newline=False).translate(_URL_SAFE).decode()


def plain_copy(data: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return a copy that nobody else changes, and about how many characters it has.

    These are -1 where it holds what JSON may make something else of, or what is nested deeper than
    the lists and objects of texts that many records have, and only a deep copy would do.
    """
    copy = data.copy()
    size = _MEMBER_CHARS * len(data)
    for name, value in data.items():
        kind = type(value)
        if kind in _TEXTS:
            size += len(value)
        elif kind is list or kind is dict:
            texts = value if kind is list else (*value, *value.values())
            if not _TEXT.issuperset(map(type, texts)):
                return copy, -1
            copy[name] = value.copy()
            size += sum(map(len, texts), _MEMBER_CHARS * len(texts))
        elif kind not in _PLAIN and (kind is not float or value - value != 0):
            return copy, -1
    return copy, size


def digest_key(*parts: str | bytes) -> RecordKey:
    """Return a key made of content, for things that have no id of their own."""
    digest = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        # With its length before it, so that ("ab", "c") and ("a", "bc") are two things.
        digest.update(len(content).to_bytes(8, "big") + content)
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
