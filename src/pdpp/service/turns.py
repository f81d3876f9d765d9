"""Turns: how many requests of one caller are at work at once; its others wait."""

import asyncio
from weakref import WeakValueDictionary


class Turns:
    """Gives the turns of each caller; a loop with hundreds of one caller's tasks serves nobody."""

    def __init__(self, most: int) -> None:
        self._most = most
        # Kept by the requests that are at work or wait, and by nothing else.
        self._of_caller: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, caller: str) -> asyncio.Semaphore:
        """Return what a request of a caller holds while it is at work."""
        turns = self._of_caller.get(caller)
        if turns is None:
            turns = self._of_caller[caller] = asyncio.Semaphore(self._most)
        return turns
