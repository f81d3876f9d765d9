"""How a session keeps going: waiting when asked to, renewing once, telling what is strange."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request as Asked
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from tests.serving import UNLIMITED, grant, living, running, seeded_store

from pdpp import Client
from pdpp.client import (
    CredentialError,
    OwnerCredentialError,
    ServerError,
    UnexpectedAnswer,
    request,
)
from pdpp.client.session import MAX_WAIT_SECONDS, ClientSession, RawAnswer
from pdpp.credentials import Cache, Credential
from pdpp.model.errors import AuthenticationError, Overloaded, RateLimitExceeded
from pdpp.wire.bearer import FixedBearer
from pdpp.wire.http import HttpClient

SECRET = "secret"
STREAMS: dict[str, Any] = {"object": "list", "data": [], "has_more": False}
Answering = Callable[[Asked], Response]


@contextmanager
def answering(*answers: Answering) -> Iterator[tuple[str, list[Asked]]]:
    """Serve answers one after the other, the last one for good."""
    asked: list[Asked] = []

    async def answer(one: Asked) -> Response:
        asked.append(one)
        return answers[min(len(asked), len(answers)) - 1](one)

    with running(Starlette(routes=[Route("/v1/{path:path}", answer)])) as server:
        yield server.url, asked


def busy(status: int, wait: str) -> Answering:
    error = {"code": "overloaded" if status == 503 else "rate_limit_exceeded", "message": "Wait."}
    headers = {"Retry-After": wait}
    return lambda _: JSONResponse({"error": error}, status, headers)


def good(_: Asked) -> Response:
    return JSONResponse(STREAMS)


def ask(url: str, waits: list[float], token: str = SECRET, **more: Any) -> RawAnswer:
    """Ask for the streams with a session of its own, which notes how long it is told to wait."""
    way = ClientSession(
        HttpClient(keep_alive=True), url, FixedBearer(token), pause=waits.append, **more
    )
    try:
        return way.ask(request.streams(None, None))
    finally:
        way.close()


def streams(url: str) -> Any:
    with Client(url, "secret") as client:
        return client.streams()


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again_when_it_says(status: int) -> None:
    waits: list[float] = []
    with answering(busy(status, "7"), busy(status, "0"), good) as (url, asked):
        assert ask(url, waits).body == STREAMS
    assert waits == [7.0, 0.05]
    assert len(asked) == 3


def test_patience_has_an_end() -> None:
    waits: list[float] = []
    with answering(busy(429, "40")) as (url, asked), pytest.raises(RateLimitExceeded):
        ask(url, waits)
    assert waits == [40.0]
    assert sum(waits) <= MAX_WAIT_SECONDS
    assert len(asked) == 2


def test_a_busy_server_that_names_no_time_is_not_asked_again() -> None:
    waits: list[float] = []
    with answering(busy(503, "soon")) as (url, _), pytest.raises(Overloaded):
        ask(url, waits)
    assert waits == []


def test_a_download_waits_as_well() -> None:
    waits: list[float] = []
    with answering(busy(503, "1"), lambda _: Response(b"bytes")) as (url, _):
        way = ClientSession(
            HttpClient(keep_alive=True), url, FixedBearer("secret"), pause=waits.append
        )
        found = way.download(("blobs", "b"))
        assert b"".join(found.chunks()) == b"bytes"
        found.close()
    assert waits == [1.0]


def test_a_real_server_that_asks_for_too_long_a_wait_is_not_waited_for(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, requests_per_second=0.001, request_burst=1)
    with living(seeded_store(tmp_path), settings) as world:
        token, waits = grant(world.store), list[float]()
        assert ask(world.server.url, waits, token).body["data"]
        with pytest.raises(RateLimitExceeded) as told:
            ask(world.server.url, waits, token)
    assert told.value.headers == {}
    assert waits == []


def test_one_grant_of_several_is_chosen_with_a_header() -> None:
    with answering(good) as (url, asked):
        ask(url, [], grant_id="grt_1")
        with Client(url, "secret", grant_id="grt_2") as client:
            client.streams()
    assert [one.headers["pdpp-grant"] for one in asked] == ["grt_1", "grt_2"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: PlainTextResponse("<html>"),
        lambda _: PlainTextResponse("gone", 404),
        lambda _: JSONResponse([1]),
        lambda _: JSONResponse({"data": [{"name": "x"}], "has_more": False}),
        lambda _: JSONResponse({"data": 5, "has_more": False}),
        lambda _: JSONResponse({"data": [5], "has_more": False}),
        lambda _: JSONResponse({}),
    ],
)
def test_an_answer_that_is_not_of_this_protocol_is_told(answer: Answering) -> None:
    with answering(answer) as (url, _), pytest.raises(UnexpectedAnswer) as told:
        streams(url)
    assert url in told.value.message
    assert "secret" not in told.value.message


def test_a_code_that_nobody_knows_is_kept_as_it_is() -> None:
    error = {"code": "tea_time", "message": "Later."}
    with (
        answering(lambda _: JSONResponse({"error": error}, 418)) as (url, _),
        pytest.raises(ServerError) as told,
    ):
        streams(url)
    assert (told.value.code, told.value.status) == ("tea_time", 418)


def test_a_strange_error_on_a_blob_is_told() -> None:
    with (
        answering(lambda _: PlainTextResponse("no", 500)) as (url, _),
        pytest.raises(UnexpectedAnswer, match="answered 500"),
    ):
        Client(url, "secret").blob("b")


def test_an_error_that_breaks_off_is_an_answer_that_cannot_be_read() -> None:
    headers = {"Content-Length": "100"}
    with (
        answering(lambda _: Response(b"short", 500, headers)) as (url, _),
        pytest.raises(UnexpectedAnswer, match="Nothing was read"),
    ):
        Client(url, "secret").blob("b")


def test_a_cursor_that_does_not_move_ends_the_reading() -> None:
    stuck = STREAMS | {"has_more": True, "next_cursor": "c"}
    with (
        answering(lambda _: JSONResponse(stuck)) as (url, asked),
        Client(url, "secret") as client,
        pytest.raises(UnexpectedAnswer, match="does not move on"),
    ):
        list(islice(client.search("x").pages(), 5))
    assert len(asked) == 2


def test_an_offset_that_does_not_move_ends_the_reading() -> None:
    places = {"start_chars": 0, "end_chars": 1, "total_chars": 9, "next_offset_chars": 0}
    window = {"text": "a", "complete": False, "has_more": True, **places}
    named = {"stream": "s", "record_id": "r", "field": {"path": "f"}, "digest": "d", "version": "v"}
    with (
        answering(lambda _: JSONResponse({**named, "window": window})) as (url, asked),
        Client(url, "secret") as client,
        pytest.raises(UnexpectedAnswer, match="does not move on"),
    ):
        list(islice(client.windows("c/s:r", "f"), 5))
    assert len(asked) == 2


# Kept grants


@dataclass(slots=True)
class Provider:
    """A provider whose tokens end, and which rotates what renews them."""

    good: str = "none yet"
    bearers: list[str] = field(default_factory=list)
    exchanges: int = 0

    async def read(self, one: Asked) -> Response:
        """RawAnswer under the one good token."""
        self.bearers.append(one.headers["authorization"].removeprefix("Bearer "))
        if self.bearers[-1] != self.good:
            error = {"code": "authentication_error", "message": "The token has ended."}
            return JSONResponse({"error": error}, 401)
        return JSONResponse(STREAMS)

    async def exchange(self, one: Asked) -> Response:
        """Exchange the refresh token of the time."""
        form = await one.body()
        self.exchanges += 1
        if b"refresh_token=refresh-1" not in form:
            return JSONResponse({"error": "invalid_grant"}, 400)
        self.good = "token-2"
        return JSONResponse({"access_token": "token-2", "refresh_token": "refresh-2"})

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve it."""
        routes = [
            Route("/v1/{path:path}", self.read),
            Route("/token", self.exchange, methods=["POST"]),
        ]
        with running(Starlette(routes=routes)) as server:
            yield server.url


def kept(url: str, root: Path, **changed: Any) -> Cache:
    cache = Cache(root / "clients")
    made = Credential(
        url, "token-1", "client", refresh_token="refresh-1", token_endpoint=f"{url}/token"
    )
    cache.store(made._replace(**changed))
    return cache


@pytest.mark.parametrize(("ends", "bearers"), [(1.0, ["token-2"]), (None, ["token-1", "token-2"])])
def test_a_kept_grant_that_has_ended_is_renewed_and_kept(
    tmp_path: Path, ends: float | None, bearers: list[str]
) -> None:
    provider = Provider()
    with provider.served() as url:
        cache = kept(url, tmp_path, expires_at=ends)
        with Client.connected(url, cache_root=str(tmp_path)) as client:
            assert client.streams() == ()
            assert client.streams() == ()
        assert provider.bearers == [*bearers, "token-2"]
        assert provider.exchanges == 1
        held = cache.load(url)
    assert (held.token, held.refresh_token) == ("token-2", "refresh-2")


def test_a_grant_that_cannot_be_renewed_is_told(tmp_path: Path) -> None:
    with Provider().served() as url:
        kept(url, tmp_path, refresh_token="other")
        with (
            Client.connected(url, cache_root=str(tmp_path)) as client,
            pytest.raises(AuthenticationError, match="The token has ended"),
        ):
            client.streams()


def test_without_a_kept_grant_the_command_that_makes_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(CredentialError, match=r"run: pdpp connect http://x\.example"):
        Client.connected("http://x.example", cache_root=str(tmp_path))


def test_an_owners_token_in_the_cache_is_refused(tmp_path: Path) -> None:
    path = Cache(tmp_path / "clients").path("http://x.example")
    path.parent.mkdir()
    held = {"provider_url": "http://x.example", "token": "pdpp_owner_x", "token_kind": "client"}
    path.write_text(json.dumps(held))
    with pytest.raises(OwnerCredentialError):
        Client.connected("http://x.example", cache_root=str(tmp_path))


@pytest.mark.parametrize("code", ["oauth_error", "store_error", "misconfigured", "import_refused"])
def test_a_code_that_only_the_program_itself_tells_stays_the_servers_word(code: str) -> None:
    told = {"code": code, "message": "Odd.", "param": "q"}
    with (
        answering(lambda _: JSONResponse({"error": told}, 400)) as (url, _),
        pytest.raises(ServerError, match="Odd") as caught,
    ):
        ask(url, [])
    assert (caught.value.code, caught.value.status) == (code, 400)
