"""Keys that stay the same in every export."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.handle import key_problem
from pdpp.sources import keys
from pdpp.sources.keys import KeySealer, Ordinals, RecordKey, SeenKeys, digest_key, safe_key


@given(st.lists(st.text(), min_size=1))
def test_every_key_can_stand_in_a_handle(parts: list[str]) -> None:
    assert key_problem(safe_key(*parts)) is None
    assert safe_key(*parts) == safe_key(*parts)


def test_a_plain_key_stays_readable() -> None:
    assert safe_key("C01", "1700000000.000100") == "C01.1700000000.000100"


@given(st.lists(st.text()), st.lists(st.text()))
def test_different_content_gives_different_digests(one: list[str], other: list[str]) -> None:
    assert (digest_key(*one) == digest_key(*other)) == (one == other)


def test_bytes_and_halves_of_characters_have_digests_too() -> None:
    assert digest_key(b"a") == digest_key("a") != digest_key("\ud800")


def test_a_thing_is_new_once_and_again_when_too_many_were_remembered() -> None:
    once = SeenKeys(most=2)
    assert [once.first(thing) for thing in "aabba"] == [True, False, True, False, False]
    assert [once.first(thing) for thing in "ca"] == [True, True]


@given(st.lists(st.sampled_from("aab")))
def test_equal_things_are_numbered_in_their_order(things: Sequence[str]) -> None:
    ordinals = Ordinals()
    made = [ordinals.key("minute", thing) for thing in things]
    assert len(set(made)) == len(made)
    again = Ordinals()
    assert [again.key("minute", thing) for thing in things] == made


def test_equal_things_of_different_groups_have_different_keys() -> None:
    ordinals = Ordinals()
    assert ordinals.key("one", "ok") != ordinals.key("two", "ok")
    assert ordinals.key("one", "ok").endswith("-2")


def test_memory_is_bounded_by_groups_and_things(monkeypatch: object) -> None:
    ordinals = Ordinals()
    for number in range(1_000):
        ordinals.number(str(number), "x")
    assert ordinals.number("999", "x") == 2
    assert ordinals.number("0", "x") == 1
    many = Ordinals()
    for number in range(keys._MOST_THINGS + 10):
        many.number("", str(number))
    assert many.number("", str(keys._MOST_THINGS)) == 2
    assert many.number("", "0") == 1


def test_a_sealed_key_is_the_same_in_every_import_and_tells_nothing_without_the_secret() -> None:
    first, again = KeySealer(b"one secret", "whatsapp"), KeySealer(b"one secret", "whatsapp")
    name = safe_key("+351 900 000 001")
    sealed = first.seal(name)
    assert sealed == again.seal(name)
    assert len(sealed) == 20
    assert sealed not in {
        KeySealer(b"another secret", "whatsapp").seal(name),
        KeySealer(b"one secret", "telegram").seal(name),
        digest_key(name),
    }


def test_names_of_records_inside_data_are_sealed_like_keys() -> None:
    sealer = KeySealer(b"one secret", "mail")
    name = RecordKey("a")
    data: dict[str, object] = {"id": name, "thread": RecordKey("b"), "title": "a"}
    assert sealer.seal_data(data, name, sealer.seal(name))
    assert data == {"id": sealer.seal("a"), "thread": sealer.seal("b"), "title": "a"}
    assert not sealer.seal_data({"id": name, "amount": 1.5}, name, "key")
