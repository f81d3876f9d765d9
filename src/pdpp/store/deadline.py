"""How long a read may take."""

import time


class DeadlinePassed(Exception):
    """A read used up its time; nothing was answered."""


class Timer:
    """A deadline some seconds from now, or after so many bytes of large records."""

    def __init__(self, seconds: float, most_bytes: int | None = None) -> None:
        self._end = time.monotonic() + seconds
        self._bytes_left = most_bytes

    def passed(self) -> bool:
        """Tell whether the time is up."""
        return time.monotonic() > self._end

    def left(self) -> float:
        """Return how many seconds are left."""
        return max(0.0, self._end - time.monotonic())

    def take(self, size: int) -> None:
        """Count the bytes of a large record that was read; raise where they are too many."""
        if self._bytes_left is not None:
            self._bytes_left -= size
            if self._bytes_left < 0:
                raise DeadlinePassed
