import pytest
from tests.serving import SetClock

from pdpp.authz.throttle import ADDRESS, TOTAL, MemoryGuesses, Throttle
from pdpp.model.errors import RateLimitExceeded

HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


def wait(throttle: Throttle, address: str = HERE) -> int:
    """Return how many seconds a guess has to wait; one that need not is counted."""
    try:
        throttle.take(address)
    except RateLimitExceeded as refused:
        return int(refused.headers["Retry-After"])
    return 0


def guess(throttle: Throttle, clock: SetClock, times: int, address: str = HERE) -> None:
    """Guess so often, waiting as long as it takes."""
    for _ in range(times):
        while pause := wait(throttle, address):
            clock.advance(pause)


def test_the_first_guesses_are_free_and_then_each_pause_is_longer(clock: SetClock) -> None:
    throttle = Throttle(clock)
    assert [wait(throttle) for _ in range(ADDRESS.free)] == [0] * ADDRESS.free
    pauses = []
    for _ in range(4):
        pauses.append(wait(throttle))
        clock.advance(pauses[-1])
        assert wait(throttle) == 0
    assert pauses == [1, 2, 4, 8]


def test_a_refused_guess_does_not_make_the_pause_longer(clock: SetClock) -> None:
    throttle = Throttle(clock)
    for _ in range(ADDRESS.free):
        throttle.take(HERE)
    assert [wait(throttle) for _ in range(10)] == [1] * 10


def test_the_pause_has_an_end(clock: SetClock) -> None:
    assert ADDRESS.pause(10_000) == ADDRESS.longest
    assert TOTAL.pause(10_000) == TOTAL.longest < ADDRESS.longest


def test_a_long_pause_is_said_in_minutes(clock: SetClock) -> None:
    throttle = Throttle(clock)
    guess(throttle, clock, ADDRESS.free + 10)
    with pytest.raises(RateLimitExceeded, match=r"try again in 15 minutes\.") as refused:
        throttle.take(HERE)
    assert refused.value.headers["Retry-After"] == "900"


def test_another_address_is_not_held_up(clock: SetClock) -> None:
    throttle = Throttle(clock)
    for _ in range(ADDRESS.free):
        throttle.take(HERE)
    assert wait(throttle) > 0
    assert wait(throttle, THERE) == 0


def test_many_addresses_together_are_held_up(clock: SetClock) -> None:
    throttle = Throttle(clock)
    for number in range(TOTAL.free):
        throttle.take(f"198.51.100.{number}")
    assert wait(throttle, THERE) == 1


def test_a_right_guess_clears_its_address_but_not_what_others_did(clock: SetClock) -> None:
    throttle = Throttle(clock)
    for number in range(TOTAL.free - 1):
        throttle.take(f"198.51.100.{number}")
    throttle.take(HERE)
    throttle.forgive(HERE)
    assert wait(throttle, HERE) == 0
    assert wait(throttle, THERE) > 0


def test_after_an_hour_of_rest_everything_begins_anew(clock: SetClock) -> None:
    throttle = Throttle(clock)
    guess(throttle, clock, ADDRESS.free + 3)
    clock.advance(3_700)
    assert [wait(throttle) for _ in range(ADDRESS.free)] == [0] * ADDRESS.free


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("unix", "unix", True),
    ],
)
def test_an_ipv6_network_counts_as_one_guesser(
    clock: SetClock, one: str, other: str, same: bool
) -> None:
    throttle = Throttle(clock)
    for _ in range(ADDRESS.free):
        throttle.take(one)
    assert (wait(throttle, other) > 0) is same


def test_no_more_addresses_are_remembered_than_there_is_room_for(clock: SetClock) -> None:
    counts = MemoryGuesses(4)
    throttle = Throttle(clock, counts=counts)
    for _ in range(ADDRESS.free):
        throttle.take(HERE)
    for number in range(4):
        throttle.take(f"198.51.100.{number}")
    assert wait(throttle, HERE) == 0
    assert len(counts._guessers) <= 4


def test_a_clock_that_is_set_back_locks_nobody_out(clock: SetClock) -> None:
    throttle = Throttle(clock)
    guess(throttle, clock, 10)
    assert wait(throttle) > 0
    clock.advance(-86_400)
    assert wait(throttle) == 0
