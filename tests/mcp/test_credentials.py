"""Credentials: kept privately, renewed once, and never told."""

import asyncio
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.mcp.client import bare_environment
from tests.mcp.host import Host, KernelWire
from tests.serving import Running, running

from pdpp.credentials import (
    Cache,
    Credential,
    CredentialError,
    OwnerCredentialError,
    cache_folder,
    document_of,
    provider_origin,
    refuse_owner_environment,
)
from pdpp.mcp.reading import network
from pdpp.mcp.reading.network import network_reader
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.transport import NetworkTransport
from pdpp.wire.bearer import RenewedBearer
from pdpp.wire.http import HttpReply

URL = "https://data.example.org"


def credential(**changed: Any) -> Credential:
    return Credential(URL, "token-1", "client")._replace(**changed)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# The cache


def test_a_credential_is_kept_for_this_user_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "deep" / "clients")
    kept = credential(refresh_token="r", expires_at=5.0, grant_id="g", client_id="c")
    path = cache.store(kept)
    assert path.name == "data.example.org.json"
    assert mode(path) == 0o600
    assert mode(path.parent) == 0o700
    assert cache.load(URL) == kept
    assert [item.name for item in path.parent.iterdir()] == [path.name]


def test_a_folder_that_others_could_read_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "clients"
    folder.mkdir(mode=0o755)
    Cache(folder).store(credential())
    assert mode(folder) == 0o700


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path)
    cache.store(credential())

    def fail(*_: Any) -> None:
        raise OSError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="no room"):
            cache.store(credential(token="token-2"))
    assert cache.load(URL).token == "token-1"
    assert [path.name for path in tmp_path.iterdir()] == ["data.example.org.json"]


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"null", b"\xff", b"5", b"{}", b'{"provider_url":"x"}'),
        b'{"provider_url":"https://data.example.org","token":5,"token_kind":"client"}',
        b'{"provider_url":"https://data.example.org","token":"","token_kind":"client"}',
        b'{"provider_url":"https://data.example.org","token":"a b","token_kind":"client"}',
        b'{"provider_url":"https://data.example.org","token":"a\\nb","token_kind":"client"}',
        b'{"provider_url":"https://data.example.org","token":"t","token_kind":"c","expires_at":"x"}',
        b'{"provider_url":"https://data.example.org","credential":{}}',
        b'{"provider_url":"https://data.example.org","credential":{"access_token":5}}',
        b'{"provider_url":"https://data.example.org",'
        b'"credential":{"access_token":"t","expires_at":"soon"}}',
    ],
)
def test_a_file_that_holds_no_credential_is_refused_with_the_command(
    tmp_path: Path, content: bytes
) -> None:
    cache = Cache(tmp_path)
    cache.path(URL).write_bytes(content)
    with pytest.raises(CredentialError, match=f"run: pdpp connect {URL}") as told:
        cache.load(URL)
    assert told.value.exit_code == 78
    assert cache.providers() == []


def test_no_credential_is_refused_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(CredentialError, match=f"run: pdpp connect {URL}") as told:
        Cache(tmp_path / "none").load(URL)
    assert told.value.exit_code == 78


def test_the_credential_of_another_provider_is_not_used(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    other = credential(provider_url=URL.replace("https", "http"))
    cache.store(other)
    with pytest.raises(CredentialError, match="for another provider"):
        cache.load(URL)
    assert cache.load("http://data.example.org/") == other


@pytest.mark.parametrize("changed", [{"token_kind": "owner"}, {"token": "pdpp_owner_abc"}])
def test_the_credential_of_an_owner_is_neither_kept_nor_read(
    tmp_path: Path, changed: dict[str, str]
) -> None:
    cache = Cache(tmp_path)
    with pytest.raises(OwnerCredentialError) as told:
        cache.store(credential(**changed))
    assert told.value.exit_code == 77
    cache.path(URL).write_text(json.dumps(credential(**changed)._asdict()))
    with pytest.raises(OwnerCredentialError):
        cache.load(URL)


def test_owners_below_paths_of_one_host_have_credentials_of_their_own(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    urls = [URL, f"{URL}/anna", f"{URL}/Anna", f"{URL}/anna/deeper", f"{URL}/ånna", f"{URL}:8443"]
    for url in urls:
        cache.store(credential(provider_url=url, token=f"token-{urls.index(url)}"))
    assert len({cache.path(url).name.lower() for url in urls}) == len(urls)
    assert [cache.load(url).token for url in urls] == [f"token-{at}" for at in range(len(urls))]
    with cache.locked(urls[1]), cache.locked(urls[2]):
        assert cache.load(f"{urls[1]}/") == cache.load(urls[1])
    assert cache.forget(urls[1])
    assert {kept.provider_url for kept in cache.providers()} == {*urls} - {urls[1]}


def test_a_credential_is_forgotten(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.store(credential())
    assert [found.token for found in cache.providers()] == ["token-1"]
    assert cache.forget(URL) is True
    assert cache.forget(URL) is False


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://127.0.0.1:7377", "127.0.0.1_7377.json"),
        ("https://Data.Example.org/", "data.example.org.json"),
        ("https://data.example.org/mcp", "data.example.org.json"),
        ("https://data.example.org/mcp/", "data.example.org.json"),
        ("http://[::1]:80", "--1_80.json"),
    ],
)
def test_each_address_has_its_file(tmp_path: Path, url: str, name: str) -> None:
    assert Cache(tmp_path).path(url).name == name


@pytest.mark.parametrize(
    "text",
    [
        *("", "data.example.org", "ftp://x", "https://", "https://me@x", "https://me:pw@x"),
        *("https://x:port", "https://x:99999", "https://x?q=1", "https://x#top", "file:///etc"),
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an address"):
        provider_origin(text)


def test_what_is_shown_of_a_credential_holds_no_secret() -> None:
    shown = document_of(credential(refresh_token="refresh-1", grant_id="g"))
    assert shown == {"provider_url": URL, "token_kind": "client", "grant_id": "g"}


def test_the_folder_is_the_one_told_then_the_nearest_that_has_the_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    told = {"PDPP_CACHE_ROOT": "~/told"}
    assert cache_folder("option", told, URL) == Path("option/clients")
    assert cache_folder(None, told, URL) == home / "told" / "clients"
    assert cache_folder(None, {}, URL) == home / ".pdpp" / "clients"
    assert cache_folder(None, {}, None) == home / ".pdpp" / "clients"
    near = here / ".pdpp" / "clients"
    Cache(near).store(credential())
    assert cache_folder(None, {}, URL) == near
    assert cache_folder(None, {}, None) == near
    assert cache_folder(None, {}, "https://other.example") == home / ".pdpp" / "clients"


@pytest.mark.parametrize(("part", "mode"), [("", 0o770), ("clients", 0o755)])
def test_a_cache_in_the_working_directory_that_others_can_use_is_not_used(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    part: str,
    mode: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    near = tmp_path / ".pdpp" / "clients"
    Cache(near).store(credential())
    (tmp_path / ".pdpp" / part).chmod(mode)
    assert cache_folder(None, {}, URL) == tmp_path / "home" / ".pdpp" / "clients"
    told = capsys.readouterr().err
    assert told.startswith(f"note: {near} is not used: others can use ")
    assert told.count("\n") == 1


def test_a_cache_in_the_working_directory_that_is_somebody_elses_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Cache(tmp_path / ".pdpp" / "clients").store(credential())
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert cache_folder(None, {}, URL) == tmp_path / "home" / ".pdpp" / "clients"
    assert "belongs to another user" in capsys.readouterr().err


def test_a_link_in_the_working_directory_is_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Cache(tmp_path / "elsewhere").store(credential())
    (tmp_path / ".pdpp").mkdir(mode=0o700)
    (tmp_path / ".pdpp" / "clients").symlink_to(tmp_path / "elsewhere")
    assert cache_folder(None, {}, URL) == tmp_path / "home" / ".pdpp" / "clients"


def test_the_form_of_the_reference_implementation_is_written_and_read(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    kept = credential(refresh_token="r", expires_at=1_700_000_000.5, grant_id="g", client_id="c")
    written = json.loads(cache.store(kept).read_text())
    assert written == {
        "provider_url": URL,
        "credential": {
            "access_token": "token-1",
            "token_type": "Bearer",
            "expires_at": "2023-11-14T22:13:20.500Z",
            "refresh_token": "r",
            "token_kind": "client",
            "grant_id": "g",
            "client_id": "c",
        },
    }
    theirs = {
        "provider_url": URL,
        "credential": {
            "access_token": "token-9",
            "token_type": "Bearer",
            "expires_at": "2026-08-21T10:00:00.000Z",
        },
    }
    cache.path(URL).write_text(json.dumps(theirs))
    read = cache.load(URL)
    assert (read.token, read.token_kind, read.refresh_token) == ("token-9", "client", None)
    assert read.expires_at == 1_787_306_400.0
    assert [held.token for held in cache.providers()] == ["token-9"]


def test_the_flat_form_is_read(tmp_path: Path) -> None:
    cache, kept = Cache(tmp_path), credential(refresh_token="r", expires_at=5.0, grant_id="g")
    flat = {name: value for name, value in kept._asdict().items() if value is not None}
    cache.path(URL).write_text(json.dumps(flat))
    assert cache.load(URL) == kept
    assert cache.providers() == [kept]


def test_an_owners_credential_in_the_environment_is_refused() -> None:
    for found in ({"PDPP_OWNER_TOKEN": "x"}, {"PDPP_ANYTHING": "pdpp_owner_x"}):
        with pytest.raises(OwnerCredentialError, match="unset it"):
            refuse_owner_environment(found)
    refuse_owner_environment({"PDPP_OWNER_TOKEN": "", "OTHER": "pdpp_owner_x"})


def test_the_lock_lets_one_in_at_a_time(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    inside, order = threading.Event(), []

    def second() -> None:
        inside.wait(5)
        with cache.locked(URL):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with cache.locked(URL):
        inside.set()
        order.append("first")
    thread.join(5)
    assert order == ["first", "second"]
    assert mode(tmp_path / "data.example.org.lock") == 0o600


def test_a_token_about_to_end_has_ended() -> None:
    assert credential().expired(10**12) is False
    assert credential(expires_at=100.0).expired(39.0) is False
    assert credential(expires_at=100.0).expired(40.0) is True


# Renewal


@dataclass(slots=True)
class Provider:
    """Another company's server: it rotates refresh tokens and ends access tokens."""

    good: str = "token-1"
    refresh: str = "refresh-1"
    exchanges: list[Mapping[str, str]] = field(default_factory=list)
    bearers: list[str] = field(default_factory=list)
    answer: Any = None
    status: int = 200

    async def read(self, request: Request) -> Response:
        """Answer a read under the one good token."""
        bearer = request.headers["authorization"].removeprefix("Bearer ")
        self.bearers.append(bearer)
        if bearer != self.good:
            error = {"code": "authentication_error", "message": "The token has ended."}
            return JSONResponse({"error": error}, 401)
        return JSONResponse({"data": []})

    async def exchange(self, request: Request) -> Response:
        """Exchange the one good refresh token for a new pair."""
        form = dict(parse_qsl((await request.body()).decode()))
        self.exchanges.append(form)
        if self.answer is not None:
            return JSONResponse(self.answer, self.status)
        if form.get("refresh_token") != self.refresh:
            return JSONResponse({"error": "invalid_grant"}, 400)
        number = len(self.exchanges) + 1
        self.good, self.refresh = f"token-{number}", f"refresh-{number}"
        told = {"access_token": self.good, "refresh_token": self.refresh, "expires_in": 3600}
        return JSONResponse(told)

    @contextmanager
    def served(self) -> Iterator[Running]:
        """Serve it."""
        routes = [
            Route("/v1/{path:path}", self.read),
            Route("/token", self.exchange, methods=["POST"]),
        ]
        with running(Starlette(routes=routes)) as server:
            yield server


def held(url: str, **changed: Any) -> Credential:
    made = Credential(
        url,
        "token-1",
        "client",
        refresh_token="refresh-1",
        client_id="client-1",
        token_endpoint=f"{url}/token",
    )
    return made._replace(**changed)


@contextmanager
def host_with(cache: Cache, kept: Credential) -> Iterator[Host]:
    """Return a host of the adapter over the network under a kept credential."""
    transport = NetworkTransport(kept.provider_url, RenewedBearer(cache, kept))
    client = ResourceClient(transport, kept.token)
    reading = GrantReader(client, {}, kept.provider_url)
    wire = KernelWire(lambda: reading)
    try:
        yield Host(wire)
    finally:
        wire.close()
        transport.close()


def test_a_token_that_has_ended_is_renewed_before_it_is_used(tmp_path: Path) -> None:
    provider, cache = Provider(good="none yet"), Cache(tmp_path)
    with provider.served() as server:
        kept = held(server.url, expires_at=1.0)
        cache.store(kept)
        with host_with(cache, kept) as host:
            host.good("search", {"query": "x"})
            host.good("search", {"query": "x"})
        assert provider.bearers == ["token-2", "token-2"]
        assert provider.exchanges == [
            {"grant_type": "refresh_token", "refresh_token": "refresh-1", "client_id": "client-1"}
        ]
        renewed = cache.load(server.url)
        assert (renewed.token, renewed.refresh_token) == ("token-2", "refresh-2")
        assert renewed.expires_at is not None
        assert renewed.expires_at > 1e9


def test_a_refused_token_is_renewed_and_the_read_sent_again_once(tmp_path: Path) -> None:
    provider, cache = Provider(good="none yet"), Cache(tmp_path)
    with provider.served() as server:
        kept = held(server.url)
        cache.store(kept)
        with host_with(cache, kept) as host:
            host.good("search", {"query": "x"})
        assert provider.bearers == ["token-1", "token-2"]


def test_a_refused_renewal_lets_the_refusal_reach_the_model(tmp_path: Path) -> None:
    provider, cache = Provider(good="none yet", refresh="another"), Cache(tmp_path)
    with provider.served() as server:
        kept = held(server.url)
        cache.store(kept)
        with host_with(cache, kept) as host:
            error = host.refused("authentication_error", "search", {"query": "x"})
            assert error["message"] == "The token has ended."
        assert provider.bearers == ["token-1"]
        assert cache.load(server.url) == kept


def test_requests_at_once_make_one_exchange(tmp_path: Path) -> None:
    provider, cache = Provider(good="none yet"), Cache(tmp_path)
    with provider.served() as server:
        kept = held(server.url)
        cache.store(kept)
        with host_with(cache, kept) as host:
            asked = ("tools/call", {"name": "search", "arguments": {"query": "x"}})
            assert isinstance(host.wire, KernelWire)
            answers = host.wire.together(*[asked] * 8)
        assert [answer["isError"] for answer in answers] == [False] * 8
        assert len(provider.exchanges) == 1


PROGRAM = """
import asyncio, sys
from pathlib import Path
from pdpp.credentials import Cache
from pdpp.mcp.reading.network import network_reader
cache = Cache(Path(sys.argv[1]))
reading = network_reader(cache, cache.load(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
print(asyncio.run(reading.get(["search"], {"q": "x"})).body, flush=True)
"""


def test_two_programs_at_once_make_one_exchange(tmp_path: Path) -> None:
    provider, cache = Provider(good="none yet"), Cache(tmp_path)
    with provider.served() as server:
        cache.store(held(server.url, expires_at=1.0))
        command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path), server.url]
        programs = [
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=bare_environment()
            )
            for _ in range(2)
        ]
        for program in programs:
            assert program.stdout
            assert program.stdout.readline() == b"ready\n"
        said = [program.communicate(b"\n", timeout=20)[0] for program in programs]
        assert said == [b"{'data': []}\n"] * 2
        assert len(provider.exchanges) == 1


def test_what_another_program_renewed_is_taken_over(tmp_path: Path) -> None:
    provider, cache = Provider(good="token-9"), Cache(tmp_path)
    with provider.served() as server:
        kept = held(server.url)
        cache.store(kept._replace(token="token-9"))
        with host_with(cache, kept) as host:
            host.good("search", {"query": "x"})
        assert provider.exchanges == []


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({}, 200),
        ({"access_token": 5}, 200),
        ([], 200),
        ({"access_token": "pdpp_owner_x"}, 200),
        ({"access_token": "a b"}, 200),
        ({"access_token": "token-2"}, 500),
    ],
)
def test_an_odd_answer_is_no_token(tmp_path: Path, answer: Any, status: int) -> None:
    provider, cache = Provider(good="none", answer=answer, status=status), Cache(tmp_path)
    with provider.served() as server:
        kept = held(server.url)
        cache.store(kept)
        with host_with(cache, kept) as host:
            host.refused("authentication_error", "search", {"query": "x"})
        assert cache.load(server.url) == kept


def test_a_provider_that_rotates_nothing_keeps_its_refresh_token(tmp_path: Path) -> None:
    provider = Provider(answer={"access_token": "token-2"})
    with provider.served() as server:
        cache, old = Cache(tmp_path), held(server.url, client_id=None)
        cache.store(old)
        assert RenewedBearer(cache, old).renew(old.token)
        renewed = cache.load(server.url)
    assert (renewed.token, renewed.refresh_token, renewed.expires_at) == (
        "token-2",
        "refresh-1",
        None,
    )
    assert provider.exchanges == [{"grant_type": "refresh_token", "refresh_token": "refresh-1"}]


@pytest.mark.parametrize(
    "lacking",
    [
        {"refresh_token": None},
        {"token_endpoint": None},
        {"token_endpoint": "http://127.0.0.1:1/token"},
    ],
)
def test_without_a_refresh_token_or_an_endpoint_there_is_no_renewal(
    tmp_path: Path, lacking: dict[str, Any]
) -> None:
    cache, old = Cache(tmp_path), held(URL, **lacking)
    cache.store(old)
    assert not RenewedBearer(cache, old).renew(old.token)


@pytest.mark.parametrize("state", ["gone", "forgotten", "spoilt"])
def test_a_cache_that_was_taken_away_leaves_the_refusal(tmp_path: Path, state: str) -> None:
    cache = Cache(tmp_path / "clients")
    if state != "gone":
        (tmp_path / "clients").mkdir()
    if state == "spoilt":
        cache.path(URL).write_text("{")
    bearer = RenewedBearer(cache, held(URL))
    assert bearer.send(lambda _: HttpReply(401, {}, b"{}")).status == 401


def test_a_cache_that_cannot_be_written_does_not_lose_the_new_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, cache = Provider(good="none yet"), Cache(tmp_path)

    def fail(*_: Any) -> None:
        raise OSError("no room")

    with provider.served() as server:
        kept = held(server.url)
        cache.store(kept)
        monkeypatch.setattr(Cache, "store", fail)
        with host_with(cache, kept) as host:
            host.good("search", {"query": "x"})


def test_the_way_over_the_network_is_under_the_kept_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, cache = Provider(), Cache(tmp_path)
    opened: list[NetworkTransport] = []

    def noted(url: str, bearer: RenewedBearer) -> NetworkTransport:
        opened.append(NetworkTransport(url, bearer))
        return opened[-1]

    monkeypatch.setattr(network, "NetworkTransport", noted)
    with provider.served() as server:
        reading = network_reader(cache, held(server.url))
        body = asyncio.run(reading.get(["search"], {"q": "x"})).body
        assert body == {"data": []}
        assert provider.bearers == ["token-1"]
        opened[0].close()
    assert os.listdir(tmp_path) == []
