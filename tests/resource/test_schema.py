from typing import Any

import httpx
import orjson
import pytest
from tests.resource.library import BOOKS, LIBRARY
from tests.serving import World, refused

from pdpp.authz.selection import Selection
from pdpp.evidence.compact import compact_schema
from pdpp.model import instant
from pdpp.model.grant import Interval

HOME = {"connection_id": "home", "stream": "books"}


def schema(client: httpx.Client, **params: str) -> dict[str, Any]:
    answer = client.get("/v1/schema", params=params)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_the_index_names_every_stream_and_no_field(reader: httpx.Client) -> None:
    body = schema(reader, view="compact")
    assert body == schema(reader)
    assert body["object"] == "schema"
    assert body["detail"] == "compact"
    assert (body["connector_count"], body["stream_count"]) == (1, 10)
    (connector,) = body["connectors"]
    assert (connector["connector_key"], connector["display_name"]) == ("library", "Library")
    assert connector["granted_connections"] == [
        {"connection_id": "home", "display_name": "Home shelf"},
        {"connection_id": "work", "display_name": "Work shelf"},
    ]
    counts = {row["name"]: row["record_counts"] for row in connector["streams"]}
    assert counts["books"] == {"home": 5, "work": 3}
    assert counts.keys() == {stream["name"] for stream in LIBRARY["streams"]}
    assert not any("fields" in row for row in connector["streams"])


def test_the_bearer_is_described(library: World, reader: httpx.Client) -> None:
    bearer = schema(reader)["bearer"]
    assert bearer["scope"] == "grant"
    assert bearer["token_kind"] == "client"
    assert bearer["client_id"] == "test-client"
    assert bearer["grant_id"].startswith("grt_")
    assert schema(library.owner())["bearer"] == {
        "scope": "owner",
        "token_kind": "owner",
        "grant_id": None,
        "client_id": None,
    }


@pytest.mark.scenario("S025")
@pytest.mark.scenario("S061")
def test_a_stream_of_several_connections_has_its_flags_for_all(reader: httpx.Client) -> None:
    body = schema(reader, view="compact", stream="books")
    (connector,) = body["connectors"]
    (row,) = connector["streams"]
    assert row["record_counts"] == {"home": 5, "work": 3}
    assert row["field_capabilities"]["title"] == "t=text,role=primary-title,eq,lex"
    assert row["field_capabilities"]["price"] == "t=number,eq,r=gte|lt,sort,a=sum|min|max"
    assert row["field_capabilities"]["in_print"] == "t=boolean,eq,sort,a=group_by"
    assert row["field_capabilities"]["cover"] == "t=blob"
    assert row["views"] == ["card", "words"]
    assert {"name": "reviews", "cardinality": "has_many", "max_limit": 3} in row[
        "expand_capabilities"
    ]


@pytest.mark.scenario("S025")
def test_streams_of_one_name_and_other_sources_each_have_their_row(
    everything: httpx.Client,
) -> None:
    body = schema(everything, view="compact", stream="messages")
    keys = [connector["connector_key"] for connector in body["connectors"]]
    assert len(keys) == len(set(keys)) > 1
    assert all(connector["streams"][0]["field_capabilities"] for connector in body["connectors"])
    assert body["stream_count"] == 3


@pytest.mark.scenario("S025")
def test_a_grant_that_differs_by_connection_gives_a_row_for_each(library: World) -> None:
    client = library.granted(
        Selection(connections=("home",), streams=("books",)),
        Selection(connections=("work",), streams=("books",), fields=("id", "title")),
    )
    (connector,) = schema(client, view="compact", stream="books")["connectors"]
    assert [list(row["record_counts"]) for row in connector["streams"]] == [["home"], ["work"]]
    assert connector["streams"][1]["field_capabilities"].keys() == {"id", "title"}


@pytest.mark.scenario("S026")
def test_a_shared_stream_is_narrowed_to_one_connection(reader: httpx.Client) -> None:
    body = schema(reader, view="compact", **HOME)
    (connector,) = body["connectors"]
    assert connector["granted_connections"] == [
        {"connection_id": "home", "display_name": "Home shelf"}
    ]
    (row,) = connector["streams"]
    assert row["record_counts"] == {"home": 5}
    assert row["label"] == "The books"
    assert row["default_sort"] == "added_at"
    assert row["search"] == ["lexical"]
    assert row["count"] == ["none", "estimated", "exact"]
    assert row["aggregate_count"] is True
    assert row.keys() >= {"field_capabilities", "views", "expand_capabilities", "primary_key"}
    assert body["stream_count"] == 1


@pytest.mark.scenario("S027")
def test_the_flags_come_with_a_legend_and_are_true(reader: httpx.Client) -> None:
    body = schema(reader, view="compact", **HOME)
    legend = body["field_capability_legend"]
    for flag in ("t=", "role=", "eq=", "r=", "sort=", "lex=", "a="):
        assert flag in legend
    (row,) = body["connectors"][0]["streams"]
    for name, flags in row["field_capabilities"].items():
        offered = dict(flag.partition("=")[::2] for flag in flags.split(","))
        _ask(reader, name, offered)


def _ask(reader: httpx.Client, name: str, offered: dict[str, str]) -> None:
    """Ask for everything a field offers, and for what it does not."""
    value = {"boolean": "true", "date": "2026-01-01", "date-time": "2026-01-01"}.get(
        offered["t"], "1"
    )
    records, aggregate = "/v1/streams/books/records", "/v1/streams/books/aggregate"
    asked = {
        "eq": reader.get(records, params={f"filter[{name}]": value}),
        "sort": reader.get(records, params={"sort": name}),
        **{
            f"r={operator}": reader.get(records, params={f"filter[{name}][{operator}]": value})
            for operator in ("gte", "gt", "lte", "lt")
        },
        **{
            f"a={metric}": reader.get(aggregate, params={"metric": metric, "field": name})
            for metric in ("sum", "min", "max", "count_distinct")
        },
        "a=group_by": reader.get(aggregate, params={"group_by": name}),
        "a=group_by_time": reader.get(
            aggregate, params={"group_by_time": name, "granularity": "day"}
        ),
    }
    for what, answer in asked.items():
        flag, _, part = what.partition("=")
        says = flag in offered and (not part or part in offered[flag].split("|"))
        assert answer.status_code == (200 if says else 400), (name, what, answer.text)


@pytest.mark.scenario("S028")
def test_full_detail_of_everything_is_refused_with_what_to_do(reader: httpx.Client) -> None:
    error = refused(reader.get("/v1/schema?detail=full"), 400, "invalid_request")
    assert error["param"] == "stream"
    assert "connection_id" in error["message"]
    assert "compact" in error["message"]
    refused(reader.get("/v1/schema?detail=full&connection_id=home"), 400, "invalid_request")


@pytest.mark.scenario("S029", 2, on="rest")
def test_full_detail_of_a_stream_in_several_connections_is_ambiguous(
    library: World, reader: httpx.Client
) -> None:
    answer = reader.get("/v1/schema?detail=full&stream=books")
    error = refused(answer, 409, "ambiguous_schema_detail")
    assert error["retry_with"] == "connection_id"
    assert [item["connection_id"] for item in error["available_connections"]] == ["home", "work"]
    assert all(
        item.keys() == {"connection_id", "connector_key", "display_name", "grant_id"}
        for item in error["available_connections"]
    )
    assert (error["total"], error["truncated"]) == (2, False)


@pytest.mark.scenario("S029", 1, 3, on="rest")
@pytest.mark.scenario("S063")
def test_full_detail_of_one_stream_is_all_of_it_and_nothing_else(reader: httpx.Client) -> None:
    body = schema(reader, detail="full", **HOME)
    assert body["detail"] == "full"
    assert "streams" not in body
    (connector,) = body["connectors"]
    assert connector["source"] == LIBRARY["source"]
    (row,) = connector["streams"]
    assert (row["name"], row["connection_id"], row["record_count"]) == ("books", "home", 5)
    properties = BOOKS["schema"]["properties"]
    assert {
        name: field["schema"] for name, field in row["field_capabilities"].items()
    } == properties
    fields = row["field_capabilities"]
    assert fields["text"]["description"] == "The words of the book"
    assert fields["text"]["exact_filter"] == {"declared": False, "usable": False}
    assert fields["title"]["exact_filter"] == {"declared": True, "usable": True}
    assert fields["price"]["range_filter"]["operators"] == ["gte", "lt"]
    assert fields["price"]["aggregation"].keys() == {"sum", "min", "max"}
    assert row["semantics"] == "mutable_state"
    assert row["consent_time_field"] == "added_at"
    assert row["views"][0] == {
        "id": "card",
        "label": "Cards",
        "fields": ["id", "title", "added_at"],
    }
    assert [relation["name"] for relation in row["expand_capabilities"]] == [
        "author",
        "shelf",
        "reviews",
        "summary",
    ]
    assert len(orjson.dumps(body)) < 24_000


@pytest.mark.scenario("S061")
def test_the_compact_form_is_the_projection_of_the_full_one(reader: httpx.Client) -> None:
    full = schema(reader, detail="full", **HOME)
    assert schema(reader, view="compact", **HOME) == compact_schema(full, stream="books")


def test_a_stream_without_a_view_is_answered_in_full_for_every_connection(
    reader: httpx.Client,
) -> None:
    assert schema(reader, **HOME) == schema(reader, detail="full", **HOME)
    body = schema(reader, stream="books")
    rows = [row for connector in body["connectors"] for row in connector["streams"]]
    assert [row["connection_id"] for row in rows] == ["home", "work"]
    for row in rows:
        title = row["field_capabilities"]["title"]
        assert title["schema"]["type"] == ["string", "null"]
        assert title["exact_filter"] == {"declared": True, "usable": True}
    refused(
        reader.get("/v1/schema", params={"stream": "books", "detail": "full"}),
        409,
        "ambiguous_schema_detail",
    )


@pytest.mark.parametrize(
    "query",
    ["view=full", "detail=compact", "view=compact&detail=full&stream=books&connection_id=home"],
)
def test_a_form_that_does_not_exist_is_refused(reader: httpx.Client, query: str) -> None:
    refused(reader.get(f"/v1/schema?{query}"), 400, "invalid_request")


def test_a_narrow_grant_shows_only_what_it_grants(library: World) -> None:
    client = library.client(
        connections=("home",),
        streams=("books",),
        fields=("title", "text"),
        time=Interval(instant.parse("2026-01-02"), None),
    )
    assert schema(client)["stream_count"] == 1
    (row,) = schema(client, detail="full", stream="books")["connectors"][0]["streams"]
    assert row["field_capabilities"].keys() == {"title", "text"}
    assert row["primary_key"] == []
    assert row["cursor_field"] is row["consent_time_field"] is row["default_sort"] is None
    assert [(view["id"], view["fields"]) for view in row["views"]] == [
        ("card", ["title"]),
        ("words", ["text"]),
    ]
    assert row["expand_capabilities"] == []
    assert row["record_count"] == 4
    assert row["time_range"] == {"since": "2026-01-02T00:00:00Z", "until": None}
    text = client.get("/v1/schema", params={"stream": "books", "detail": "full"}).text
    assert not any(word in text for word in ("pages", "remark", "author", "work", "reviews"))


def test_a_field_that_is_not_searched_offers_no_search(library: World) -> None:
    client = library.client(connections=("home",), streams=("books",), fields=("id", "pages"))
    (row,) = schema(client, stream="books")["connectors"][0]["streams"]
    assert row["search"] == []


def test_a_time_that_ends_is_told(library: World) -> None:
    client = library.client(
        connections=("home",), streams=("books",), time=Interval(None, instant.parse("2026-01-03"))
    )
    (row,) = schema(client, detail="full", stream="books")["connectors"][0]["streams"]
    assert row["time_range"] == {"since": None, "until": "2026-01-03T00:00:00Z"}


@pytest.mark.parametrize(
    "query", ["stream=films", "connection_id=attic", "stream=books&connection_id=attic"]
)
def test_what_is_not_there_is_refused(reader: httpx.Client, query: str) -> None:
    refused(reader.get(f"/v1/schema?{query}"), 403, "grant_stream_not_allowed")


@pytest.mark.scenario("S050", 1, 2, on="rest")
def test_streams_are_listed_with_their_source_count_and_freshness(library: World) -> None:
    client = library.client(
        streams=("books", "authors"), connections=("home",), fields=("id", "name", "added_at")
    )
    body = client.get("/v1/streams").json()
    assert body["meta"]["count"] == {"kind": "exact", "value": 2}
    assert body["data"] == [
        {
            "object": "stream",
            "name": "authors",
            "label": "The authors",
            "connection_id": "home",
            "connector_key": "library",
            "display_name": "Home shelf",
            "record_count": 2,
            "freshness": {"newest_record_at": None},
        },
        {
            "object": "stream",
            "name": "books",
            "label": "The books",
            "connection_id": "home",
            "connector_key": "library",
            "display_name": "Home shelf",
            "record_count": 5,
            "freshness": {"newest_record_at": "2026-01-04T10:00:00Z"},
        },
    ]


def test_one_stream_has_a_row_for_each_connection(reader: httpx.Client) -> None:
    rows = reader.get("/v1/streams/books").json()["data"]
    assert [(row["connection_id"], row["record_count"]) for row in rows] == [
        ("home", 5),
        ("work", 3),
    ]
    (row,) = reader.get("/v1/streams/books?connection_id=work").json()["data"]
    assert row["connection_id"] == "work"
    rows = reader.get("/v1/streams?connection_id=work").json()["data"]
    assert {row["connection_id"] for row in rows} == {"work"}


def test_counts_and_freshness_are_of_what_the_grant_shows(library: World) -> None:
    time = Interval(None, instant.parse("2026-01-03"))
    client = library.client(streams=("books",), connections=("home",), time=time)
    (row,) = client.get("/v1/streams").json()["data"]
    assert row["record_count"] == 2
    assert row["freshness"] == {"newest_record_at": "2026-01-02T10:00:00Z"}
    hidden = library.client(streams=("books",), connections=("home",), fields=("id",), time=time)
    (row,) = hidden.get("/v1/streams").json()["data"]
    assert row["record_count"] == 2
    assert row["freshness"] == {"newest_record_at": None}


def test_streams_of_a_connection_that_is_not_granted_are_refused(reader: httpx.Client) -> None:
    for path in ("/v1/streams?connection_id=attic", "/v1/streams/films"):
        refused(reader.get(path), 403, "grant_stream_not_allowed")
