"""Rate limits: how many requests one caller may make."""

import math
from collections import OrderedDict
from collections.abc import Callable

from pdpp.model.errors import RateLimitExceeded

_MOST = 10_000


class RateLimiter:
    """A bucket for each caller, which fills at a steady rate and holds a burst.

    A caller is a grant, a package or, where nobody is known yet, an address.
    """

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float], whose: str = "under this grant"
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._whose = whose
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Take one request from a caller's bucket, or refuse with the time until there is one."""
        if self._rate <= 0:
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
            wait = math.ceil((1 - level) / self._rate)
            raise RateLimitExceeded(
                f"Too many requests {self._whose}; retry in {wait} s.",
                headers={"Retry-After": str(wait)},
            )
