"""Throttles: guesses at a secret cost more and more time, from one address and in total."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from pdpp.model.errors import RateLimitExceeded
from pdpp.model.instant import SECOND, Clock

_HOUR = 3_600 * SECOND


@dataclass(frozen=True, slots=True)
class GuessPace:
    """How many guesses are free, and how long the pause after many of them gets."""

    free: int
    longest: int

    def pause(self, guesses: int) -> int:
        """Return how long to wait after so many guesses; each doubles the pause."""
        beyond = guesses - self.free
        return 0 if beyond < 0 else min(self.longest, SECOND << min(beyond, 40))


ADDRESS = GuessPace(free=5, longest=900 * SECOND)
TOTAL = GuessPace(free=30, longest=60 * SECOND)


@dataclass(slots=True)
class _Tally:
    guesses: int = 0
    until: int = 0


class Throttle:
    """Counts guesses; a guess counts before it is checked, so that many at once gain nothing."""

    def __init__(
        self,
        clock: Clock,
        each: GuessPace = ADDRESS,
        total: GuessPace = TOTAL,
        *,
        most: int = 1_024,
    ) -> None:
        self._clock = clock
        self._each_pace, self._total_pace = each, total
        self._longest = max(each.longest, total.longest)
        self._most = most
        self._total = _Tally()
        self._tallies: OrderedDict[str, _Tally] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, address: str) -> None:
        """Count a guess from an address, or refuse it with the time to wait."""
        now = self._clock()
        with self._lock:
            tally = self._tally(network(address))
            wait = max(self._waiting(tally, now), self._waiting(self._total, now))
            if wait:
                seconds = -(-wait // SECOND)
                raise RateLimitExceeded(
                    f"Too many wrong tries; try again in {seconds} s.",
                    headers={"Retry-After": str(seconds)},
                )
            for counted, pace in ((tally, self._each_pace), (self._total, self._total_pace)):
                counted.guesses += 1
                counted.until = now + pace.pause(counted.guesses)

    def forgive(self, address: str) -> None:
        """Forget the guesses of an address after a right one."""
        with self._lock:
            self._tallies.pop(network(address), None)
            self._total.guesses -= 1
            self._total.until = min(self._total.until, self._clock())

    def _tally(self, network: str) -> _Tally:
        tally = self._tallies.setdefault(network, _Tally())
        self._tallies.move_to_end(network)
        if len(self._tallies) > self._most:
            self._tallies.popitem(last=False)
        return tally

    def _waiting(self, tally: _Tally, now: int) -> int:
        """Return how long a tally still pauses; one that rested for an hour begins anew.

        So does one whose pause lies further ahead than any lasts: the clock was set back.
        """
        if now - tally.until > _HOUR or tally.until - now > self._longest:
            tally.guesses, tally.until = 0, now
        return max(0, tally.until - now)


def network(address: str) -> str:
    """Return what stands for one guesser: an IPv6 address counts with its whole network."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return str(IPv6Address(int(parsed) >> 64 << 64))
    return str(parsed)
