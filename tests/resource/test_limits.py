import asyncio
import json
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from tests.engine import database_of
from tests.resource.library import LIBRARY, book, library_store
from tests.serving import (
    DEADLINE,
    UNLIMITED,
    SetClock,
    approve,
    living,
    planted_store,
    refused,
)

from pdpp.authz.token import TokenKind, mint
from pdpp.model import instant
from pdpp.model.errors import Overloaded, RateLimitExceeded
from pdpp.service.rate_limit import RateLimiter
from pdpp.service.runner import Runner
from pdpp.service.settings import Settings
from pdpp.store.deadline import DeadlinePassed
from pdpp.store.port import Store
from pdpp.store.query import SearchQuery

BOOKS = "/v1/streams/books/records"


def test_a_token_that_asks_too_often_is_told_when_to_retry(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, requests_per_second=0.01, request_burst=3)
    with living(library_store(tmp_path), settings) as world:
        client, other = world.client(), world.client()
        for _ in range(3):
            assert client.get(BOOKS).status_code == 200
        answer = client.get(BOOKS)
        refused(answer, 429, "rate_limit_exceeded")
        assert 1 <= int(answer.headers["retry-after"]) <= 100
        assert other.get(BOOKS).status_code == 200


def test_all_tokens_of_a_grant_share_what_it_may_ask(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, requests_per_second=0.01, request_burst=4)
    store = library_store(tmp_path)
    approval = approve(store)
    secret, token = mint(TokenKind.CLIENT, "another", instant.now(), grant_id=approval.grant_id)
    with store.vault.transaction() as ledger:
        ledger.add_token(token)
    with living(store, settings) as world:
        clients = [world.server.client(name) for name in (approval.token, secret)]
        statuses = [client.get(BOOKS).status_code for _ in range(3) for client in clients]
    assert statuses == [200, 200, 200, 200, 429, 429]


def test_a_read_that_takes_too_long_is_stopped_and_may_be_retried(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, inline_seconds=0, read_seconds=1e-9)
    rows = [book(f"b{number}", 1, text="common words " * 20) for number in range(3_000)]
    records = {("only", "books"): rows}
    with living(planted_store(tmp_path, LIBRARY, {"only": "Only"}, records), settings) as world:
        answer = world.client().get("/v1/search", params={"q": "common"})
        refused(answer, 503, "overloaded")
        assert int(answer.headers["retry-after"]) > 0
        grouped = world.client().get(
            "/v1/streams/books/aggregate", params={"metric": "count", "filter[title]": "x"}
        )
        assert grouped.status_code in (200, 503)


def test_a_read_too_long_for_the_loop_is_answered_from_a_thread(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, inline_seconds=0)
    rows = [book(f"b{number}", 1, text="common words") for number in range(2_000)]
    records = {("only", "books"): rows}
    with living(planted_store(tmp_path, LIBRARY, {"only": "Only"}, records), settings) as world:
        body = world.client().get("/v1/search", params={"q": "common", "limit": 3}).json()
    assert len(body["data"]) == 3


def waiting(runner: Runner, count: int, check: Callable[[], None]) -> None:
    """Fill a runner's queue with operations that wait, check, and let them go."""
    go = threading.Event()

    async def scene() -> None:
        tasks = [asyncio.create_task(runner.write(lambda: go.wait(DEADLINE))) for _ in range(count)]
        await asyncio.sleep(0)
        try:
            with pytest.raises(Overloaded) as caught:
                await runner.write(check)
            assert caught.value.headers["Retry-After"]
        finally:
            go.set()
            assert all(await asyncio.gather(*tasks))
        await runner.write(check)

    asyncio.run(scene())


def test_a_queue_that_is_full_takes_no_more_until_it_is_not(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    runner, ran = Runner(store, Settings()), []
    try:
        waiting(runner, 64, lambda: ran.append(True))
    finally:
        runner.close()
        store.close()
    assert ran == [True]


def test_a_long_read_is_given_up_at_its_end(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    runner = Runner(store, Settings(inline_seconds=-1, read_seconds=-1))
    try:
        with pytest.raises(Overloaded, match="ask for less"):
            asyncio.run(runner.read("kind", database_of(store).check_deadline))
    finally:
        runner.close()
        store.close()


def test_a_kind_of_read_that_was_long_runs_in_a_thread_until_one_is_short(
    tmp_path: Path,
) -> None:
    store, here = library_store(tmp_path), threading.get_ident()
    runner = Runner(store, Settings(inline_seconds=DEADLINE))

    def long() -> int:
        if threading.get_ident() == here:
            raise DeadlinePassed
        return threading.get_ident()

    async def scene() -> list[bool]:
        return [await runner.read("kind", read) == here for read in (long, threading.get_ident)]

    try:
        assert asyncio.run(scene()) == [False, True]
    finally:
        runner.close()
        store.close()


def test_a_kind_of_read_that_stays_long_stays_in_its_thread(tmp_path: Path) -> None:
    store, here = library_store(tmp_path), threading.get_ident()
    runner = Runner(store, Settings(inline_seconds=-1, read_seconds=DEADLINE))

    def long() -> int:
        database_of(store).check_deadline()
        return threading.get_ident()

    async def scene() -> list[bool]:
        kinds = ["kind", "kind", *map(str, range(2_000))]
        return [await runner.read(kind, long) == here for kind in kinds]

    try:
        assert not any(asyncio.run(scene()))
    finally:
        runner.close()
        store.close()


class EndlessSearch:
    """A search that never ends by itself: the store asks its deadline on and on."""

    def __init__(self, store: Store) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()
        self._check_deadline = store.check_deadline

    def __call__(self, _query: SearchQuery) -> NoReturn:
        self.begun.set()
        try:
            while not self.ended.wait(0.001):
                self._check_deadline()
            raise DeadlinePassed
        finally:
            self.ended.set()


def searching(over: str, authorization: str) -> bytes:
    """Return the bytes of a request that searches over ``/v1`` or ``/mcp``."""
    call = {"name": "search", "arguments": {"query": "common"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    first, body = {
        "/v1": ("GET /v1/search?q=common HTTP/1.1", b""),
        "/mcp": ("POST /mcp HTTP/1.1", json.dumps(message).encode()),
    }[over]
    head = (
        f"{first}\r\nHost: 127.0.0.1\r\nAuthorization: {authorization}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


@pytest.mark.parametrize("over", ["/v1", "/mcp"])
def test_a_long_read_ends_when_its_client_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, over: str
) -> None:
    records = {("only", "books"): [book("b1", 1, text="common words")]}
    store = planted_store(tmp_path, LIBRARY, {"only": "Only"}, records)
    endless = EndlessSearch(store)
    monkeypatch.setattr(store, "search", endless)
    with living(store, replace(UNLIMITED, read_seconds=3600)) as world:
        client = world.client()
        try:
            with socket.create_connection(("127.0.0.1", client.base_url.port or 0)) as connection:
                connection.sendall(searching(over, client.headers["authorization"]))
                assert endless.begun.wait(DEADLINE)
                assert not endless.ended.is_set()
            assert endless.ended.wait(DEADLINE)
        finally:
            endless.ended.set()


class Seconds:
    """A clock in seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def taken(buckets: RateLimiter, token: str, tries: int) -> int:
    """Return how many requests a bucket lets through."""
    through = 0
    for _ in range(tries):
        try:
            buckets.take(token)
        except RateLimitExceeded:
            continue
        through += 1
    return through


def test_a_bucket_holds_a_burst_and_fills_at_its_rate() -> None:
    clock = Seconds()
    buckets = RateLimiter(2, 5, clock)
    assert taken(buckets, "a", 20) == 5
    clock.now += 1
    assert taken(buckets, "a", 20) == 2
    clock.now += 3_600
    assert taken(buckets, "a", 20) == 5


def test_a_bucket_says_how_long_until_the_next_request() -> None:
    clock = Seconds()
    buckets = RateLimiter(0.1, 1, clock)
    buckets.take("a")
    with pytest.raises(RateLimitExceeded) as caught:
        buckets.take("a")
    assert caught.value.headers == {"Retry-After": "10"}
    clock.now += 10
    buckets.take("a")


def test_no_rate_is_no_limit() -> None:
    assert taken(RateLimiter(0, 1, Seconds()), "a", 100) == 100


def test_buckets_are_forgotten_when_there_are_too_many() -> None:
    buckets = RateLimiter(0.001, 1, Seconds())
    assert taken(buckets, "first", 2) == 1
    for number in range(10_001):
        buckets.take(str(number))
    assert taken(buckets, "first", 2) == 1


def test_a_clock_can_be_set() -> None:
    clock = SetClock("2026-01-01")
    clock.advance(1)
    assert instant.to_text(clock()) == "2026-01-01T00:00:01Z"
