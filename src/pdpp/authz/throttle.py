"""Throttles: guesses at a secret cost more and more time, from one guesser and in total."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from pdpp.evidence.amount import wait_in_words
from pdpp.model.errors import RateLimitExceeded
from pdpp.model.instant import SECOND, Clock
from pdpp.store.limits import GuessCount, GuessCounts

_HOUR = 3_600 * SECOND


@dataclass(frozen=True, slots=True)
class GuessPace:
    """How many guesses are free, and how long the pause after many of them gets."""

    free: int
    longest: int

    def pause(self, guesses: int) -> int:
        """Return how long to wait after so many guesses; each doubles the pause."""
        beyond = guesses - self.free
        # The shift is bounded because the count is not: a guesser could otherwise make integers of
        # any size.
        return 0 if beyond < 0 else min(self.longest, SECOND << min(beyond, 40))


ADDRESS = GuessPace(free=5, longest=900 * SECOND)
TOTAL = GuessPace(free=30, longest=60 * SECOND)


_TOTAL = "*"
"""The name of the count of all guessers; no address and no browser is called so."""


class MemoryGuesses:
    """Keeps the counts of guessers in this process; those who guessed longest ago are forgotten."""

    def __init__(self, most: int = 1_024) -> None:
        self._most = most
        self._total = GuessCount()
        self._guessers: OrderedDict[str, GuessCount] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def guesses(self, names: Sequence[str]) -> Iterator[list[GuessCount]]:
        """Hold the counts of some names."""
        with self._lock:
            yield [self._total if name == _TOTAL else self._guesses(name) for name in names]

    def _guesses(self, guesser: str) -> GuessCount:
        guesses = self._guessers.setdefault(guesser, GuessCount())
        self._guessers.move_to_end(guesser)
        # The guesser that was seen longest ago goes, so that a flood of addresses cannot fill the
        # memory; the pace in total still slows the flood down.
        if len(self._guessers) > self._most:
            self._guessers.popitem(last=False)
        return guesses


class Throttle:
    """Counts guesses; a guess counts before it is checked, so that many at once gain nothing."""

    def __init__(
        self,
        clock: Clock,
        each: GuessPace = ADDRESS,
        total: GuessPace = TOTAL,
        *,
        counts: GuessCounts | None = None,
    ) -> None:
        """``counts`` are those that all workers share; without them this process keeps its own."""
        self._clock = clock
        self._each_pace, self._total_pace = each, total
        self._longest = max(each.longest, total.longest)
        self._counts = counts or MemoryGuesses()

    def take(self, guesser: str, *, known: bool = False) -> None:
        """Count a guess from an address or a known browser, or refuse it with the time to wait.

        A known browser has a count of its own and no part in the total: whatever strangers do, it
        is not slowed down, and guesses from there do not slow others down.
        """
        now = self._clock()
        names = [guesser] if known else [network(guesser), _TOTAL]
        with self._counts.guesses(names) as counts:
            wait = max(self._waiting(guesses, now) for guesses in counts)
            if wait:
                seconds = -(-wait // SECOND)
                raise RateLimitExceeded(
                    f"Too many wrong tries; try again in {wait_in_words(seconds)}.",
                    headers={"Retry-After": str(seconds)},
                )
            paces = (self._each_pace, self._total_pace)
            for guesses, pace in zip(counts, paces, strict=False):
                guesses.count += 1
                guesses.until = now + pace.pause(guesses.count)

    def forgive(self, guesser: str, *, known: bool = False) -> None:
        """Forget the guesses of an address or a known browser after a right one."""
        names = [guesser] if known else [network(guesser), _TOTAL]
        with self._counts.guesses(names) as counts:
            counts[0].count = counts[0].until = 0
            for total in counts[1:]:
                # Only one of the strangers' guesses is taken back: a right guess must not reset
                # what an attacker has used up at the same time.
                total.count -= 1
                total.until = min(total.until, self._clock())

    def _waiting(self, guesses: GuessCount, now: int) -> int:
        """Return how long a guesser still pauses; one that rested for an hour begins anew.

        So does one whose pause lies further ahead than any lasts: the clock was set back.
        """
        if now - guesses.until > _HOUR or guesses.until - now > self._longest:
            guesses.count, guesses.until = 0, now
        return max(0, guesses.until - now)


def network(address: str) -> str:
    """Return what stands for one guesser: an IPv6 address counts with its whole network."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    # A household or a rented machine has a whole /64 to choose addresses from.
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return str(IPv6Address(int(parsed) >> 64 << 64))
    return str(parsed)
