"""Forwarding: typed filters and limits reach the server in brackets, wrong ones never."""

from typing import Any

import pytest
from tests.mcp.client import Client, Estate
from tests.mcp.recorder import reads
from tests.mcp.sight import see


@pytest.mark.scenario("S070", 1, 2, 3)
def test_filters_are_advertised_as_objects(client: Client) -> None:
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in client.tools()}
    for name in ("query_records", "aggregate", "search"):
        schema = tools[name]["filter"]
        assert schema["type"] == "object"
        assert schema.keys().isdisjoint({"anyOf", "oneOf", "allOf"})
        assert "{gte,gt,lte,lt}" in schema["description"]
        assert schema["additionalProperties"] is True
        assert "exact" in schema["description"]
    assert "filter" not in tools["fetch"]


def forwarded(
    client: Client, estate: Estate, tool: str, arguments: dict[str, Any]
) -> tuple[tuple[str, str], ...]:
    """Return the parameters of the one read that a call makes."""
    with estate.recorder.listening() as sent:
        client.call(tool, arguments)
    one, *again = reads(sent)  # A page that does not fit is asked for again, shorter.
    assert all(other.path == one.path for other in again)
    return one.query


@pytest.mark.scenario("S071", 1, 2)
@pytest.mark.parametrize("value", ["U07", "two words & more=1", "ünï"])
def test_an_exact_filter_is_forwarded_in_brackets(client: Client, demo: Estate, value: str) -> None:
    asked = {"stream": "messages", "connection_id": "cin_team", "filter": {"user_id": value}}
    query = forwarded(client, demo, "query_records", asked)
    assert dict(query) == {
        "connection_id": "cin_team",
        "filter[user_id]": value,
        "limit": "25",
    }


@pytest.mark.scenario("S072", 1)
def test_a_range_filter_is_forwarded_by_operator(client: Client, demo: Estate) -> None:
    limits = {"gte": -90, "gt": -91.5, "lte": -10, "lt": -9}
    asked = {"stream": "transactions", "filter": {"amount": limits}}
    query = dict(forwarded(client, demo, "query_records", asked))
    assert query.pop("limit") == "25"
    assert query == {f"filter[amount][{name}]": str(limit) for name, limit in limits.items()}
    since = {"stream": "messages", "filter": {"sent_at": {"gte": "2026-01-01T00:00:00Z"}}}
    query = dict(forwarded(client, demo, "query_records", since))
    assert query["filter[sent_at][gte]"] == "2026-01-01T00:00:00Z"
    with demo.recorder.listening() as sent:
        wrong = {"stream": "transactions", "filter": {"amount": {"eq": 1}}}
        client.refused("invalid_filter", "query_records", wrong)
    assert sent == []


STRINGS = ["filter[user_id]=U123", "amount>100", "books", "", '{"category":"books"}']
TOOLS_WITH_FILTER: list[tuple[str, dict[str, Any]]] = [
    ("query_records", {"stream": "transactions"}),
    ("aggregate", {"stream": "transactions", "metric": "count"}),
    ("search", {"query": "books"}),
]


@pytest.mark.scenario("S073", 1, 2)
@pytest.mark.scenario("S075", 2)
@pytest.mark.parametrize("filter", STRINGS)
@pytest.mark.parametrize(("tool", "base"), TOOLS_WITH_FILTER)
def test_a_string_filter_is_refused_before_any_read(
    client: Client, demo: Estate, tool: str, base: dict[str, Any], filter: str
) -> None:
    with demo.recorder.listening() as sent:
        found = client.refused("invalid_filter", tool, {**base, "filter": filter})
    assert sent == []
    assert "filter is an object" in found.text
    example = see(found, "content").shown(tool).arguments
    assert isinstance(example["filter"], dict)
    assert see(found, "structured").shown(tool).arguments == example


@pytest.mark.scenario("S074", 1, 2)
@pytest.mark.parametrize(
    "filter", [{}, {"filter[user_id]": "U1"}, {"user_id[gte]": "U1"}, {"user_id": {}}]
)
def test_an_empty_or_encoded_filter_is_refused_before_any_read(
    client: Client, demo: Estate, filter: dict[str, Any]
) -> None:
    for tool, base in TOOLS_WITH_FILTER:
        with demo.recorder.listening() as sent:
            found = client.refused("invalid_filter", tool, {**base, "filter": filter})
        assert sent == []
        assert isinstance(see(found, "content").shown(tool).arguments["filter"], dict)


@pytest.mark.scenario("S075", 1)
def test_an_aggregate_forwards_the_same_filters(client: Client, demo: Estate) -> None:
    wanted = {"category": "books", "amount": {"lt": -5, "gte": -60}}
    asked = {"stream": "transactions", "metric": "count", "filter": wanted}
    expected = {
        "filter[category]": "books",
        "filter[amount][lt]": "-5",
        "filter[amount][gte]": "-60",
    }
    query = dict(forwarded(client, demo, "aggregate", asked))
    assert query == {"metric": "count", **expected}
    page = dict(
        forwarded(client, demo, "query_records", {"stream": "transactions", "filter": wanted})
    )
    assert expected.items() <= page.items()


@pytest.mark.scenario("S076", 1, 2)
def test_expand_limits_of_a_query_are_forwarded_in_brackets(client: Client, demo: Estate) -> None:
    asked = {"stream": "threads", "connection_id": "cin_home", "limit": 1}
    wanted = {"expand": ["messages"], "expand_limit": {"messages": 3}}
    query = dict(forwarded(client, demo, "query_records", {**asked, **wanted}))
    assert query == {
        "connection_id": "cin_home",
        "limit": "1",
        "expand": "messages",
        "expand_limit[messages]": "3",
    }


@pytest.mark.scenario("S077", 1, 2)
def test_expand_limits_of_a_fetch_are_forwarded_in_brackets(client: Client, demo: Estate) -> None:
    asked = {"id": "cin_home/threads:t-invoice-4471", "expand": ["messages"]}
    query = forwarded(client, demo, "fetch", {**asked, "expand_limit": {"messages": 3}})
    assert dict(query) == {
        "connection_id": "cin_home",
        "expand": "messages",
        "expand_limit[messages]": "3",
    }


@pytest.mark.scenario("S078", 1, 2)
@pytest.mark.parametrize(
    "limits", [{}, {"expand_limit[messages]": 3}, {"messages[]": 3}, {"messages": "3"}, "3"]
)
@pytest.mark.parametrize(
    ("tool", "base"),
    [
        ("query_records", {"stream": "threads", "expand": ["messages"]}),
        ("fetch", {"id": "cin_home/threads:t-invoice-4471", "expand": ["messages"]}),
    ],
)
def test_wrong_expand_limits_are_refused_before_any_read(
    client: Client, demo: Estate, tool: str, base: dict[str, Any], limits: Any
) -> None:
    with demo.recorder.listening() as sent:
        found = client.refused("invalid_expand", tool, {**base, "expand_limit": limits})
    assert sent == []
    example = see(found, "content").shown(tool).arguments
    assert isinstance(example["expand_limit"], dict)
