"""SlowClientGuard: how long a server waits for a caller who is slow, and how many callers it holds.

A caller has to send its request and take its answer at some pace, however low, and a connection on
which nothing was ever asked is let go. A server that is at work on an answer is never hurried.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import uvicorn

from pdpp.serving.framing import BoundedProtocol

log = logging.getLogger("pdpp.slow_clients")

SECONDS = 30.0
LEAST_BYTES = 8_192
"""What a caller has to send or take in that time, unless it is done before."""
MOST_CONNECTIONS = 10_000
_SPARE_FILES = 256
"""Open files that are left to the store, however many callers there are."""
_FEWEST_CONNECTIONS = 64
_TICKS = 10
"""The server ticks ten times a second; callers are looked at once."""


class ClientConnection(BoundedProtocol):
    """One connection, which counts what comes in and how often what goes out was taken."""

    taken = 0
    relieved = 0

    def data_received(self, data: bytes) -> None:
        """Take what came in."""
        self.taken += len(data)
        super().data_received(data)

    def resume_writing(self) -> None:
        """Go on with an answer of which enough was taken."""
        self.relieved += 1
        super().resume_writing()

    @property
    def is_idle(self) -> bool:
        """Tell whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def unsent(self) -> int:
        """Return how many bytes of answers the caller has not taken yet."""
        return self.transport.get_write_buffer_size()

    @property
    def is_waited_for(self) -> bool:
        """Tell whether it is the caller's turn to send or to take something."""
        return self.is_idle or self.unsent > 0 or self.cycle.more_body

    def cut(self) -> None:
        """End the connection at once."""
        # First tell whoever computes the answer, then drop the bytes: an abort alone would be
        # noticed only at the next write.
        self.give_up()
        self.transport.abort()


class _Progress(NamedTuple):
    """How far a connection was at a moment."""

    at: float
    cycle: object
    taken: int
    relieved: int
    unsent: int

    def is_passed_by(self, later: "_Progress", least: int) -> bool:
        """Tell whether enough has happened since."""
        return (
            # A new request, or a write buffer that drained, is progress whatever its size: only a
            # caller who neither asks nor takes is slow.
            later.cycle is not self.cycle
            or later.relieved != self.relieved
            or later.taken - self.taken >= least
            or self.unsent - later.unsent >= least
        )


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """How long nothing may happen on a connection, how little is nothing, how many there are."""

    seconds: float = SECONDS
    least_bytes: int = LEAST_BYTES
    connections: int = MOST_CONNECTIONS


class SlowClientGuard:
    """Looks at the connections now and then, and ends those that keep it waiting."""

    def __init__(self, limits: ClientLimits) -> None:
        self._limits = limits
        self._marks: dict[ClientConnection, _Progress] = {}

    def look(self, lines: Collection[ClientConnection], now: float) -> None:
        """End connections that have not moved for too long, and those above the limit."""
        kept: dict[ClientConnection, _Progress] = {}
        for line in lines:
            mark = self._marked(line, now)
            if now - mark.at >= self._limits.seconds:
                log.info("a caller kept the server waiting and was cut off")
                line.cut()
            else:
                kept[line] = mark
        self._marks = kept
        self._make_room(kept)

    def _marked(self, line: ClientConnection, now: float) -> _Progress:
        """Return since when a connection has not moved."""
        current = _Progress(now, line.cycle, line.taken, line.relieved, line.unsent)
        before = self._marks.get(line)
        moved = before is None or before.is_passed_by(current, self._limits.least_bytes)
        # While the server computes, the clock of the connection stands still: a search that takes
        # long must not look like a caller who is slow.
        return current if moved or not line.is_waited_for or before is None else before

    def _make_room(self, marks: dict[ClientConnection, _Progress]) -> None:
        """Close the connections that have been idle longest, if there are too many."""
        excess = len(marks) - self._limits.connections
        if excess <= 0:
            return
        # The id breaks ties, because connections have no order; one that is being answered is never
        # cut to make room.
        idle = sorted((mark.at, id(line), line) for line, mark in marks.items() if line.is_idle)
        log.warning("%d connections are more than are held; idle ones are let go", len(marks))
        for _, _, line in idle[:excess]:
            line.cut()


class GuardedServer(uvicorn.Server):
    """A server that looks after its connections once a second."""

    def __init__(self, config: uvicorn.Config, limits: ClientLimits | None = None) -> None:
        super().__init__(config)
        self._guard = SlowClientGuard(limits or ClientLimits(connections=most_connections()))

    async def on_tick(self, counter: int) -> bool:
        """Do what is due ten times a second."""
        if counter % _TICKS == 0:
            self._guard.look(_lines(self.server_state.connections), _now())
        return await super().on_tick(counter)


def _lines(connections: Iterable[object]) -> list[ClientConnection]:
    return [line for line in connections if isinstance(line, ClientConnection)]


def _now() -> float:
    return asyncio.get_running_loop().time()


def most_connections() -> int:
    """Return how many connections a process can hold, after asking for as many files as it may."""
    try:
        import resource
    except ImportError:  # pragma: no cover - there the number of files is not limited this way
        return MOST_CONNECTIONS
    wanted = MOST_CONNECTIONS + _SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = hard == resource.RLIM_INFINITY
    if soft < wanted and (unlimited or soft < hard):
        # A process may raise its soft limit up to the hard one without privileges.
        soft = wanted if unlimited else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(_FEWEST_CONNECTIONS, min(MOST_CONNECTIONS, soft - _SPARE_FILES))
