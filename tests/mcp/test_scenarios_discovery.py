"""Discovery: a bounded index, then one stream in full, the same as the server's own."""

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp
from tests.mcp.client import TRANSPORTS, Client, Estate, StdioWire, compact, connect_to
from tests.mcp.launch import VERSION
from tests.mcp.post import FIRST
from tests.mcp.sight import Agent, see
from tests.serving import grant, running

MOST_INDEX_CHARS = 24_000
MOST_CHARS = 30_000

# Discovery


@pytest.mark.scenario("S024", 1, 2)
def test_global_discovery_is_an_index_that_leads_to_a_stream(agent: Agent) -> None:
    index = agent.call("schema")
    for name in ("transactions", "events", "messages", "attachments", "documents", "orders"):
        assert name in index.visible
    assert "lex" not in index.visible
    onward = index.shown("schema")
    assert set(onward.arguments) == {"stream"}
    assert "eq" in agent.follow(onward).visible


@pytest.mark.scenario("S024", 3)
@pytest.mark.parametrize("kind", TRANSPORTS)
def test_every_stream_name_is_in_the_index_of_a_wide_grant(wide: Estate, kind: str) -> None:
    found = wide.client(kind, grant(wide.store)).good("schema")
    assert len(found.text) <= MOST_INDEX_CHARS
    assert len(compact(found.structured)) <= MOST_INDEX_CHARS
    for number in range(40):
        below = found.text.partition(f"\nkind{number:02}: ")[2].partition("\nkind")[0]
        for letter in "abcde":
            assert f"stream_{number:02}_{letter}" in below


@pytest.mark.scenario("S025", 1, 2)
def test_a_shared_stream_shows_each_of_its_sources(agent: Agent) -> None:
    seen = agent.call("schema", {"stream": "messages"})
    for source in ("cin_home", "cin_work", "cin_team"):
        assert source in seen.visible
    for field in ("size_bytes", "channel_id", "sent_at", "user_name", "user_id"):
        assert field in seen.visible
    assert re.search(r"group_by_time", seen.visible)
    asked = {"stream": "messages", "connection_id": "cin_team"}
    assert agent.call("query_records", {**asked, "filter": {"channel_id": "C03"}, "limit": 1}).ids
    assert agent.call("query_records", {**asked, "sort": "-sent_at", "limit": 1}).ids
    assert agent.call("query_records", {**asked, "fields": ["user_name"], "limit": 1}).ids
    grouped = {"metric": "count", "group_by": "user_id"}
    assert "U07" in agent.call("aggregate", {**asked, **grouped}).visible


@pytest.mark.scenario("S026", 1, 2)
def test_one_connection_of_a_shared_stream_shows_only_itself(client: Client) -> None:
    found = client.good("schema", {"stream": "messages", "connection_id": "cin_home"})
    for half in (found.text, compact(found.structured)):
        assert "cin_work" not in half
        assert "cin_team" not in half
        assert "channel_id" not in half
    head = found.text.split("\n")[0]
    assert head.startswith("messages · demo_mail · Home mail (cin_home, ")
    for part in ('label "Letters"', "sorted by sent_at"):
        assert part in head
    assert "count none|estimated|exact" in head
    assert re.search(r"^  subject  text role=primary-title eq .*lex", found.text, re.M)
    assert re.search(
        r"^  size_bytes  integer eq r=gte\|gt\|lte\|lt sort a=sum\|min\|max", found.text, re.M
    )
    for offer in (
        "fields projection",
        "attachments (has_many, up to 50)",
        "views: envelope",
        "search: lexical",
        "aggregate count: yes",
    ):
        assert offer in found.text


@pytest.mark.scenario("S027", 1, 2)
def test_flags_come_with_a_legend_and_can_be_used(client: Client) -> None:
    asked = {"stream": "transactions", "connection_id": "cin_bank"}
    found = client.good("schema", asked)
    [legend] = [line for line in found.text.split("\n") if line.startswith("flags:")]
    used = set()
    for line in found.text.split("\n"):
        if line.startswith("  ") and "  " in line.strip():
            used |= {flag.partition("=")[0] for flag in line.split()[2:]}
    for flag in used & {"eq", "r", "sort", "lex", "a", "role"}:
        assert re.search(rf"\b{flag} ", legend)
    assert found.structured["data"]["field_capability_legend"]
    rows = re.findall(r"^  (\w+)  (\S+) (.*)$", found.text, re.M)
    flags = {name: (kind, told.split()) for name, kind, told in rows}
    [exact] = [name for name, (kind, told) in flags.items() if name == "category" and "eq" in told]
    client.good("query_records", {**asked, "filter": {exact: "books"}, "limit": 1})
    ranged = next(n for n, (k, t) in flags.items() if k == "number" and any("r=" in f for f in t))
    client.good("query_records", {**asked, "filter": {ranged: {"lt": 0}}, "sort": ranged})
    summed = next(n for n, (_, t) in flags.items() if any(f.startswith("a=sum") for f in t))
    client.good("aggregate", {**asked, "metric": "sum", "field": summed})
    client.good("query_records", {**asked, "fields": list(flags)[:3], "limit": 1})


@pytest.mark.scenario("S028", 1, 2)
def test_full_detail_without_a_stream_is_refused_before_anything_is_read(
    client: Client, demo: Estate
) -> None:
    with demo.recorder.listening() as sent:
        found = client.refused("invalid_request", "schema", {"detail": "full"})
    assert sent == []
    for half in (found.text, compact(found.structured)):
        for word in ("stream", "connection_id", "full"):
            assert word in half
    assert see(found, "content").shown("schema").arguments == {}


@pytest.mark.scenario("S029", 2, 3)
def test_full_detail_of_a_shared_stream_asks_for_one_connection(client: Client) -> None:
    found = client.refused(
        "ambiguous_schema_detail", "schema", {"stream": "messages", "detail": "full"}
    )
    error = found.structured["error"]
    assert error["retry_with"] == "connection_id"
    offered = {choice["connection_id"] for choice in error["available_connections"]}
    assert offered == {"cin_home", "cin_work", "cin_team"}
    assert "retry_with: connection_id" in found.text
    chosen = see(found, "content").shown("schema", holding="cin_home")
    full = client.good("schema", chosen.arguments)
    assert "cin_work" not in compact(full.structured)
    assert "cin_team" not in compact(full.structured)


@pytest.mark.scenario("S029", 1, 3, 4, 5, 6)
@pytest.mark.scenario("S063", 1)
def test_full_detail_is_the_servers_own_document_and_bounded(client: Client, demo: Estate) -> None:
    asked = {"stream": "messages", "connection_id": "cin_home", "detail": "full"}
    with demo.recorder.listening() as sent:
        found = client.good("schema", asked)
    [one] = sent
    assert dict(one.query) == asked
    rest = demo.world.server.client(client.token).get("/v1/schema", params=asked).json()
    assert found.structured["data"] == rest
    assert rest["detail"] == "full"
    [connector] = found.structured["data"]["connectors"]
    assert [row["name"] for row in connector["streams"]] == ["messages"]
    assert (
        connector["streams"][0]["field_capabilities"]["sent_at"]["schema"]["format"] == "date-time"
    )
    assert "data" not in found.structured["data"]
    assert "streams" not in found.structured["data"]
    assert len(compact(found.structured)) <= MOST_CHARS
    assert len(found.text) <= MOST_CHARS


@pytest.mark.scenario("S030", 1, 2)
def test_cursor_bookmark_and_count_are_in_the_text(postman: Client) -> None:
    asked = {"stream": "letters", "connection_id": FIRST, "limit": 2}
    page = postman.good("query_records", {**asked, "count": "exact"})
    envelope = page.structured["data"]
    assert envelope["next_cursor"] in page.text
    assert f"of {envelope['meta']['count']['value']} (exact count)" in page.text
    second = see(page, "content").passing("cursor")
    assert second is not None
    rest = postman.good(second.tool, second.arguments)
    assert not set(see(page, "content").ids) & set(see(rest, "content").ids)
    changes = postman.good(
        "query_records",
        {"stream": "folders", "connection_id": FIRST} | {"changes_since": "beginning"},
    )
    assert changes.structured["data"]["next_changes_since"] in changes.text
    resume = see(changes, "content").passing("changes_since")
    assert resume is not None
    assert see(postman.good(resume.tool, resume.arguments), "content").ids == ()
    hits = postman.good("search", {"query": "heron", "limit": 1})
    assert hits.structured["data"]["next_cursor"] in hits.text
    assert re.search(r"^1 of \d+ hits", hits.text, re.M)


# Schema


@pytest.mark.scenario("S061", 1, 2, 3)
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


@pytest.mark.scenario("S062", 1, 2, on="stdio")
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


@pytest.mark.scenario("S062", 1, 2, on="stdio")
def test_the_index_of_a_wide_grant_that_is_made_here_is_the_servers(
    wide: Estate, tmp_path: Path
) -> None:
    token = grant(wide.store)
    with running(_unaware({None: _full(wide, token, None)}, rejects=True)) as server:
        wire = StdioWire(server.url, connect_to(server.url, tmp_path, token), VERSION)
        try:
            answer = wire.request("tools/call", {"name": "schema", "arguments": {}})
        finally:
            wire.close()
    own = wide.client("http-modern", token).good("schema")
    assert answer["content"] == own.raw["content"]
    assert answer["structuredContent"]["data"]["connectors"] == own.structured["data"]["connectors"]
    assert len(compact(answer["structuredContent"])) <= MOST_INDEX_CHARS


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


@pytest.mark.scenario("S063", 2)
def test_full_detail_is_never_the_compact_projection(client: Client) -> None:
    asked = {"stream": "accounts", "detail": "full"}
    full = client.good("schema", asked).structured["data"]
    brief = client.good("schema", {"stream": "accounts"}).structured["data"]
    assert full["detail"] == "full"
    assert brief["detail"] == "compact"
    [row] = full["connectors"][0]["streams"]
    assert row["field_capabilities"]["name"]["schema"]["type"] == "string"
    assert isinstance(brief["connectors"][0]["streams"][0]["field_capabilities"]["name"], str)
