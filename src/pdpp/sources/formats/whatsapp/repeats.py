"""Repeats: what tells equal messages of one moment apart."""

from collections.abc import Iterable

from pdpp.sources.keys import Ordinals, RecordKey


class Repeats:
    """Numbers equal messages of one moment, the last of them first, and messages by their place.

    WhatsApp exports only the newest messages. A later export may begin between two equal ones, such
    as pictures, and has the last of them: counted from there, each has the number it had before.
    All messages are given beforehand, each by its moment and a digest of what it says.
    """

    def __init__(self, messages: Iterable[tuple[str, RecordKey]]) -> None:
        self._places, self._seen = Ordinals(), Ordinals()
        self._counts: dict[str, int] = {}
        before = Ordinals()
        for time, digest in messages:
            if (number := before.number(time, digest)) > 1:
                self._counts[digest] = max(number, self._counts.get(digest, 0))

    def place(self, time: str) -> int:
        """Return which of the messages of its moment the next one is."""
        return self._places.number(time, "")

    def key(self, time: str, digest: RecordKey) -> RecordKey:
        """Return the digest, with a number where more of the same follow."""
        left = self._counts.get(digest, 1) - self._seen.number(time, digest)
        return RecordKey(f"{digest}-{left + 1}") if left else digest
