"""The surface: setup, exactly six tools, one limit over sources, projection."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.client import (
    KINDS,
    Client,
    Estate,
    StdioWire,
    bare_environment,
    compact,
    connect,
    open_wire,
    run_pdpp,
)
from tests.mcp.recorder import reads
from tests.mcp.sight import TOOLS
from tests.serving import grant, owner

from pdpp.cli.mcp import CLIENTS

LETTER_ID = "cin_home/messages:m-invoice-4471"
PROFILE_WORDS = re.compile(
    r"profile|toolset|\bcore\b|\bfull\b|event|owner|control|developer tool", re.I
)
OTHER_TOOLS = ("list_streams", "fetch_blob", "subscribe", "events", "subscription")
MOST_TOOL_BYTES = 7_500


# Setup


@pytest.mark.scenario("S017", 1, 2, on="cli")
@pytest.mark.parametrize("target", CLIENTS)
def test_setup_shows_one_way_first_and_asks_for_no_profile(tmp_path: Path, target: str) -> None:
    for address in ("https://data.example.org", "http://127.0.0.1:7377"):
        shown = run_pdpp("mcp", "config", target, "--provider-url", address, cwd=tmp_path)
        if target == "chatgpt" and address.startswith("http:"):
            assert (shown.returncode, shown.stdout) == (1, "")
            assert "needs a public https address" in shown.stderr
            assert not PROFILE_WORDS.search(shown.stderr), shown.stderr
            continue
        assert shown.returncode == 0, shown.stderr
        recommended, *others = shown.stdout.split("\n# Or ")
        assert len(others) <= 1
        assert address in recommended
        assert not PROFILE_WORDS.search(shown.stdout), shown.stdout


@pytest.mark.scenario("S018", 1, on="cli")
def test_local_setup_knows_no_profiles(tmp_path: Path) -> None:
    shown = run_pdpp("mcp", "--help", cwd=tmp_path)
    assert set(re.findall(r"--[a-z-]+", shown.stdout)) == {
        "--provider-url",
        "--cache-root",
        "--help",
    }
    assert set(re.findall(r"PDPP_[A-Z_]+", shown.stdout)) == {
        "PDPP_PROVIDER_URL",
        "PDPP_CACHE_ROOT",
    }
    refused = run_pdpp("mcp", "--profile", "full", cwd=tmp_path)
    assert refused.returncode == 64
    assert refused.stdout == ""


@pytest.mark.scenario("S018", 2, on="stdio http")
def test_local_and_hosted_serve_the_same_surface(demo: Estate, demo_token: str) -> None:
    surfaces = {compact(demo.client(kind, demo_token).tools()) for kind in KINDS}
    assert len(surfaces) == 1
    templates = {tuple(demo.client(kind, demo_token).templates()) for kind in KINDS}
    assert len(templates) == 1


# Tools


@pytest.mark.scenario("S019", 1, 2)
@pytest.mark.scenario("S066")
def test_there_are_exactly_six_tools(client: Client) -> None:
    assert tuple(tool["name"] for tool in client.tools()) == TOOLS


@pytest.mark.scenario("S020", 1, 2)
@pytest.mark.scenario("S053", 1, 2)
def test_the_connection_is_the_one_way_to_name_a_source(client: Client) -> None:
    for tool in client.tools():
        fields = tool["inputSchema"]["properties"]
        assert fields["connection_id"]["type"] == "string"
        assert "source" in fields["connection_id"]["description"]
        assert "connection_id" not in tool["inputSchema"].get("required", [])
        assert "connector_instance_id" not in compact(tool)
        assert not re.search(r"https?://", compact(tool["inputSchema"]))


@pytest.mark.scenario("S021", 1, 2)
@pytest.mark.scenario("S060", 1)
def test_a_tool_asks_the_resource_server_with_its_own_bearer_and_no_other(
    client: Client, demo: Estate
) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("schema", {}),
        ("query_records", {"stream": "accounts"}),
        ("aggregate", {"stream": "accounts", "metric": "count"}),
        ("search", {"query": "tiles"}),
        ("fetch", {"id": LETTER_ID}),
        ("read_record_field", {"id": LETTER_ID, "field_path": "subject"}),
    ]
    for tool, arguments in calls:
        with demo.recorder.listening() as sent:
            client.good(tool, arguments)
        assert sent
        for one in sent:
            assert one.method == "GET"
            assert one.path.startswith("/v1/")
            assert one.bearer == client.token


@pytest.mark.scenario("S021", 2)
@pytest.mark.scenario("S060", 1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_tool_gives_no_more_than_the_grant(demo: Estate, kind: str) -> None:
    token = grant(demo.store, connections=("cin_home",), fields=("id", "subject"))
    client = demo.client(kind, token)
    http = demo.world.server.client(token)
    page = client.good("query_records", {"stream": "messages", "limit": 5})
    rest = http.get("/v1/streams/messages/records", params={"limit": 5}).json()
    assert [row["data"] for row in page.structured["data"]["data"]] == [
        row["data"] for row in rest["data"]
    ]
    assert {name for row in rest["data"] for name in row["data"]} == {"id", "subject"}
    with demo.recorder.listening() as sent:
        client.refused(
            "field_not_granted", "read_record_field", {"id": LETTER_ID, "field_path": "body"}
        )
        client.refused("grant_stream_not_allowed", "query_records", {"stream": "transactions"})
    assert {one.bearer for one in sent} == {token}


@pytest.mark.scenario("S022", 1, 2, on="stdio")
@pytest.mark.parametrize(
    "variables",
    [
        {"PDPP_OWNER_TOKEN": "anything"},
        {"PDPP_CONTROL_TOKEN": "anything"},
        {"PDPP_TOKEN": "pdpp_owner_secret"},
    ],
)
def test_an_owner_credential_in_the_environment_stops_the_start(
    demo: Estate, demo_token: str, tmp_path: Path, variables: dict[str, str]
) -> None:
    root = connect(demo, tmp_path / "cache", demo_token)
    with demo.recorder.listening() as sent:
        ended = run_pdpp(
            "mcp",
            "--provider-url",
            demo.world.server.url,
            "--cache-root",
            str(root),
            cwd=tmp_path,
            **variables,
        )
    assert ended.returncode == 77
    assert ended.stdout == ""
    assert "owner credential" in ended.stderr
    assert "secret" not in ended.stderr
    assert sent == []


@pytest.mark.scenario("S022", 1, 2, on="stdio")
def test_an_owner_token_in_the_cache_stops_the_start(demo: Estate, tmp_path: Path) -> None:
    root = connect(demo, tmp_path / "cache", grant(demo.store))
    [path] = (root / "clients").glob("*.json")
    kept = json.loads(path.read_text())
    secret = {**kept["credential"], "access_token": owner(demo.store), "token_kind": "owner"}
    path.write_text(json.dumps({**kept, "credential": secret}))
    with demo.recorder.listening() as sent:
        ended = run_pdpp(
            "mcp",
            "--provider-url",
            demo.world.server.url,
            "--cache-root",
            str(root),
            cwd=tmp_path,
        )
    assert (ended.returncode, ended.stdout, sent) == (77, "", [])


@pytest.mark.scenario("S022", 1, 2, on="http")
@pytest.mark.scenario("S059", 1, on="http")
@pytest.mark.parametrize("method", ["initialize", "tools/list", "tools/call"])
def test_an_owner_token_is_refused_at_the_hosted_door(demo: Estate, method: str) -> None:
    http = demo.world.server.client(owner(demo.store))
    params = {"name": "search", "arguments": {"query": "invoice"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    with demo.recorder.listening() as sent:
        answer = http.post("/mcp", json=message)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "owner_token_refused"
    assert sent == []


@pytest.mark.scenario("S023", 1, 2)
def test_the_list_of_tools_is_small_and_holds_nothing_else(client: Client) -> None:
    listed = client.wire.request("tools/list", {})
    assert len(compact(listed).encode()) <= MOST_TOOL_BYTES
    assert {tool["name"] for tool in listed["tools"]} == set(TOOLS)
    assert not any(name in compact(listed) for name in OTHER_TOOLS)


# Search over several sources


@pytest.mark.scenario("S031", 1, 2, 3, 4, 5)
def test_a_limit_is_over_all_sources_and_each_hit_names_its_own(client: Client) -> None:
    found = client.good("search", {"query": "invoice 4471", "limit": 4})
    results = found.structured["results"]
    assert len(results) == 4
    assert found.structured["data"]["has_more"] is True
    assert len({hit["connection_id"] for hit in results}) > 1
    assert any("<mark>" in hit.get("evidence", "") for hit in results)
    for hit in results:
        assert hit["id"] == f"{hit['connection_id']}/{hit['stream']}:{hit['record_id']}"
        assert hit["connector_key"]
        assert hit["display_name"]
        preview = hit.get("evidence", "")
        assert preview.count("<mark>") == preview.count("</mark>")
        assert not re.search(r"\*\*|\[\[|>>>|«", preview)
        assert hit["title"] != re.sub("</?mark>", "", preview)
    [mix] = [line for line in found.text.split("\n") if line.startswith("sources: ")]
    for hit in results:
        assert f"{hit['display_name']} ({hit['connection_id']})" in mix


@pytest.mark.scenario("S031", 5, 6)
def test_a_title_without_a_title_field_tells_where_and_when_it_was_written(
    client: Client,
) -> None:
    found = client.good("search", {"query": "+paid +invoice +lunch", "streams": ["messages"]})
    [hit] = found.structured["data"]["data"]
    [result] = found.structured["results"]
    assert result["title"].endswith(hit["event_time"])
    assert result["title"].startswith("Atlas & Tide chat / ")
    document = client.good("fetch", {"id": result["id"]}).structured
    assert document["title"] == result["title"]
    assert "bread until May" not in result["title"]


@pytest.mark.scenario("S032", 1, 2)
def test_a_search_of_one_connection_stays_there(client: Client, demo: Estate) -> None:
    asked = {"query": "kitchen", "connection_id": "cin_home", "limit": 3}
    with demo.recorder.listening() as sent:
        found = client.good("search", asked)
    assert {hit["connection_id"] for hit in found.structured["results"]} == {"cin_home"}
    assert len(found.structured["results"]) == 3
    assert found.structured["data"]["has_more"] is True
    [one] = sent
    assert one.values("connection_id") == ["cin_home"]
    assert one.values("limit") == ["3"]


# Documents and projections


@pytest.mark.scenario("S033", 1, 2, 3, 4)
@pytest.mark.scenario("S065", 1)
@pytest.mark.scenario("S085", 1, 2)
def test_a_search_result_is_fetched_as_a_document(client: Client) -> None:
    searched = client.good("search", {"query": "adhesive grout"}).structured
    hit = searched["results"][0]
    found = client.good("fetch", {"id": hit["id"]})
    document = found.structured
    assert list(document) == ["id", "title", "text", "url", "metadata"]
    assert [block["type"] for block in found.raw["content"]] == ["text"]
    assert json.loads(found.text) == document
    assert document["id"] == hit["id"]
    assert document["title"] == "Invoice 4471 for the kitchen tiles"
    [passage] = searched["data"]["data"][0]["evidence_excerpts"]
    place = f"field=body&chars={passage['start_chars']}-{passage['end_chars']}"
    assert hit["url"] == f"{document['url']}#{place}"
    source = {k: document["metadata"][k] for k in ("connection_id", "stream", "record_id")}
    assert source == {"connection_id": "cin_home", "stream": "messages"} | {
        "record_id": "m-invoice-4471"
    }
    assert document["metadata"]["display_name"] == "Home mail"
    assert document["metadata"]["connector_key"] == "demo_mail"
    assert "The grout needs until Friday" in document["text"]
    for name in ("data", "provider_url", "request_id"):
        assert f'"{name}"' not in found.text


@pytest.mark.scenario("S034", 1, 2, 3)
def test_a_projected_document_holds_nothing_else(client: Client, demo: Estate) -> None:
    with demo.recorder.listening() as sent:
        found = client.good("fetch", {"id": LETTER_ID, "fields": ["subject"]})
    assert reads(sent)[0].values("fields") == ["subject"]
    assert found.structured["text"] == "subject: Invoice 4471 for the kitchen tiles"
    shown = compact(found.raw)
    for hidden in ("adhesive", "Rui Almeida", "t-invoice-4471", "55593"):
        assert hidden not in shown
    metadata = found.structured["metadata"]
    assert metadata["connection_id"] == "cin_home"
    assert metadata["stream"] == "messages"
    assert metadata["record_id"] == "m-invoice-4471"
    assert "event_time" not in metadata


@pytest.mark.scenario("S035", 1, 2)
def test_projected_records_hold_the_fields_that_were_asked_for(
    client: Client, demo: Estate
) -> None:
    asked = {"stream": "messages", "connection_id": "cin_home", "fields": ["subject", "from"]}
    with demo.recorder.listening() as sent:
        found = client.good("query_records", {**asked, "limit": 5})
    assert reads(sent)[0].values("fields") == ["subject", "from"]
    http = demo.world.server.client(client.token)
    envelope = http.get("/v1/openapi.json").json()["components"]["schemas"]["Record"]["required"]
    for row in found.structured["data"]["data"]:
        assert set(row["data"]) == {"subject", "from"}
        assert set(row) == {*envelope, "fetch"}
    names = re.findall(r"^   (\w+): ", found.text, re.M)
    assert set(names) == {"subject", "from"}


@pytest.mark.scenario("S057", 1, on="stdio")
def test_a_local_process_serves_the_same_reads(
    demo: Estate, demo_token: str, tmp_path: Path
) -> None:
    root = connect(demo, tmp_path / "cache", demo_token)
    wire = StdioWire(demo.world.server.url, root, "2025-03-26")
    try:
        said = open_wire(wire, "2025-03-26")
        local = wire.request("tools/call", {"name": "fetch", "arguments": {"id": LETTER_ID}})
        tools = [tool["name"] for tool in wire.request("tools/list", {})["tools"]]
    finally:
        wire.close()
    hosted = demo.client("http-legacy", demo_token)
    document = hosted.good("fetch", {"id": LETTER_ID}).structured
    assert tuple(tools) == TOOLS
    assert said["serverInfo"]["name"] == hosted.opening["serverInfo"]["name"]
    assert local["structuredContent"]["text"] == document["text"]
    assert "PDPP_PROVIDER_URL" not in bare_environment()
