from ctypes import c_uint64
from multiprocessing import get_context

import pytest

from pdpp.watch.meter import BOUNDS, LEFT, OTHER, WORDS, Answered, Meter, OwnCounts, Share

ROUTES = ("/v1/search", "/v1/streams/{stream}")


def meter(share: Share | None = None) -> Meter:
    made = Meter(share)
    made.expect(ROUTES)
    return made


def test_requests_are_counted_by_route_method_and_status() -> None:
    counted = meter()
    for route, method, status in [
        ("/v1/search", "GET", 200),
        ("/v1/search", "GET", 200),
        ("/v1/search", "GET", 401),
        ("/v1/streams/{stream}", "HEAD", 200),
        ("/nowhere", "BREW", 404),
        ("/v1/search", "GET", LEFT),
    ]:
        counted.begin()
        counted.end(route, method, status, 0.001)
    assert sorted(counted.answered()) == [
        Answered("/v1/search", "GET", 200, 2),
        Answered("/v1/search", "GET", 401, 1),
        Answered("/v1/search", "GET", LEFT, 1),
        Answered("/v1/streams/{stream}", "HEAD", 200, 1),
        Answered(OTHER, OTHER, 404, 1),
    ]
    assert counted.in_flight == 0


def test_a_status_that_is_none_counts_as_a_failure() -> None:
    counted = meter()
    counted.begin()
    counted.end("/v1/search", "GET", 799, 0.0)
    assert [found.status for found in counted.answered()] == [500]


@pytest.mark.parametrize("place", range(len(BOUNDS) + 1))
def test_a_request_falls_into_the_first_bucket_that_is_long_enough(place: int) -> None:
    counted = meter()
    seconds = BOUNDS[place] if place < len(BOUNDS) else 60.0
    counted.begin()
    counted.end("/v1/search", "GET", 200, seconds)
    [timed] = counted.timed()
    assert [at for at, count in enumerate(timed.buckets) if count] == [place]
    assert timed.seconds == pytest.approx(seconds)


def test_requests_that_wait_are_in_flight() -> None:
    counted = meter()
    counted.begin()
    counted.begin()
    counted.end("/v1/search", "GET", 200, 0.0)
    assert counted.in_flight == 1


def test_a_process_alone_counts_as_one_that_shares_its_memory_does() -> None:
    alone, sharing = meter(), meter(Share(memoryview(bytearray(16 * WORDS)).cast("Q"), 1))
    for counted in (alone, sharing):
        counted.begin()
        counted.begin()
        counted.end("/v1/search", "GET", 503, 0.3)
        counted.ingested(3, 1)
    assert list(alone.answered()) == list(sharing.answered())
    assert list(alone.timed()) == list(sharing.timed())
    assert alone.own() == sharing.own() == OwnCounts(requests=1, failures=1, in_flight=1)
    assert (alone.accepted, alone.rejected, alone.in_flight) == (3, 1, 1)
    assert (sharing.accepted, sharing.rejected, sharing.in_flight) == (3, 1, 1)


def test_processes_that_share_memory_are_added_up_and_keep_their_counts_when_replaced() -> None:
    memory = memoryview(get_context("spawn").RawArray(c_uint64, 2 * WORDS)).cast("B").cast("Q")
    one, other = (meter(Share(memory, place)) for place in range(2))
    for counted in (one, other, other):
        counted.begin()
        counted.end("/v1/search", "GET", 200, 0.002)
        counted.ingested(3, 1)
    other.begin()
    assert (one.in_flight, one.accepted, one.rejected) == (1, 9, 3)
    replaced = meter(Share(memory, 1))
    assert replaced.in_flight == 0
    assert (
        list(one.answered()) == list(replaced.answered()) == [Answered("/v1/search", "GET", 200, 3)]
    )
    assert [sum(timed.buckets) for timed in one.timed()] == [3]


def test_more_routes_than_there_is_room_for_are_noticed_at_the_start() -> None:
    with pytest.raises(AssertionError):
        Meter().expect(f"/{number}" for number in range(128))
