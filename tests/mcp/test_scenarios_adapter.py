"""The adapter: its credential, what it forwards, and errors that keep their meaning."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.engine import revoke_grant
from tests.mcp.client import (
    KINDS,
    TRANSPORTS,
    Client,
    Estate,
    StdioWire,
    bare_environment,
    compact,
    connect,
    connect_to,
    open_wire,
    run_pdpp,
)
from tests.mcp.launch import DEADLINE, META
from tests.mcp.post import FIRST, SECOND
from tests.mcp.recorder import reads
from tests.mcp.sight import see
from tests.serving import approve, grant

from pdpp.authz.selection import Selection

PHOTO_QUERY = {"stream": "photos", "limit": 2}


def mcp(estate: Estate, root: Path, folder: Path, **variables: str) -> Any:
    address = estate.world.server.url
    return run_pdpp(
        "mcp", "--provider-url", address, "--cache-root", str(root), cwd=folder, **variables
    )


# Credentials


@pytest.mark.scenario("S047", 1, on="stdio")
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


@pytest.mark.scenario("S048", 1, on="stdio")
def test_an_empty_cache_ends_the_start_with_the_command_that_fills_it(
    demo: Estate, tmp_path: Path
) -> None:
    with demo.recorder.listening() as sent:
        ended = mcp(demo, tmp_path / "empty", tmp_path)
    assert ended.returncode == 78
    assert ended.stdout == ""
    assert f"pdpp connect {demo.world.server.url}" in ended.stderr
    assert sent == []


OPENINGS: dict[str, dict[str, Any]] = {
    "legacy": {"method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
    "modern": {"method": "tools/list", "params": {"_meta": META}},
}


def only_answer(arguments: list[str], home: Path, era: str) -> tuple[dict[str, Any], int, str]:
    """Ping and open a conversation; return the one answer, the exit code and what stderr held."""
    sent = [
        {"jsonrpc": "2.0", "id": 6, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 7, **OPENINGS[era]},
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "pdpp", "mcp", *arguments],
        cwd=home,
        env=bare_environment(HOME=str(home)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("".join(json.dumps(message) + "\n" for message in sent))
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 6, "result": {}}
        answer = json.loads(process.stdout.readline())
        code = process.wait(DEADLINE)  # It ends by itself: its input is still open.
        assert process.stdout.read() == ""
        told = process.stderr.read()
    assert (answer["id"], answer["error"]["code"]) == (7, -32000)
    assert answer["error"]["message"] in told
    return answer["error"], code, told


@pytest.mark.scenario("S048", 1, on="stdio")
@pytest.mark.parametrize("era", OPENINGS)
def test_without_a_credential_the_first_request_is_answered_with_the_command(
    demo: Estate, tmp_path: Path, era: str
) -> None:
    address, empty = demo.world.server.url, str(tmp_path / "empty")
    given = ["--provider-url", address, "--cache-root", empty]
    error, code, _ = only_answer(given, tmp_path, era)
    assert code == 78
    command = f"pdpp connect {address} --cache-root {empty}"
    assert error["data"] == {"code": "not_connected", "command": command}
    assert command in error["message"]


@pytest.mark.parametrize(
    ("arguments", "era", "problem"),
    [
        ([], "legacy", "no provider address"),
        ([], "modern", "no provider address"),
        (["--provider-url"], "legacy", "--provider-url needs a value"),
        (["--provider-url", "nowhere"], "legacy", "nowhere"),
        (["--adress", "x"], "modern", "unknown option '--adress'"),
    ],
)
def test_a_start_without_an_address_is_answered_with_the_right_one(
    tmp_path: Path, arguments: list[str], era: str, problem: str
) -> None:
    error, code, _ = only_answer(arguments, tmp_path, era)
    assert code == 64
    assert problem in error["message"]
    assert error["data"] == {"code": "usage", "command": "pdpp mcp --provider-url URL"}
    assert error["data"]["command"] in error["message"]


def test_a_grant_that_ends_while_the_process_runs_is_told_with_the_command(
    demo: Estate, tmp_path: Path
) -> None:
    approval = approve(demo.store, Selection(connections=("cin_bank",)))
    address = demo.world.server.url
    wire = StdioWire(address, connect(demo, tmp_path, approval.token), "2025-11-25")
    try:
        open_wire(wire, "2025-11-25")
        revoke_grant(demo.store, approval.grant_id)
        calls: list[tuple[str, dict[str, Any]]] = [
            ("schema", {}),
            ("search", {"query": "rent"}),
            ("query_records", {"stream": "accounts"}),
            ("fetch", {"id": "cin_bank/accounts:x"}),
        ]
        for tool, arguments in calls:
            answer = wire.request("tools/call", {"name": tool, "arguments": arguments})
            error = answer["structuredContent"]["error"]
            assert answer["isError"]
            assert error["command"] == f"pdpp connect {address} --cache-root {tmp_path}"
            assert answer["content"][0]["text"].count(error["command"]) == 1
    finally:
        wire.close()


@pytest.mark.scenario("S048", 1, on="stdio")
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


@pytest.mark.scenario("S049", 1, on="stdio")
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


@pytest.mark.scenario("S050", 1, 2)
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


@pytest.mark.scenario("S051", 1)
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


@pytest.mark.scenario("S051", 1)
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


@pytest.mark.scenario("S051", 1)
def test_a_page_is_turned_by_the_servers_own_cursor(client: Client, demo: Estate) -> None:
    scope = {"stream": "messages", "connection_id": "cin_home", "limit": 2}
    first = client.good("query_records", scope).structured["data"]
    with demo.recorder.listening() as sent:
        second = client.good("query_records", {**scope, "cursor": first["next_cursor"]})
    assert reads(sent)[0].values("cursor") == [first["next_cursor"]]
    http = demo.world.server.client(client.token)
    params = {"connection_id": "cin_home", "limit": 2, "cursor": first["next_cursor"]}
    rest = http.get("/v1/streams/messages/records", params=params).json()["data"]
    assert [row["id"] for row in second.structured["data"]["data"]] == [row["id"] for row in rest]


@pytest.mark.scenario("S051", 2)
@pytest.mark.parametrize("name", ["where", "offset", "q", "connector_instance_id", "streams"])
def test_an_argument_that_is_not_there_is_refused_before_any_read(
    client: Client, demo: Estate, name: str
) -> None:
    with demo.recorder.listening() as sent:
        found = client.refused("invalid_request", "query_records", {**PHOTO_QUERY, name: "x"})
    assert sent == []
    assert name in found.text


# Packages whose grants do not all stand


@pytest.mark.scenario("S054", 1, 2, on="http")
def test_a_revoked_child_is_never_offered_as_a_choice(post: Estate) -> None:
    token, grants = post.package()
    client = post.client("http-modern", token)
    revoke_grant(post.store, grants[FIRST])
    index = client.good("schema")
    assert FIRST not in compact(index.structured["data"]["connectors"])
    [missing] = index.structured["data"]["unavailable_connections"]
    assert (missing["connection_id"], missing["code"]) == (FIRST, "grant_revoked")
    assert f"unavailable: {FIRST} (grant_revoked)" in index.text
    refused = client.call("query_records", {"stream": "letters", "connection_id": FIRST})
    assert refused.code == "grant_revoked"
    assert "ask for a new one" in refused.text


@pytest.mark.scenario("S054", 1, on="http")
def test_an_ambiguity_names_a_revoked_child_apart(post: Estate) -> None:
    token, grants = post.package()
    revoke_grant(post.store, grants[SECOND])
    client = post.client("http-legacy", token)
    found = client.refused("ambiguous_connection", "query_records", {"stream": "letters"})
    error = found.structured["error"]
    offered = {choice["connection_id"] for choice in error["available_connections"]}
    assert offered == {FIRST}
    assert error["total"] == 1
    [missing] = error["unavailable_connections"]
    assert (missing["connection_id"], missing["code"]) == (SECOND, "grant_revoked")
    assert "grant_revoked" in found.text
    calls = see(found, "content").calls
    assert calls
    for call in calls:
        assert call.arguments["connection_id"] in offered


@pytest.mark.scenario("S054")
def test_a_search_goes_on_without_a_revoked_child(post: Estate) -> None:
    token, grants = post.package()
    client = post.client("http-legacy", token)
    revoke_grant(post.store, grants[SECOND])
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
    revoke_grant(post.store, approval.grant_id)
    if kind.startswith("http"):
        http = post.world.server.client(approval.token)
        answer = http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "grant_revoked"
        return
    client.refused("grant_revoked", "query_records", {"stream": "letters", "limit": 1})


# The protocol's streams


@pytest.mark.scenario("S055", 1, on="stdio")
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
