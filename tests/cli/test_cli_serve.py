import json
import os
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

import apsw
import click
import httpx
import pytest
from tests.cli.shell import (
    DEADLINE_SECONDS,
    Served,
    copy_served,
    pdpp,
    pdpp_here,
    serving,
    started,
    wait_for,
)
from tests.engine import ENGINE

from pdpp.cli.serve import bound

LINE = b"four plain words here\n"


def test_the_demo_server_answers_with_the_token_it_wrote(demo_server: Served) -> None:
    tokens = {"client_token", "package_token"}
    assert demo_server.ready.keys() == {"url", "mcp_url", "setup_code", "owner_url"} | tokens
    assert demo_server.ready["mcp_url"] == f"{demo_server.url}/mcp"
    for token in ("client_token", "package_token"):
        answer = demo_server.get("/v1/streams", demo_server.ready[token])
        assert answer.status_code == 200
        assert len({row["connection_id"] for row in answer.json()["data"]}) == 8
    assert "server" not in answer.headers
    metadata = demo_server.get("/.well-known/oauth-protected-resource").json()
    assert metadata["resource"] == demo_server.url


def test_the_ready_file_is_private(demo_server: Served) -> None:
    path = demo_server.out.parent / "ready.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_bytes()) == demo_server.ready


def test_every_line_the_greeting_offers_works(demo_server: Served) -> None:
    greeting = demo_server.out.read_text()
    lines = [line.strip() for line in greeting.splitlines()]
    token = demo_server.ready["client_token"]
    assert f"TOKEN={token}" in lines
    addresses = [line.split('"')[3] for line in lines if line.startswith("curl ")]
    assert len(addresses) == 3
    streams, search, window = [
        demo_server.get(address.removeprefix(demo_server.url)).json() for address in addresses
    ]
    assert streams["data"]
    assert len(search["data"]) >= 3
    assert window["window"]["match_count"] >= 1
    assert demo_server.url in greeting
    assert ("postgresql://" if ENGINE == "postgres" else str(demo_server.data)) in greeting


def test_no_secret_is_in_the_log_or_the_arguments(demo_server: Served) -> None:
    token = demo_server.ready["client_token"]
    assert demo_server.get("/v1/nothing").status_code == 404
    assert demo_server.get("/v1/streams", "pdpp_client_wrong").status_code == 401
    assert demo_server.err.read_text() == ""
    arguments = Path(f"/proc/{demo_server.process.pid}/cmdline")
    assert not arguments.exists() or token.encode() not in arguments.read_bytes()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server_cleanly(number: int, diary: Path, tmp_path: Path) -> None:
    with serving(diary, tmp_path / "notes") as served:
        assert served.ready.keys() == {"url", "mcp_url", "setup_code", "owner_url"}
        with httpx.Client(base_url=served.url, trust_env=False) as client:
            assert client.get("/healthz").status_code == 200
            assert served.stop(number) == 0
        assert served.err.read_text() == ""
        assert "pdpp source add" in served.out.read_text()
    assert not (tmp_path / "notes" / "ready.json").exists()
    assert pdpp("check", data=diary).code == 0


def test_with_json_the_greeting_is_the_ready_document(diary: Path) -> None:
    options = ("--port", "0", "--data", diary, "--json")
    with started("serve", *options, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready.keys() == {"url", "mcp_url", "setup_code", "owner_url"}
        assert httpx.get(f"{ready['url']}/healthz", trust_env=False).status_code == 200
        process.terminate()
        assert process.wait(timeout=DEADLINE_SECONDS) == 0
        assert process.stdout.read() == b""


def test_a_greeting_that_nobody_reads_does_not_keep_the_server_from_serving(
    diary: Path, tmp_path: Path
) -> None:
    ready = tmp_path / "ready.json"
    source, sink = os.pipe()
    os.close(source)
    options = ("--port", "0", "--data", diary, "--ready-file", ready)
    with started("serve", *options, stdout=sink, stderr=subprocess.PIPE) as process:
        os.close(sink)
        wait_for(ready.exists, process)
        url = json.loads(ready.read_bytes())["url"]
        assert httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
        process.terminate()
        assert process.wait(timeout=DEADLINE_SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_public_address_is_the_one_the_server_tells(diary: Path, tmp_path: Path) -> None:
    with serving(diary, tmp_path / "notes", "--public-url", "https://data.example/") as served:
        metadata = served.get("/.well-known/oauth-protected-resource", "none").json()
        assert metadata["resource"] == "https://data.example"
        assert served.url.startswith("http://127.0.0.1:")
        greeted(served)
        greeting = served.out.read_text()
        assert "Agents connect to https://data.example/mcp\n" in greeting
        assert "You approve them on https://data.example/agents\n" in greeting


def test_a_rate_limit_is_kept(diary: Path, tmp_path: Path) -> None:
    ask = ("grant", "create", "--client", "a", "--purpose", "b", "--everything", "--json")
    token = pdpp(*ask, data=diary).document["client_token"]
    with serving(diary, tmp_path / "notes", "--rate-limit", "0.1/s") as served:
        answers = [served.get("/v1/streams", token) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]


def test_a_busy_port_is_one_clear_line(diary: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = pdpp("serve", "--port", port, data=diary).failed()
    assert told == (
        f"cannot listen on 127.0.0.1 port {port}: address already in use; "
        "choose another with --port 8000, or with make run PORT=8000"
    )


def test_an_address_open_to_others_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    told = pdpp("serve", "--host", "0.0.0.0", data=tmp_path / "data").failed()  # noqa: S104
    assert "is open to other machines" in told
    assert not (tmp_path / "data").exists()


def test_an_address_open_to_others_needs_a_passphrase_and_a_name(
    diary: Path, tmp_path: Path
) -> None:
    everywhere = ("--host", "0.0.0.0")  # noqa: S104
    told = pdpp("serve", *everywhere, data=diary).failed()
    assert "choose your passphrase first, with pdpp owner init" in told
    assert pdpp("owner", "init", "--passphrase-file", "-", data=diary, stdin=LINE).code == 0
    assert "--public-url" in pdpp("serve", *everywhere, data=diary).failed()
    named = (*everywhere, "--public-url", "https://data.example")
    with serving(diary, tmp_path / "notes", *named) as served:
        port = served.url.rpartition(":")[2]
        page = httpx.get(f"http://127.0.0.1:{port}/agents", trust_env=False)
        assert page.status_code == 401
        assert "Log in" in page.text


def greeted(served: Served) -> None:
    """Wait for the greeting, which comes after the ready file."""
    wait_for(lambda: "Stop with Ctrl-C" in served.out.read_text(), served.process)


def test_a_new_owner_is_greeted_with_a_code_that_works_once(diary: Path, tmp_path: Path) -> None:
    with serving(diary, tmp_path / "one") as served:
        code = served.ready["setup_code"]
        greeted(served)
        assert f"  {code}\n" in served.out.read_text()
        assert f"{served.url}/agents" in served.out.read_text()
        assert code.encode() not in b"".join(
            path.read_bytes() for path in diary.rglob("*") if path.is_file()
        )
        with httpx.Client(base_url=served.url, trust_env=False) as browser:
            page = browser.get("/setup")
            token = re.findall(r'name="token" value="([0-9a-f]+)"', page.text)[0]
            words = LINE.decode().strip()
            form = {"token": token, "code": code, "passphrase": words, "again": words}
            assert browser.post("/setup", data=form).status_code == 303
            assert browser.get("/agents").status_code == 200
    with serving(diary, tmp_path / "two") as served:
        assert "setup_code" not in served.ready
        greeted(served)
        assert (
            f"You approve and revoke on {served.ready['owner_url']}/agents"
            in served.out.read_text()
        )


def test_a_host_without_an_address_is_told(tmp_path: Path) -> None:
    told = pdpp("serve", "--host", "no such host", data=tmp_path).failed()
    assert told == "there is no address 'no such host' on this machine"


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for data in (file, file / "below"):
        told = pdpp("serve", "--port", "0", data=data).failed()
        assert f"{file} is a file; name a folder for the data with --data" in told


@pytest.mark.embedded("about the file of the embedded engine")
@pytest.mark.parametrize("foreign", ["text", "table"])
def test_a_file_that_is_not_our_database_is_left_alone(foreign: str, tmp_path: Path) -> None:
    path = tmp_path / "pdpp.sqlite3"
    if foreign == "text":
        path.write_bytes(b"my novel, chapter one. " * 100)
    else:
        db = apsw.Connection(str(path))
        db.execute("CREATE TABLE novel (chapter)")
        db.close()
    assert "database" in pdpp("serve", "--port", "0", data=tmp_path).failed()


def test_a_ready_file_without_a_folder_is_told_before_the_server_starts(diary: Path) -> None:
    told = pdpp("serve", "--port", "0", "--ready-file", diary / "no" / "f", data=diary).failed()
    assert told == f"there is no folder {diary / 'no'} for the ready file"


def test_a_ready_file_in_the_place_of_a_folder_is_told(diary: Path) -> None:
    assert str(diary) in pdpp("serve", "--port", "0", "--ready-file", diary, data=diary).failed()


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--rate-limit", "many"), "'many' is not a rate such as 50/s"),
        (("--public-url", "example.org"), "is not an address such as"),
        (("--port", "70000"), "70000"),
    ],
)
def test_options_that_make_no_sense_are_wrong_usage(
    option: tuple[str, str], told: str, tmp_path: Path
) -> None:
    assert told in pdpp_here("serve", *option, data=tmp_path).failed(code=64)


def test_ipv6_is_served_where_there_is_any() -> None:
    try:
        listener = bound("::1", 0)
    except click.ClickException:
        pytest.skip("this machine has no IPv6")
    with listener:
        assert listener.getsockname()[0] == "::1"


def test_a_request_in_flight_is_finished_before_the_server_stops(
    demo_server: Served, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy_served(demo_server, copy)
    token = pdpp("owner", "token", "--json", data=copy).document["owner_token"]
    with serving(copy, tmp_path / "notes") as served:
        host, port = served.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            line = json.dumps(
                {"key": "nb-late", "data": {"id": "nb-late", "name": "Late"}}
            ).encode()
            head = (
                "POST /v1/ingest/notebooks?connection_id=cin_notes HTTP/1.1\r\nHost: x\r\n"
                f"Authorization: Bearer {token}\r\nContent-Type: application/x-ndjson\r\n"
                f"Expect: 100-continue\r\nContent-Length: {len(line)}\r\n\r\n"
            )
            connection.sendall(head.encode())
            assert connection.recv(4_096).startswith(b"HTTP/1.1 100")
            served.process.terminate()
            timer = threading.Timer(0.3, connection.sendall, [line])
            timer.start()
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
            timer.join()
        assert served.process.wait(timeout=DEADLINE_SECONDS) == 0
