import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.budget import cut, is_seam, json_length, seam_after, seam_before

from .texts import TEXT


@given(TEXT, st.integers(0, 100))
def test_a_cut_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    kept, was_cut = cut(text, limit)
    assert text.startswith(kept)
    assert len(kept) <= limit
    assert was_cut == (kept != text)


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("abcdef", 3, "abc"),
        ("abc", 3, "abc"),
        ("abe\u0301\u0302x", 3, "ab"),
        ("ab\r\ncd", 3, "ab"),
        ("a👩\u200d💻b", 2, "a"),
        ("a👩\u200d💻b", 3, "a"),
        ("a👍🏽b", 2, "a"),
        ("a❤\ufe0fb", 2, "a"),
        ("a\u1112\u1161\u11ab", 2, "a"),
        ("e\u0301", 1, "e"),
        ("abc", 0, ""),
        ("a" + "\u0301" * 100, 50, "a" + "\u0301" * 49),
    ],
)
def test_a_cut_never_breaks_a_visible_character_it_can_keep(
    text: str, limit: int, kept: str
) -> None:
    assert cut(text, limit)[0] == kept


def test_the_ends_of_a_text_are_seams() -> None:
    assert is_seam("\u0301", 0)
    assert is_seam("a\u0301", 2)
    assert not is_seam("a\u0301", 1)
    assert seam_after("a\u0301\u0301b", 1, 4) == 3
    assert seam_before("a\u0301\u0301b", 2) == 0


def test_json_is_measured_in_characters() -> None:
    value = {"a": ["é", 1, None]}
    assert json_length(value) == len(orjson.dumps(value).decode()) == len('{"a":["é",1,null]}')
