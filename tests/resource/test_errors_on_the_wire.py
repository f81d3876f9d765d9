import asyncio
import http.client
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from tests.engine import database_of
from tests.resource.library import library_store
from tests.serving import UNLIMITED, World, living, owner, refused

from pdpp.app import make_app
from pdpp.resource.routes import BASE, ROUTES

BOOKS = "/v1/streams/books/records"
PATHS = [
    (
        route.method,
        BASE
        + route.path.format(
            stream="books", record_id="b1", blob_id="0" * 64, job_id="x", connection_id="home"
        ),
    )
    for route in ROUTES
]


@pytest.mark.parametrize(("method", "path"), PATHS)
@pytest.mark.parametrize(
    "authorization", [None, "Bearer", "Bearer wrong", "Basic dTpw", "bearer " + "x" * 600]
)
def test_nothing_is_answered_without_a_good_token(
    library: World, method: str, path: str, authorization: str | None
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = library.server.client().request(method, path, headers=headers)
    metadata = "http://127.0.0.1:7377/.well-known/oauth-protected-resource"
    assert answer.status_code == 401
    challenge = f'Bearer resource_metadata="{metadata}", scope="pdpp:read"'
    assert answer.headers["www-authenticate"] == challenge
    if method != "HEAD":
        error = refused(answer, 401, "authentication_error")
        assert error["type"] == "authentication_error"
        assert error["resource_metadata"] == metadata


def test_a_token_in_the_address_is_no_token(library: World, reader: httpx.Client) -> None:
    token = reader.headers["authorization"].removeprefix("Bearer ")
    client = library.server.client()
    refused(client.get(f"{BOOKS}?access_token={token}"), 401, "authentication_error")
    refused(reader.get(f"{BOOKS}?access_token={token}"), 400, "invalid_request")


def test_the_scheme_is_read_in_any_case(library: World, reader: httpx.Client) -> None:
    token = reader.headers["authorization"].removeprefix("Bearer ")
    client = library.server.client()
    answer = client.get(BOOKS, headers={"Authorization": f"bEARER  {token}"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/v1/schema",
        "/v1/streams",
        "/v1/streams/books",
        BOOKS,
        f"{BOOKS}/b2",
        f"{BOOKS}/b2/field-window?field=title",
        "/v1/streams/books/aggregate",
        "/v1/search?q=lantern",
        "/v1/search/hybrid?q=lantern",
        "/v1/search/semantic?q=lantern",
        "/v1/streams/films",
        "/v1/nothing",
        "/nothing",
        "/v1/openapi.json",
    ],
)
def test_every_answer_names_its_request_and_the_version(reader: httpx.Client, path: str) -> None:
    first, second = reader.get(path), reader.get(path)
    for answer in (first, second):
        assert answer.headers["pdpp-version"] == "2026-04-06"
        assert answer.headers["content-type"] == "application/json"
    assert first.headers["request-id"] != second.headers["request-id"]


def test_a_version_that_is_not_spoken_is_refused(reader: httpx.Client) -> None:
    answer = reader.get(BOOKS, headers={"PDPP-Version": "2020-01-01"})
    error = refused(answer, 400, "unsupported_version")
    assert error["param"] == "PDPP-Version"
    assert error["supported"] == ["2026-04-06"]
    assert reader.get(BOOKS, headers={"PDPP-Version": "2026-04-06"}).status_code == 200


@pytest.mark.parametrize(
    ("path", "param", "near"),
    [
        (f"{BOOKS}?limits=3", "limits", "limit"),
        (f"{BOOKS}?conection_id=home", "conection_id", "connection_id"),
        (f"{BOOKS}/b2?feilds=id", "feilds", "fields"),
        ("/v1/search?q=a&stream=books", "stream", "streams"),
        ("/v1/schema?streams=books", "streams", "stream"),
        ("/v1/streams?connection=home", "connection", "connection_id"),
        ("/v1/streams/books/aggregate?groupby=pages", "groupby", "group_by"),
        (f"{BOOKS}/b2/field-window?field=title&offset=3", "offset", "offset_chars"),
    ],
)
def test_an_unknown_parameter_is_refused_with_the_nearest_name(
    reader: httpx.Client, path: str, param: str, near: str
) -> None:
    error = refused(reader.get(path), 400, "invalid_request")
    assert error["param"] == param
    assert f"Did you mean {near}?" in error["message"]


def test_a_parameter_like_no_other_is_refused_with_all_there_are(reader: httpx.Client) -> None:
    error = refused(reader.get(f"{BOOKS}?zzz=1"), 400, "invalid_request")
    assert "Did you mean" not in error["message"]
    assert "connection_id" in error["message"]
    blob = refused(reader.get(f"/v1/blobs/{'0' * 64}?zzz=1"), 400, "invalid_request")
    assert "none" in blob["message"]


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=-1",
        "limit=ten",
        "limit=1.5",
        "limit=",
        "limit=1&limit=2",
        "limit[]=1",
        "order=up",
        "count=some",
        "sort=",
        "view=%00",
        "fields=%ff",
        "limit",
        "a=1&&b=2",
        "fields=" + "x," * 9_000,
        "&".join("fields=a" for _ in range(201)),
        "cursor=" + "x" * 4_097,
    ],
)
def test_a_malformed_query_is_refused(reader: httpx.Client, query: str) -> None:
    refused(reader.get(f"{BOOKS}?{query}"), 400, "invalid_request")


def test_a_query_that_is_no_ascii_is_refused(library: World, reader: httpx.Client) -> None:
    host = library.server.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=20)
    try:
        connection.putrequest("GET", BOOKS, skip_accept_encoding=True)
        connection._buffer[0] = b"GET " + BOOKS.encode() + b"?fields=\xc3\xa9 HTTP/1.1"  # type: ignore[attr-defined]
        connection.putheader("Authorization", reader.headers["authorization"])
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 400
        answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", BOOKS, "GET"),
        ("PUT", f"{BOOKS}/b1", "DELETE, GET"),
        ("GET", "/v1/ingest/books", "POST"),
        ("DELETE", f"/v1/blobs/{'0' * 64}", "GET, HEAD"),
        ("GET", "/v1/blobs", "POST"),
    ],
)
def test_a_method_that_a_path_does_not_take_is_refused_with_those_it_does(
    reader: httpx.Client, method: str, path: str, allowed: str
) -> None:
    answer = reader.request(method, path)
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/streams/", "/v1/records", f"{BOOKS}/a/b"])
def test_a_path_that_is_none_of_ours_is_not_found(reader: httpx.Client, path: str) -> None:
    refused(reader.get(path), 404, "not_found")


def test_a_slash_in_a_name_is_no_part_of_a_path(reader: httpx.Client) -> None:
    refused(reader.get("/v1/streams/a%2Fb/records"), 404, "not_found")
    refused(reader.get("/v1/streams/books%2Frecords"), 404, "not_found")


def test_a_wrong_method_on_a_public_page_is_refused_in_the_one_form(
    reader: httpx.Client,
) -> None:
    refused(reader.post("/v1/openapi.json"), 405, "method_not_allowed")


@pytest.mark.parametrize(
    "path",
    [
        "/v1/streams/{}",
        "/v1/streams/{}/records",
        "/v1/streams/{}/records?changes_since=beginning",
        "/v1/streams/{}/records?fields=a&filter[b]=1&sort=c&expand=d&connection_id=home",
        "/v1/streams/{}/records/x",
        "/v1/streams/{}/records/x/field-window?field=title",
        "/v1/streams/{}/aggregate?metric=sum&field=pages",
        "/v1/schema?stream={}",
        "/v1/schema?stream={}&detail=full",
        "/v1/search?q=lantern&streams={}",
    ],
)
def test_a_stream_outside_the_grant_answers_like_one_that_does_not_exist(
    library: World, path: str
) -> None:
    client = library.client(connections=("home",), streams=("authors",))
    hidden, absent = client.get(path.format("books")), client.get(path.format("bodes"))
    refused(hidden, 403, "grant_stream_not_allowed")
    assert absent.status_code == hidden.status_code
    assert _bare(hidden).replace(b"books", b"bodes") == _bare(absent)
    ignored = {"request-id", "date"}
    assert {k: v for k, v in hidden.headers.items() if k not in ignored} == {
        k: v for k, v in absent.headers.items() if k not in ignored
    }


def _bare(answer: httpx.Response) -> bytes:
    return answer.content.replace(answer.headers["request-id"].encode(), b"")


def test_a_connection_outside_the_grant_answers_like_one_that_does_not_exist(
    library: World,
) -> None:
    client = library.client(connections=("home",))
    for path in (BOOKS, "/v1/streams", "/v1/schema", "/v1/search?q=lantern"):
        hidden = client.get(path, params={"connection_id": "work", **_query(path)})
        absent = client.get(path, params={"connection_id": "wark", **_query(path)})
        refused(hidden, 403, "grant_stream_not_allowed")
        assert _bare(hidden).replace(b"work", b"wark") == _bare(absent)
        assert "'*'" not in hidden.text


def _query(path: str) -> dict[str, str]:
    return {"q": "lantern"} if "search" in path else {}


def test_a_failure_of_ours_is_told_without_its_detail(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = library_store(tmp_path)
    with living(store, UNLIMITED) as world:
        client = world.client()
        assert client.get(BOOKS).status_code == 200
        with database_of(store).writing() as db:
            db.execute("UPDATE record SET data = ?", (b"{broken",))
        answer = client.get(f"{BOOKS}?fields=id")
    error = refused(answer, 500, "api_error")
    assert "broken" not in answer.text
    assert "JSON" not in answer.text
    logged = [record for record in caplog.records if record.name == "pdpp.resource"]
    assert error["request_id"] in logged[0].getMessage()


def test_anyone_may_read_how_the_server_is_used(library: World) -> None:
    client = library.server.client()
    assert client.get("/healthz").json() == {"status": "ok"}
    metadata = client.get("/.well-known/oauth-protected-resource").json()
    assert metadata["bearer_methods_supported"] == ["header"]
    assert metadata["pdpp_core_query_base"].endswith("/v1")
    document = client.get("/v1/openapi.json").json()
    assert {
        (method.upper(), path) for path, item in document["paths"].items() for method in item
    } == {(route.method, BASE + route.path) for route in ROUTES}
    assert orjson.dumps(document)


def test_a_client_that_leaves_amid_its_body_is_answered_nothing(
    library: World, caplog: pytest.LogCaptureFixture
) -> None:
    events = [
        {"type": "http.request", "body": b'{"key":', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return events.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/v1/ingest/books",
        "raw_path": b"/v1/ingest/books",
        "query_string": b"connection_id=home",
        "headers": [(b"authorization", f"Bearer {owner(library.store)}".encode())],
        "client": ("127.0.0.1", 1),
    }
    asyncio.run(make_app(library.store, UNLIMITED)(scope, receive, send))
    assert (events, sent, caplog.messages) == ([], [], [])
