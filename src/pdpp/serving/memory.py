"""Memory: how this process takes memory from the C library and gives it back."""

import ctypes
from contextlib import suppress

_MOST_POOLS = -8
"""What the C library calls ``M_ARENA_MAX``."""

_KEEP_FREE, _TAKE_MORE, _MAP_FROM = -1, -2, -3
"""What it calls ``M_TRIM_THRESHOLD``, ``M_TOP_PAD`` and ``M_MMAP_THRESHOLD``."""

_KEPT_BYTES = 64 << 20
_MORE_BYTES = 4 << 20
_MAPPED_BYTES = 32 << 20
"""The largest that the C library takes for ``M_MMAP_THRESHOLD``."""


def share_memory() -> None:
    """Let all threads take their memory from one pool, where the C library has one for each.

    What a thread gave back to a pool of its own is of no use to the others: with 16 callers a
    worker occupied up to 13 MB that nobody used. One thread at a time runs anyway.
    """
    _set(_MOST_POOLS, 1)


def keep_memory() -> None:
    """Keep memory that was given back, for a program that imports and then ends.

    The words of each batch are worked out in arrays. Given to the system and taken again, their
    pages are emptied by the system each time: a twelfth of what the thread that writes takes. Each
    thread has a pool of its own: with one for all, an import takes a seventh more.
    """
    _set(_KEEP_FREE, _KEPT_BYTES)
    _set(_TAKE_MORE, _MORE_BYTES)
    _set(_MAP_FROM, _MAPPED_BYTES)


def _set(setting: int, value: int) -> None:
    with suppress(AttributeError, OSError, TypeError):  # another C library has no such setting
        ctypes.CDLL(None).mallopt(setting, value)
