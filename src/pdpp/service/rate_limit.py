"""Rate limits: how many requests one caller may make."""

import math
from collections import OrderedDict
from collections.abc import Callable

from pdpp.evidence.amount import wait_in_words
from pdpp.model.errors import RateLimitExceeded
from pdpp.store.limits import SharedLimits

_MOST = 10_000
_PARTS = 10
_PART_SECONDS = 1.0
"""How long a worker may keep a part of a burst that it does not use."""


class RateLimiter:
    """A bucket for each caller, which fills at a steady rate and holds a burst.

    A caller is a grant, a package or, where nobody is known yet, an address. Where workers share
    their limits, each takes a part of a burst at a time, so that few requests ask the database.
    """

    def __init__(
        self,
        rate: float,
        burst: int,
        clock: Callable[[], float],
        whose: str = "under this grant",
        shared: SharedLimits | None = None,
        name: str = "requests",
    ) -> None:
        """``name`` tells the buckets of this limit from those of others that are shared."""
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._whose = whose
        self._shared = shared
        self._name = name
        self._taken: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Take one request from a caller's bucket, or refuse with the time until there is one."""
        if self._rate <= 0:
            return
        if self._shared is not None:
            self._take_shared(self._shared, caller)
            return
        now = self._clock()
        # Taken out and put back as the last: the first is then the caller that was silent longest.
        level, at = self._levels.pop(caller, (float(self._burst), now))
        level = min(float(self._burst), level + (now - at) * self._rate)
        allowed = level >= 1
        self._levels[caller] = (level - 1 if allowed else level, now)
        # A forgotten caller begins again with a full bucket, so it gains one burst at most.
        if len(self._levels) > _MOST:
            self._levels.popitem(last=False)
        if not allowed:
            raise self._refusal((1 - level) / self._rate)

    def _take_shared(self, shared: SharedLimits, caller: str) -> None:
        now = self._clock()
        left, until = self._taken.pop(caller, (0, now))
        if not left or now > until:
            part = max(1, self._burst // _PARTS)
            left, wait = shared.take(f"{self._name} {caller}", part, self._rate, self._burst)
            until = now + _PART_SECONDS
            if not left:
                raise self._refusal(wait)
        self._taken[caller] = (left - 1, until)
        if len(self._taken) > _MOST:
            self._taken.popitem(last=False)

    def _refusal(self, seconds: float) -> RateLimitExceeded:
        wait = math.ceil(seconds)
        return RateLimitExceeded(
            f"Too many requests {self._whose}; retry in {wait_in_words(wait)}.",
            headers={"Retry-After": str(wait)},
        )
