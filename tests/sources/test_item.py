"""Items: what a record is made of."""

from typing import Any

from pdpp.sources.item import present


def test_members_without_a_value_are_left_out_and_values_that_are_only_false_stay() -> None:
    data: dict[str, Any] = {"a": None, "b": 0, "c": False, "d": "", "e": [], "f": "x"}
    assert present(data) == {"b": 0, "c": False, "d": "", "e": [], "f": "x"}
    assert present(data, []) == {"b": 0, "c": False, "d": "", "f": "x"}
    assert present(data, "", []) == {"b": 0, "c": False, "f": "x"}
