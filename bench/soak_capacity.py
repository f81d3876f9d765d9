"""Capacity: how many requests a second a server sustains, found by offering it rates.

Callers who ask again at once tell what a server answers at most. That is saturation: at such a rate
every disturbance makes a queue that never goes away again. What a server sustains is less: the
highest rate, whether or not it keeps up, at which hardly anyone waits long.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.client import BadAnswer
from bench.soak_callers import Log, call, percentile
from bench.soak_traffic import Ask

BOUND_MS = 100.0
"""The longest that all but one of a hundred may wait: what a person still takes for at once."""
_WARM_SECONDS = 3.0
_HALVINGS = 5
_TRIES = 2
_CONFIRMING = 3
"""For how many times as long a rate has to hold that was found."""
_LESS = 0.9

Say = Callable[[str], None]
Offer = Callable[[float, float], float]
"""Takes a rate and for how many seconds it is offered; returns the p99 in milliseconds."""


class Unsustained(Exception):
    """There is no rate at which waiting stays under the bound."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """Requests a second: with callers who never pause, and with waiting under the bound."""

    saturation: float
    sustained: float


def measure(port: int, asks: Sequence[Ask], seconds: float, bound_ms: float, say: Say) -> Capacity:
    """Find what a server sustains; each rate is offered for some seconds."""

    def offer(rate: float, seconds: float) -> float:
        p99 = percentile(_asked(port, asks, seconds, rate).waited, 99)
        say(f"  {rate:,.1f} requests a second for {seconds:g} s: p99 {p99:,.1f} ms")
        return p99

    _asked(port, asks, min(seconds, _WARM_SECONDS), None)
    most = len(_asked(port, asks, seconds, None).waited) / seconds
    say(f"Looking for the capacity, up to {most:,.1f} requests a second")
    return Capacity(most, sustained(offer, most, seconds, bound_ms))


def sustained(offer: Offer, most: float, seconds: float, bound_ms: float) -> float:
    """Return the highest rate at which the p99 is under a bound, and stays so for longer.

    A rate that seems too high is offered once more before that is believed: something else may
    have run beside it.
    """
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        if any(offer(rate, seconds) <= bound_ms for _ in range(_TRIES)):
            low = rate
        else:
            high = rate
    least = most / 2**_HALVINGS
    while low >= least:
        if offer(low, _CONFIRMING * seconds) <= bound_ms:
            return low
        low *= _LESS
    raise Unsustained(
        f"even at {least:,.1f} requests a second one of a hundred takes longer than {bound_ms:g} ms"
    )


def _asked(port: int, asks: Sequence[Ask], seconds: float, rate: float | None) -> Log:
    log = Log()
    call(port, asks, seconds, rate, lambda _, waited, error: log.add(waited, error))
    if log.errors:
        raise BadAnswer(f"while the capacity was measured: {log.errors[0]}")
    return log
