"""Per caller: what the requests of one caller share while some of them are under way."""

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class PerCaller(Generic[T]):
    """Makes one thing for each caller, such as its turns, and forgets it after the last request."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        # Kept by the requests that are at work or wait.
        self._made: WeakValueDictionary[str, T] = WeakValueDictionary()
        self._last: T | None = None
        """What was asked for last: an agent asks one thing after the other."""

    def of(self, caller: str) -> T:
        """Return what a caller's requests share; hold it as long as a request is under way."""
        made = self._made.get(caller)
        if made is None:
            made = self._made[caller] = self._make()
        self._last = made
        return made
