"""Values of another kind than is read."""

from typing import Any

import pytest

from pdpp.sources.item import Unknown
from pdpp.sources.reading.shapes import ODD, odd, odd_items, odd_members


@pytest.mark.parametrize("value", [None, "", [], {}, 0, False, "words"])
def test_what_is_of_its_kind_or_empty_is_not_told(value: Any) -> None:
    assert list(odd(value, "a.json 1", str)) == []


@pytest.mark.parametrize("value", [7, True, ["words"], {"value": "words"}])
def test_a_value_of_another_kind_is_told_by_its_place(value: Any) -> None:
    assert list(odd(value, "a.json 1", str)) == [Unknown(ODD, "a.json 1")]


def test_members_are_told_by_their_names() -> None:
    holder = {"text": ["words"], "files": {"a": 1}, "name": "Nora", "other": 5}
    told = odd_members(holder, "a.json 1", text=str, files=list, name=str, missing=dict)
    assert [unknown.example for unknown in told] == ["a.json 1 text", "a.json 1 files"]
    assert list(odd_members("words", "a.json 1", text=str)) == []


def test_a_list_is_told_and_what_is_in_it() -> None:
    values = [{"text": "words"}, ["words"], {"text": {"value": "words"}}, {}]
    told = odd_items(values, "a.json 1", text=str)
    assert [unknown.example for unknown in told] == ["a.json 1", "a.json 1 text"]
    assert list(odd_items({"value": values}, "a.json 1")) == [Unknown(ODD, "a.json 1")]
    assert list(odd_items(None, "a.json 1")) == []
