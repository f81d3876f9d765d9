"""``pdpp connect``, ``pdpp mcp`` and ``pdpp mcp config``, as a person and a host start them."""

import contextlib
import io
import json
import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.engine import revoke_grant
from tests.mcp.client import StdioWire, bare_environment, connect_to, open_wire
from tests.mcp.foreign import Foreign, html
from tests.mcp.host import Host, package
from tests.mcp.launch import DEADLINE, Lines
from tests.mcp.post import declaration
from tests.mcp.shelf import NOTES
from tests.serving import UNLIMITED, World, grant, living, owner, planted_store

from pdpp import Client
from pdpp.app import make_app
from pdpp.cli.program import run
from pdpp.cli.stdio import serve_stdio
from pdpp.credentials import Cache, Credential, open_cache
from pdpp.store.port import Store


def shelf(folder: Path) -> Store:
    rows = [{"id": f"n{number}", "title": "T", "body": f"kiln {number}"} for number in range(5)]
    made = declaration("shelf", NOTES)
    return planted_store(folder, made, {"cin_n": "My notes"}, {("cin_n", "notes"): rows})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with living(shelf(tmp_path_factory.mktemp("connect"))) as made:
        yield made


def pdpp(*arguments: str) -> tuple[int, str, str]:
    """Run the program here; return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue(), err.getvalue()


# Connecting


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PDPP_CACHE_ROOT", str(tmp_path / "root"))
    return tmp_path / "root"


def token_file(folder: Path, text: str) -> str:
    path = folder / "token.txt"
    path.write_text(text)
    return str(path)


def test_a_token_is_tried_and_then_kept(world: World, root: Path, tmp_path: Path) -> None:
    token = grant(world.store)
    file = token_file(tmp_path, f"{token}\n")
    code, out, err = pdpp("connect", f"{world.server.url}/", "--token-file", file)
    assert (code, err) == (0, "")
    assert "  My notes: notes\n" in out
    where = f"{world.server.url} --cache-root {root}"
    assert f"  pdpp read streams --provider {where}\n" in out
    assert f"  pdpp mcp install claude-code --provider-url {where}\n" in out
    assert token not in out
    kept = Cache(root / "clients").load(world.server.url)
    assert (kept.token, kept.token_kind) == (token, "client")
    assert kept.grant_id is not None
    code, out, _ = pdpp("connect", "--list")
    assert out == f"{world.server.url}  {kept.grant_id}\n"
    code, out, _ = pdpp("connect", "--list", "--json")
    assert json.loads(out)[0]["grant_id"] == kept.grant_id
    assert token not in out
    gone = pdpp("connect", world.server.url, "--forget")[1]
    assert gone.startswith("Forgotten. The provider was not told")
    code, out, _ = pdpp("connect", world.server.url, "--forget")
    assert "There was no credential" in out
    assert (
        pdpp("connect", "--list")[1] == "No server is connected. To connect one: pdpp connect URL\n"
    )


def test_the_token_of_a_package_is_kept_as_one(world: World, root: Path, tmp_path: Path) -> None:
    file = token_file(tmp_path, package(world.store)[0])
    code, out, _ = pdpp("connect", world.server.url, "--token-file", file, "--json")
    assert code == 0
    assert json.loads(out)["token_kind"] == "mcp_package"
    assert Cache(root / "clients").load(world.server.url).token_kind == "mcp_package"
    assert pdpp("connect", "--list")[1] == f"{world.server.url}  mcp_package\n"


def test_an_owners_token_is_refused_and_not_kept(world: World, root: Path, tmp_path: Path) -> None:
    secret = owner(world.store)
    file = token_file(tmp_path, secret)
    code, out, err = pdpp("connect", world.server.url, "--token-file", file)
    assert (code, out) == (77, "")
    assert err.startswith("error: owner_credential_refused: owner credentials are not for agents")
    assert secret not in err
    assert not root.exists()


@pytest.mark.parametrize("text", ["", "  \n", "two words", "two\nlines", "ünïcode", "x" * 5_000])
def test_a_file_without_a_token_is_refused(
    world: World, root: Path, tmp_path: Path, text: str
) -> None:
    file = token_file(tmp_path, text)
    code, _, err = pdpp("connect", world.server.url, "--token-file", file)
    assert (code, err) == (1, "error: the file holds no token\n")


def test_a_token_that_opens_nothing_is_not_kept(world: World, root: Path, tmp_path: Path) -> None:
    file = token_file(tmp_path, "no-such-token")
    code, _, err = pdpp("connect", world.server.url, "--token-file", file)
    assert code == 78
    assert "not valid" in err
    assert "no-such-token" not in err
    assert not root.exists()


def test_what_is_missing_or_wrong_is_said(world: World, root: Path, tmp_path: Path) -> None:
    assert pdpp("connect")[0] == 64
    assert pdpp("connect", "no address")[0] == 64
    assert pdpp("connect", "https://x:port")[0] == 64
    with Foreign().served() as (server, _):
        code, _, err = pdpp("connect", server.url)
    assert code == 78
    for told in (["--json"], ["--json", "--token-file", token_file(tmp_path, "token")]):
        code, _, err = pdpp("connect", "http://127.0.0.1:1", *told)
        assert code == 69
        assert json.loads(err)["error"]["code"] == "server_unreachable"
    file = token_file(tmp_path, "token")
    code, _, err = pdpp("connect", "http://127.0.0.1:1", "--token-file", file)
    assert code == 69
    assert "http://127.0.0.1:1 cannot be reached" in err
    with Foreign(answer=html).served() as (server, _):
        code, _, err = pdpp("connect", server.url, "--token-file", file)
        assert code == 1
        assert "a proxy or firewall may stand between" in err


def test_a_server_that_is_not_ours_is_connected_too(root: Path, tmp_path: Path) -> None:
    foreign = Foreign(compact="ignore")
    with foreign.served() as (server, _):
        file = token_file(tmp_path, "foreign-token")
        code, out, _ = pdpp("connect", server.url, "--token-file", file)
        assert code == 0
        assert "  acc: letters\n" in out


def test_the_token_comes_from_standard_input(world: World, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pdpp", "connect", world.server.url, "--token-file", "-"],
        input=grant(world.store).encode(),
        capture_output=True,
        cwd=tmp_path,
        env=bare_environment(HOME=str(tmp_path)),
        timeout=DEADLINE,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    [kept] = (tmp_path / ".pdpp" / "clients").glob("*.json")
    assert kept.stat().st_mode & 0o777 == 0o600


# Starting the adapter


def serve(*arguments: str, **environment: str) -> tuple[int, str]:
    """Start the adapter where it must refuse; return its exit code and what it said."""
    err = io.StringIO()
    with redirect_stderr(err):
        code = serve_stdio(arguments, environment)
    return code, err.getvalue()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--provider-url"],
        ["--provider-url", "no address"],
        ["--profile", "x"],
        ["--provider-url=ftp://x"],
        ["extra"],
    ],
)
def test_a_start_that_is_written_wrong_says_how_it_is_written(arguments: list[str]) -> None:
    code, said = serve(*arguments)
    assert code == 64
    assert "use: pdpp mcp --provider-url URL" in said
    assert said.count("\n") == 1


def test_a_start_without_a_credential_says_which_command_makes_one(tmp_path: Path) -> None:
    for arguments in (["--cache-root", str(tmp_path)], [f"--cache-root={tmp_path}"]):
        code, said = serve(*arguments, PDPP_PROVIDER_URL="https://data.example.org")
        assert code == 78
        command = f"pdpp connect https://data.example.org --cache-root {tmp_path}"
        assert said.endswith(f"run: {command}\n")


def test_a_start_with_a_token_that_has_ended_says_so(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "clients")
    cache.store(Credential("https://data.example.org", "secret", "client", expires_at=5.0))
    code, said = serve("--cache-root", str(tmp_path), "--provider-url", "https://data.example.org")
    assert code == 78
    command = f"pdpp connect https://data.example.org --cache-root {tmp_path}"
    assert f"has expired; run: {command}\n" in said
    assert "secret" not in said


def test_a_start_with_an_owners_credential_is_refused(tmp_path: Path) -> None:
    code, said = serve("--provider-url", "https://x.example", PDPP_OWNER_TOKEN="the-secret")
    assert code == 77
    assert "the-secret" not in said
    folder = tmp_path / "clients"
    folder.mkdir()
    kept = {"provider_url": "https://x.example", "token": "pdpp_owner_z", "token_kind": "client"}
    (folder / "x.example.json").write_text(json.dumps(kept))
    code, said = serve("--provider-url", "https://x.example", "--cache-root", str(tmp_path))
    assert code == 77
    assert "pdpp_owner_z" not in said
    command = f"pdpp connect https://x.example --cache-root {tmp_path}"
    assert said.endswith(f"remove this one and run: {command}\n")
    elsewhere = {"PDPP_CACHE_ROOT": str(tmp_path), "PDPP_OWNER_TOKEN": "the-secret"}
    code, said = serve("--provider-url", "https://x.example", **elsewhere)
    assert (code, said.endswith(f"unset it and run: {command}\n")) == (77, True)
    assert serve(PDPP_OWNER_TOKEN="the-secret")[0] == 77


def test_the_group_starts_the_adapter_as_the_program_does(tmp_path: Path) -> None:
    code, out, err = pdpp(
        "mcp", "--provider-url", "https://x.example", "--cache-root", str(tmp_path)
    )
    assert (code, out) == (78, "")
    assert "run: pdpp connect https://x.example" in err
    assert "Serve an agent" in pdpp("mcp", "--help")[1]


@pytest.mark.parametrize("given", ["option", "environment", "home"])
def test_the_command_that_is_told_mends_the_start_when_it_is_pasted(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    there, url = tmp_path / "my cache", world.server.url
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PDPP_CACHE_ROOT", raising=False)
    arguments = ["--cache-root", str(there)] if given == "option" else []
    environment = {"PDPP_CACHE_ROOT": str(there)} if given == "environment" else {}
    code, said = serve("--provider-url", url, *arguments, **environment)
    program, *pasted = shlex.split(said.rpartition("run: ")[2])
    assert (code, program) == (78, "pdpp")
    assert pasted == ["connect", url] if given == "home" else len(pasted) == 4
    file = token_file(tmp_path, grant(world.store))
    assert pdpp(*pasted, "--token-file", file)[0] == 0
    cache = open_cache(arguments[1] if arguments else None, environment, url)
    assert cache.load(url).provider_url == url


# A running adapter


@contextmanager
def adapter(url: str, root: Path, token: str) -> Iterator[StdioWire]:
    Cache(root / "clients").store(Credential(url, token, "client"))
    wire = StdioWire(url, root, "2025-11-25")
    about = {"name": "test", "version": "1"}
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}
    assert wire.request("initialize", opening)["serverInfo"]["name"] == "pdpp"
    try:
        yield wire
    finally:
        wire.close()


@contextmanager
def served_at(store: Store, port: int) -> Iterator[int]:
    """Serve a store on a port; 0 takes a free one."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    config = uvicorn.Config(
        make_app(store, UNLIMITED), log_config=None, ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    deadline = time.monotonic() + DEADLINE
    while not server.started and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(DEADLINE)
        listener.close()


def test_a_server_that_dies_is_named_and_is_read_again_when_it_is_back(tmp_path: Path) -> None:
    store = shelf(tmp_path / "store")
    token = grant(store)
    with contextlib.ExitStack() as stack:
        first = contextlib.ExitStack()
        port = first.enter_context(served_at(store, 0))
        url = f"http://127.0.0.1:{port}"
        host = Host(stack.enter_context(adapter(url, tmp_path / "root", token)))
        host.good("search", {"query": "kiln"})
        first.close()
        error = host.refused("server_unreachable", "search", {"query": "kiln"})
        assert url in error["message"]
        with served_at(store, port):
            assert len(host.good("search", {"query": "kiln"}).structured["results"]) == 5
    store.close()


def test_requests_at_once_are_all_answered(world: World, tmp_path: Path) -> None:
    with adapter(world.server.url, tmp_path, grant(world.store)) as wire:
        for id in range(100, 120):
            params = {"name": "search", "arguments": {"query": f"+kiln +{id % 5}"}}
            wire.write({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        answers = [json.loads(wire._lines.next() or b"") for _ in range(20)]
        assert sorted(answer["id"] for answer in answers) == list(range(100, 120))
        for answer in answers:
            assert len(answer["result"]["structuredContent"]["results"]) == 1


def test_a_cancelled_request_is_not_answered_and_the_next_one_is(
    world: World, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        Cache(tmp_path / "clients").store(Credential(url, "token", "client"))
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "pdpp",
                "mcp",
                "--provider-url",
                url,
                "--cache-root",
                str(tmp_path),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=bare_environment(),
        )
        assert process.stdin
        assert process.stdout
        search = {"name": "search", "arguments": {"query": "x"}}
        cancelled = {"requestId": 1, "reason": "no longer wanted"}
        for message in (
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": search},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled},
            {"jsonrpc": "2.0", "id": 2, "method": "ping"},
        ):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        line = Lines(process.stdout).next()
        assert line is not None
        assert json.loads(line) == {"jsonrpc": "2.0", "id": 2, "result": {}}
        process.kill()
        process.wait(DEADLINE)
        process.stdin.close()
        process.stdout.close()


CALLS: dict[str, dict[str, Any]] = {
    "schema": {},
    "query_records": {"stream": "notes"},
    "aggregate": {"stream": "notes", "metric": "count"},
    "search": {"query": "kiln"},
    "fetch": {"id": "notes:n1"},
    "read_record_field": {"id": "notes:n1", "field_path": "body"},
}


def test_every_tool_says_how_to_connect_again_when_the_grant_ends_while_it_runs(
    world: World, tmp_path: Path
) -> None:
    token = grant(world.store)
    wire = StdioWire(world.server.url, connect_to(world.server.url, tmp_path, token), "2025-11-25")
    try:
        open_wire(wire, "2025-11-25")
        assert wire.request("tools/call", {"name": "schema", "arguments": {}})["isError"] is False
        with Client(world.server.url, token) as client:
            revoke_grant(world.store, str(client.schema().bearer.grant_id))
        codes = set()
        for tool, arguments in CALLS.items():
            told = wire.request("tools/call", {"name": tool, "arguments": arguments})
            assert told["isError"] is True
            assert f"run: pdpp connect {world.server.url}" in told["content"][0]["text"]
            error = told["structuredContent"]["error"]
            assert error["command"] == f"pdpp connect {world.server.url} --cache-root {tmp_path}"
            codes.add(error["code"])
        assert codes == {"grant_revoked"}
    finally:
        wire.close()


def converse(
    arguments: list[str], lines: bytes, answers: int, **more: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the adapter; its input is closed when it has answered, however long that takes."""
    command = [sys.executable, "-m", "pdpp", "mcp", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, **more) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines)
        process.stdin.flush()
        heard = b"".join(process.stdout.readline() for _ in range(answers))
        rest, err = process.communicate(timeout=DEADLINE)
    return subprocess.CompletedProcess(command, process.returncode, heard + rest, err)


def test_the_adapter_prints_only_messages_and_no_secret(world: World, tmp_path: Path) -> None:
    token = grant(world.store)
    Cache(tmp_path / "clients").store(Credential(world.server.url, token, "client"))
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "schema"}},
        {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "nothing"}},
        {"jsonrpc": "2.0", "id": 5, "method": "resources/list"},
    ]
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    done = converse(
        ["--cache-root", str(tmp_path)],
        lines + b"no json\n",
        6,
        env=bare_environment(PDPP_PROVIDER_URL=world.server.url),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(str(answer["id"]) for answer in answers) == ["1", "2", "3", "4", "5", "None"]
    assert token.encode() not in done.stdout


def test_the_adapter_reads_the_cache_of_its_working_directory(world: World, tmp_path: Path) -> None:
    cache = Cache(tmp_path / ".pdpp" / "clients")
    cache.store(Credential(world.server.url, grant(world.store), "client"))
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "schema"}}
    done = converse(
        ["--provider-url", world.server.url],
        json.dumps(call).encode() + b"\n",
        1,
        cwd=tmp_path,
        env=bare_environment(HOME=os.devnull),
    )
    assert json.loads(done.stdout)["result"]["isError"] is False, done.stdout
