"""How long a read may take."""

import time
from typing import Protocol


class Deadline(Protocol):
    """How long a read may take and how much it may read; the store asks it as it goes."""

    def passed(self) -> bool: ...
    def left(self) -> float:
        """Return how many seconds are left, so that a database can end a statement by itself."""
        ...

    def take(self, size: int) -> None:
        """Count the bytes of a large record; raise ``DeadlinePassed`` where they are too many."""
        ...


class DeadlinePassed(Exception):
    """A read used up its time; nothing was answered."""


class Timer:
    """A deadline some seconds from now, or after so many bytes of large records."""

    def __init__(self, seconds: float, most_bytes: int | None = None) -> None:
        self._seconds = seconds
        self._bytes_left = most_bytes
        self._is_ended = False
        self.begin()

    def begin(self) -> None:
        """Count the seconds from now."""
        self._end = time.monotonic() + self._seconds

    def end(self) -> None:
        """Let the time be up, for whichever thread looks at it, because nobody waits any more."""
        self._is_ended = True

    def passed(self) -> bool:
        """Tell whether the time is up."""
        return self._is_ended or time.monotonic() > self._end

    def left(self) -> float:
        """Return how many seconds are left."""
        return max(0.0, self._end - time.monotonic())

    def take(self, size: int) -> None:
        """Count the bytes of a large record that was read; raise where they are too many."""
        if self._bytes_left is not None:
            self._bytes_left -= size
            if self._bytes_left < 0:
                raise DeadlinePassed
