"""Heads: the beginnings of files, kept while every source looks at them.

Each of some forty sources looks at the beginning of each file that could be its own. Of an archive
that means to unpack the same bytes again and again.
"""

from collections.abc import Callable
from typing import BinaryIO

HEAD_BYTES = 1 << 16
_MOST_BYTES = 16 << 20

Opener = Callable[[], BinaryIO]


class HeadCache:
    """Keeps beginnings of files, by what opens them: one name may be read packed and unpacked.

    Those that came first stay. The sources go through all files in turn, so whichever was let go
    would be the next one asked for.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._left = self._most_bytes = most_bytes
        self._heads: dict[Opener, bytes] = {}

    @property
    def has_room(self) -> bool:
        """Tell whether one more beginning can be kept."""
        return self._left >= HEAD_BYTES

    def get(self, opener: Opener) -> bytes | None:
        """Return the beginning of a file, None where it is not kept."""
        return self._heads.get(opener)

    def keep(self, opener: Opener, head: bytes) -> None:
        """Keep the beginning of a file."""
        self._heads[opener] = head
        self._left -= len(head)

    def clear(self) -> None:
        """Forget all of them."""
        self._heads.clear()
        self._left = self._most_bytes
