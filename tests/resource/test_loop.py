"""No request holds the event loop: while it is served, a stranger is answered at once."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.serving import grant, owner, planted_store, put
from tests.watchdog import (
    MEGABYTE,
    answer_watched,
    declaration,
    frozen_objects,
    long_store,
    must_not_hold_the_loop,
)
from tests.yardstick import slowness

from pdpp.authz.selection import Selection, resolve
from pdpp.authz.token import TokenKind, mint
from pdpp.model import instant
from pdpp.model.grant import AccessMode, Grant, Package
from pdpp.resource.routes import BASE, ROUTES
from pdpp.store.port import Store


@pytest.fixture(scope="module", autouse=True)
def frozen() -> Iterator[None]:
    with frozen_objects():
        yield


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    filled = long_store(tmp_path_factory.mktemp("loop"))
    yield filled
    filled.close()


READS: dict[str, list[str]] = {
    "getSchema": ["/schema", "/schema?stream=texts", "/schema?stream=texts&detail=full"],
    "listStreams": ["/streams"],
    "getStream": ["/streams/texts"],
    "listRecords": [
        "/streams/pages/records?limit=100",
        "/streams/texts/records?limit=3",
        "/streams/texts/records?limit=3&fields=title",
        "/streams/texts/records?changes_since=beginning&limit=3",
    ],
    "getRecord": ["/streams/texts/records/t1"],
    "readFieldWindow": [
        "/streams/texts/records/t1/field-window?field=body",
        "/streams/texts/records/t1/field-window?field=body&q=lights",
        "/streams/texts/records/t1/field-window?field=body&q=nowhere",
    ],
    "aggregate": ["/streams/pages/aggregate"],
    "search": ["/search?q=harbour&limit=20", "/search?q=when+did+the+lights+go+out"],
    "searchHybrid": ["/search/hybrid?q=harbour&limit=20"],
    "searchSemantic": ["/search/semantic?q=harbour"],
    "previewRemoval": ["/connections/home/removal"],
    "previewMerge": ["/connections/home/merge?into=elsewhere"],
    "listJobs": ["/jobs"],
    "getJob": ["/jobs/job_x"],
    "readBlob": ["/blobs/{blob_id}"],
    "headBlob": ["/blobs/{blob_id}"],
}
WRITES: dict[str, tuple[str, bytes]] = {
    "ingest": ("/ingest/pages?connection_id=home", b'{"key":"n","data":{"id":"n"}}\n' * 2_000),
    "storeBlob": ("/blobs", b"x" * (32 * MEGABYTE)),
    "deleteRecord": ("/streams/pages/records/p1?connection_id=home", b""),
    "cancelJob": ("/jobs/job_x/cancel", b""),
    "renameConnection": ("/connections/home/rename?display_name=Home", b""),
    "removeConnection": ("/connections/elsewhere", b""),
    "mergeConnections": ("/connections/home/merge?into=elsewhere", b""),
}


def test_every_route_is_tried() -> None:
    assert {route.name for route in ROUTES} == READS.keys() | WRITES.keys()


def cases() -> Iterator[Any]:
    for route in ROUTES:
        for path in READS.get(route.name, ()):
            yield pytest.param(route.method, path, b"", id=f"{route.method} {path}")
        if route.name in WRITES:
            path, body = WRITES[route.name]
            yield pytest.param(route.method, path, body, id=f"{route.method} {path}")


@pytest.mark.parametrize(("method", "path", "body"), list(cases()))
def test_no_request_holds_the_loop(store: Store, method: str, path: str, body: bytes) -> None:
    blob = next(iter(store.blobs()), None)
    path = path.replace("{blob_id}", blob.blob_id if blob is not None else "0" * 64)
    headers = {"Authorization": f"Bearer {owner(store)}"}
    answer = must_not_hold_the_loop(store, method, BASE + path, body, headers)
    assert answer.status_code in (200, 201, 204, 400, 404), answer.text


LONG_QUESTION = "".join(map(chr, range(0xAC00, 0xAC00 + 1_700)))


def test_a_long_question_is_parsed_outside_the_loop(store: Store) -> None:
    path = f"{BASE}/search?streams=pages&q="
    headers = {"Authorization": f"Bearer {grant(store)}"}
    # A search that was quick lets the next one begin on the loop.
    before = [path + "elsewhere"] * 2
    answer = must_not_hold_the_loop(store, "GET", path + LONG_QUESTION, b"", headers, before=before)
    assert answer.status_code == 200, answer.text


TOOLS: dict[str, dict[str, Any]] = {
    "schema": {},
    "query_records": {"stream": "texts", "limit": 3},
    "aggregate": {"stream": "pages", "metric": "count"},
    "search": {"query": "when did the lights go out"},
    "fetch": {"id": "home/texts:t1"},
    "read_record_field": {"id": "home/texts:t1", "field_path": "body", "query": "lights"},
}


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_holds_the_loop(store: Store, tool: str) -> None:
    call_watched(store, tool, TOOLS[tool])


def test_a_page_of_a_hundred_records_is_drawn_outside_the_loop(store: Store) -> None:
    fields = {f"field_{number}": "a few words" for number in range(10)}
    put(store, "home", "stream_1", *({"id": f"r{number}", **fields} for number in range(100)))
    call_watched(store, "query_records", {"stream": "stream_1", "limit": 100})


def test_a_stream_that_many_accounts_have_is_drawn_outside_the_loop(tmp_path: Path) -> None:
    accounts = {f"home{number}": f"Home {number}" for number in range(1_000)}
    source = declaration()
    one = {**source, "streams": source["streams"][:1]}
    with closing(planted_store(tmp_path, one, accounts)) as crowded:
        call_watched(crowded, "schema", {"stream": "texts"}, before=[f"{BASE}/streams"])


@pytest.mark.parametrize("view", ["", "&view=compact"])
def test_a_stream_of_many_fields_in_many_accounts_is_told_outside_the_loop(
    tmp_path: Path, view: str
) -> None:
    accounts = {f"home{number}": f"Home {number}" for number in range(200)}
    source = declaration()
    stream = source["streams"][0]
    more = {f"field_{number}": {"type": ["string", "null"]} for number in range(60)}
    schema = {**stream["schema"], "properties": {**stream["schema"]["properties"], **more}}
    wide_source = {**source, "streams": [{**stream, "schema": schema}]}
    with closing(planted_store(tmp_path, wide_source, accounts)) as crowded:
        headers = {"Authorization": f"Bearer {grant(crowded)}"}
        path = f"{BASE}/schema?stream=texts{view}"
        must_not_hold_the_loop(crowded, "GET", path, b"", headers, before=[f"{BASE}/streams"])


def test_the_index_of_many_accounts_is_made_read_and_drawn_outside_the_loop(tmp_path: Path) -> None:
    accounts = {f"home{number}": f"Home {number}" for number in range(10)}
    with closing(planted_store(tmp_path, declaration(), accounts)) as crowded:
        call_watched(crowded, "schema", {}, before=[f"{BASE}/streams"])


def call_watched(
    store: Store, tool: str, arguments: dict[str, Any], before: Sequence[str] = ()
) -> None:
    params = {"name": tool, "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    headers = {"Authorization": f"Bearer {grant(store)}", **kinds}
    body = orjson.dumps(call)
    answer = must_not_hold_the_loop(store, "POST", "/mcp", body, headers, before=before)
    assert answer.json()["result"].get("isError") is not True, answer.text


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of 3,000 streams in which there is nothing."""
    connections = {f"c{number:02}": f"Account {number}" for number in range(15)}
    made = planted_store(tmp_path_factory.mktemp("wide"), declaration(), connections)
    yield made
    made.close()


@pytest.mark.parametrize(
    "path",
    [
        "/streams/texts/records?connection_id=c00",
        "/streams/texts/records",
        "/streams",
        "/search?q=harbour",
        "/schema?view=compact",
    ],
)
def test_a_grant_of_thousands_of_streams_is_unfolded_outside_the_loop(
    wide: Store, path: str
) -> None:
    headers = {"Authorization": f"Bearer {grant(wide)}"}
    answer = must_not_hold_the_loop(wide, "GET", f"{BASE}{path}", b"", headers)
    assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, str]]:
    """A store of 3,000 accounts, and the token of a package that has a grant for each."""
    source = declaration()
    source["streams"] = source["streams"][:1]
    accounts = {f"c{number:04}": f"Account {number}" for number in range(3_000)}
    made = planted_store(tmp_path_factory.mktemp("crowd"), source, accounts)
    yield made, packed(made, "pkg_all", 3_000)
    made.close()


def packed(store: Store, name: str, count: int) -> str:
    """Return the token of a package that has a grant for each of so many accounts."""
    now, allowances = instant.now(), resolve(Selection(), store.catalogue())[:count]
    grants = [
        Grant(f"{name}_{n}", "agent", "x", AccessMode.CONTINUOUS, (one,), now, package_id=name)
        for n, one in enumerate(allowances)
    ]
    secret, token = mint(TokenKind.PACKAGE, "agent", now, package_id=name)
    store.vault.keep_package(Package(name, "agent", now, None), grants, [token])
    return secret


@pytest.mark.parametrize("before", [[], [f"{BASE}/streams/texts/records?connection_id=c0000"]])
@pytest.mark.parametrize(
    "path", ["/streams/texts/records?connection_id=c0000", "/streams", "/search?q=harbour"]
)
def test_a_package_of_thousands_of_grants_is_unfolded_outside_the_loop(
    crowd: tuple[Store, str], path: str, before: list[str]
) -> None:
    store, secret = crowd
    headers = {"Authorization": f"Bearer {secret}"}
    answer = must_not_hold_the_loop(store, "GET", f"{BASE}{path}", b"", headers, before=before)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "harbour"}),
        ("query_records", {"stream": "texts", "connection_id": "c0000"}),
    ],
)
def test_a_tool_over_a_package_of_thousands_of_grants_does_not_hold_the_loop(
    crowd: tuple[Store, str], tool: str, arguments: dict[str, Any]
) -> None:
    store, secret = crowd
    params = {"name": tool, "arguments": arguments}
    call = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    headers = {"Authorization": f"Bearer {secret}", **kinds}
    before = [f"{BASE}/streams/texts/records?connection_id=c0000"]
    answer = must_not_hold_the_loop(store, "POST", "/mcp", call, headers, before=before)
    assert answer.json()["result"].get("isError") is not True, answer.text


def test_others_are_answered_while_each_of_many_grants_is_asked_for_its_schema(
    crowd: tuple[Store, str],
) -> None:
    store, secret = crowd[0], packed(crowd[0], "pkg_many", 300)
    params = {"name": "schema", "arguments": {}}
    call = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    headers = {"Authorization": f"Bearer {secret}", **kinds}
    answer, held_seconds = asyncio.run(answer_watched(store, "POST", "/mcp", call, headers))
    assert answer.json()["result"].get("isError") is not True, answer.text
    # What is drawn at the end takes its time; each grant by itself does not add to it.
    assert held_seconds < 0.2 * slowness()


def test_the_tools_of_thousands_of_streams_are_described_outside_the_loop(wide: Store) -> None:
    call = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
    kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    headers = {"Authorization": f"Bearer {grant(wide)}", **kinds}
    answer = must_not_hold_the_loop(wide, "POST", "/mcp", call, headers)
    assert len(answer.json()["result"]["tools"]) == len(TOOLS)


def test_an_owner_of_thousands_of_streams_is_admitted_outside_the_loop(wide: Store) -> None:
    headers = {"Authorization": f"Bearer {owner(wide)}"}
    answer = must_not_hold_the_loop(wide, "GET", f"{BASE}/streams", b"", headers)
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["data"]) == 3_000
