import re

from hypothesis import assume, given
from hypothesis import strategies as st

from pdpp.store.pseudonym import LENGTH, FeedSeal, GrantKeys, located, locator_of

SECRET = bytes(range(32))
SURROGATES = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text("abcxyz_0", min_size=1, max_size=8)


def seal_of(grant_id: str | None, connection: str = "c", stream: str = "s") -> FeedSeal:
    return FeedSeal(GrantKeys(SECRET, grant_id), connection, stream)


@given(SURROGATES, NAMES, NAMES, NAMES)
def test_an_id_is_short_stable_and_leads_back(
    surrogate: int, grant: str, connection: str, stream: str
) -> None:
    sealed = seal_of(grant, connection, stream).seal(surrogate)
    assert re.fullmatch(r"[A-Za-z0-9_-]{27}", sealed)
    assert len(sealed) == LENGTH
    again = seal_of(grant, connection, stream)
    assert again.seal(surrogate) == sealed
    assert again.open(sealed) == surrogate
    assert located(sealed) == locator_of(SECRET, grant)


@given(SURROGATES, st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=2, max_size=2, unique=True))
def test_an_id_is_useless_under_another_grant_or_feed(
    surrogate: int, places: list[tuple[str, str, str]]
) -> None:
    one, other = (seal_of(*place) for place in places)
    assert one.seal(surrogate) != other.seal(surrogate)
    assert other.open(one.seal(surrogate)) is None


def test_connection_and_stream_are_told_apart() -> None:
    assert seal_of("g", "ab", "c").seal(1) != seal_of("g", "a", "bc").seal(1)


def test_the_owner_is_no_grant() -> None:
    assert seal_of(None).seal(1) != seal_of("owner").seal(1)


@given(st.lists(SURROGATES, min_size=2, max_size=40, unique=True))
def test_different_records_have_different_ids(surrogates: list[int]) -> None:
    seal = seal_of("g")
    assert len({seal.seal(surrogate) for surrogate in surrogates}) == len(surrogates)


@given(SURROGATES, st.integers(0, LENGTH - 1), st.sampled_from("AZaz09_-"))
def test_a_changed_id_opens_nothing(surrogate: int, at: int, letter: str) -> None:
    seal = seal_of("g")
    sealed = seal.seal(surrogate)
    assume(sealed[at] != letter)
    assert seal.open(sealed[:at] + letter + sealed[at + 1 :]) is None


@given(st.text(max_size=40) | st.text("ABCabc019-_=", min_size=26, max_size=28))
def test_any_other_text_opens_nothing(text: str) -> None:
    assert seal_of("g").open(text) is None


def test_letters_beyond_ascii_open_nothing() -> None:
    for text in ("é" * LENGTH, "A" * (LENGTH - 1) + "Ａ", "٣" * LENGTH):
        assert len(text) == LENGTH
        assert located(text) is None


def test_the_same_bytes_spelt_otherwise_open_nothing() -> None:
    seal = seal_of("g")
    sealed = seal.seal(7)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    # The last letter holds two bits more than the bytes need.
    last = alphabet.index(sealed[-1])
    for bits in range(1, 4):
        assert seal.open(sealed[:-1] + alphabet[last ^ bits]) is None
