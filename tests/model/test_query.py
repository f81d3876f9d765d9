from typing import Any

import pytest

from pdpp.model.declaration import Kind
from pdpp.model.errors import InvalidDeclaration
from pdpp.model.node import Node
from pdpp.model.property import Property
from pdpp.model.query import Expansion, QueryCapabilities, parse_query

KINDS = {
    "title": Kind.TEXT,
    "size": Kind.INTEGER,
    "price": Kind.NUMBER,
    "open": Kind.BOOLEAN,
    "made_at": Kind.DATE_TIME,
    "day": Kind.DATE,
    "tags": Kind.JSON,
    "photo": Kind.BLOB,
    "raw": Kind.BINARY,
}
PROPERTIES = {name: Property(name, kind, None, "", {}) for name, kind in KINDS.items()}


def read(block: Any) -> QueryCapabilities:
    node = Node(block)
    query = parse_query(node, PROPERTIES)
    node.problems.raise_first()
    return query


def refused_at(block: Any) -> str | None:
    with pytest.raises(InvalidDeclaration) as caught:
        read(block)
    return caught.value.param


def accepted_kinds(block: Any) -> set[str]:
    """Return the properties that a block, made from a name, takes."""
    taken = set()
    for name in KINDS:
        node = Node(block(name))
        parse_query(node, PROPERTIES)
        if node.problems.first is None:
            taken.add(name)
    return taken


def test_a_stream_without_a_query_block_can_only_be_counted() -> None:
    assert read(None) == QueryCapabilities()
    assert read({}).countable


def test_counting_can_be_declined() -> None:
    assert not read({"aggregations": {"count": False}}).countable
    assert read({"aggregations": {"sum": ["size"]}}).countable


def test_range_filters_take_scalars_other_than_booleans() -> None:
    taken = accepted_kinds(lambda name: {"range_filters": {name: ["gte"]}})
    assert taken == {"title", "size", "price", "made_at", "day"}


@pytest.mark.parametrize("list_name", ["lexical_fields", "semantic_fields"])
def test_search_takes_text(list_name: str) -> None:
    assert accepted_kinds(lambda name: {"search": {list_name: [name]}}) == {"title"}


@pytest.mark.parametrize(
    ("metric", "names"),
    [
        ("sum", {"size", "price"}),
        ("min", {"size", "price", "made_at", "day"}),
        ("max", {"size", "price", "made_at", "day"}),
        ("count_distinct", {"title", "size", "price", "open", "made_at", "day"}),
        ("group_by", {"title", "size", "price", "open", "made_at", "day"}),
        ("group_by_time", {"made_at", "day"}),
    ],
)
def test_each_aggregation_takes_its_own_kinds(metric: str, names: set[str]) -> None:
    assert accepted_kinds(lambda name: {"aggregations": {metric: [name]}}) == names


@pytest.mark.parametrize(
    ("block", "pointer"),
    [
        ({"range_filters": []}, "/range_filters"),
        ({"range_filters": {"sise": ["gte"]}}, "/range_filters/sise"),
        ({"range_filters": {"size": "gte"}}, "/range_filters/size"),
        ({"range_filters": {"size": []}}, "/range_filters/size"),
        ({"range_filters": {"size": ["gte", "eq"]}}, "/range_filters/size/1"),
        ({"range_filters": {"size": [1]}}, "/range_filters/size/0"),
        ({"range_filters": {"size": ["gte", "gte"]}}, "/range_filters/size/1"),
        ({"search": ["title"]}, "/search"),
        ({"search": {"lexical_fields": "title"}}, "/search/lexical_fields"),
        ({"search": {"lexical_fields": ["title", "title"]}}, "/search/lexical_fields/1"),
        ({"aggregations": []}, "/aggregations"),
        ({"aggregations": {"count": "yes"}}, "/aggregations/count"),
        ({"aggregations": {"sum": "size"}}, "/aggregations/sum"),
        ({"expand": {}}, "/expand"),
        ({"expand": ["a"]}, "/expand/0"),
        ({"expand": [{"name": "a"}, {"name": "a"}]}, "/expand/1/name"),
        ({"expand": [{"name": "a", "max_limit": 101}]}, "/expand/0/max_limit"),
        ({"expand": [{"name": "a", "max_limit": 0}]}, "/expand/0/max_limit"),
        ({"expand": [{"name": "a", "max_limit": True}]}, "/expand/0/max_limit"),
        ({"expand": [{"name": "a", "max_limit": 5.0}]}, "/expand/0/max_limit"),
        ({"expand": [{"name": "a", "default_limit": 51}]}, "/expand/0/default_limit"),
        (
            {"expand": [{"name": "a", "default_limit": 9, "max_limit": 8}]},
            "/expand/0/default_limit",
        ),
    ],
)
def test_a_wrong_query_block_is_refused_at_its_pointer(block: Any, pointer: str) -> None:
    assert refused_at(block) == pointer


def test_expansions_have_limits_of_their_own_or_the_usual_ones() -> None:
    query = read({"expand": [{"name": "a"}, {"name": "b", "max_limit": 3}]})
    assert query.expansions == {"a": Expansion(10, 50), "b": Expansion(3, 3)}


def test_more_than_a_hundred_lexical_fields_are_refused() -> None:
    names = [f"text{number}" for number in range(101)]
    node = Node({"search": {"lexical_fields": names}})
    parse_query(node, {name: Property(name, Kind.TEXT, None, "", {}) for name in names})
    assert node.problems.first is not None
    assert node.problems.first.pointer == "/search/lexical_fields"
