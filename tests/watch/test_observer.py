"""What the observer counts and logs of a real server, and what stays out of both."""

import json
import logging
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.serving import World, living, running, seeded_store
from tests.serving import owner as new_owner

from pdpp.resource.routes import BASE, ROUTES
from pdpp.watch.logs import JsonFormatter
from pdpp.watch.meter import LEFT, Meter
from pdpp.watch.observer import Observer

DEADLINE = 20.0


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with living(seeded_store(tmp_path_factory.mktemp("watched") / "data")) as made:
        yield made


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Let every request be logged."""
    with caplog.at_level(logging.INFO, logger="pdpp.access"):
        yield caplog


def counts(world: World) -> dict[tuple[str, str, str], int]:
    """Return how many requests were answered, by route, method and status."""
    text = world.owner().get("/metrics").text
    found: dict[tuple[str, str, str], int] = {}
    for line in text.splitlines():
        if line.startswith("pdpp_requests_total{"):
            labels, value = line.removeprefix("pdpp_requests_total{").split("} ")
            route, method, status = (label.split('"')[1] for label in labels.split(","))
            found[route, method, status] = int(value)
    return found


def entries(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [
        json.loads(JsonFormatter().format(record))
        for record in caplog.records
        if record.name == "pdpp.access"
    ]


def test_every_route_is_counted_under_its_template_and_never_under_its_path(world: World) -> None:
    client = world.owner()
    before = counts(world)
    for route in ROUTES:
        path = BASE + route.path.format(
            stream="st", record_id="r-1", blob_id="b-1", job_id="j-1", connection_id="home"
        )
        client.request(route.method, path)
    client.get("/no/such/place")
    new = {kind for kind, count in counts(world).items() if count > before.get(kind, 0)}
    assert {(BASE + route.path, route.method) for route in ROUTES} <= {kind[:2] for kind in new}
    assert ("other", "GET", "404") in new
    assert not any("st" in route.split("/") or "place" in route for route, _, _ in new)


def test_a_request_over_mcp_is_counted_once_and_its_inner_reads_are_not(world: World) -> None:
    before = counts(world)
    call = {"name": "search", "arguments": {"query": "invoice 4471"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    answer = world.client().post("/mcp", json=body)
    assert "4471" in answer.text
    after = counts(world)
    assert after["/mcp", "POST", "200"] == before.get(("/mcp", "POST", "200"), 0) + 1
    searched = ("/v1/search", "GET", "200")
    assert after.get(searched) == before.get(searched)


def test_an_answer_without_an_id_gets_one(world: World) -> None:
    answers = [world.server.client().get("/mcp") for _ in range(2)]
    ids = {answer.headers["request-id"] for answer in answers}
    assert len(ids) == 2
    assert all(found.startswith("req_") for found in ids)


def test_the_log_of_a_request_has_its_id_route_status_and_time_and_no_more(
    world: World, logged: pytest.LogCaptureFixture
) -> None:
    token = new_owner(world.store)
    answer = world.server.client(token).get(
        "/v1/streams/messages/records/m-invoice-4471",
        params={"connection_id": "cin_home"},
    )
    world.server.client(token).get("/v1/search", params={"q": "my private question"})
    deadline = time.monotonic() + DEADLINE
    while len(entries(logged)) < 2:
        assert time.monotonic() < deadline
    [entry, search] = entries(logged)
    assert entry.pop("time")
    assert 0 < entry.pop("milliseconds") < 1e4
    assert entry == {
        "level": "info",
        "logger": "pdpp.access",
        "message": "request",
        "request_id": answer.headers["request-id"],
        "method": "GET",
        "route": "/v1/streams/{stream}/records/{record_id}",
        "status": 200,
    }
    assert search["route"] == "/v1/search"
    told = logged.text
    for private in (token, "private", "cin_home", "m-invoice-4471"):
        assert private not in told


def test_nothing_is_logged_unless_it_is_asked_for(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.owner().get("/v1/streams")
    assert entries(caplog) == []


def test_a_client_that_leaves_before_its_answer_is_counted_as_gone(world: World) -> None:
    token = new_owner(world.store)
    address = httpx.URL(world.server.url)
    with socket.create_connection((address.host, address.port or 0)) as connection:
        head = (
            f"POST /v1/blobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: text/plain\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100")
    deadline = time.monotonic() + DEADLINE
    while counts(world).get(("/v1/blobs", "POST", str(LEFT))) != 1:
        assert time.monotonic() < deadline


def test_a_failure_past_every_answer_is_counted_as_a_failure() -> None:
    async def failing(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        raise RuntimeError("broken")

    meter = Meter()
    with running(Observer(failing, meter)) as server:
        assert server.client().get("/").status_code == 500
    assert [(found.route, found.status, found.times) for found in meter.answered()] == [
        ("other", 500, 1)
    ]
