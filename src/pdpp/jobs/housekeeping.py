"""Housekeeping: what a server does for its store while nobody waits."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from pdpp.authz.authority import Authority
from pdpp.model import instant
from pdpp.service.runner import Runner
from pdpp.service.settings import Settings
from pdpp.store.port import Store

_LOOK_SECONDS = 2.0
_PAUSE_SECONDS = 0.02
_HOUR_SECONDS = 3_600.0
_DAY_SECONDS = 86_400.0

log = logging.getLogger("pdpp.housekeeping")


class Housekeeper:
    """Puts the index together after writes, and drops in time what nobody can ask for any more."""

    def __init__(
        self, store: Store, runner: Runner, settings: Settings, clock: instant.Clock
    ) -> None:
        self._store = store
        self._runner = runner
        self._settings = settings
        self._clock = clock
        self._authority = Authority(store, clock, settings.lifetimes)
        self._tended: object = None

    async def keep(self) -> None:
        """Keep house until cancelled."""
        await asyncio.gather(
            self._every(_DAY_SECONDS, self.prune),
            self._every(_HOUR_SECONDS, self.sweep),
            self._every(_LOOK_SECONDS, self.tend),
        )

    async def _every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Do a piece of work again and again; a failure is logged and tried again later."""
        while True:
            try:
                await work()
            except Exception as problem:
                known = self._store.explain(problem) is not None
                message = "housekeeping failed; trying again in %s s"
                log.error(message, seconds, exc_info=not known)
            await asyncio.sleep(seconds)

    async def prune(self) -> None:
        """Drop the traces of what went away before any bookmark that is still good."""
        before = self._clock() - self._settings.bookmark_life
        await self._runner.write(partial(self._store.prune, before))

    async def sweep(self) -> None:
        """Forget codes, tokens, clients and uploads that have ended or never came to anything."""
        await self._runner.write(partial(self._store.sweep_blobs, self._clock() - instant.DAY))
        while await self._runner.write(self._authority.sweep):
            await asyncio.sleep(_PAUSE_SECONDS)

    async def tend(self) -> None:
        """Put the index together if there were writes and none came since the last look."""
        state = self._store.state()
        await asyncio.sleep(_LOOK_SECONDS)
        if state == self._tended or self._store.state() != state:
            return
        begin = True
        while await self._runner.write(partial(self._store.tend, begin=begin)):
            begin = False
            await asyncio.sleep(_PAUSE_SECONDS)
        self._tended = self._store.state()
