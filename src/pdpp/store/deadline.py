"""How long a read may take."""

import time


class DeadlinePassed(Exception):
    """A read used up its time; nothing was answered."""


class Timer:
    """A deadline some seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def passed(self) -> bool:
        """Tell whether the time is up."""
        return time.monotonic() > self._end
