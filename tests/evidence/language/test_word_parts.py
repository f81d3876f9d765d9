"""Word parts, as people write them apart."""

import pytest

from pdpp.evidence.language.word_parts import date_apart, ordinal, part_terms, ways_apart


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("postbox", ("post", "box")),
        ("wifi", ("wi", "fi")),
        ("geburtstagskuchen", ("geburtstags", "kuchen")),
        ("tp1234", ("tp", "1234")),
        ("75m2", ("75", "m2")),
        ("1200", ("1", "200")),
        ("912345678", ("912", "345", "678")),
        ("03044556677", ("030", "4455", "6677")),
        ("351912345678", ("912345678",)),
        ("351912345678", ("912", "345", "678")),
        ("4915123456789", ("0151", "2345", "6789")),
        ("33612345678", ("06", "12", "34", "56", "78")),
        ("015123456789", ("151", "2345", "6789")),
        ("hv2298771", ("hv", "2298", "771")),
        ("hheb417", ("hh", "eb", "417")),
        ("de89370400440532013000", ("de89", "3704", "0044", "0532", "0130", "00")),
    ],
)
def test_a_word_may_be_written_apart(word: str, parts: tuple[str, ...]) -> None:
    assert parts in set(ways_apart(word))


@pytest.mark.parametrize("word", ["box", "123", "a_b", "x" * 41, "௰", "m௰"])
def test_what_is_never_written_apart(word: str) -> None:
    assert list(ways_apart(word)) == []


def test_no_part_only_holds_a_question_together() -> None:
    assert ("not", "able") not in set(ways_apart("notable"))


def test_a_part_may_stand_in_another_form() -> None:
    assert {"kinder", "kind"} <= set(part_terms("kinder"))


def test_a_date_is_a_day_and_a_month_in_any_way_to_write_them() -> None:
    day, month = date_apart(3, 7).split()
    assert {"3", "03", "3rd"} <= set(part_terms(day))
    assert {"07", "juli", "jul", "juillet", "temmuz"} <= set(part_terms(month))


@pytest.mark.parametrize(
    ("number", "written"), [(1, "1st"), (2, "2nd"), (11, "11th"), (13, "13th"), (23, "23rd")]
)
def test_a_number_is_counted_with_as_english_does(number: int, written: str) -> None:
    assert ordinal(number) == written
