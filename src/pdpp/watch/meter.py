"""The meter: counts of requests in plain memory, which several processes can share."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from threading import Lock
from typing import NamedTuple

OTHER = "other"
"""The route of a request for a path that is none of ours."""

LEFT = 499
"""The status of a request whose client left before there was an answer."""

METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS", OTHER)
STATUSES = (*(status.value for status in HTTPStatus), LEFT)
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""The seconds up to which a request falls into each bucket; a last bucket takes the rest."""

_MOST_ROUTES = 128
_ACCEPTED, _REJECTED, _BEGUN, _HEAD = 0, 1, 2, 4
_BUCKETS = len(METHODS) * len(STATUSES)
_FIRST = BOUNDS[0]  # most requests take no longer
_AFTER_BUCKETS = len(BOUNDS) + 1
_MICROSECONDS = _BUCKETS + _AFTER_BUCKETS
_ROUTE = _MICROSECONDS + 1
_METHOD_PLACE = {name: number * len(STATUSES) for number, name in enumerate(METHODS)}
_STATUS_PLACE = {status: number for number, status in enumerate(STATUSES)}
_FIRST_FAILURE = 500
_OTHER_METHOD, _FAILED = _METHOD_PLACE[OTHER], _STATUS_PLACE[500]

_Memory = memoryview | list[int]
_Words = tuple[int, int, int]
"""The words of a kind of request: how many there were, its first bucket, its microseconds."""

WORDS = _HEAD + _MOST_ROUTES * _ROUTE
"""How many words of 64 bits one meter takes."""


class Share(NamedTuple):
    """Where one process counts: its place in memory that all of a server have, and their start."""

    memory: memoryview | None = None
    place: int = 0
    started: int | None = None


class Answered(NamedTuple):
    """How many requests of one kind were answered in one way."""

    route: str
    method: str
    status: int
    times: int


class OwnCounts(NamedTuple):
    """What one process alone did: requests that ended, failures of ours, and requests under way."""

    requests: int
    failures: int
    in_flight: int


class Timed(NamedTuple):
    """How many requests for a route fell into each bucket, and their seconds together."""

    route: str
    buckets: tuple[int, ...]
    seconds: float


class Meter:
    """Counts what one process answers, and adds up what all of them did.

    The memory holds a meter for each process; only its own is written, so that no two processes
    write one word. Without shared memory the meter is the only one.
    """

    def __init__(self, share: Share | None = None) -> None:
        memory, place, _ = share or Share()
        # A process alone counts in a list, in half the time that memory which is shared takes.
        self._all: _Memory = memory or [0] * WORDS
        self._words = self._all if memory is None else memory[place * WORDS : (place + 1) * WORDS]
        # A worker that was killed leaves requests begun and never ended in its share; its successor
        # begins with as many as ended, so that none of those seems to wait for ever.
        self._words[_BEGUN] = self._ended(self._words)
        self._places = {OTHER: _HEAD}
        self._known: dict[tuple[str, str, int], _Words] = {}
        self._lock = Lock()

    def expect(self, routes: Iterable[str]) -> None:
        """Give each route a place; all processes of a server name the same ones in one order."""
        for route in routes:
            self._places.setdefault(route, _HEAD + len(self._places) * _ROUTE)
        if len(self._places) > _MOST_ROUTES:
            raise AssertionError("there are more routes than the meter has room for")

    def begin(self) -> None:
        """Count a request that has come in."""
        self._words[_BEGUN] += 1

    def end(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request that is done."""
        words, kind = self._words, (route, method, status)
        try:
            counted, bucket, total = self._known[kind]
        except KeyError:
            counted, bucket, total = self._kind(*kind)
        # No lock: only the event loop of this process writes these words.
        words[counted] += 1
        words[bucket if seconds <= _FIRST else bucket + bisect_left(BOUNDS, seconds)] += 1
        words[total] += int(seconds * 1e6)

    def _kind(self, route: str, method: str, status: int) -> _Words:
        """Return where a kind of request is counted and timed; only what a route is, is kept."""
        place = self._places.get(route, _HEAD)
        kind = _METHOD_PLACE.get(method, _OTHER_METHOD)
        counted = place + kind + _STATUS_PLACE.get(status, _FAILED)
        counters = counted, place + _BUCKETS, place + _MICROSECONDS
        # What a stranger invents (a method, a path) is counted under "other" and not remembered.
        if route in self._places and method in _METHOD_PLACE and status in _STATUS_PLACE:
            self._known[route, method, status] = counters
        return counters

    def ingested(self, accepted: int, rejected: int) -> None:
        """Count the lines of a batch; batches are written in threads, requests counted in one."""
        with self._lock:
            self._words[_ACCEPTED] += accepted
            self._words[_REJECTED] += rejected

    @property
    def accepted(self) -> int:
        """Return how many lines were taken."""
        return self._sum(_ACCEPTED)

    @property
    def rejected(self) -> int:
        """Return how many lines were refused."""
        return self._sum(_REJECTED)

    @property
    def in_flight(self) -> int:
        """Return how many requests wait for their answer."""
        return max(0, self._sum(_BEGUN) - self._ended(self._all))

    def own(self) -> OwnCounts:
        """Return what this process alone did."""
        words, ended = self._words, self._ended(self._words)
        failed = [at for status, at in _STATUS_PLACE.items() if status >= _FIRST_FAILURE]
        failures = sum(
            words[place + kind + at]
            for place in self._places.values()
            for kind in _METHOD_PLACE.values()
            for at in failed
        )
        return OwnCounts(ended, failures, max(0, words[_BEGUN] - ended))

    def _ended(self, words: _Memory) -> int:
        """Return how many requests are done, by the buckets they fell into."""
        return sum(
            sum(words[place : place + _AFTER_BUCKETS])
            for meter in range(0, len(words), WORDS)
            for place in range(meter + _HEAD + _BUCKETS, meter + WORDS, _ROUTE)
        )

    def _sum(self, place: int) -> int:
        return sum(self._all[place::WORDS])

    def answered(self) -> Iterator[Answered]:
        """Yield the counts of requests that there were any of."""
        for route, place in self._places.items():
            for method, kind in _METHOD_PLACE.items():
                for status, at in _STATUS_PLACE.items():
                    if times := self._sum(place + kind + at):
                        yield Answered(route, method, status, times)

    def timed(self) -> Iterator[Timed]:
        """Yield how long the requests for each route took."""
        for route, place in self._places.items():
            buckets = tuple(self._sum(place + _BUCKETS + at) for at in range(len(BOUNDS) + 1))
            if any(buckets):
                yield Timed(route, buckets, self._sum(place + _MICROSECONDS) / 1e6)
