"""Keys that stay the same in every export."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.handle import key_problem
from pdpp.sources import keys
from pdpp.sources.keys import (
    KeySealer,
    Ordinals,
    RecordKey,
    SeenKeys,
    digest_key,
    plain_copy,
    safe_key,
)


class Mood(StrEnum):
    GOOD = "good"


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
    assert sealer.seal_records([name, "b/c"], [data, "no object"]) == [sealer.seal("a"), "b/c"]
    assert data == {"id": sealer.seal("a"), "thread": sealer.seal("b"), "title": "a"}


def test_a_record_that_names_the_one_before_it_is_sealed_with_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keys, "_MOST_SEALED", 4)
    sealer, sealed = KeySealer(b"one secret", "mail"), KeySealer(b"one secret", "mail").seal
    asked: list[str] = []
    digest = sealer._digest

    def noted(name: str) -> bytes:
        asked.append(name)
        return digest(name)

    monkeypatch.setattr(sealer, "_digest", noted)
    for start in range(0, 12, 2):
        names = [RecordKey(f"m{number}") for number in (start, start + 1)]
        records = [{"id": name, "parent": RecordKey(f"m{int(name[1:]) - 1}")} for name in names]
        sealer.seal_records(names, records)
        assert [data["parent"] for data in records] == [sealed(f"m{start - 1}"), sealed(names[0])]
    assert asked.count("m0") == asked.count("m11") == 1
    assert len(sealer._named) <= 6
    assert len(asked) < 24


def test_data_is_copied_where_a_copy_cannot_change_and_json_says_the_same() -> None:
    plain = {"id": RecordKey("a"), "text": "hello", "number": 5, "yes": True, "none": None}
    assert plain_copy({**plain, "amount": 1.5})[1] == 6 * keys._MEMBER_CHARS + len("ahello")
    nested: list[object] = [[1], [["a"]], [RecordKey("a")], {"a": []}, {1: "a"}]
    others: list[object] = [*nested, (), float("nan"), float("inf"), b"", Mood.GOOD]
    for value in others:
        assert plain_copy({**plain, "other": value})[1] == -1


def test_a_copy_has_lists_and_objects_of_texts_of_its_own() -> None:
    data: dict[str, Any] = {"to": ["nora", "ines"], "other": {"long name": "x" * 30}}
    copy, size = plain_copy(data)
    assert size >= len("norainesx") + len("long name") + 29
    data["to"].append("tomas")
    data["other"]["more"] = "y"
    assert copy == {"to": ["nora", "ines"], "other": {"long name": "x" * 30}}
