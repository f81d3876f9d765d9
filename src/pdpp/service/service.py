"""The service: what everything that answers requests shares."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pdpp.authz.principal import Gate
from pdpp.meaning.encoder import LazyEncoder
from pdpp.model.instant import Clock
from pdpp.receipts.recorder import Recorder
from pdpp.service.cursor import Signer
from pdpp.service.rate_limit import RateLimiter
from pdpp.service.runner import Runner
from pdpp.service.settings import Settings
from pdpp.store.port import Store

VERSION = "2026-04-06"
"""The version of the protocol that this server speaks, sent with every answer."""

INNER = "pdpp.inner"
"""The member of a request's scope by which the hosted adapter marks its own reads."""

RECORD_PAGE = "/r/{connection_id}/{stream}/{record_id}"
"""Where a person opens the record that an answer cites."""


def new_request_id() -> str:
    """Return an id for one more request."""
    return f"req_{os.urandom(8).hex()}"


@dataclass(frozen=True, slots=True)
class Service:
    """The store and what stands around it; there is one for each process."""

    store: Store
    gate: Gate
    runner: Runner
    signer: Signer
    rate_limiter: RateLimiter
    settings: Settings
    clock: Clock
    recorder: Recorder
    encoder: LazyEncoder | None = None
    data: Path | None = None
    """The data folder, if the server has one."""
    new_request_id: Callable[[], str] = new_request_id

    async def get_ready(self, authorization: str | None) -> None:
        """Have a thread work out what a bearer reaches that ``takes_long``: others would wait."""
        # States are compared in one thread, so this one asks before and after.
        state = self.store.state()
        learnt = await self.runner.aside(lambda: self.gate.learn(authorization))
        if learnt is not None:
            self.gate.keep(authorization, learnt, state)
