"""Visits: a worker opens owners whom nobody visits for as long as their jobs take."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Protocol

log = logging.getLogger("pdpp.owners")

MOST_VISITS = 4
"""How many owners a worker has open for their jobs alone; few, so that requests come first."""
_LOOK_SECONDS = 5.0
_SOON_SECONDS = 1.0
"""How soon is looked again while there is work."""


class WaitingOwners(Protocol):
    """Tells which owners have jobs that nobody does."""

    def take(self, most: int) -> list[str]:
        """Return some owners with overdue work; no other worker is sent to them for a while."""
        ...

    def busy(self, names: Collection[str]) -> set[str]:
        """Return those of some owners for whom a job runs, or is still to be taken."""
        ...


class JobVisits:
    """Opens a few owners at a time, and closes each when its work is done."""

    def __init__(
        self,
        waiting: WaitingOwners,
        open_owner: Callable[[str], Awaitable[object]],
        close_owner: Callable[[str], Awaitable[None]],
        most: int = MOST_VISITS,
    ) -> None:
        self._waiting = waiting
        self._open_owner = open_owner
        self._close_owner = close_owner
        self._most = most
        self._visited: set[str] = set()

    async def run(self) -> None:
        """Look for work until the task is cancelled."""
        while True:
            try:
                await self.look()
            except Exception:
                log.exception("looking for owners with work failed; trying again")
            await asyncio.sleep(_SOON_SECONDS if self._visited else _LOOK_SECONDS)

    async def look(self) -> None:
        """End the visits whose work is done, and begin others."""
        busy = await asyncio.to_thread(self._waiting.busy, frozenset(self._visited))
        for name in self._visited - busy:
            self._visited.discard(name)
            await self._close_owner(name)
        room = self._most - len(self._visited)
        if room <= 0:
            return
        for name in await asyncio.to_thread(self._waiting.take, room):
            try:
                await self._open_owner(name)
            except Exception:
                # One whose move was interrupted, for example; the others have their turn.
                log.exception("an owner with work could not be opened")
            else:
                self._visited.add(name)
