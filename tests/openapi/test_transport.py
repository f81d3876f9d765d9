"""Odd HTTP: methods, paths, headers and bodies as no library would send them."""

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
from tests.serving import DEADLINE, World, living, owner, seeded_store

from pdpp import demo
from pdpp.resource.routes import BASE, ROUTES
from pdpp.service.service import VERSION
from pdpp.service.settings import Settings

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")
PATHS: dict[str, set[str]] = {}
for route in ROUTES:
    PATHS.setdefault(BASE + route.path, set()).add(route.method)
WRONG = [pair for pair in product(METHODS, PATHS) if pair[0] not in PATHS[pair[1]]]
INGEST = "/v1/ingest/notebooks"
LINE = orjson.dumps(
    {"key": "n1", "data": {"id": "n1", "name": "New", "created_at": "2026-01-01T00:00:00Z"}}
)
NEW = "/v1/streams/notebooks/records/n1"


@dataclass(frozen=True)
class Answer:
    """What came back over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """Return the code of the error."""
        code: str = json.loads(self.body)["error"]["code"]
        return code


@dataclass(frozen=True)
class Wire:
    """Speaks to a server byte by byte, with an owner token unless told otherwise."""

    address: tuple[str, int]
    token: str

    @contextmanager
    def open(self) -> Iterator[socket.socket]:
        """Open a connection."""
        with socket.create_connection(self.address, DEADLINE) as connection:
            yield connection

    def head(self, method: str, target: str, *headers: str, token: bool = True) -> bytes:
        """Return the head of a request."""
        bearer = [f"Authorization: Bearer {self.token}"] if token else []
        lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *bearer, *headers, "", ""]
        return "\r\n".join(lines).encode("latin-1")

    def ask(
        self, method: str, target: str, *headers: str, body: bytes = b"", token: bool = True
    ) -> Answer:
        """Send one request and return the answer."""
        with self.open() as connection:
            connection.sendall(self.head(method, target, *headers, token=token) + body)
            return answer_on(connection, method)

    def get(self, target: str, *headers: str, token: bool = True) -> Answer:
        """Send one GET and return the answer."""
        return self.ask("GET", target, *headers, token=token)

    def post(self, body: bytes, *headers: str, target: str = INGEST) -> Answer:
        """Send one POST with the length of its body and return the answer."""
        return self.ask("POST", target, f"Content-Length: {len(body)}", *headers, body=body)


def answer_on(connection: socket.socket, method: str = "GET") -> Answer:
    """Read one answer."""
    response = HTTPResponse(connection, method=method)
    try:
        response.begin()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, response.read())
    finally:
        response.close()


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (*pieces, b""))


def wire_to(world: World) -> Wire:
    parts = urlsplit(world.server.url)
    return Wire((str(parts.hostname), int(parts.port or 0)), owner(world.store))


@pytest.fixture(scope="module")
def wire(demo_world: World) -> Wire:
    return wire_to(demo_world)


@pytest.fixture
def fresh_wire(fresh_world: World) -> Wire:
    return wire_to(fresh_world)


@pytest.fixture
def narrow_wire(tmp_path: Path) -> Iterator[Wire]:
    """Serve a server that takes bodies of at most a thousand bytes."""
    limits = Settings(body_bytes=1000, blob_bytes=1000, requests_per_second=0)
    with living(seeded_store(tmp_path), limits) as world:
        yield wire_to(world)


def filled(path: str) -> str:
    names = {"stream": "documents", "record_id": "logo-draft", "job_id": "job_x"}
    return path.format(blob_id="0" * 64, connection_id="cin_home", **names)


@pytest.mark.parametrize(("method", "path"), WRONG)
def test_a_method_that_a_path_does_not_take_is_refused_with_those_it_takes(
    wire: Wire, method: str, path: str
) -> None:
    answer = wire.ask(method, filled(path), "Content-Length: 0")
    assert answer.status == 405
    assert answer.headers["allow"] == ", ".join(sorted(PATHS[path]))
    assert answer.headers["request-id"]
    assert answer.headers["pdpp-version"] == VERSION
    if method != "HEAD":
        assert answer.code == "method_not_allowed"


@pytest.mark.parametrize("path", ["/v1/openapi.json", "/healthz"])
def test_what_anyone_may_read_is_answered_and_refused_in_the_same_form(
    wire: Wire, path: str
) -> None:
    read = wire.get(path, token=False)
    head = wire.ask("HEAD", path, token=False)
    wrong = wire.ask("POST", path, "Content-Length: 0", token=False)
    assert (read.status, head.status, wrong.status) == (200, 200, 405)
    assert (head.body, head.headers["content-length"]) == (b"", str(len(read.body)))
    for answer in (read, head, wrong):
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["request-id"]
        assert answer.headers["pdpp-version"] == VERSION
    assert wrong.headers["allow"] == "GET, HEAD"
    assert wrong.code == "method_not_allowed"


@pytest.mark.parametrize(
    "target",
    [
        "/v1",
        "/v1/",
        "/v1/streams/",
        "/v1/search/",
        "/v1/streams/documents/",
        "/v1/streams/documents/records/",
        "/v1/streams/documents/records/logo-draft/",
        "//v1/streams",
        "/v1//streams",
        "/v1/streams//records",
        "/v1/./streams",
        "/v1/streams/../streams",
        "/V1/streams",
        "/v1/Streams",
        "/v1%2Fstreams",
        "/v1/streams%2fdocuments",
        "/v1/streams/documents%2Frecords",
        "/v1/streams/documents/records%2Flogo-draft",
        "/v1/streams/documents/records/logo-draft%2Ffield-window?field=body",
        "/v1/streams/documents/records/%2Flogo-draft",
        "/v1/search%2Fhybrid?q=a",
    ],
)
def test_a_path_is_taken_literally_and_nothing_is_redirected(wire: Wire, target: str) -> None:
    answer = wire.get(target)
    assert (answer.status, answer.code) == (404, "not_found")
    assert "location" not in answer.headers


@pytest.mark.parametrize("name", ["..", ".", "%2e%2e", "%2E", "%00", "%ff", "%252F", "a%0d%0ab"])
def test_a_name_that_cannot_be_one_names_nothing(wire: Wire, name: str) -> None:
    stream = wire.get(f"/v1/streams/{name}")
    record = wire.get(f"/v1/streams/documents/records/{name}")
    blob = wire.get(f"/v1/blobs/{name}")
    assert (stream.status, stream.code) == (403, "grant_stream_not_allowed")
    assert (record.status, record.code) == (404, "not_found")
    assert (blob.status, blob.code) == (404, "blob_not_found")


@pytest.mark.parametrize("key", ["%6cogo-draft", "logo%2Ddraft", "l%6Fg%6F-draft"])
def test_a_name_may_be_percent_encoded_more_than_needed(wire: Wire, key: str) -> None:
    answer = wire.get(f"/v1/streams/documents/records/{key}")
    assert json.loads(answer.body)["id"] == "logo-draft"


@pytest.mark.parametrize("length", [2_000, 20_000, 60_000, 500_000])
def test_a_very_long_path_is_refused(wire: Wire, length: int) -> None:
    assert 400 <= wire.get("/v1/streams/" + "a" * length).status < 500
    assert 400 <= wire.get("/v1/streams/documents/records/" + "a" * length).status < 500


@pytest.mark.parametrize(
    "request_line",
    [
        b"FOO /v1/streams HTTP/1.1",
        b"get /v1/streams HTTP/1.1",
        b"GET v1/streams HTTP/1.1",
        b"GET  HTTP/1.1",
        b"GET /v1/streams HTTP/9.9",
        b"GET /v1/streams/\xc3\xa9 HTTP/1.1",
        b"GET /v1/streams?fields=\xff HTTP/1.1",
        b"\x16\x03\x01\x02\x00\x01",
    ],
)
def test_what_is_not_http_is_refused_and_the_next_request_is_answered(
    wire: Wire, request_line: bytes
) -> None:
    with wire.open() as connection:
        connection.sendall(request_line + b"\r\nHost: localhost\r\n\r\n")
        assert answer_on(connection).status == 400
    assert wire.get("/healthz").status == 200


@pytest.mark.parametrize(
    "form",
    [
        "Authorization: Bearer {}",
        "authorization: bearer {}",
        "AUTHORIZATION: BEARER {}",
        "Authorization: Bearer    {}   ",
        "Authorization:Bearer {}",
    ],
)
def test_a_bearer_token_may_be_written_in_any_case(wire: Wire, form: str) -> None:
    answer = wire.get("/v1/streams", form.format(wire.token), token=False)
    assert answer.status == 200


@pytest.mark.parametrize(
    "forms",
    [
        ["Authorization: Bearer {}", "Authorization: Bearer nonsense"],
        ["Authorization: Bearer nonsense", "Authorization: Bearer {}"],
        ["Authorization: Bearer {}", "Authorization: Bearer {}"],
        ["Authorization: Bearer {}, Bearer {}"],
        ['Authorization: Bearer "{}"'],
        ["Authorization: Bearer token={}"],
        ["Authorization: Basic {}"],
        ["Authorization: {}"],
        ["Authorization: Bearer \xff\xfe"],
        ["Authorization: Bearer " + "a" * 30_000],
        ["Proxy-Authorization: Bearer {}"],
        ["X-Authorization: Bearer {}"],
        ["Cookie: token={}"],
    ],
)
def test_a_token_sent_twice_or_in_another_form_opens_nothing(wire: Wire, forms: list[str]) -> None:
    headers = [form.replace("{}", wire.token) for form in forms]
    answer = wire.get("/v1/streams", *headers, token=False)
    assert (answer.status, answer.code) == (401, "authentication_error")
    assert wire.token.encode() not in answer.body


@pytest.mark.parametrize("name", ["access_token", "token", "authorization"])
def test_a_token_in_the_query_opens_nothing(wire: Wire, name: str) -> None:
    answer = wire.get(f"/v1/streams?{name}={wire.token}", token=False)
    assert answer.status == 401
    assert wire.get(f"/v1/streams?{name}={wire.token}").status == 400


def test_two_versions_are_asked_for_and_refused(wire: Wire) -> None:
    answer = wire.get("/v1/streams", "PDPP-Version: 1999-01-01", f"PDPP-Version: {VERSION}")
    assert (answer.status, answer.code) == (400, "unsupported_version")


def test_two_ranges_are_answered_with_the_whole(wire: Wire) -> None:
    blob = next(iter(demo.blobs()))
    for headers in (
        ["Range: bytes=0-1", "Range: bytes=2-3"],
        ["Range: bytes=0-1,2-3"],
        ["Range: lines=1-2"],
        ["Range: bytes=-"],
        ["Range: bytes=b-a"],
    ):
        answer = wire.get(f"/v1/blobs/{blob.blob_id}", *headers)
        assert (answer.status, answer.body) == (200, blob.content)


def test_a_body_on_a_read_is_ignored(wire: Wire) -> None:
    answer = wire.ask("GET", "/v1/streams", "Content-Length: 5", body=b"hello")
    assert answer.status == 200


def test_requests_sent_at_once_on_one_connection_are_answered_in_order(wire: Wire) -> None:
    targets = ["/v1/streams/documents", "/healthz", "/v1/streams/photos"]
    with wire.open() as connection:
        connection.sendall(b"".join(wire.head("GET", target) for target in targets))
        with connection.makefile("rb") as received:
            urls = [json.loads(next_body(received)).get("url") for _ in targets]
    assert urls == ["/v1/streams/documents", None, "/v1/streams/photos"]


def next_body(received: Any) -> bytes:
    """Read the next of several answers on a connection and return its body."""
    length = 0
    while (line := received.readline().lower()) != b"\r\n":
        if line.startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    body: bytes = received.read(length)
    return body


def test_a_body_in_chunks_is_one_body(fresh_wire: Wire) -> None:
    pieces = (LINE[:10], LINE[10:], b"\n" + LINE)
    answer = fresh_wire.ask("POST", INGEST, "Transfer-Encoding: chunked", body=chunked(*pieces))
    assert (answer.status, json.loads(answer.body)["records_accepted"]) == (200, 2)
    assert fresh_wire.get(NEW).status == 200


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (["Transfer-Encoding: chunked"], b"zz\r\n"),
        (["Transfer-Encoding: chunked", "Content-Length: 3"], chunked(LINE)),
        (["Content-Length: 3", "Content-Length: 4"], b"abcd"),
        (["Content-Length: -1"], b"abcd"),
        (["Content-Length: 1e3"], b"abcd"),
    ],
)
def test_a_body_of_unclear_length_is_refused(wire: Wire, headers: list[str], body: bytes) -> None:
    assert wire.ask("POST", INGEST, *headers, body=body).status == 400
    assert wire.get(NEW).status == 404


@pytest.mark.parametrize("target", [INGEST, "/v1/blobs"])
def test_a_body_that_is_too_large_is_refused_however_it_is_sent(
    narrow_wire: Wire, target: str
) -> None:
    fits = narrow_wire.post(b" " * 1000, target=target)
    declared = narrow_wire.post(b" " * 1001, target=target)
    promised = narrow_wire.ask("POST", target, "Content-Length: 99999999999")
    expected = narrow_wire.ask(
        "POST", target, "Content-Length: 99999999999", "Expect: 100-continue"
    )
    pieces = chunked(b" " * 600, b" " * 600)
    unfolding = narrow_wire.ask("POST", target, "Transfer-Encoding: chunked", body=pieces)
    assert fits.status in (200, 201)
    for answer in (declared, promised, expected, unfolding):
        assert (answer.status, answer.code) == (413, "payload_too_large")


@pytest.mark.parametrize("target", [INGEST, "/v1/blobs"])
@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "deflate", "br", "zstd", "gzip, gzip"])
def test_a_compressed_body_is_refused_and_said_to_be(
    wire: Wire, target: str, encoding: str
) -> None:
    answer = wire.post(gzip.compress(LINE), f"Content-Encoding: {encoding}", target=target)
    assert (answer.status, answer.code) == (422, "unprocessable")
    assert json.loads(answer.body)["error"]["param"] == "Content-Encoding"


def test_a_body_that_says_it_is_not_compressed_is_taken(fresh_wire: Wire) -> None:
    answer = fresh_wire.post(LINE, "Content-Encoding: identity")
    assert json.loads(answer.body)["records_new"] == 1


def test_no_lines_are_no_records(wire: Wire) -> None:
    for body in (b"", b"\n\r\n  \n"):
        answer = wire.post(body)
        assert (answer.status, json.loads(answer.body)["records_attempted"]) == (200, 0)


def test_a_slow_body_holds_up_nobody_and_is_taken_when_it_is_complete(fresh_wire: Wire) -> None:
    with fresh_wire.open() as slow, fresh_wire.open() as slower:
        for connection in (slow, slower):
            connection.sendall(fresh_wire.head("POST", INGEST, f"Content-Length: {len(LINE)}"))
            connection.sendall(LINE[:20])
        assert fresh_wire.get("/v1/streams/notebooks").status == 200
        assert fresh_wire.post(b"").status == 200
        assert fresh_wire.get(NEW).status == 404
        for byte in LINE[20:]:
            slow.sendall(bytes([byte]))
        assert json.loads(answer_on(slow).body)["records_new"] == 1
        slower.sendall(LINE[20:])
        assert json.loads(answer_on(slower).body)["records_unchanged"] == 1


@pytest.mark.parametrize("target", [INGEST, "/v1/blobs"])
def test_a_body_that_breaks_off_changes_nothing(fresh_wire: Wire, target: str) -> None:
    body = LINE + b"\n" + LINE[:10]
    with fresh_wire.open() as gone:
        gone.sendall(fresh_wire.head("POST", target, f"Content-Length: {len(body) + 10}") + body)
    with fresh_wire.open() as half_closed:
        half_closed.sendall(fresh_wire.head("POST", target, "Transfer-Encoding: chunked"))
        half_closed.sendall(chunked(body).removesuffix(b"0\r\n\r\n"))
        half_closed.shutdown(socket.SHUT_WR)
        assert half_closed.recv(1) == b""
    assert fresh_wire.get(NEW).status == 404
    assert json.loads(fresh_wire.post(LINE).body)["records_new"] == 1


def test_a_reader_that_leaves_in_the_middle_of_an_answer_harms_nobody(wire: Wire) -> None:
    largest = max(demo.blobs(), key=lambda blob: len(blob.content))
    for _ in range(5):
        with wire.open() as connection:
            connection.sendall(wire.head("GET", f"/v1/blobs/{largest.blob_id}"))
            assert connection.recv(10) == b"HTTP/1.1 2"
    assert wire.get(f"/v1/blobs/{largest.blob_id}").body == largest.content
