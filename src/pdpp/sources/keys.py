"""Keys: names of records that stay the same in every export of the same thing."""

import hashlib
from collections import OrderedDict

from pdpp.evidence.handle import key_problem

_DIGEST_CHARS = 32
_MOST_GROUPS = 64
_MOST_THINGS = 200_000


def digest_key(*parts: str | bytes) -> str:
    """Return a key made of content, for things that have no id of their own."""
    digest = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return digest.hexdigest()[:_DIGEST_CHARS]


def safe_key(*parts: str) -> str:
    """Return the parts joined by a dot, or a digest of them where a handle could not carry that."""
    key = ".".join(parts)
    return key if key_problem(key) is None and key == key.strip() else digest_key(*parts)


class SeenKeys:
    """Tells of each thing whether it comes for the first time.

    Only so many are remembered, so that memory stays bounded; then all are forgotten.
    """

    def __init__(self, most: int = 500_000) -> None:
        self._most = most
        self._seen: set[str] = set()

    def first(self, thing: str) -> bool:
        """Tell whether a thing was not seen before, and remember it."""
        if thing in self._seen:
            return False
        if len(self._seen) >= self._most:
            self._seen.clear()
        self._seen.add(thing)
        return True


class Ordinals:
    """Numbers equal things within a group, such as a minute or a day, in the order they come.

    Only the latest groups and things are remembered, so that memory stays bounded.
    """

    def __init__(self) -> None:
        self._groups: OrderedDict[str, dict[str, int]] = OrderedDict()

    def number(self, group: str, thing: str) -> int:
        """Return how often a thing was seen in its group, this time included."""
        counts = self._groups.setdefault(group, {})
        self._groups.move_to_end(group)
        if len(self._groups) > _MOST_GROUPS:
            self._groups.popitem(last=False)
        counts[thing] = number = counts.pop(thing, 0) + 1
        if len(counts) > _MOST_THINGS:
            del counts[next(iter(counts))]
        return number

    def key(self, group: str, *parts: str) -> str:
        """Return a key from content, with its number where the same content came before."""
        digest = digest_key(group, *parts)
        number = self.number(group, digest)
        return digest if number == 1 else f"{digest}-{number}"
