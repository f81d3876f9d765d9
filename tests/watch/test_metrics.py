import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine import make_unreadable
from tests.serving import SetClock, World, living, refused, seeded_store

import pdpp
from pdpp.store.replica import ReplicaUse
from pdpp.watch.exposition import replica_lines, worker_lines

SAMPLE = re.compile(
    r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\.)*"(,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? [0-9.e+-]+\Z'
)


@pytest.fixture(scope="module")
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, clock: SetClock) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("measured") / "data"
    with living(seeded_store(folder, clock), clock=clock) as made:
        yield made


def metrics(world: World) -> dict[str, float]:
    answer = world.owner().get("/metrics")
    assert answer.status_code == 200
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_only_the_owner_reads_the_metrics(world: World) -> None:
    refused(world.server.client().get("/metrics"), 401, "authentication_error")
    refused(world.server.client("pdpp_owner_wrong").get("/metrics"), 401, "authentication_error")
    refused(world.client().get("/metrics"), 403, "insufficient_scope")
    answer = world.owner().post("/metrics")
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, HEAD"


def test_a_token_sent_twice_opens_no_metrics(world: World) -> None:
    token = world.owner().headers["authorization"]
    with world.server.client() as client:
        twice = client.get("/metrics", headers=[("Authorization", token)] * 2)
    refused(twice, 401, "authentication_error")


def test_the_answer_is_text_in_the_form_of_prometheus(world: World) -> None:
    answer = world.owner().get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["cache-control"] == "private, no-store"
    assert answer.text.endswith("\n")
    typed: set[str] = set()
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert kind in ("counter", "gauge", "histogram")
            assert name not in typed
            typed.add(name)
        elif not line.startswith("# HELP "):
            assert SAMPLE.match(line), line
            name = re.split(r"[{ ]", line)[0]
            assert {name, re.sub("_(bucket|sum|count)$", "", name)} & typed


def test_the_store_is_measured_without_a_name_of_anything_in_it(world: World) -> None:
    found = metrics(world)
    rows = world.owner().get("/v1/streams").json()["data"]
    assert found["pdpp_records"] == sum(row["record_count"] for row in rows)
    assert found["pdpp_streams"] == len(rows)
    assert found["pdpp_connections"] == len({row["connection_id"] for row in rows})
    assert found['pdpp_store_bytes{part="database"}'] > 1e6
    assert found['pdpp_store_bytes{part="blobs"}'] > 1e5
    assert found[f'pdpp_info{{version="{pdpp.__version__}"}}'] == 1
    text = world.owner().get("/metrics").text
    for row in rows:
        assert row["connection_id"] not in text
        assert row["display_name"] not in text


def test_uptime_is_told_by_the_clock(world: World, clock: SetClock) -> None:
    before = metrics(world)["pdpp_uptime_seconds"]
    clock.advance(61)
    found = metrics(world)
    assert found["pdpp_uptime_seconds"] == pytest.approx(before + 61)
    assert found["pdpp_start_seconds"] == pytest.approx(1790812800, abs=1)


def test_lines_that_come_in_are_counted_by_what_became_of_them(world: World) -> None:
    day = "2026-03-01T09:00:00Z"
    lines = [
        {"key": f"nb-{n}", "data": {"id": f"nb-{n}", "name": "New", "created_at": day}}
        for n in range(3)
    ]
    body = "\n".join([*map(json.dumps, lines), "no json"]).encode()
    answer = world.owner().post("/v1/ingest/notebooks?connection_id=cin_notes", content=body)
    assert answer.json()["records_accepted"] == 3
    found = metrics(world)
    assert found['pdpp_ingested_lines_total{outcome="accepted"}'] == 3
    assert found['pdpp_ingested_lines_total{outcome="rejected"}'] == 1


def test_the_page_about_metrics_names_them_all_and_no_others(world: World) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "watching.md").read_text()
    told = re.findall(r"`(pdpp_[a-z_]+)`", page)
    # Those of a server with a replica, and those that the program prints of a fleet.
    others = [*replica_lines(ReplicaUse(lag=0.5)), *worker_lines([], 0, 0)]
    text = "\n".join([world.owner().get("/metrics").text, *others])
    assert sorted(told) == sorted(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))


def test_the_request_that_asks_is_itself_in_flight(world: World) -> None:
    assert metrics(world)["pdpp_requests_in_flight"] == 1


def test_a_store_that_cannot_be_read_is_told_as_an_error_of_ours(tmp_path: Path) -> None:
    with living(seeded_store(tmp_path / "data")) as world:
        client = world.owner()
        assert client.get("/metrics").status_code == 200
        make_unreadable(world.store, tmp_path / "data")
        answer = client.get("/metrics")
        assert answer.headers["request-id"].startswith("req_")
        assert answer.json()["error"]["type"] == "api_error"
