from contextlib import suppress
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model.errors import InvalidExpand, InvalidFilter, InvalidRequest, PdppError
from pdpp.resource.parameter import (
    Parameter,
    Parameters,
    Query,
    RawFilter,
    Shape,
    _pairs,
    parse_parameters,
)

KNOWN = Parameters(
    Parameter("name", Shape.TEXT, "A name.", longest=10),
    Parameter("size", Shape.INTEGER, "A size.", minimum=1, maximum=9, default=5, clamp=True),
    Parameter("exact", Shape.INTEGER, "A number.", minimum=1, maximum=9),
    Parameter("open", Shape.INTEGER, "Any number."),
    Parameter("kind", Shape.CHOICE, "A kind.", choices=("a", "b")),
    Parameter("items", Shape.LIST, "A list."),
    Parameter("filter", Shape.FILTER, "Filters."),
    Parameter("expand_limit", Shape.LIMITS, "Limits."),
)


def parse(query: str) -> Query:
    return parse_parameters(query.encode(), KNOWN)


def test_nothing_gives_the_defaults() -> None:
    assert parse("").values == {"size": 5}
    assert parse("").integer("size") == 5
    assert parse("").text("name") is None
    assert parse("").items("items") == ()
    assert parse("").filters == ()
    assert parse("").limits == {}


def test_each_shape_is_read() -> None:
    query = parse("name=x&exact=9&open=-7&kind=b&items=a,b&filter[f]=1&expand_limit[r]=3")
    assert query.text("name") == "x"
    assert query.integer("exact") == 9
    assert query.integer("open") == -7
    assert query.text("kind") == "b"
    assert query.items("items") == ("a", "b")
    assert query.filters == (RawFilter("f", "eq", "1"),)
    assert query.limits == {"r": 3}
    assert query.warnings == []


@given(st.lists(st.text("abc", min_size=1), max_size=6))
def test_a_list_is_the_same_joined_repeated_or_bracketed(items: list[str]) -> None:
    expected = tuple(dict.fromkeys(items))
    repeated = urlencode([("items", item) for item in items])
    bracketed = "&".join(f"items[]={item}" for item in items)
    assert parse(repeated).items("items") == expected
    assert parse(bracketed).items("items") == expected
    if items:
        assert parse(f"items={','.join(items)}").items("items") == expected


@given(st.text(min_size=1, max_size=10).filter(lambda text: "\x00" not in text))
def test_any_text_comes_through_its_encoding(text: str) -> None:
    try:
        encoded = quote(text)
    except UnicodeEncodeError:
        return
    assert parse(f"name={encoded}").text("name") == text


@given(st.binary(max_size=60))
def test_any_bytes_are_parsed_or_refused(query: bytes) -> None:
    with suppress(InvalidRequest):
        assert parse_parameters(query, KNOWN).integer("size") in range(1, 10)


def test_a_number_above_the_most_is_clamped_and_told() -> None:
    query = parse("size=10")
    assert query.integer("size") == 9
    assert [warning["code"] for warning in query.warnings] == ["size_clamped"]


@pytest.mark.parametrize(
    ("query", "error", "param"),
    [
        ("exact=10", InvalidRequest, "exact"),
        ("exact=0", InvalidRequest, "exact"),
        ("size=0", InvalidRequest, "size"),
        ("open=1e3", InvalidRequest, "open"),
        ("open=1234567890123456789", InvalidRequest, "open"),
        ("kind=c", InvalidRequest, "kind"),
        ("name=", InvalidRequest, "name"),
        ("name=12345678901", InvalidRequest, "name"),
        ("name=a&name=b", InvalidRequest, "name"),
        ("name[x]=a", InvalidRequest, "name[x]"),
        ("items[x]=a", InvalidRequest, "items[x]"),
        ("name=%00", InvalidRequest, "name"),
        ("nome=a", InvalidRequest, "nome"),
        ("[=a", InvalidRequest, "["),
        ("filter=1", InvalidFilter, "filter"),
        ("filter[]=1", InvalidFilter, "filter"),
        ("filter[a][]=1", InvalidFilter, "filter"),
        ("filter[a]=1&filter[a]=2", InvalidFilter, "filter[a]"),
        ("expand_limit[r]=0", InvalidExpand, "expand_limit[r]"),
        ("expand_limit[r]=1&expand_limit[r]=2", InvalidExpand, "expand_limit"),
    ],
)
def test_what_cannot_be_read_is_refused(query: str, error: type[PdppError], param: str) -> None:
    with pytest.raises(error) as caught:
        parse(query)
    assert caught.value.param == param


def test_a_required_parameter_is_asked_for() -> None:
    known = Parameters(Parameter("q", Shape.TEXT, "Words.", required=True))
    with pytest.raises(InvalidRequest, match="q is required: Words"):
        parse_parameters(b"", known)


def test_different_operators_on_one_field_go_together() -> None:
    filters = parse("filter[a][gte]=1&filter[a][lt]=2&filter[a]=3").filters
    assert [(item.operator, item.text) for item in filters] == [
        ("gte", "1"),
        ("lt", "2"),
        ("eq", "3"),
    ]


def test_a_cursor_is_bound_to_all_but_the_size_of_its_page() -> None:
    names = ("cursor", "limit", "count", "sort")
    known = Parameters(*(Parameter(name, Shape.TEXT, "") for name in names))

    def binding(query: bytes) -> str:
        return parse_parameters(query, known).binding()

    assert binding(b"sort=a&limit=1&cursor=x&count=y") == binding(b"count=z&sort=a")
    assert binding(b"sort=a") != binding(b"sort=b")


@given(st.lists(st.tuples(st.text("ab[]=;~.", max_size=4), st.text("ab=;,~.", max_size=4))))
def test_a_query_reads_the_same_whether_or_not_it_is_encoded(pairs: list[tuple[str, str]]) -> None:
    plain = "&".join(f"{name}={text}" for name, text in pairs)
    encoded = f"{plain}&%61=" if plain else "%61="
    assert [*_pairs(plain.encode()), ("a", "")] == list(_pairs(encoded.encode()))


@pytest.mark.parametrize("query", ["a", "a=1&", "&a=1", "a=1&&b=2", "a=1&b", "a=1&" * 200 + "a=1"])
@pytest.mark.parametrize("more", ["", "&c=%20"])
def test_a_malformed_query_is_refused_however_it_is_written(query: str, more: str) -> None:
    with pytest.raises(InvalidRequest, match="malformed"):
        _pairs((query + more).encode())
