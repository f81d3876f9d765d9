from contextlib import suppress
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.serving import World, all_rows, refused

from pdpp.authz.selection import Selection
from pdpp.model import instant
from pdpp.model.declaration import Field, Kind
from pdpp.model.errors import InvalidFilter
from pdpp.model.grant import Interval
from pdpp.resource.filters import describe_interval, parse_value

BOOKS = "/v1/streams/books/records"


def found(client: httpx.Client, **filters: Any) -> set[str]:
    params = {f"filter{name}": value for name, value in filters.items()}
    rows = all_rows(client, BOOKS, **params)
    return {f"{row['connection_id']}/{row['id']}" for row in rows}


EXACT = [
    ("title", "Tides", {"home/b4"}),
    ("title", "tides", set()),
    ("title", "Café crème", {"home/b2"}),
    ("remark", "lantern oil", {"work/w3"}),
    ("pages", "120", {"home/b4", "work/w2"}),
    ("price", "12.5", {"home/b1", "work/b1"}),
    ("price", "7.0", {"home/b3"}),
    ("price", "7", {"home/b3"}),
    ("in_print", "true", {"home/b1", "home/b4", "work/b1"}),
    ("in_print", "false", {"home/b2", "work/w3"}),
    ("published", "2021-02-28", {"home/b3"}),
    ("added_at", "2026-01-05T11:00:00+01:00", {"work/w2"}),
]
RANGED = [
    ({"[pages][gt]": "120"}, {"home/b1", "home/b2", "work/b1"}),
    ({"[pages][lte]": "120"}, {"home/b4", "work/w2"}),
    ({"[pages][gte]": "120", "[pages][lt]": "300"}, {"home/b4", "work/w2"}),
    ({"[price][gte]": "7", "[price][lt]": "12.5"}, {"home/b3"}),
    ({"[published][gte]": "2020-06-01"}, {"home/b3"}),
    ({"[added_at][gt]": "2026-01-04T10:00:00Z"}, {"work/w2"}),
    ({"[added_at][lt]": "2026-01-02"}, {"home/b1", "work/b1"}),
    ({"[pages]": "300", "[in_print]": "true"}, {"home/b1", "work/b1"}),
]


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.NUMBER])
@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 10**18, 1_234_567_890_123_456_789])
def test_whole_numbers_of_64_bits_are_compared_exactly(kind: Kind, number: int) -> None:
    value = parse_value(Field("n", kind, {}), str(number), "filter[n]")
    assert (value, type(value)) == (number, int)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**19])
def test_a_whole_number_that_no_record_can_hold_is_refused(number: int) -> None:
    with pytest.raises(InvalidFilter, match="a whole number of 64 bits"):
        parse_value(Field("n", Kind.INTEGER, {}), str(number), "filter[n]")


@pytest.mark.scenario("S071")
@pytest.mark.parametrize(("field", "text", "expected"), EXACT)
def test_an_exact_filter_keeps_the_records_of_that_value(
    reader: httpx.Client, field: str, text: str, expected: set[str]
) -> None:
    assert found(reader, **{f"[{field}]": text}) == expected


@pytest.mark.scenario("S072")
@pytest.mark.parametrize(("filters", "expected"), RANGED)
def test_a_range_filter_keeps_the_records_inside(
    reader: httpx.Client, filters: dict[str, str], expected: set[str]
) -> None:
    assert found(reader, **filters) == expected


@pytest.mark.scenario("S075")
@pytest.mark.parametrize(("filters", "expected"), RANGED)
def test_an_aggregate_takes_the_same_filters(
    reader: httpx.Client, filters: dict[str, str], expected: set[str]
) -> None:
    params = {f"filter{name}": value for name, value in filters.items()}
    answer = reader.get("/v1/streams/books/aggregate", params=params).json()
    assert answer["value"] == answer["filtered_record_count"] == len(expected)
    refused(reader.get("/v1/streams/books/aggregate?filter=pages"), 400, "invalid_filter")


def test_a_search_takes_the_same_filters(reader: httpx.Client) -> None:
    params = {"q": "lantern", "streams[]": "books", "filter[pages][gte]": "120"}
    hits = reader.get("/v1/search", params=params).json()["data"]
    assert {hit["id"] for hit in hits} == {"home/books:b1", "work/books:w2"}


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("filter=x", "filter"),
        ("filter[]=x", "filter"),
        ("filter[a][b][c]=x", "filter"),
        ("filter[pages]=many", "filter[pages]"),
        ("filter[pages]=1.5", "filter[pages]"),
        ("filter[pages]=99999999999999999999", "filter[pages]"),
        ("filter[price]=nan", "filter[price]"),
        ("filter[price]=inf", "filter[price]"),
        ("filter[price]=1_0.5", "filter[price]"),
        ("filter[price]=dear", "filter[price]"),
        ("filter[in_print]=yes", "filter[in_print]"),
        ("filter[published]=May", "filter[published]"),
        ("filter[added_at]=2026-13-01", "filter[added_at]"),
        ("filter[price][gt]=1", "filter[price][gt]"),
        ("filter[title][gte]=a", "filter[title][gte]"),
        ("filter[pages][near]=3", "filter[pages][near]"),
        ("filter[text]=x", "filter[text]"),
        ("filter[extra]=x", "filter[extra]"),
        ("filter[cover]=x", "filter[cover]"),
        ("filter[pages]=1&filter[pages]=2", "filter[pages]"),
    ],
)
def test_a_filter_that_is_not_offered_is_refused(
    reader: httpx.Client, query: str, param: str
) -> None:
    assert refused(reader.get(f"{BOOKS}?{query}"), 400, "invalid_filter")["param"] == param


def test_an_undeclared_operator_is_refused_with_those_declared(reader: httpx.Client) -> None:
    error = refused(reader.get(f"{BOOKS}?filter[price][gt]=1"), 400, "invalid_filter")
    assert "gte, lt" in error["message"]


def test_a_filter_on_an_unknown_field_is_refused(reader: httpx.Client) -> None:
    error = refused(reader.get(f"{BOOKS}?filter[page]=1"), 400, "unknown_field")
    assert error["param"] == "filter[page]"


@pytest.mark.parametrize("path", [BOOKS, "/v1/streams/books/aggregate"])
def test_a_filter_on_a_hidden_field_is_refused_like_one_on_none(library: World, path: str) -> None:
    client = library.client(fields=("id", "title"))
    hidden = refused(client.get(path, params={"filter[pages]": 300}), 403, "field_not_granted")
    absent = refused(client.get(path, params={"filter[pazes]": 300}), 403, "field_not_granted")
    assert hidden["message"].replace("pages", "pazes") == absent["message"]


def test_a_filter_leaves_out_what_cannot_be_filtered_and_says_so(library: World) -> None:
    client = library.granted(
        Selection(connections=("home",), streams=("books",)),
        Selection(connections=("work",), streams=("books",), fields=("id", "title")),
    )
    body = client.get(BOOKS, params={"filter[pages]": "300"}).json()
    assert {row["connection_id"] for row in body["data"]} == {"home"}
    warning = body["meta"]["warnings"][0]
    assert warning["code"] == "source_cannot_filter"
    assert "work/books" in warning["message"]
    aggregate = client.get("/v1/streams/books/aggregate", params={"filter[pages]": "300"}).json()
    assert aggregate["value"] == 2
    assert aggregate["meta"]["warnings"] == [warning]


def test_more_than_32_filters_are_refused(reader: httpx.Client) -> None:
    query = "&".join(f"filter[f{number}]=1" for number in range(33))
    assert "32" in refused(reader.get(f"{BOOKS}?{query}"), 400, "invalid_filter")["message"]


def limited(library: World) -> httpx.Client:
    time = Interval(instant.parse("2026-01-02"), instant.parse("2026-01-04"))
    return library.client(streams=("books",), time=time)


@pytest.mark.parametrize(
    "query",
    [
        "filter[added_at][gte]=2026-01-04",
        "filter[added_at][lt]=2026-01-02",
        "filter[added_at][lte]=2026-01-01T23:59:59Z",
        "filter[added_at][gt]=2026-02-01",
        "filter[added_at]=2026-01-01T10:00:00Z",
    ],
)
def test_a_question_about_a_time_outside_the_grant_is_refused(library: World, query: str) -> None:
    error = refused(limited(library).get(f"{BOOKS}?{query}"), 403, "grant_time_range_exceeded")
    assert error["param"] == "filter[added_at]"
    assert "from 2026-01-02T00:00:00Z before 2026-01-04T00:00:00Z" in error["message"]


def test_a_question_about_a_time_that_overlaps_the_grant_is_answered(library: World) -> None:
    client = limited(library)
    assert found(client, **{"[added_at][gte]": "2026-01-03"}) == {"home/b3"}
    assert found(client, **{"[added_at][lt]": "2030-01-01"}) == {"home/b2", "home/b3"}
    assert found(client, **{"[pages]": "300"}) == {"home/b2"}


def declared(kind: Kind) -> Field:
    return Field("field", kind, {})


@given(st.integers(-(10**17), 10**17))
def test_a_whole_number_is_read_as_itself(number: int) -> None:
    assert parse_value(declared(Kind.INTEGER), str(number), "f") == number
    assert parse_value(declared(Kind.NUMBER), str(number), "f") == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_as_itself(number: float) -> None:
    assert parse_value(declared(Kind.NUMBER), repr(number), "f") == number


@given(st.text(), st.sampled_from([kind for kind in Kind if kind is not Kind.TEXT]))
def test_any_text_is_a_value_or_refused(text: str, kind: Kind) -> None:
    with suppress(InvalidFilter):
        assert isinstance(parse_value(declared(kind), text, "f"), int | float)


def test_an_open_stretch_of_time_is_said_by_its_one_end() -> None:
    assert describe_interval(Interval(since=0)) == "from 1970-01-01T00:00:00Z"
    assert describe_interval(Interval(until=0)) == "before 1970-01-01T00:00:00Z"
