"""The adapter: credentials, forwarding, errors that keep their meaning, and readable text."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp
from tests.mcp.client import (
    KINDS,
    TRANSPORTS,
    Client,
    Estate,
    StdioWire,
    connect,
    open_wire,
    reads,
    run_pdpp,
)
from tests.mcp.closure import legacy
from tests.mcp.launch import VERSION
from tests.mcp.post import FIRST, SECOND
from tests.mcp.sight import Agent, see
from tests.serving import approve, grant, running

from pdpp.authz.selection import Selection

LETTER_ID = "cin_home/messages:m-invoice-4471"
PHOTO_QUERY = {"stream": "photos", "limit": 2}


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def mcp(estate: Estate, root: Path, folder: Path, **variables: str) -> Any:
    address = estate.world.server.url
    return run_pdpp(
        "mcp", "--provider-url", address, "--cache-root", str(root), cwd=folder, **variables
    )


# Credentials


@pytest.mark.scenario("S047")
def test_a_cached_token_is_attached_to_every_read(demo: Estate, tmp_path: Path) -> None:
    token = grant(demo.store, connections=("cin_bank",))
    wire = StdioWire(demo.world.server.url, connect(demo, tmp_path, token), "2025-11-25")
    try:
        open_wire(wire, "2025-11-25")
        with demo.recorder.listening() as sent:
            asked = {"name": "query_records", "arguments": {"stream": "accounts"}}
            answer = wire.request("tools/call", asked)
    finally:
        wire.close()
    assert answer["isError"] is False
    assert {one.bearer for one in sent} == {token}


@pytest.mark.scenario("S048")
def test_an_empty_cache_ends_the_start_with_the_command_that_fills_it(
    demo: Estate, tmp_path: Path
) -> None:
    with demo.recorder.listening() as sent:
        ended = mcp(demo, tmp_path / "empty", tmp_path)
    assert ended.returncode == 78
    assert ended.stdout == ""
    assert f"pdpp connect {demo.world.server.url}" in ended.stderr
    assert sent == []


@pytest.mark.scenario("S048")
@pytest.mark.parametrize("content", ["", "{", "[]", '{"token":"x"}'])
def test_an_unreadable_cache_ends_the_start_the_same_way(
    demo: Estate, tmp_path: Path, content: str
) -> None:
    root = connect(demo, tmp_path / "cache", "a-token")
    [path] = (root / "clients").glob("*.json")
    path.write_text(content)
    ended = mcp(demo, root, tmp_path)
    assert (ended.returncode, ended.stdout) == (78, "")
    assert f"pdpp connect {demo.world.server.url}" in ended.stderr


@pytest.mark.scenario("S048")
def test_no_address_is_a_mistake_in_the_call(tmp_path: Path) -> None:
    ended = run_pdpp("mcp", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (64, "")
    assert "--provider-url" in ended.stderr


@pytest.mark.scenario("S049")
def test_an_owner_credential_without_a_scoped_one_fails_closed(
    demo: Estate, tmp_path: Path
) -> None:
    with demo.recorder.listening() as sent:
        ended = mcp(demo, tmp_path / "empty", tmp_path, PDPP_OWNER_TOKEN="pdpp_owner_x")
    assert ended.returncode == 77
    assert ended.stdout == ""
    assert "PDPP_OWNER_TOKEN" in ended.stderr
    assert "pdpp_owner_x" not in ended.stderr
    assert sent == []


# Streams and records


@pytest.mark.scenario("S050")
@pytest.mark.parametrize("kind", KINDS)
def test_only_the_streams_of_the_grant_are_listed(demo: Estate, kind: str) -> None:
    token = grant(demo.store, connections=("cin_home", "cin_bank"))
    client = demo.client(kind, token)
    rest = demo.world.server.client(token).get("/v1/streams").json()["data"]
    with demo.recorder.listening() as sent:
        index = client.good("schema").structured["data"]
    assert {one.bearer for one in sent} == {token}
    listed = {
        (connector["connector_key"], connection_id, row["name"])
        for connector in index["connectors"]
        for row in connector["streams"]
        for connection_id in row["record_counts"]
    }
    assert listed == {(r["connector_key"], r["connection_id"], r["name"]) for r in rest}
    assert {source for _, source, _ in listed} == {"cin_home", "cin_bank"}
    names = {resource["name"] for resource in client.resources()}
    assert names == {name for *_, name in listed}
    assert "cin_home" in client.read("pdpp://stream/messages")
    assert "cin_work" not in client.read("pdpp://stream/messages")


@pytest.mark.scenario("S051")
def test_every_argument_of_a_record_query_reaches_the_server(client: Client, demo: Estate) -> None:
    asked: dict[str, Any] = {
        "stream": "messages",
        "connection_id": "cin_home",
        "filter": {"unread": False, "sent_at": {"gte": "2026-01-01T00:00:00Z"}},
        "fields": ["id", "subject"],
        "sort": "sent_at",
        "order": "desc",
        "limit": 3,
        "count": "exact",
    }
    with demo.recorder.listening() as sent:
        client.good("query_records", asked)
    [one] = reads(sent)
    assert one.path == "/v1/streams/messages/records"
    assert set(one.query) == {
        ("connection_id", "cin_home"),
        ("filter[unread]", "false"),
        ("filter[sent_at][gte]", "2026-01-01T00:00:00Z"),
        ("fields", "id"),
        ("fields", "subject"),
        ("sort", "sent_at"),
        ("order", "desc"),
        ("limit", "3"),
        ("count", "exact"),
    }


@pytest.mark.scenario("S051")
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"view": "envelope"}, ("view", "envelope")),
        ({"changes_since": "beginning"}, ("changes_since", "beginning")),
    ],
)
def test_views_and_changes_reach_the_server(
    client: Client, demo: Estate, asked: dict[str, Any], expected: tuple[str, str]
) -> None:
    scope = {"stream": "messages", "connection_id": "cin_home", "limit": 1}
    with demo.recorder.listening() as sent:
        client.good("query_records", {**scope, **asked})
    assert expected in reads(sent)[0].query


@pytest.mark.scenario("S051")
@pytest.mark.parametrize("name", ["where", "offset", "q", "connector_instance_id", "streams"])
def test_an_argument_that_is_not_there_is_refused_before_any_read(
    client: Client, demo: Estate, name: str
) -> None:
    with demo.recorder.listening() as sent:
        found = client.refused("invalid_request", "query_records", {**PHOTO_QUERY, name: "x"})
    assert sent == []
    assert name in found.text


# Packages whose grants do not all stand


@pytest.mark.scenario("S054")
def test_a_revoked_child_is_never_offered_as_a_choice(post: Estate) -> None:
    token, grants = post.package()
    client = post.client("http-modern", token)
    post.store.revoke_grant(grants[FIRST])
    index = client.good("schema")
    assert FIRST not in compact(index.structured["data"]["connectors"])
    [missing] = index.structured["data"]["unavailable_connections"]
    assert (missing["connection_id"], missing["code"]) == (FIRST, "grant_revoked")
    assert f"unavailable: {FIRST} (grant_revoked)" in index.text
    refused = client.call("query_records", {"stream": "letters", "connection_id": FIRST})
    assert refused.code == "grant_revoked"
    assert "approve" in refused.text or "another" in refused.text or "new one" in refused.text


@pytest.mark.scenario("S054")
def test_an_ambiguity_names_a_revoked_child_apart(post: Estate) -> None:
    token, grants = post.package()
    post.store.revoke_grant(grants[SECOND])
    client = post.client("http-legacy", token)
    found = client.refused("ambiguous_connection", "query_records", {"stream": "unheard-of"})
    error = found.structured["error"]
    offered = {choice["connection_id"] for choice in error["available_connections"]}
    assert SECOND not in offered
    assert len(offered) == error["total"] == 2
    [missing] = error["unavailable_connections"]
    assert (missing["connection_id"], missing["code"]) == (SECOND, "grant_revoked")
    assert "grant_revoked" in found.text
    for call in see(found, "content").calls:
        assert call.arguments["connection_id"] in offered


@pytest.mark.scenario("S054")
def test_a_search_goes_on_without_a_revoked_child(post: Estate) -> None:
    token, grants = post.package()
    client = post.client("http-legacy", token)
    post.store.revoke_grant(grants[SECOND])
    found = client.good("search", {"query": "heron"})
    sources = {hit["connection_id"] for hit in found.structured["results"]}
    assert sources == {FIRST, "cin_diary"}
    [missing] = found.structured["content_ladder"]["unavailable_connections"]
    assert (missing["connection_id"], missing["code"]) == (SECOND, "grant_revoked")
    assert f"unavailable: {SECOND} (grant_revoked)" in found.text


@pytest.mark.scenario("S054")
@pytest.mark.parametrize("kind", TRANSPORTS)
def test_a_revoked_grant_keeps_its_meaning(post: Estate, kind: str) -> None:
    approval = approve(post.store, Selection(connections=(FIRST,)))
    client = post.client(kind, approval.token)
    client.good("query_records", {"stream": "letters", "limit": 1})
    post.store.revoke_grant(approval.grant_id)
    if kind.startswith("http"):
        http = post.world.server.client(approval.token)
        answer = http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "grant_revoked"
        return
    client.refused("grant_revoked", "query_records", {"stream": "letters", "limit": 1})


# The protocol's streams


@pytest.mark.scenario("S055")
def test_what_is_no_message_goes_to_standard_error(demo: Estate, tmp_path: Path) -> None:
    ended = run_pdpp("mcp", "--nonsense", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (64, "")
    assert "--nonsense" in ended.stderr
    token = grant(demo.store, connections=("cin_bank",))
    wire = StdioWire("http://127.0.0.1:9", connect_to("http://127.0.0.1:9", tmp_path, token), "x")
    try:
        asked = {"name": "search", "arguments": {"query": "invoice"}}
        answer = wire.request("tools/call", asked)
    finally:
        wire.close()
    assert answer["isError"] is True
    assert answer["structuredContent"]["error"]["code"] == "server_unreachable"
    assert "http://127.0.0.1:9" in answer["content"][0]["text"]


def connect_to(address: str, root: Path, token: str) -> Path:
    from pdpp.credentials import Cache, Credential

    Cache(root / "clients").store(Credential(address, token, "client"))
    return root


# Schema


@pytest.mark.scenario("S061")
@pytest.mark.parametrize("scope", [{}, {"stream": "messages"}])
def test_compact_discovery_is_the_servers_own(
    client: Client, demo: Estate, scope: dict[str, str]
) -> None:
    with demo.recorder.listening() as sent:
        found = client.good("schema", scope)
    [one] = sent
    assert one.path == "/v1/schema"
    assert dict(one.query) == {"view": "compact", **scope}
    http = demo.world.server.client(client.token)
    rest = http.get("/v1/schema", params={"view": "compact", **scope}).json()
    assert found.structured["data"] == rest


@pytest.mark.scenario("S062")
@pytest.mark.parametrize("rejects", [True, False])
def test_a_server_without_the_compact_view_is_projected_to_the_same(
    demo: Estate, demo_token: str, tmp_path: Path, rejects: bool
) -> None:
    documents = {name: _full(demo, demo_token, name) for name in (None, "messages", "accounts")}
    with running(_unaware(documents, rejects)) as server:
        root = connect_to(server.url, tmp_path, demo_token)
        wire = StdioWire(server.url, root, VERSION)
        try:
            for name in documents:
                scope = {} if name is None else {"stream": name}
                asked = {"name": "schema", "arguments": scope}
                answer = wire.request("tools/call", asked)
                own = demo.client("stdio-modern", demo_token).good("schema", scope)
                assert answer["structuredContent"] == own.structured
                assert answer["content"] == own.raw["content"]
        finally:
            wire.close()


def _full(demo: Estate, token: str, stream: str | None) -> dict[str, Any]:
    """Return the whole schema with every detail, put together from its parts."""
    http = demo.world.server.client(token)
    listed = http.get("/v1/streams").json()["data"]
    connectors: dict[str, dict[str, Any]] = {}
    for row in listed:
        if stream not in (None, row["name"]):
            continue
        scope = {"stream": row["name"], "connection_id": row["connection_id"], "detail": "full"}
        document = http.get("/v1/schema", params=scope).json()
        [connector] = document["connectors"]
        held = connectors.setdefault(connector["connector_key"], connector)
        if held is not connector:
            held["streams"] += connector["streams"]
            new = [
                c for c in connector["granted_connections"] if c not in held["granted_connections"]
            ]
            held["granted_connections"] += new
    rows = sum(len(connector["streams"]) for connector in connectors.values())
    return {
        **document,
        "connectors": list(connectors.values()),
        "connector_count": len(connectors),
        "stream_count": rows,
    }


def _unaware(documents: dict[str | None, dict[str, Any]], rejects: bool) -> ASGIApp:
    """Return another company's server, which knows no compact view."""

    async def schema(request: Request) -> JSONResponse:
        if rejects and "view" in request.query_params:
            error = {"code": "invalid_request", "message": "What is view?", "param": "view"}
            return JSONResponse({"error": error}, 400)
        return JSONResponse(documents[request.query_params.get("stream")])

    return Starlette(routes=[Route("/v1/schema", schema)])


@pytest.mark.scenario("S063")
def test_full_detail_is_never_the_compact_projection(client: Client) -> None:
    asked = {"stream": "accounts", "detail": "full"}
    full = client.good("schema", asked).structured["data"]
    brief = client.good("schema", {"stream": "accounts"}).structured["data"]
    assert full["detail"] == "full"
    assert brief["detail"] == "compact"
    [row] = full["connectors"][0]["streams"]
    assert row["fields"]["name"]["schema"]["type"] == "string"
    assert isinstance(brief["connectors"][0]["streams"][0]["fields"]["name"], str)


# Search and fetch


@pytest.mark.scenario("S064")
def test_search_results_have_stable_ids_titles_and_addresses(client: Client) -> None:
    first = client.good("search", {"query": "invoice 4471"}).structured["results"]
    again = client.good("search", {"query": "invoice 4471"}).structured["results"]
    assert [hit["id"] for hit in first] == [hit["id"] for hit in again]
    for hit in first:
        assert hit["title"].strip()
        assert re.match(r"https?://[^/]+/r/", hit["url"])


@pytest.mark.scenario("S066")
def test_the_native_tools_keep_the_servers_envelopes(client: Client, demo: Estate) -> None:
    http = demo.world.server.client(client.token)
    asked = {"stream": "accounts", "count": "exact", "limit": 2}
    page = client.good("query_records", asked).structured["data"]
    rest = http.get("/v1/streams/accounts/records", params={"count": "exact", "limit": 2}).json()
    for name in ("object", "has_more", "next_cursor", "meta"):
        assert page[name] == rest[name]
    for row, original in zip(page["data"], rest["data"], strict=True):
        assert {k: v for k, v in row.items() if k != "fetch"} == original
    counted = {"stream": "accounts", "metric": "count"}
    answer = http.get("/v1/streams/accounts/aggregate", params={"metric": "count"}).json()
    assert client.good("aggregate", counted).structured["data"] == answer


# Filters and limits


@pytest.mark.scenario("S070")
def test_filters_are_advertised_as_objects(client: Client) -> None:
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in client.tools()}
    for name in ("query_records", "aggregate", "search"):
        schema = tools[name]["filter"]
        assert schema["type"] == "object"
        value = schema["additionalProperties"]
        assert set(value["type"]) == {"string", "number", "boolean", "object"}
        assert set(value["properties"]) == {"gte", "gt", "lte", "lt"}
        assert "exact" in schema["description"]
    assert "filter" not in tools["fetch"]


def forwarded(
    client: Client, estate: Estate, tool: str, arguments: dict[str, Any]
) -> tuple[tuple[str, str], ...]:
    """Return the parameters of the one read that a call makes."""
    with estate.recorder.listening() as sent:
        client.call(tool, arguments)
    [one] = reads(sent)
    return one.query


@pytest.mark.scenario("S071")
@pytest.mark.parametrize("value", ["U07", "two words & more=1", "ünï"])
def test_an_exact_filter_is_forwarded_in_brackets(client: Client, demo: Estate, value: str) -> None:
    asked = {"stream": "messages", "connection_id": "cin_team", "filter": {"user_id": value}}
    query = forwarded(client, demo, "query_records", asked)
    assert dict(query) == {
        "connection_id": "cin_team",
        "filter[user_id]": value,
        "limit": "25",
    }


@pytest.mark.scenario("S072")
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


@pytest.mark.scenario("S073")
@pytest.mark.scenario("S075")
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


@pytest.mark.scenario("S074")
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


@pytest.mark.scenario("S075")
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


@pytest.mark.scenario("S076")
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


@pytest.mark.scenario("S077")
def test_expand_limits_of_a_fetch_are_forwarded_in_brackets(client: Client, demo: Estate) -> None:
    asked = {"id": "cin_home/threads:t-invoice-4471", "expand": ["messages"]}
    query = forwarded(client, demo, "fetch", {**asked, "expand_limit": {"messages": 3}})
    assert dict(query) == {
        "connection_id": "cin_home",
        "expand": "messages",
        "expand_limit[messages]": "3",
    }


@pytest.mark.scenario("S078")
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


# Aggregates


@pytest.mark.scenario("S079")
def test_a_number_stands_in_the_text_with_what_it_counts(client: Client, demo: Estate) -> None:
    asked = {"stream": "transactions", "metric": "count"}
    found = client.good("aggregate", asked)
    value = found.structured["data"]["value"]
    assert found.text.startswith(f"count of transactions: {value}")
    assert found.structured["data"]["object"] == "aggregation"
    assert len(found.text) < 200
    http = demo.world.server.client(client.token)
    rest = http.get("/v1/streams/transactions/aggregate", params={"metric": "count"}).json()
    assert found.structured["data"] == rest
    largest = {"stream": "transactions", "metric": "max", "field": "amount"}
    found = client.good("aggregate", largest)
    assert f"max of amount of transactions: {found.structured['data']['value']}" in found.text


@pytest.mark.scenario("S080")
@pytest.mark.scenario("S082")
def test_groups_stand_in_the_text_with_their_counts_and_the_rest(client: Client) -> None:
    asked = {"stream": "transactions", "metric": "count", "group_by": "category", "limit": 4}
    found = client.good("aggregate", asked)
    groups = found.structured["data"]["groups"]
    assert len(groups) == 4
    other = found.structured["data"]["other_count"]
    assert other > 0
    [line, *_] = found.text.split("\n")
    assert line.startswith("count of transactions by category: ")
    for group in groups:
        assert re.search(rf'[ "]{group["key"]}"? {group["count"]} ·', line)
    assert f"other_count {other}" in line
    assert "{" not in line


@pytest.mark.scenario("S081")
def test_the_description_tells_of_other_count(client: Client) -> None:
    [described] = [tool["description"] for tool in client.tools() if tool["name"] == "aggregate"]
    assert "other_count" in described
    assert re.search(r"above 0 means top-N truncation", described)


# Text of search and fetch


@pytest.mark.scenario("S083")
def test_search_text_has_whole_ids_labels_and_how_to_fetch(client: Client) -> None:
    found = client.good("search", {"query": "invoice 4471"})
    seen = see(found, "content")
    assert list(seen.ids) == [hit["id"] for hit in found.structured["results"]]
    for hit in found.structured["results"]:
        block = found.text[found.text.index(hit["id"]) :]
        for value in ("title", "stream", "display_name", "connector_key"):
            assert hit[value] in block
        if "evidence" in hit:
            assert hit["evidence"].replace("\n", "⏎") in found.text
    assert "fetch with an id as it is shown" in found.text
    assert "connection_id only where it is shown apart" in found.text
    assert '"connection_id"' not in found.text


@pytest.mark.scenario("S084")
def test_search_text_stays_bounded_and_the_envelope_whole(client: Client, demo: Estate) -> None:
    found = client.good("search", {"query": "the", "limit": 100})
    assert len(found.text) <= 30_000
    assert len(compact(found.structured)) <= 30_000
    envelope = found.structured["data"]
    assert len(envelope["data"]) == len(found.structured["results"]) > 10
    assert envelope["has_more"] is True
    http = demo.world.server.client(client.token)
    params = {"q": "the", "limit": str(len(envelope["data"]))}
    assert envelope["data"] == http.get("/v1/search", params=params).json()["data"]
    few = client.good("search", {"query": "the"})
    assert len(few.text) <= 8_000
    assert len(compact(few.structured)) <= 12_000


@pytest.mark.scenario("S085")
def test_fetch_text_has_identity_source_and_the_words(client: Client) -> None:
    found = Agent(client, "content").call("fetch", {"id": LETTER_ID})
    for part in (
        f'"id":"{LETTER_ID}"',
        '"title":"Invoice 4471 for the kitchen tiles"',
        '"connection_id":"cin_home"',
        '"stream":"messages"',
        '"display_name":"Home mail"',
        '"connector_key":"mail"',
        "please find attached invoice 4471",
    ):
        assert part in found.visible


@pytest.mark.scenario("S086")
def test_a_document_is_made_from_the_record_inside_its_envelope(
    client: Client, demo: Estate, postman: Client
) -> None:
    http = demo.world.server.client(client.token)
    record = http.get(
        "/v1/streams/messages/records/m-invoice-4471", params={"connection_id": "cin_home"}
    ).json()
    document = client.good("fetch", {"id": LETTER_ID}).structured
    assert document["title"] == record["data"]["subject"]
    assert document["text"].endswith(record["data"]["body"])
    assert document["url"].endswith("/r/cin_home/messages/m-invoice-4471")
    for name in ("connection_id", "connector_key", "display_name", "stream"):
        assert document["metadata"][name] == record[name]
    linked = postman.good("fetch", {"id": f"{FIRST}/letters:linked"})
    assert linked.structured["metadata"]["link"] == "https://amber.example/4"
    assert "structuredContent" not in linked.text


# Ids


@pytest.mark.scenario("S096")
def test_results_of_several_sources_carry_their_connection(postman: Client) -> None:
    found = postman.good("search", {"query": "heron"})
    results = found.structured["results"]
    assert len({hit["connection_id"] for hit in results}) == 3
    for hit in results:
        assert hit["id"] == f"{hit['connection_id']}/{hit['stream']}:{hit['record_id']}"
    assert list(see(found, "content").ids) == [hit["id"] for hit in results]


@pytest.mark.scenario("S097")
def test_an_id_from_the_text_is_enough_to_fetch(postman: Client, post: Estate) -> None:
    hits = see(postman.good("search", {"query": "cobalt"}), "content")
    [id] = [id for id in hits.ids if id.endswith("/letters:same")]
    postman.refused("ambiguous_connection", "fetch", {"id": legacy(id)})
    with post.recorder.listening() as sent:
        found = postman.good("fetch", {"id": id})
    [one] = reads(sent)
    assert one.path == "/v1/streams/letters/records/same"
    assert one.query == (("connection_id", SECOND),)
    assert found.structured["id"] == id
    assert "cobalt" in found.structured["text"]


@pytest.mark.scenario("S098")
def test_an_id_without_a_connection_still_works_as_it_did(postman: Client, post: Estate) -> None:
    with post.recorder.listening() as sent:
        scoped = postman.good("fetch", {"id": "letters:same", "connection_id": FIRST})
    assert reads(sent)[0].query == (("connection_id", FIRST),)
    assert "amber" in scoped.structured["text"]
    alone = postman.good("fetch", {"id": "cards:card-1"})
    assert alone.structured["id"] == f"{FIRST}/cards:card-1"
    with post.recorder.listening() as sent:
        found = postman.refused("ambiguous_connection", "fetch", {"id": "letters:same"})
    assert [one.query for one in reads(sent)] == [()]
    error = found.structured["error"]
    assert error["retry_with"] == "connection_id"
    assert {c["connection_id"] for c in error["available_connections"]} == {FIRST, SECOND}
    assert error["request_id"]


@pytest.mark.scenario("S099")
@pytest.mark.parametrize("tool", ["fetch", "read_record_field"])
def test_two_different_connections_are_refused_before_any_read(
    postman: Client, post: Estate, tool: str
) -> None:
    more = {} if tool == "fetch" else {"field_path": "body"}
    asked = {"id": f"{FIRST}/letters:same", "connection_id": SECOND, **more}
    with post.recorder.listening() as sent:
        found = postman.refused("invalid_request", tool, asked)
    assert sent == []
    assert FIRST in found.text
    assert SECOND in found.text
    same = postman.good(tool, {**asked, "connection_id": FIRST})
    assert "amber" in same.text


@pytest.mark.scenario("S100")
@pytest.mark.parametrize(
    "id",
    [
        "/letters:same",
        "cin_first/:same",
        "cin_first/letters:",
        "cin_first/letters",
        "cin_first/extra/letters:same",
        "cin_first//letters:same",
        "cin_first/letters:a/b",
        "../letters:same",
        "cin_first/..:same",
        "cin_first/letters:..",
        "cin_first/letters:%2e%2e",
        "cin_first/letters:..%2f..%2fowner",
        "pdpp://record/cin_first%2F..%3Asame",
        "pdpp://elsewhere/cin_first",
    ],
)
def test_a_malformed_id_is_refused_before_any_read(postman: Client, post: Estate, id: str) -> None:
    for tool, more in (("fetch", {}), ("read_record_field", {"field_path": "body"})):
        with post.recorder.listening() as sent:
            found = postman.refused("invalid_request", tool, {"id": id, **more})
        assert sent == []
        assert found.structured["error"]["param"] == "id"
