"""The hosted endpoint: handshake, door, metadata, public addresses, and packages."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.engine import database_of
from tests.mcp.client import ACCEPT, HOSTED, Estate, estate
from tests.mcp.launch import META, VERSION
from tests.mcp.post import DIARY, FIRST, SECOND, post_store
from tests.mcp.recorder import reads
from tests.mcp.sight import see
from tests.serving import UNLIMITED, grant

from pdpp.authz.selection import Selection

PUBLIC = "https://data.example.org"
ROOT_METADATA = "/.well-known/oauth-protected-resource"
MCP_METADATA = f"{ROOT_METADATA}/mcp"
STANDARD = {
    "resource",
    "authorization_servers",
    "bearer_methods_supported",
    "scopes_supported",
    "resource_name",
    "resource_documentation",
}
APPROVED = {"pdpp_core_query_base", "pdpp_mcp_endpoint", "pdpp_token_kinds_supported"}
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server that knows its public address."""
    folder: Path = tmp_path_factory.mktemp("public")
    settings = replace(UNLIMITED, origin=PUBLIC)
    with estate(post_store(folder / "store"), folder, settings) as made:
        yield made


def initialize(http: httpx.Client, **headers: str) -> httpx.Response:
    return http.post("/mcp", json=INITIALIZE, headers={"Accept": ACCEPT, **headers})


def tokens(made: Estate) -> list[str]:
    """Return a token of each kind that may come in."""
    return [grant(made.store), made.package()[0]]


# Handshake


@pytest.mark.scenario("S056", 1, on="http")
def test_a_client_initializes_over_http_alone(demo: Estate) -> None:
    for token in tokens(demo):
        answer = initialize(demo.world.server.client(token))
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("application/json")
        assert "mcp-session-id" not in answer.headers
        result = answer.json()["result"]
        assert result["protocolVersion"] == "2025-06-18"
        assert set(result["capabilities"]) >= {"tools", "resources"}


@pytest.mark.scenario("S056")
def test_a_modern_client_needs_no_handshake(demo: Estate, demo_token: str) -> None:
    http = demo.world.server.client(demo_token)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    headers = {"Accept": ACCEPT, "MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/list"}
    answer = http.post("/mcp", json=message, headers=headers)
    assert answer.status_code == 200
    assert len(answer.json()["result"]["tools"]) == 6


# The door


@pytest.mark.scenario("S058", 1, on="http")
@pytest.mark.scenario("S092", 1, on="http")
@pytest.mark.scenario("S094", 1, 2, 3, on="http")
@pytest.mark.parametrize("token", [None, "pdpp_client_unknown", "two words"])
def test_a_caller_without_a_good_bearer_is_told_where_to_get_one(
    public: Estate, token: str | None
) -> None:
    metadata = f"{PUBLIC}{MCP_METADATA}"
    with public.recorder.listening() as sent:
        answer = initialize(public.world.server.client(token))
    assert sent == []
    assert answer.status_code == 401
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    assert f'resource_metadata="{metadata}"' in challenge
    error = answer.json()["error"]
    assert error["type"] == "authentication_error"
    assert error["resource_metadata"] == metadata
    assert answer.headers.get_list("request-id") == [error["request_id"]]
    link = f'<{PUBLIC}/icon.svg>; rel="icon"; type="image/svg+xml"'
    assert answer.headers["link"] == link
    icon = public.world.server.client().get("/icon.svg")
    assert icon.headers["content-type"].startswith("image/svg+xml")
    assert icon.text.startswith("<svg")


def test_a_bearer_that_is_sent_twice_is_no_good_one(demo: Estate) -> None:
    bearer = ("Authorization", f"Bearer {grant(demo.store)}")
    with demo.world.server.client() as http:
        for headers, status in (([bearer], 200), ([bearer] * 2, 401)):
            sent = [("Accept", ACCEPT), *headers]
            assert http.post("/mcp", json=INITIALIZE, headers=sent).status_code == status


# Metadata


@pytest.mark.scenario("S067", 1, on="http")
def test_the_root_document_hints_at_the_endpoint_and_keeps_the_query_base(
    public: Estate,
) -> None:
    document = public.world.server.client().get(ROOT_METADATA).json()
    assert document["pdpp_mcp_endpoint"] == f"{PUBLIC}/mcp"
    assert document["pdpp_core_query_base"] == f"{PUBLIC}/v1"
    assert document["resource"] == PUBLIC


@pytest.mark.scenario("S068", 1, on="http")
@pytest.mark.scenario("S095", 1, 2, on="http")
def test_the_endpoints_own_document_says_what_it_guards_and_for_whom(public: Estate) -> None:
    document = public.world.server.client().get(MCP_METADATA).json()
    assert document["resource"] == f"{PUBLIC}/mcp"
    assert document["pdpp_mcp_endpoint"] == f"{PUBLIC}/mcp"
    assert document["bearer_methods_supported"] == ["header"]
    assert document["pdpp_token_kinds_supported"] == ["client", "mcp_package"]


@pytest.mark.scenario("S093", 1, 2, on="http")
@pytest.mark.parametrize("path", [ROOT_METADATA, MCP_METADATA])
def test_the_documents_hold_only_what_is_standard_or_approved(public: Estate, path: str) -> None:
    document = public.world.server.client().get(path).json()
    assert set(document) <= STANDARD | APPROVED
    assert "logo_uri" not in document


@pytest.mark.scenario("S069", on="http")
def test_addresses_come_from_the_configured_origin_and_not_from_the_caller(
    public: Estate,
) -> None:
    forged = {
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "https",
        "Forwarded": "host=evil.example;proto=https",
    }
    http = public.world.server.client(grant(public.store))
    seen = [http.get(path, headers=forged).text for path in (ROOT_METADATA, MCP_METADATA)]
    seen.append(initialize(http, **forged).text)
    anonymous = initialize(public.world.server.client(), **forged)
    seen += [anonymous.text, str(dict(anonymous.headers))]
    call = {"name": "search", "arguments": {"query": "heron"}}
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    seen.append(http.post("/mcp", json=message, headers={"Accept": ACCEPT, **forged}).text)
    for text in seen:
        assert PUBLIC in text
        assert "evil.example" not in text


@pytest.mark.scenario("S069", on="http")
def test_a_host_that_is_not_ours_is_not_served(public: Estate) -> None:
    http = public.world.server.client(grant(public.store))
    assert initialize(http, Host="evil.example").status_code == 403
    assert initialize(http, Host="data.example.org").status_code == 200
    document = http.get(MCP_METADATA, headers={"Host": "evil.example"}).text
    assert "evil.example" not in document


@pytest.mark.scenario("S091", 1, on="http")
def test_a_client_that_initializes_is_shown_the_icon(public: Estate) -> None:
    expected = [{"src": f"{PUBLIC}/icon.svg", "mimeType": "image/svg+xml", "sizes": ["any"]}]
    for token in tokens(public):
        result = initialize(public.world.server.client(token)).json()["result"]
        assert result["serverInfo"]["icons"] == expected
        modern = public.client("http-modern", token).opening
        assert modern["_meta"]["io.modelcontextprotocol/serverInfo"]["icons"] == expected


# Packages


@pytest.mark.scenario("S087", 1, 2)
@pytest.mark.parametrize("kind", HOSTED)
def test_a_package_search_merges_what_its_children_find(post: Estate, kind: str) -> None:
    token, _ = post.package()
    with post.recorder.listening() as sent:
        found = post.client(kind, token).good("search", {"query": "heron"})
    [one] = sent
    assert (one.path, one.bearer, one.grant_id) == ("/v1/search", token, None)
    results = {hit["id"]: hit for hit in found.structured["results"]}
    assert {f"{FIRST}/letters:same", f"{SECOND}/letters:same", f"{DIARY}/pages:p-1"} <= set(results)
    for hit in results.values():
        names = {FIRST: "First post", SECOND: "Second post", DIARY: "Diary"}
        assert hit["display_name"] == names[hit["connection_id"]]
        assert hit["connector_key"] == ("diary" if hit["connection_id"] == DIARY else "post")
    assert found.structured["data"]["object"] == "list"
    assert [hit["id"] for hit in found.structured["data"]["data"]] == list(results)
    [mix] = [line for line in found.text.split("\n") if line.startswith("sources: ")]
    assert all(source in mix for source in (FIRST, SECOND, DIARY))


@pytest.mark.scenario("S087")
@pytest.mark.parametrize("kind", HOSTED)
def test_a_package_search_has_one_limit(post: Estate, kind: str) -> None:
    token, _ = post.package()
    client = post.client(kind, token)
    found = client.good("search", {"query": "heron", "limit": 2})
    assert len(found.structured["results"]) == 2
    following = see(found, "content").passing("cursor")
    assert following is not None
    rest = client.good(following.tool, following.arguments)
    assert not set(see(found, "content").ids) & set(see(rest, "content").ids)


@pytest.mark.scenario("S088", 1, 2)
@pytest.mark.scenario("S089", 1, 2)
@pytest.mark.parametrize("kind", HOSTED)
def test_streams_are_asked_of_the_children_that_open_them(post: Estate, kind: str) -> None:
    token, grants = post.package(
        Selection(connections=(FIRST,), streams=("letters",)),
        Selection(connections=(SECOND,), streams=("letters", "cards")),
        Selection(connections=(DIARY,)),
    )
    with post.recorder.listening() as sent:
        asked = {"query": "heron", "streams": ["letters", "cards"]}
        found = post.client(kind, token).good("search", asked)
    streams = {one.grant_id: one.values("streams[]") for one in sent}
    assert streams == {grants[FIRST]: ["letters"], grants[SECOND]: ["letters", "cards"]}
    assert {hit["connection_id"] for hit in found.structured["results"]} == {FIRST, SECOND}
    assert not found.structured["content_ladder"].get("unavailable_connections")
    with post.recorder.listening() as sent:
        found = post.client(kind, token).good("search", {"query": "heron", "streams": ["pages"]})
    assert [one.grant_id for one in sent] == [grants[DIARY]]
    assert see(found, "content").ids == (f"{DIARY}/pages:p-1",)


@pytest.mark.scenario("S090", 1, 2)
@pytest.mark.parametrize("kind", HOSTED)
def test_a_search_of_one_connection_asks_one_child(post: Estate, kind: str) -> None:
    token, grants = post.package()
    asked = {"query": "heron", "connection_id": SECOND}
    with post.recorder.listening() as sent:
        found = post.client(kind, token).good("search", asked)
    [one] = reads(sent)
    assert one.grant_id == grants[SECOND]
    assert one.values("connection_id") == [SECOND]
    assert {hit["connection_id"] for hit in found.structured["results"]} == {SECOND}
    assert re.search(rf"in {SECOND}/letters:same", found.text)


@pytest.mark.embedded("about the file of the embedded engine")
def test_a_store_that_fails_is_told_in_the_one_form_of_errors(tmp_path: Path) -> None:
    with estate(post_store(tmp_path / "store"), tmp_path, UNLIMITED) as made:
        client = made.world.server.client(grant(made.store))
        with database_of(made.store).writing() as db:
            db.execute("ALTER TABLE token RENAME TO lost")
        answers = initialize(client), client.get("/v1/streams")
    for answer in answers:
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "api_error")
        assert answer.headers["request-id"] == answer.json()["error"]["request_id"]
