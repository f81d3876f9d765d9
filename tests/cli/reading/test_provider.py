"""Which server is read, under what, and how a refusal is told: a code, words, and the way on."""

import json
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.cli.reading.desk import Desk, at_desk, commands
from tests.cli.shell import pdpp
from tests.engine import revoke_grant
from tests.serving import World, approve, owner, running

from pdpp.authz.selection import Selection
from pdpp.credentials import Cache, Credential

OTHER = "http://other.example"


def kept(root: Path, *credentials: Credential) -> Mapping[str, str]:
    for credential in credentials:
        Cache(root / "clients").store(credential)
    return {"PDPP_CACHE_ROOT": str(root)}


def test_the_only_connected_server_is_read_from_the_working_folder_too(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(tmp_path / ".pdpp", Credential(desk.url, desk.token, "client"))
    monkeypatch.chdir(tmp_path)
    ended = pdpp("read", "streams", env={"HOME": str(tmp_path / "nobody")})
    assert (ended.code, ended.err) == (0, "")


def test_among_several_servers_one_is_chosen_and_stays_chosen(desk: Desk, tmp_path: Path) -> None:
    held = [Credential(desk.url, desk.token, "client"), Credential(OTHER, "token", "client")]
    env = kept(tmp_path, *held)
    told = pdpp("read", "streams", env=env).failed(code=64)
    assert told.startswith("Several servers are connected; choose with --provider: ")
    assert desk.url in told
    named = ("--provider", desk.url)
    ended = pdpp("read", "search", "invoice", "4471", *named, env=env)
    assert ended.code == 0
    lines = commands(ended.out, "read")
    assert lines
    assert all(line.endswith(f" --provider {desk.url}") for line in lines)
    chosen = {**env, "PDPP_PROVIDER_URL": desk.url}
    assert pdpp("read", "streams", env=chosen).code == 0


def test_the_folder_of_the_cache_can_be_told_and_stays_told(desk: Desk) -> None:
    ended = pdpp("read", "streams", "--cache-root", desk.root)
    [line] = commands(ended.out, "records")
    assert line == f"pdpp read records accounts --cache-root '{desk.root}'"


def test_without_a_connection_the_command_that_makes_one_is_told(tmp_path: Path) -> None:
    env = {"PDPP_CACHE_ROOT": str(tmp_path)}
    told = pdpp("read", "streams", env=env).failed(code=78)
    where = f"--cache-root {tmp_path}"
    assert told == f"not_connected: not connected to any server. Try: pdpp connect URL {where}"
    told = pdpp("read", "streams", "--provider", OTHER, env=env).failed(code=78)
    assert told == f"not_connected: not connected to {OTHER}. Try: pdpp connect {OTHER} {where}"


def test_a_spoilt_credential_is_told(tmp_path: Path) -> None:
    env = kept(tmp_path, Credential(OTHER, "token", "client"))
    Cache(tmp_path / "clients").path(OTHER).write_text("{")
    told = pdpp("read", "streams", "--provider", OTHER, env=env).failed(code=78)
    assert "cannot be read" in told
    assert told.endswith(f"Try: pdpp connect {OTHER} --cache-root {tmp_path}")


@pytest.mark.parametrize("name", ["PDPP_OWNER_TOKEN", "PDPP_ANYTHING"])
def test_an_owners_credential_is_refused_and_sent_nowhere(desk: Desk, name: str) -> None:
    secret = owner(desk.world.store)
    ended = desk.run("read", "streams", env={name: secret})
    told = ended.failed(code=77)
    assert told.startswith(f"owner_credential_refused: {name} holds an owner credential")
    assert secret not in told


def test_an_owners_token_in_the_cache_is_refused(desk: Desk, tmp_path: Path) -> None:
    env = kept(tmp_path, Credential(desk.url, desk.token, "client"))
    path = Cache(tmp_path / "clients").path(desk.url)
    held = json.loads(path.read_text())
    held["credential"]["access_token"] = owner(desk.world.store)
    path.write_text(json.dumps(held))
    assert "owner_credential_refused" in pdpp("read", "streams", env=env).failed(code=77)


def test_a_revoked_grant_is_told_with_the_way_to_a_new_one(demo: World, tmp_path: Path) -> None:
    approval = approve(demo.store, Selection())
    env = kept(tmp_path, Credential(demo.server.url, approval.token, "client"))
    revoke_grant(demo.store, approval.grant_id)
    told = pdpp("read", "streams", env=env).failed(code=78)
    assert told.startswith("grant_revoked: The owner has revoked this grant")
    assert told.endswith(f"Try: pdpp connect {demo.server.url} --cache-root {tmp_path}")


def test_an_unknown_token_is_told(demo: World, tmp_path: Path) -> None:
    env = kept(tmp_path, Credential(demo.server.url, "unknown-secret", "client"))
    told = pdpp("read", "streams", env=env).failed(code=78)
    assert told.startswith("authentication_error: ")
    assert "unknown-secret" not in told


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    env = kept(tmp_path, Credential(url, "a-secret-token", "client"))
    told = pdpp("read", "streams", env=env).failed(code=69)
    assert told.startswith(f"server_unreachable: {url} cannot be reached")
    assert "a-secret-token" not in told


@pytest.mark.parametrize(
    ("words", "code", "fix"),
    [
        (("fetch", "cin_home/messages:none"), "not_found", None),
        (("records", "nothing"), "grant_stream_not_allowed", "pdpp read streams"),
        (
            ("records", "messages", "--fields", "x"),
            "unknown_field",
            "pdpp read schema messages",
        ),
        (
            ("search", "x", "--filter", "zzz=1"),
            "unknown_field",
            "pdpp read schema STREAM",
        ),
        (
            ("records", "messages", "--cursor", "odd"),
            "invalid_cursor",
            "the same command without --cursor",
        ),
        (
            ("records", "albums", "--changes-since", "odd"),
            "invalid_cursor",
            "the same command without --cursor",
        ),
    ],
)
def test_a_refusal_is_one_line_with_its_code_and_what_would_do(
    desk: Desk, words: tuple[str, ...], code: str, fix: str | None
) -> None:
    told = desk.here("read", *words).failed()
    assert told.startswith(f"{code}: ")
    assert told.endswith(f" Try: {fix}") if fix else "Try:" not in told


def test_a_refusal_is_json_where_json_was_asked_for(desk: Desk) -> None:
    ended = desk.here("read", "schema", "messages", "--full", "--json")
    assert (ended.code, ended.out) == (1, "")
    error = json.loads(ended.err)["error"]
    assert error["code"] == "ambiguous_schema_detail"
    assert error["request_id"].startswith("req_")
    assert len(error["available_connections"]) == 3
    assert error["fix"].startswith("--connection ")


def test_a_bad_address_is_wrong_usage(desk: Desk) -> None:
    told = desk.here("read", "streams", "--provider", "ftp://x").failed(code=64)
    assert "is not an address such as https://data.example.org" in told


def test_what_a_server_says_of_an_error_commands_no_terminal(tmp_path: Path) -> None:
    async def answer(_: Request) -> Response:
        message = "red \x1b[31m\u202e line\nsecond"
        return JSONResponse({"error": {"code": "oh\x1b[2J", "message": message}}, 400)

    with running(Starlette(routes=[Route("/v1/{path:path}", answer)])) as server:
        env = kept(tmp_path, Credential(server.url, "token", "client"))
        told = pdpp("read", "streams", env=env).failed()
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "red ⟨U+001B⟩[31m⟨U+202E⟩ line second" in told


def test_a_narrow_grant_shows_only_its_own(demo: World, tmp_path: Path) -> None:
    mine = at_desk(demo, tmp_path, streams=("albums",), fields=("id",))
    assert "1 stream of 1 connection." in mine.read("schema")
    told = mine.here("read", "records", "albums", "--fields", "name").failed()
    assert told.startswith("field_not_granted: ")
