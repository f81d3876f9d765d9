"""The resource-server client: what it sends, and how it keeps what it is told."""

import asyncio
import json
import re
import threading
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp import hosted
from pdpp.authz.principal import Principal
from pdpp.authz.token import TokenKind, mint
from pdpp.evidence.budget import json_length
from pdpp.evidence.compact import compact_schema
from pdpp.evidence.handle import Handle
from pdpp.mcp.drawing.error import error_result
from pdpp.mcp.kernel import rpc
from pdpp.mcp.reading.field_facts import NO_FACTS, FieldFacts
from pdpp.mcp.reading.package_cursor import MOST_CURSOR_CHARS, ChildPosition, PackageCursor
from pdpp.mcp.reading.reader import ChildGrant, GrantReader, ambiguous
from pdpp.mcp.reading.resource_client import ResourceClient, ServerError, target
from pdpp.mcp.reading.search_answer import SearchAnswer, read_search, results_of
from pdpp.mcp.reading.transport import HttpReply, InProcessTransport, NetworkTransport, Unreachable
from pdpp.model.errors import (
    AmbiguousConnection,
    CursorExpired,
    InvalidCursor,
    InvalidRequest,
    NotFound,
    PdppError,
    StreamNotAllowed,
)
from pdpp.model.grant import Package
from pdpp.wire.answer import UnexpectedAnswer

ORIGIN = "https://data.example"


class Canned:
    """A transport that answers one thing."""

    origin = ORIGIN

    def __init__(
        self, status: int = 200, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> None:
        self.reply = HttpReply(
            status, headers or {}, json.dumps(body if body is not None else {}).encode()
        )
        self.sent: list[tuple[str, str, Mapping[str, str]]] = []

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> HttpReply:
        """ServerAnswer."""
        self.sent.append((method, target, headers))
        return self.reply


@pytest.mark.parametrize(
    ("path", "params", "expected"),
    [
        (["schema"], {}, "/v1/schema"),
        (["streams", "a b", "records", "x:ü"], {}, "/v1/streams/a%20b/records/x%3A%C3%BC"),
        (["search"], {"q": "a&b", "limit": 5}, "/v1/search?q=a%26b&limit=5"),
        (["search"], {"streams": ["a", "b"]}, "/v1/search?streams%5B%5D=a&streams%5B%5D=b"),
        (["x"], {"fields": ["a", "b"], "expand": ("c",)}, "/v1/x?fields=a&fields=b&expand=c"),
        (["x"], {"filter": {"a": "b"}}, "/v1/x?filter%5Ba%5D=b"),
        (["x"], {"filter": {"a": True}}, "/v1/x?filter%5Ba%5D=true"),
        (["x"], {"filter": {"a": 1.5}}, "/v1/x?filter%5Ba%5D=1.5"),
        (
            ["x"],
            {"filter": {"a": {"gte": 1, "lt": "z"}}},
            "/v1/x?filter%5Ba%5D%5Bgte%5D=1&filter%5Ba%5D%5Blt%5D=z",
        ),
        (["x"], {"expand_limit": {"r": 3}}, "/v1/x?expand_limit%5Br%5D=3"),
    ],
)
def test_a_read_is_written_as_the_server_takes_it(
    path: list[str], params: dict[str, Any], expected: str
) -> None:
    assert target(path, params) == expected


@given(st.lists(st.text(min_size=1).filter(lambda t: t.isprintable()), min_size=1, max_size=4))
def test_no_part_of_a_path_leaves_its_place(parts: list[str]) -> None:
    assert target(parts, {}).count("/") == len(parts) + 1


def test_a_read_carries_its_bearer_and_the_grant_it_goes_through() -> None:
    canned = Canned(200, {"a": 1}, {"request-id": "req_1", "pdpp-record-page": "/r/{id}"})
    answer = asyncio.run(ResourceClient(canned, "secret", "grt_1").get(["schema"], {}))
    assert (answer.body, answer.request_id, answer.record_page) == (
        {"a": 1},
        "req_1",
        "/r/{id}",
    )
    [(method, _, headers)] = canned.sent
    assert method == "GET"
    assert headers["Authorization"] == "Bearer secret"
    assert headers["PDPP-Grant"] == "grt_1"
    plain = Canned()
    asyncio.run(ResourceClient(plain, "secret").get(["schema"], {}))
    assert "PDPP-Grant" not in plain.sent[0][2]


def test_a_servers_error_is_kept_whole() -> None:
    error = {
        "type": "conflict_error",
        "code": "ambiguous_connection",
        "message": "Which?",
        "param": "connection_id",
        "retry_with": "connection_id",
        "available_connections": [{"connection_id": "a"}],
        "request_id": "req_body",
    }
    canned = Canned(409, {"error": error}, {"request-id": "req_9"})
    with pytest.raises(ServerError) as told:
        asyncio.run(ResourceClient(canned, "t").get(["schema"], {}))
    assert told.value.body("")["error"] == {**error, "request_id": "req_9"}
    assert told.value.status == 409


def test_the_first_bytes_of_a_blob_are_asked_for() -> None:
    canned = Canned(206)
    asyncio.run(ResourceClient(canned, "t").bytes(["blobs", "b"], 100))
    assert canned.sent[0][2]["Range"] == "bytes=0-99"
    with pytest.raises(UnexpectedAnswer):
        asyncio.run(ResourceClient(Canned(500), "t").bytes(["blobs", "b"], 100))
    assert asyncio.run(ResourceClient(Canned(416), "t").bytes(["b"], 1)).status == 416


@pytest.mark.parametrize("body", [{}, {"data": 5}, {"data": {"x": []}}, {"results": "no"}])
def test_an_answer_without_a_list_of_hits_is_none(body: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedAnswer, match="no list of hits"):
        read_search(body)
    assert read_search({"data": []}).hits == []


def test_the_network_speaks_tls_where_the_address_says_so() -> None:
    network = NetworkTransport("https://127.0.0.1:1/base/")
    with pytest.raises(Unreachable, match=re.escape("https://127.0.0.1:1 cannot be reached")):
        asyncio.run(network.send("GET", "/v1/schema", {}))
    network.close()


def test_in_process_the_application_is_asked_as_over_the_network() -> None:
    asked: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope)
        assert (await receive())["body"] == b""
        headers = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 201, "headers": headers})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await send({"type": "http.response.body", "body": b"b"})

    reply = asyncio.run(
        InProcessTransport(app, f"{ORIGIN}/").send("GET", "/v1/a%20b?q=%C3%BC", {"X": "y"})
    )
    assert reply == HttpReply(201, {"content-type": "text/plain"}, b"ab")
    assert asked[0]["path"] == "/v1/a b"
    assert asked[0]["raw_path"] == b"/v1/a%20b"
    assert asked[0]["query_string"] == b"q=%C3%BC"
    assert asked[0]["headers"] == [(b"x", b"y")]


# Readings


def reading(**more: Any) -> GrantReader:
    return GrantReader(ResourceClient(Canned(), "t"), {}, "key", **more)


def child(id: str, problem: str | None = None) -> ChildGrant:
    return ChildGrant(f"grt_{id}", id, "shelf", f"Name {id}", frozenset({"notes"}), problem)


def test_a_reading_of_several_grants_goes_the_way_of_one() -> None:
    ways = {id: ResourceClient(Canned(), "t", id) for id in ("a", "b")}
    made = reading(children=[child("a"), child("b")], client_of=lambda c: ways[c.connection_id])
    assert made.client_for("b") is ways["b"]
    with pytest.raises(InvalidRequest, match="No connection 'c'"):
        made.client_for("c")
    with pytest.raises(PdppError) as told:
        made.client_for(None)
    assert told.value.code == "ambiguous_connection"
    with pytest.raises(PdppError) as told:
        made.require_one_source(None, "notes")
    assert told.value.detail["total"] == 2
    with pytest.raises(StreamNotAllowed, match="opens no stream 'other'"):
        made.require_one_source(None, "other")


def test_a_package_of_no_grants_holds_no_blob() -> None:
    empty = reading(children=[], client_of=lambda _: ResourceClient(Canned(), "t"))
    with pytest.raises(InvalidRequest, match="holds no grant"):
        asyncio.run(empty.blob("b", 1))


@pytest.mark.parametrize("status", [429, 503])
def test_a_blob_of_a_grant_that_is_busy_is_not_told_as_one_that_is_not_there(status: int) -> None:
    busy, absent = {"error": {"code": "overloaded"}}, {"error": {"code": "blob_not_found"}}
    replies = {"a": Canned(status, busy), "b": Canned(404, absent)}
    made = reading(
        children=[child("a"), child("b")],
        client_of=lambda c: ResourceClient(replies[c.connection_id], "t"),
    )
    with pytest.raises(PdppError) as told:
        asyncio.run(made.blob("b", 1))
    assert told.value.status == status


def test_the_address_of_a_record_without_its_connection() -> None:
    assert reading().url(Handle(None, "s", "k/1")) == f"{ORIGIN}/v1/streams/s/records/k%2F1"
    assert (
        reading(record_page="/r/{record_id}").url(Handle(None, "s", "k"), "https://l")
        == "https://l"
    )


def test_the_compact_schema_of_a_compact_schema_is_itself() -> None:
    row = {"name": "s", "connection_id": "c", "record_count": 2, "label": "L"}
    row |= {
        "fields": {"f": {"type": "text", "exact_filter": {"declared": True, "usable": True}}},
        "views": [{"id": "v"}],
    }
    full = {"connectors": [{"connector_key": "k", "streams": [row]}], "bearer": {"scope": "grant"}}
    for stream in (None, "s"):
        once = compact_schema(full, stream=stream)
        assert compact_schema(once, stream=stream) == once


def test_a_cancelled_request_reads_nothing_more() -> None:
    canned, cancelled = Canned(200, {"a": 1}), threading.Event()
    shared = GrantReader(ResourceClient(canned, "t"), {}, "key")
    own = shared.until(cancelled)
    assert asyncio.run(own.get(["schema"], {})).body == {"a": 1}
    cancelled.set()
    with pytest.raises(PdppError) as told:
        asyncio.run(own.get(["schema"], {}))
    assert told.value.code == "cancelled"
    assert len(canned.sent) == 1
    assert asyncio.run(shared.get(["schema"], {})).body == {"a": 1}


# Pages of hits

HITS = [{"id": f"c/s:{number}"} for number in range(3)]


def raw(answer: SearchAnswer | None) -> Any:
    """Return the envelope of a page."""
    assert answer is not None
    return answer.envelope.as_json()


@pytest.mark.parametrize(
    ("url", "following"),
    [
        ("/v1/search?q=a&limit=3", "/v1/search?q=a&limit=3&cursor=C2"),
        ("/v1/search?q=a&cursor=old&limit=3", "/v1/search?q=a&cursor=C2&limit=3"),
    ],
)
def test_a_page_is_cut_where_the_server_told_a_cursor(url: str, following: str) -> None:
    meta = {"count": {"kind": "exact", "value": 3}}
    body = {"object": "list", "url": url, "data": HITS, "has_more": False, "meta": meta}
    found = results_of(read_search(body, ["C1", "C2", "C3"]), 3)
    assert raw(found.first(3)) == body
    assert raw(found.first(2)) == {
        **body,
        "data": HITS[:2],
        "has_more": True,
        "next_cursor": "C2",
        "links": {"next": following},
    }


@pytest.mark.parametrize("cursors", [[], ["C3"], ["C1", "C2", "C3", "C4"]])
def test_a_page_is_not_cut_after_a_hit_whose_cursor_was_not_told(cursors: list[str]) -> None:
    found = results_of(read_search({"data": HITS}, cursors), 3)
    assert found.first(2) is None
    assert raw(found.first(3)) == {"data": HITS}


def test_cursors_are_those_after_the_last_hits() -> None:
    found = results_of(read_search({"data": HITS, "url": "/v1/search?q=a"}, ["C2", "C3"]), 3)
    cut = raw(found.first(2))
    assert (cut["data"], cut["next_cursor"]) == (HITS[:2], "C2")
    assert found.first(1) is None


def test_hits_that_nobody_asked_for_are_left_out_and_counted() -> None:
    body = {"data": HITS, "next_cursor": "C3", "url": "/v1/search", "noise": "x"}
    found = results_of(read_search(body), 2)
    assert ([hit.sent.as_json() for hit in found.hits], found.extra) == (HITS[:2], 1)
    assert raw(found.first(2)) == {"object": "list", "data": HITS[:2], "next_cursor": "C3"}


def test_the_room_there_is_goes_with_the_request() -> None:
    canned = Canned(200, {}, {"pdpp-cursors": "a,b"})
    client = ResourceClient(canned, "t")
    assert asyncio.run(client.get(["search"], {}, 700)).cursors == ["a", "b"]
    assert canned.sent[-1][2]["PDPP-Room"] == "700"
    asyncio.run(client.get(["search"], {}))
    assert "PDPP-Room" not in canned.sent[-1][2]


# Cursors of packages

PLACES = st.builds(
    ChildPosition,
    st.integers(0, 10**6),
    st.integers(0, 100),
    st.text(alphabet="abc-_.~=%é", max_size=300),
)


@given(st.dictionaries(st.integers(0, 39), PLACES, min_size=1))
def test_a_cursor_opens_to_the_places_it_was_made_of(places: dict[int, ChildPosition]) -> None:
    children = [child(f"c{number}") for number in range(40)]
    named = {children[number].grant_id: place for number, place in places.items()}
    seal = PackageCursor(children, ["search"], {"q": "x", "limit": 5})
    cursor = seal.close(named)
    opened = PackageCursor(children, ["search"], {"q": "x", "limit": 9, "cursor": cursor}).open(
        cursor
    )
    assert opened.keys() == named.keys()
    assert len(cursor) <= MOST_CURSOR_CHARS + 14
    for name, place in opened.items():
        assert place[:2] == named[name][:2]
        assert place.cursor in ("", named[name].cursor)


@given(st.text())
def test_a_text_that_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        PackageCursor([child("a")], ["search"], {"q": "x"}).open(text)


# Problems


def test_an_expired_bookmark_begins_again() -> None:
    asked = {"stream": "s", "changes_since": "old", "unknown": 1}
    told: Any = error_result("query_records", asked, CursorExpired("Too old."))
    [again] = told["structuredContent"]["next"]
    assert again["arguments"] == {"stream": "s", "changes_since": "beginning"}
    told = error_result("query_records", {"stream": "s", "cursor": "c"}, CursorExpired("Too old."))
    assert told["structuredContent"]["next"] == [again]


def test_a_bad_bookmark_begins_again_too() -> None:
    asked = {"stream": "s", "changes_since": "odd", "cursor": "c"}
    told: Any = error_result("query_records", asked, InvalidCursor("Odd."))
    [again] = told["structuredContent"]["next"]
    assert again["arguments"] == {"stream": "s", "changes_since": "beginning"}
    told = error_result("query_records", {"stream": "s", "cursor": "c"}, InvalidCursor("Odd."))
    [again] = told["structuredContent"]["next"]
    assert again["arguments"] == {"stream": "s"}


def test_what_does_not_exist_leads_to_what_does() -> None:
    told: Any = error_result("fetch", {"id": "a/b:c"}, NotFound("There is none."))
    assert told["structuredContent"]["next"] == [{"tool": "schema", "arguments": {}}]


@given(st.dictionaries(st.text(max_size=90), st.text() | st.lists(st.text() | st.none())))
def test_any_error_fits(detail: dict[str, Any]) -> None:
    error = NotFound("m" * 5_000)
    error.detail = detail
    told: Any = error_result("fetch", {"id": "x"}, error)
    assert told["isError"] is True


def test_many_long_choices_are_told_to_be_some_of_them() -> None:
    ids = [f"{number:036}" for number in range(12)]
    choices = [{"connection_id": id, "display_name": "N" * 200, "grant_id": id} for id in ids]
    error = AmbiguousConnection("Which?", available_connections=choices, total=12, truncated=False)
    result: Any = error_result("query_records", {"stream": "s" * 200}, error)
    told = result["structuredContent"]
    assert 0 < len(told["error"]["available_connections"]) < 12
    assert (told["error"]["total"], told["error"]["truncated"]) == (12, True)
    assert told["next"]


# What the hosted endpoint writes


@pytest.mark.parametrize("value", ["a", "é\u202e\x01", "\U0001f600", "\ud800", 2**70, {"a": [1.5]}])
def test_the_hosted_endpoint_writes_and_measures_as_the_adapter_does(value: Any) -> None:
    answer = rpc.success(1, {"value": value})
    assert json.loads(hosted._encode(answer)) == json.loads(rpc.encode(answer))
    assert hosted._length(value) == json_length(value)


# What the hosted endpoint remembers


def test_what_declarations_say_is_remembered_as_far_as_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hosted, "_MOST_REMEMBERED", 2)
    memory: hosted.BoundedDict[tuple[str, str, str], FieldFacts] = hosted.BoundedDict()
    for name in ("a", "b", "c"):
        memory[("key", "c", name)] = NO_FACTS
    assert [stream for _, _, stream in memory] == ["b", "c"]


def test_a_grant_that_opens_nothing_is_no_choice() -> None:
    token = mint(TokenKind.PACKAGE, "client", 0)[1]
    package = Package("pkg_1", "client", 0, None)
    nothing = Principal(token, (), None, package)
    principal = Principal(token, (), None, package, (nothing,), (None,))
    visitor = hosted.HostedCaller("secret", principal)

    async def app(*_: Any) -> None:
        raise AssertionError("nothing is read")

    made = hosted.make_reader(InProcessTransport(app, ORIGIN), hosted.BoundedDict(), visitor)
    assert made.children == []


@pytest.mark.parametrize(
    ("ids", "told"), [(["a"], "1 connection fits and"), (["a", "b"], "2 connections fit and")]
)
def test_how_many_connections_fit_is_told_in_good_words(ids: list[str], told: str) -> None:
    assert ambiguous([child(id) for id in ids]).message.startswith(told)


@pytest.mark.parametrize(
    ("status", "code", "ended"),
    [
        (401, "invalid_token", True),
        (403, "grant_revoked", True),
        (401, "context.active_false", True),
        (401, "context.stream_not_allowed", False),
        (403, "grant_stream_not_allowed", False),
    ],
)
def test_only_an_ended_grant_is_told_with_the_command(status: int, code: str, ended: bool) -> None:
    error = {"error": {"code": code, "message": "Said by the server"}}
    client = ResourceClient(Canned(status, error), "token")
    client.connect_command = "pdpp connect https://data.example"
    with pytest.raises(PdppError) as refused:
        asyncio.run(client.get(["streams", "nope", "records"], {}))
    assert ("command" in refused.value.detail) is ended
    told = "Said by the server. To connect again, run: pdpp connect https://data.example"
    assert refused.value.message == (told if ended else "Said by the server")
