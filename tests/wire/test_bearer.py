"""When a token is renewed, and when a refresh token is not spent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.reference_server import ReferenceServer

from pdpp import Client
from pdpp.client import PdppError
from pdpp.credentials import Cache, Credential
from pdpp.wire.bearer import RenewedBearer
from pdpp.wire.http import HttpReply

OK = HttpReply(200, {}, b"{}")
NO = HttpReply(401, {"content-type": "text/plain"}, b"no")


@pytest.fixture
def server() -> Iterator[ReferenceServer]:
    with ReferenceServer() as running:
        yield running


def kept(server: ReferenceServer, folder: Path) -> tuple[Cache, Credential]:
    """Keep a credential that can be renewed."""
    cache = Cache(folder / "clients")
    credential = Credential(
        server.url,
        server.token,
        "client",
        refresh_token=server.refresh_token,
        token_endpoint=f"{server.url}/oauth/token",
    )
    cache.store(credential)
    return cache, credential


def test_a_stream_that_is_not_granted_spends_no_refresh_token(
    server: ReferenceServer, tmp_path: Path
) -> None:
    kept(server, tmp_path)
    with Client.connected(server.url, cache_root=str(tmp_path)) as client:
        for _ in range(3):
            with pytest.raises(PdppError) as refused:
                client.records("nope").first()
            assert refused.value.code == "context.stream_not_allowed"
        assert client.records("messages", connection_id="cin_work").first().items
    assert server.exchanges == 0


def test_a_token_that_has_ended_is_renewed_once(server: ReferenceServer, tmp_path: Path) -> None:
    kept(server, tmp_path)
    server.token = "another"
    with Client.connected(server.url, cache_root=str(tmp_path)) as client:
        assert client.streams()
        assert client.streams()
    assert server.exchanges == 1


def test_a_grant_that_has_ended_sends_its_refresh_token_once(
    server: ReferenceServer, tmp_path: Path
) -> None:
    kept(server, tmp_path)
    server.alive, server.refresh_token = False, "another"
    with Client.connected(server.url, cache_root=str(tmp_path)) as client:
        for _ in range(3):
            with pytest.raises(PdppError):
                client.streams()
    assert server.exchanges == 1


def test_where_a_new_token_does_not_help_no_other_is_asked_for_at_once(
    server: ReferenceServer, tmp_path: Path
) -> None:
    cache, credential = kept(server, tmp_path)
    now = [1_000.0]
    bearer = RenewedBearer(cache, credential, lambda: now[0])
    sent: list[str] = []

    def refused(token: str) -> HttpReply:
        sent.append(token)
        return NO

    for _ in range(3):
        assert bearer.send(refused) is NO
    assert server.exchanges == 1
    assert sent == ["reference-token", *["reference-token-1"] * 3]
    now[0] += 301
    bearer.send(refused)
    assert server.exchanges == 2


def test_a_user_who_connects_again_is_heard_at_once(
    server: ReferenceServer, tmp_path: Path
) -> None:
    cache, credential = kept(server, tmp_path)
    server.refresh_token = "another"
    bearer = RenewedBearer(cache, credential)
    assert bearer.send(lambda _: NO) is NO
    cache.store(credential._replace(token="connected-again"))
    assert bearer.send(lambda token: OK if token == "connected-again" else NO) is OK
    assert server.exchanges == 1


def test_an_ended_token_of_another_program_is_exchanged_too(
    server: ReferenceServer, tmp_path: Path
) -> None:
    cache, credential = kept(server, tmp_path)
    bearer = RenewedBearer(cache, credential._replace(expires_at=5.0), lambda: 1_000.0)
    cache.store(credential._replace(token="ended-too", expires_at=900.0))
    assert bearer.send(lambda token: OK if token == "reference-token-1" else NO) is OK
    assert server.exchanges == 1


def test_a_token_that_another_thread_has_just_renewed_is_not_exchanged_again(
    server: ReferenceServer, tmp_path: Path
) -> None:
    cache, credential = kept(server, tmp_path)
    bearer: RenewedBearer
    meanwhile = [credential.token]

    def clock() -> float:
        if meanwhile:
            assert bearer.renew(meanwhile.pop())
        return 1_000.0

    bearer = RenewedBearer(cache, credential._replace(expires_at=5.0), clock)
    assert bearer.send(lambda token: OK if token == "reference-token-1" else NO) is OK
    assert server.exchanges == 1


@pytest.mark.parametrize("lifetime", [float("inf"), float("nan"), 1e300, 10**30, -1, "60"])
def test_a_lifetime_that_is_no_time_does_not_lose_the_new_tokens(
    server: ReferenceServer, tmp_path: Path, lifetime: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, credential = kept(server, tmp_path)
    exchange = server.exchange

    def odd(form: dict[str, str]) -> tuple[int, Any]:
        status, answer = exchange(form)
        return status, answer | {"expires_in": lifetime}

    monkeypatch.setattr(server, "exchange", odd)
    bearer = RenewedBearer(cache, credential)
    assert bearer.send(lambda token: OK if token == "reference-token-1" else NO) is OK
    stored = cache.load(server.url)
    assert (stored.refresh_token, stored.expires_at) == ("reference-refresh-1", None)


def test_an_empty_refresh_token_does_not_replace_the_one_there_is(
    server: ReferenceServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, credential = kept(server, tmp_path)
    answer = {"access_token": "renewed", "refresh_token": ""}
    monkeypatch.setattr(server, "exchange", lambda _: (200, answer))
    assert RenewedBearer(cache, credential).renew(credential.token)
    assert cache.load(server.url).refresh_token == credential.refresh_token


def test_a_spent_refresh_token_is_not_sent_again_where_the_new_one_could_not_be_stored(
    server: ReferenceServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, credential = kept(server, tmp_path)

    def full(_: Credential) -> Path:
        raise OSError("no space left on the disk")

    bearer = RenewedBearer(cache, credential)
    with monkeypatch.context() as disk:
        disk.setattr(cache, "store", full)
        assert bearer.renew("reference-token")
    assert bearer.renew("reference-token-1")
    assert bearer.send(lambda token: OK if token == "reference-token-2" else NO) is OK
    assert cache.load(server.url).refresh_token == "reference-refresh-2"
