"""Several processes on one store: every reader sees one moment, and every change in time."""

import copy
import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine import open_store
from tests.promises import ingester
from tests.promises.bustle import STEADY, Bustle
from tests.promises.caller import Caller, calling
from tests.promises.letters import declaration, later_declaration
from tests.promises.test_kill import check_words, held
from tests.serving import UNLIMITED, approve, grant, owner

from pdpp.app import make_app
from pdpp.model import instant
from pdpp.model.validation import parse_declaration
from pdpp.service.settings import Settings
from pdpp.store.batch import Line
from pdpp.store.port import Store
from pdpp.store.scope import Reach

PATH = "/v1/streams/messages/records"
GENERATION = 30
ROOT = Path(__file__).parents[2]
INGEST = """
import sys
from pathlib import Path
from tests.engine import open_store
from tests.promises.ingester import ingest
store = open_store(Path(sys.argv[1]))
for batch in range(int(sys.argv[2])):
    ingest(store, batch)
    print(batch, flush=True)
store.close()
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path)
    opened.register(parse_declaration(declaration()))
    for connection_id in ("home", "work"):
        opened.connect(connection_id, "letters", connection_id.title())
    yield opened
    opened.close()


@pytest.fixture
def caller(store: Store) -> Iterator[Caller]:
    with calling(make_app(store, UNLIMITED), owner(store)) as made:
        yield made


@pytest.fixture
def beside(store: Store, tmp_path: Path) -> Iterator[Store]:
    """The same store as another program has it open."""
    opened = open_store(tmp_path)
    yield opened
    opened.close()


def put(store: Store, *records: dict[str, Any], connection_id: str = "home") -> None:
    feed = store.catalogue().feeds[(connection_id, "messages")]
    store.write(feed, [Line(i, r["id"], instant.now(), r) for i, r in enumerate(records)])


def spawn(folder: Path, batches: int) -> subprocess.Popen[str]:
    """Start a process that ingests so many batches and says so after each."""
    return subprocess.Popen(
        [sys.executable, "-c", INGEST, str(folder), str(batches)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_write_while_a_server_reads(
    store: Store, caller: Caller, tmp_path: Path
) -> None:
    bustle = Bustle(store, ("home",), seed=1)
    bustle.settle()
    with spawn(tmp_path, 40) as process, bustle.going_on():
        assert process.stdout is not None
        for line in process.stdout:
            page = caller.get(PATH, connection_id="work", limit=1, count="exact")
            assert page["meta"]["count"]["value"] >= ingester.SIZE, line
    assert process.returncode == 0
    expected: dict[str, Any] = {}
    for batch in range(40):
        ingester.apply(expected, batch)
    records = held(caller)
    assert {key: data for key, data in records.items() if key[0] == "b"} == expected
    assert set(STEADY) <= records.keys()
    check_words(caller, expected, range(36, 40))
    assert store.check() == []


def test_a_read_keeps_to_its_moment_whatever_is_written_meanwhile(
    store: Store, beside: Store
) -> None:
    put(store, {"id": "a", "subject": "early"})
    feed = store.catalogue().feeds[("home", "messages")]
    reach = Reach(feed, feed.stream, fields=None, whole=True)
    with store.reading():
        early = store.count(reach)
        put(beside, {"id": "b", "subject": "late"})
        assert store.count(reach) == early
    with store.reading():
        assert store.count(reach) == early + 1


def test_every_answer_is_of_one_moment(store: Store, beside: Store) -> None:
    ended = threading.Event()

    def rewrite(number: int) -> None:
        many = GENERATION + number % 3
        rows = [{"id": f"g{i}", "size": number, "subject": f"alpha {number}"} for i in range(many)]
        feed = beside.catalogue().feeds[("home", "messages")]
        gone = [Line(i, f"g{i}", 0, None) for i in range(many, GENERATION + 3)]
        beside.write(feed, [*(Line(0, str(r["id"]), 0, r) for r in rows), *gone])

    def rewrite_until_ended() -> None:
        number = 1
        while not ended.is_set():
            rewrite(number)
            number += 1

    rewrite(0)
    with calling(make_app(store, UNLIMITED), owner(store)) as caller:
        thread = threading.Thread(target=rewrite_until_ended)
        thread.start()
        try:
            seen = {_one_generation(caller) for _ in range(120)}
        finally:
            ended.set()
            thread.join()
    assert len(seen) > 3


def _one_generation(caller: Caller) -> int:
    """Read a page, a search and an aggregate; each must know of one generation only."""
    page = caller.get(PATH, limit=100, count="exact")
    generations = {row["data"]["size"] for row in page["data"]}
    assert len(generations) == 1
    generation: int = generations.pop()
    assert page["meta"]["count"]["value"] == len(page["data"]) == GENERATION + generation % 3
    groups = caller.get("/v1/streams/messages/aggregate", group_by="size")["groups"]
    assert [group["count"] for group in groups] == [GENERATION + groups[0]["key"] % 3]
    hits = caller.get("/v1/search", q="alpha", limit=100)
    found = {int(hit["title"].removeprefix("alpha ")) for hit in hits["data"]}
    assert len(found) == 1
    assert hits["meta"]["count"]["value"] == len(hits["data"]) == GENERATION + found.pop() % 3
    return generation


def test_what_another_process_declares_is_seen_by_the_next_request(
    store: Store, caller: Caller, beside: Store
) -> None:
    assert caller.get("/v1/schema")["stream_count"] == 6
    beside.connect("third", "letters", "Third")
    assert caller.get("/v1/schema")["stream_count"] == 9
    beside.register(parse_declaration(later_declaration()))
    assert caller.get("/v1/schema")["stream_count"] == 12
    put(beside, {"id": "x", "rank": 3, "aside": "quince"}, connection_id="third")
    assert [row["id"] for row in caller.rows(PATH, sort="rank")] == ["x"]
    assert [hit["record_key"] for hit in caller.rows("/v1/search", q="quince")] == ["x"]
    other = {**declaration(), "connector_key": "post", "source": _source("post")}
    beside.register(parse_declaration(other))
    beside.connect("box", "post", "Box")
    assert caller.get("/v1/schema")["connector_count"] == 2


def _source(name: str) -> dict[str, str]:
    return {"kind": "connector", "id": f"https://{name}.example/connector"}


OLD: list[dict[str, Any]] = [
    {"id": f"r{i}", "subject": "pear", "aside": "quince" if i % 2 else "plum", "rank": i % 4}
    for i in range(12)
]


def test_what_is_newly_declared_works_for_records_written_before(
    store: Store, caller: Caller
) -> None:
    put(store, *OLD)
    store.register(parse_declaration(later_declaration()))
    ranks = [row["data"]["rank"] for row in caller.rows(PATH, sort="rank", limit=5)]
    assert ranks == sorted(row["rank"] for row in OLD)
    assert len(caller.rows(PATH, **{"filter[rank][gte]": 2})) == 6
    assert len(caller.rows("/v1/search", q="quince")) == 6
    assert caller.get("/v1/streams/messages/aggregate", metric="sum", field="rank")["value"] == 18
    assert len(caller.rows(PATH, limit=100)) == len(OLD)
    assert len(caller.rows("/v1/search", q="pear")) == len(OLD)
    assert store.check() == []


def test_what_is_no_longer_declared_is_gone_and_can_come_back(store: Store, caller: Caller) -> None:
    store.register(parse_declaration(later_declaration()))
    put(store, *OLD)
    store.register(parse_declaration(declaration()))
    assert caller.send(PATH, {"sort": "rank"}).json()["error"]["code"] == "unknown_field"
    assert caller.rows("/v1/search", q="quince") == []
    assert len(caller.rows("/v1/search", q="pear")) == len(OLD)
    put(store, {"id": "r1", "subject": "pear", "aside": "quince quince", "rank": 9})
    store.register(parse_declaration(later_declaration()))
    assert len(caller.rows("/v1/search", q="quince")) == 6
    assert caller.rows(PATH, sort="-rank")[0]["id"] == "r1"
    assert [row["data"] for row in caller.rows(PATH, limit=100, **{"filter[rank]": 9})] == [
        {"id": "r1", "subject": "pear", "aside": "quince quince", "rank": 9}
    ]
    assert store.check() == []


def test_a_later_declaration_never_widens_a_grant(store: Store, caller: Caller) -> None:
    client = caller.under(grant(store))
    put(store, *OLD)

    def look() -> list[Any]:
        return [
            client.rows(PATH, limit=100),
            client.get("/v1/schema", stream="messages", connection_id="home", detail="full"),
            client.get("/v1/schema"),
            client.rows("/v1/search", q="quince"),
            client.rows("/v1/search", q="pear"),
            *(
                client.send(path, params).json().get("error", {}).get("code")
                for path, params in (
                    (PATH, {"sort": "rank"}),
                    (PATH, {"filter[rank]": "1"}),
                    (PATH, {"fields": "aside"}),
                    ("/v1/streams/outbox/records", {}),
                    ("/v1/streams/messages/aggregate", {"metric": "sum", "field": "rank"}),
                    (f"{PATH}/r1/field-window", {"field": "aside", "connection_id": "home"}),
                )
            ),
        ]

    before = look()
    store.register(parse_declaration(later_declaration()))
    store.connect("third", "letters", "Third")
    put(store, {"id": "t", "subject": "pear"}, connection_id="third")
    assert look() == before
    assert caller.under(approve(store).token).rows("/v1/search", q="quince") != []


def test_a_batch_made_ready_before_a_new_declaration_is_indexed_by_it(
    store: Store, caller: Caller, beside: Store
) -> None:
    put(store, OLD[0])
    feed = store.catalogue().feeds[("home", "messages")]
    beside.register(parse_declaration(later_declaration()))
    lines = [Line(i, row["id"], instant.now(), {**row, "rank": 7}) for i, row in enumerate(OLD[:2])]
    store.write(feed, lines)
    assert {row["id"] for row in caller.rows(PATH, **{"filter[rank][gte]": 7})} == {"r0", "r1"}
    assert len(caller.rows("/v1/search", q="quince")) == 1
    assert store.check() == []


def test_a_field_newly_declared_as_a_blob_opens_the_bytes_of_older_records(
    store: Store, caller: Caller
) -> None:
    plain = copy.deepcopy(declaration())
    plain["declaration_version"] = "0"
    plain["streams"][0]["schema"]["properties"]["attachment"] = {"type": ["object", "null"]}
    store.register(parse_declaration(plain))
    blob = store.keep_blob(io.BytesIO(b"bytes"), "text/plain", 1 << 20)
    put(store, {"id": "r", "attachment": {"blob_id": blob.blob_id}})
    store.register(parse_declaration(declaration()))
    client = caller.under(grant(store, fields=("id", "attachment")))
    assert client.send(f"/v1/blobs/{blob.blob_id}").content == b"bytes"


def test_a_field_newly_declared_as_a_blob_opens_no_bytes_to_an_earlier_grant(
    store: Store, caller: Caller
) -> None:
    plain = copy.deepcopy(declaration())
    plain["declaration_version"] = "0"
    plain["streams"][0]["schema"]["properties"]["attachment"] = {"type": ["object", "null"]}
    store.register(parse_declaration(plain))
    client = caller.under(grant(store, fields=("id", "attachment")))
    store.register(parse_declaration(declaration()))
    blob = store.keep_blob(io.BytesIO(b"bytes"), "text/plain", 1 << 20)
    put(store, {"id": "r", "attachment": {"blob_id": blob.blob_id}})
    assert client.send(f"/v1/blobs/{blob.blob_id}").status_code == 404


def test_an_answer_that_took_longer_is_the_same_answer(store: Store) -> None:
    token = grant(store)
    feed = store.catalogue().feeds[("home", "threads")]
    threads = [Line(i, f"t{i}", 0, {"id": f"t{i}"}) for i in range(60)]
    store.write(feed, threads)
    put(store, *({"id": f"m{i}", "thread_id": f"t{i % 60}"} for i in range(400)))
    asked = {"expand": "messages", "expand_limit[messages]": "50", "limit": "1000"}
    bodies = []
    for seconds in (30.0, 0.0):
        settings = Settings(requests_per_second=0, inline_seconds=seconds)
        with calling(make_app(store, settings), token) as client:
            bodies.append(client.get("/v1/streams/threads/records", **asked))
    assert bodies[0] == bodies[1]
