from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model.errors import InvalidDeclaration
from pdpp.model.node import Node


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


def message_of(node: Node) -> str:
    with pytest.raises(InvalidDeclaration) as caught:
        node.problems.raise_first()
    return caught.value.message


def test_a_document_without_problems_raises_nothing() -> None:
    node = Node({"a": 1})
    assert node.admit(("a",))
    node.problems.raise_first()


def test_problems_are_ordered_as_the_document_and_not_as_they_were_found() -> None:
    node = Node({"z": [1, 2], "a": 3})
    node.member("a").refuse("later")
    node.member("z").items()[1].refuse("sooner")
    node.member("z").items()[0].refuse("soonest")
    assert message_of(node) == "soonest"


def test_a_parent_stands_before_its_children_and_a_missing_member_after_them() -> None:
    node = Node({"a": 1})
    assert node.place < node.member("a").place < node.member("missing").place


def test_of_two_problems_at_one_place_the_first_stays() -> None:
    node = Node("x")
    node.refuse("first")
    node.refuse("second")
    assert message_of(node) == "first"


def test_a_path_is_followed_as_far_as_it_leads() -> None:
    node = Node({"a": [{"b": 1}]})
    assert node.at(["a", 0, "b"]).value == 1
    assert node.at(["a", 3]).pointer == "/a"
    assert node.at([]).pointer == ""


def test_a_walk_meets_every_node() -> None:
    node = Node({"a": [1, {"b": 2}], "c": "x"})
    assert {each.pointer for each in node.walk()} == {"", "/a", "/a/0", "/a/1", "/a/1/b", "/c"}


def test_a_wrong_choice_is_refused_with_the_nearest_right_one() -> None:
    node = Node("gren")
    assert node.choice(Colour) is None
    assert message_of(node).endswith("Write 'green'.")


def test_a_choice_that_is_no_string_is_refused_with_all_of_them() -> None:
    node = Node(["red"])
    assert node.choice(Colour) is None
    assert message_of(node).endswith("Write one of: red, green.")


def test_a_name_that_is_too_long_itself_is_not_suggested() -> None:
    node = Node("blue")
    node.refuse("No stream has this name.", "blue", ["x" * 5_000, "bluex" * 5_000, "red"])
    assert message_of(node) == "No stream has this name. Write one of: red."


def test_a_right_choice_is_a_member() -> None:
    assert Node("red").choice(Colour) is Colour.RED


@given(st.dictionaries(st.text(), st.lists(st.text(), max_size=2)))
def test_a_pointer_leads_back_to_its_node(document: dict[str, list[str]]) -> None:
    for node in Node(document).walk():
        value: object = document
        for step in node.pointer.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value[key]  # type: ignore[index]
        assert value is node.value
