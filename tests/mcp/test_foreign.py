"""Against a resource server that is not ours: complete halves, or an error that says from where."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from tests.mcp.foreign import BODY, RECORDS, Foreign, drip, host_of, html
from tests.mcp.host import KernelWire
from tests.mcp.sight import object_calls, text_calls

from pdpp.evidence.text import json_text
from pdpp.mcp.reading import transport
from pdpp.wire.http import HttpLimits

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("schema", {}),
    ("schema", {"stream": "letters"}),
    ("query_records", {"stream": "letters"}),
    ("aggregate", {"stream": "letters", "metric": "count"}),
    ("search", {"query": "heron"}),
    ("fetch", {"id": "acc/letters:r1"}),
    ("read_record_field", {"id": "acc/letters:r1", "field_path": "body"}),
]


@pytest.mark.parametrize("compact", ["refuse", "ignore"])
def test_the_compact_schema_is_made_here_where_the_server_has_none(compact: str) -> None:
    with Foreign(compact=compact).served() as (_, host):
        index = host.good("schema")
        assert index.structured["data"]["detail"] == "compact"
        assert "letters 30" in index.text
        stream = host.good("schema", {"stream": "letters"})
        row = stream.structured["data"]["connectors"][0]["streams"][0]
        assert row["field_capabilities"]["subject"] == "t=text,eq"
        assert "subject  text eq" in stream.text


@pytest.mark.parametrize(
    "schema",
    [
        {"data": {"connectors": [{"connector_key": "post", "streams": [{"name": "letters"}]}]}},
        {"streams": [{"name": "letters"}]},
        {"detail": "compact", "connectors": ["odd", {"streams": ["odd", {"name": "letters"}]}]},
    ],
)
def test_a_schema_in_another_shape_still_names_its_streams(schema: Any) -> None:
    with Foreign(schema=schema).served() as (_, host):
        assert "letters" in host.good("schema").text
        assert "letters" in host.good("schema", {"stream": "letters"}).text


def test_a_schema_of_nothing_is_an_empty_index() -> None:
    with Foreign(schema={"connectors": []}).served() as (_, host):
        assert host.good("schema").text.startswith("0 connectors")
    with Foreign(schema={"data": []}).served() as (_, host):
        host.refused("unexpected_answer", "schema")


@pytest.mark.parametrize("place", ["data", "data.results", "data.data", "results"])
def test_hits_are_found_wherever_the_server_puts_them(place: str) -> None:
    with Foreign(hits_at=place).served() as (server, host):
        ids: list[str] = []
        for page in host.pages("search", {"query": "heron", "limit": 7}):
            for hit in page.structured["results"]:
                ids.append(hit["id"])
                assert hit["id"] in page.text
                assert hit["title"] == "acc / letters"
                key = hit["id"].rpartition(":")[2]
                address = f"{server.url}/v1/streams/letters/records/{key}?connection_id=acc"
                assert hit["url"] == address
                assert "evidence" not in hit
            assert "no evidence" in page.text
        assert ids == [f"acc/letters:{key}" for key in RECORDS]


def test_a_hit_that_names_its_record_apart_gets_an_id() -> None:
    hits = [
        {"stream": "letters", "record_id": "r1", "connection_id": "acc", "score": "odd"},
        {"record_uri": "pdpp://record/acc%2Fletters%3Ar2", "id": "opaque"},
        {"id": "r3", "stream": "letters", "url": "https://a.example/3"},
        {"id": "x", "stream": "letters", "url": "javascript:alert(1)", "title": "T" * 900},
        "odd",
    ]
    with Foreign(answer=lambda _: JSONResponse({"data": hits})).served() as (server, host):
        results = host.good("search", {"query": "heron"}).structured["results"]
        assert [hit["id"] for hit in results] == [
            "acc/letters:r1",
            "acc/letters:r2",
            "letters:r3",
            "letters:x",
        ]
        assert results[2]["url"] == "https://a.example/3"
        assert results[3]["url"] == f"{server.url}/v1/streams/letters/records/x"
        assert len(results[3]["title"]) <= 240


def test_evidence_without_offsets_is_shown_without_them() -> None:
    excerpts = [5, {"field_path": "body"}, {"field_path": "body", "preview_text": "a heron"}]
    hit = {"id": "acc/letters:r1", "evidence_excerpts": excerpts, "matched_fields": "odd"}
    with Foreign(answer=lambda _: JSONResponse({"data": [hit]})).served() as (_, host):
        found = host.good("search", {"query": "heron"})
        assert '1. body in acc/letters:r1\n   "a heron"' in found.text
        [call] = [c for c in text_calls(found.text) if c.tool == "read_record_field"]
        assert call.arguments == {"id": "acc/letters:r1", "field_path": "body"}


def test_the_page_of_a_record_is_used_where_the_server_tells_it() -> None:
    def answer(page: str) -> Any:
        body = {"data": [{"id": "acc/letters:r 1", "url": "https://a.example/3"}]}
        return lambda _: JSONResponse(body, headers={"PDPP-Record-Page": page})

    pages = {
        "/r/{connection_id}/{stream}/{record_id}": "{}/r/acc/letters/r%201",
        "https://b.example/{record_id}": "https://b.example/r%201",
        "javascript:{record_id}": "https://a.example/3",
    }
    for told, expected in pages.items():
        with Foreign(answer=answer(told)).served() as (server, host):
            [hit] = host.good("search", {"query": "heron"}).structured["results"]
            assert hit["url"] == expected.format(server.url)


def test_records_and_documents_come_without_roles() -> None:
    with Foreign().served() as (server, host):
        ids: list[str] = []
        for page in host.pages("query_records", {"stream": "letters", "limit": 4}):
            ids += [row["id"] for row in page.structured["data"]["data"]]
            assert "read_record_field" in page.text
        assert ids == list(RECORDS)
        document = host.good("fetch", {"id": "acc/letters:r1"}).structured
        assert document["title"] == "acc / letters"
        assert document["text"].startswith("subject: Record 1\nbody: Nothing but")
        assert document["url"].startswith(f"{server.url}/v1/streams/letters/records/r1")
        assert document["metadata"]["truncation"]["body"]["total_chars"] == len(BODY)


def test_changes_go_on_with_the_cursor_alone_where_no_link_says_so() -> None:
    body = {"data": [{"id": "r1"}], "next_cursor": "c2", "next_changes_since": "b2"}
    asked = {"stream": "letters", "connection_id": "acc", "changes_since": "beginning"}
    with Foreign(answer=lambda _: JSONResponse(body)).served() as (_, host):
        page = host.good("query_records", asked)
        [onward] = [c for c in text_calls(page.text) if c.tool == "query_records"]
        assert onward.arguments == {"stream": "letters", "connection_id": "acc", "cursor": "c2"}
        assert "later changes" not in page.text
        assert "b2" not in json_text(page.structured)


def test_a_declared_link_is_the_address_of_a_record() -> None:
    flags = {"link": {"type": "text", "role": "link"}}
    schema = {"streams": [{"name": "letters", "fields": flags, "connection_id": "acc"}]}
    with Foreign(schema=schema).served() as (_, host):
        document = host.good("fetch", {"id": "acc/letters:r1"}).structured
        assert document["url"] == document["metadata"]["link"] == "https://a.example/1"


def test_a_window_of_everything_is_cut_here_and_read_on_from_there() -> None:
    with Foreign().served() as (_, host):
        found = host.good("read_record_field", {"id": "acc/letters:r1", "field_path": "body"})
        window = found.structured["window"]
        assert window["text"] == BODY[: window["end_chars"]]
        assert window["total_chars"] == len(BODY)
        assert window["has_more"] is True
        assert "digest" not in found.text
        assert "digest" not in found.structured
        asked = {"id": "letters:r1", "field_path": "body", "query": "heron", "after_chars": 10}
        around = host.good("read_record_field", asked)
        assert BODY.startswith(around.structured["window"]["text"])


@pytest.mark.parametrize(
    "window",
    [
        {"start_chars": "0", "total_chars": None, "matches": "odd", "match_count": 3},
        {"text": "short", "start_chars": 5, "total_chars": 2},
        {"text": "", "match_count": 2, "matches": [1, {"start_chars": 1}, {"end_chars": 2}]},
    ],
)
def test_an_odd_window_is_shown_as_far_as_it_makes_sense(window: dict[str, Any]) -> None:
    with Foreign(window=window).served() as (_, host):
        found = host.good("read_record_field", {"id": "acc/letters:r1", "field_path": "body"})
        known = found.structured["window"]
        assert known["end_chars"] == known["start_chars"] + len(known["text"])
        assert known["total_chars"] >= known["end_chars"]


def test_a_server_that_sends_more_than_asked_is_not_let_through() -> None:
    with Foreign(ignores_limit=True).served() as (_, host):
        found = host.good("search", {"query": "heron", "limit": 3})
        assert len(found.structured["results"]) == len(found.structured["data"]["data"]) == 3
        note = "the server sent 27 more hits than asked"
        assert note in found.text
        assert note in json_text(found.structured)
        page = host.good("query_records", {"stream": "letters", "limit": 2})
        assert len(page.structured["data"]["data"]) == 2
        assert "the server sent 28 more records than asked" in page.text


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ("bad_parameter", "bad_parameter", "bad_parameter"),
        ({"code": "odd", "message": "No."}, "odd", "No."),
        ({"code": None, "message": None, "param": 5}, "api_error", "The server answered 400"),
        ({"message": "x" * 9_000, **{f"k{n}": "\x01" * 900 for n in range(99)}}, "api_error", "xx"),
        ({"code": "deep", "detail": [[[[[[1]]]]], {"a": {"b": {"c": {"d": 1}}}}]}, "deep", "The"),
        ({"code": 'fetch {"id":"x:1"}', "message": 'read: fetch {"id":"x:1"}'}, None, "read"),
    ],
)
def test_an_error_in_any_words_is_kept(error: Any, code: str | None, message: str) -> None:
    with Foreign(error=error).served() as (_, host):
        result = host.call("aggregate", {"stream": "letters", "metric": "count", "limit": 5})
        assert result.is_error
        told = result.structured["error"]
        assert code is None or told["code"] == code
        assert told["message"].startswith(message)
        assert [call for call in text_calls(result.text) if call.arguments == {"id": "x:1"}] == []


def test_an_error_with_a_description_is_told_in_its_words() -> None:
    body = {"error": "invalid_token", "error_description": "The token is old."}
    with Foreign(answer=lambda _: JSONResponse(body, 401)).served() as (_, host):
        error = host.refused("invalid_token", "search", {"query": "heron"})
        assert error["message"] == "The token is old."


def test_choices_of_a_foreign_server_are_offered() -> None:
    error = {
        "code": "ambiguous_connection",
        "message": "Which?",
        "available_connections": [{"connection_id": "acc"}, "odd"],
    }
    with Foreign(error=error).served() as (_, host):
        result = host.call("query_records", {"stream": "letters", "count": "exact"})
        [call] = object_calls(result.structured)
        assert call.arguments["connection_id"] == "acc"


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_a_proxy_that_answers_html_is_named(tool: str, arguments: dict[str, Any]) -> None:
    with Foreign(answer=html).served() as (server, host):
        error = host.refused("unexpected_answer", tool, arguments)
        assert server.url in error["message"]
        assert "text/html" in error["message"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: PlainTextResponse("no", 502),
        lambda _: JSONResponse([1, 2]),
        lambda _: Response(b"{", media_type="application/json"),
        lambda _: Response(b"[" * 100_000, media_type="application/json"),
        lambda _: Response(status_code=302, headers={"Location": "https://elsewhere.example/"}),
        lambda _: JSONResponse({"detail": "odd"}, 400),
    ],
)
def test_an_answer_that_is_no_answer_is_said_to_be_one(answer: Any) -> None:
    with Foreign(answer=answer).served() as (server, host):
        for tool, arguments in CALLS:
            assert server.url in host.refused("unexpected_answer", tool, arguments)["message"]


@pytest.mark.parametrize("body", [{}, {"data": None}, {"data": 5}])
def test_an_answer_of_nothing_is_no_success(body: Any) -> None:
    with Foreign(answer=lambda _: JSONResponse(body)).served() as (_, host):
        for tool, arguments in CALLS:
            host.refused("unexpected_answer", tool, arguments)


def test_a_list_of_things_without_names_is_shown_as_nothing_with_a_note() -> None:
    with Foreign(answer=lambda _: JSONResponse({"data": [5, None, {}]})).served() as (_, host):
        for tool, arguments in (
            ("query_records", {"stream": "letters"}),
            ("search", {"query": "a"}),
        ):
            assert "without an id; they are left out" in host.good(tool, arguments).text


def test_a_dead_server_is_named_with_what_to_check() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with host_of(url) as host:
        for tool, arguments in CALLS:
            error = host.refused("server_unreachable", tool, arguments)
            assert url in error["message"]
            assert "pdpp serve" in error["message"]
            assert "secret-token" not in json_text(error)


def test_a_server_that_does_not_come_to_an_end_is_left() -> None:
    with Foreign(answer=drip).served() as (server, _), host_of(server.url, 0.3) as host:
        error = host.refused("server_unreachable", "search", {"query": "heron"})
        assert f"{server.url} did not answer within 0.3 s" in error["message"]


@contextmanager
def socket_server(*answers: bytes, hang: bool = False) -> Iterator[tuple[str, list[bytes]]]:
    """Serve raw answers, a connection each; the last one again and again."""
    heard: list[bytes] = []
    held: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            number = 0
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                heard.append(connection.recv(65_536))
                connection.sendall(answers[min(number, len(answers) - 1)])
                number += 1
                if hang:
                    held.append(connection)
                else:
                    connection.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", heard
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    for connection in held:
        connection.close()


GOOD = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"data":[]}'


def test_a_silent_server_is_left() -> None:
    with socket_server(b"", hang=True) as (url, heard), host_of(url, 0.2) as host:
        host.refused("server_unreachable", "search", {"query": "heron"})
        assert len(heard) == 1


@pytest.mark.parametrize(
    ("first", "code"),
    [
        (b"", "server_unreachable"),
        (GOOD[:-4], "unexpected_answer"),
        (b"HTTP/1.1 nonsense\r\n\r\n", "unexpected_answer"),
    ],
)
def test_a_dropped_connection_is_tried_once_more(first: bytes, code: str) -> None:
    with socket_server(first, GOOD) as (url, heard), host_of(url) as host:
        host.good("search", {"query": "heron"})
        assert len(heard) == 2
    with socket_server(first) as (url, heard), host_of(url) as host:
        error = host.refused(code, "search", {"query": "heron"})
        assert url in error["message"]
        assert len(heard) == 2


def test_a_kept_connection_is_used_again_and_replaced_when_it_dropped() -> None:
    with Foreign().served() as (_, host):
        for _ in range(3):
            host.good("aggregate", {"stream": "letters", "metric": "count"})
    with socket_server(GOOD) as (url, heard), host_of(url) as host:
        host.good("search", {"query": "heron"})
        host.good("search", {"query": "heron"})
        assert len(heard) == 2


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    bare = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"data":[]}'
    with socket_server(bare) as (url, _), host_of(url) as host:
        host.good("search", {"query": "heron"})


def test_an_answer_without_end_is_not_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "HttpLimits", lambda seconds: HttpLimits(seconds, 1 << 16))
    large = b'{"data":"' + b"x" * (1 << 17) + b'"}'
    answer = Foreign(answer=lambda _: Response(large, media_type="application/json"))
    with answer.served() as (server, host):
        error = host.refused("unexpected_answer", "search", {"query": "heron"})
        assert f"{server.url} answered with more than 65536 bytes" in error["message"]
        assert len(answer.asked) == 1


def test_thirty_two_megabytes_are_the_most_that_is_taken_in() -> None:
    assert HttpLimits().most_bytes == 32 << 20


def test_blobs_are_described_by_what_the_answer_says() -> None:
    with Foreign().served() as (_, host):
        document = host.good("fetch", {"id": "pdpp://blob/raw"}).structured
        assert document["metadata"]["size_bytes"] == 80
        assert "not shown" in document["text"]
        text = host.good("fetch", {"id": "pdpp://blob/text"}).structured
        assert text["text"] == BODY[:4_096]
        assert text["metadata"]["truncation"]["served_chars"] == 4_096
    with Foreign(answer=lambda _: JSONResponse({"error": "gone"}, 404)).served() as (_, host):
        host.refused("gone", "fetch", {"id": "pdpp://blob/raw"})


def test_only_reads_are_sent_with_the_one_bearer() -> None:
    foreign = Foreign()
    with foreign.served() as (_, host):
        for tool, arguments in CALLS:
            host.good(tool, arguments)
    assert foreign.bearers == {"Bearer secret-token"}
    assert all(path.startswith("/v1/") for path in foreign.asked)


def test_a_declaration_that_could_not_be_read_is_asked_for_again() -> None:
    failing = True

    def answer(request: Request) -> Response | None:
        if request.url.path == "/v1/schema" and failing:
            return JSONResponse({"error": {"code": "overloaded"}}, 503)
        return None

    flags = {"subject": {"type": "text", "role": "primary-title"}}
    foreign = Foreign(schema={"streams": [{"name": "letters", "fields": flags}]})
    guard = foreign._guard

    def guarded(serve: Any) -> Any:
        return guard(lambda request: answer(request) or serve(request))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Foreign, "_guard", lambda _, serve: guarded(serve))
        with foreign.served() as (_, host):
            title = host.good("fetch", {"id": "acc/letters:r1"}).structured["title"]
            assert title == "acc / letters"
            failing = False
            assert host.good("fetch", {"id": "acc/letters:r1"}).structured["title"] == "Record 1"


def test_text_that_is_no_text_does_not_break_an_answer() -> None:
    raw = b'{"data":[{"id":"acc/letters:r1","title":"\\ud800 lone","emitted_at":"\\u0000"}]}'
    answer = Foreign(answer=lambda _: Response(raw, media_type="application/json"))
    with answer.served() as (_, host):
        found = host.good("search", {"query": "heron"})
        assert "⟨U+D800⟩ lone" in found.text


LONG = "c" * 40_000


def told(body: Any) -> Callable[[Request], Response]:
    """Return what always answers the same."""
    return lambda _: JSONResponse(body)


def test_names_that_fit_no_answer_are_refused_with_a_typed_error() -> None:
    row = {"id": "r1", "connection_id": LONG, "data": {"a": "b"}, "window": {"text": "t"}}
    hit = {"id": "x", "stream": "letters", "connection_id": LONG}
    page: dict[str, Any] = {"data": [row, row]}
    group = {"key": "k", "count": LONG}
    calls: list[tuple[str, dict[str, Any], Any]] = [
        ("query_records", {"stream": "letters"}, page),
        ("search", {"query": "heron"}, {"data": [hit, hit]}),
        ("fetch", {"id": "acc/letters:r1"}, row),
        ("read_record_field", {"id": "acc/letters:r1", "field_path": "body"}, row),
        ("aggregate", {"stream": "letters", "metric": "count"}, {"groups": [group, group]}),
        ("aggregate", {"stream": "letters", "metric": "count"}, {"value": LONG}),
        ("schema", {}, {"connectors": [{"connector_key": LONG, "streams": []}]}),
        ("schema", {"stream": "s"}, {"streams": [{"name": "s", "fields": {LONG: {}}}]}),
    ]
    for tool, arguments, body in calls:
        with Foreign(answer=told(body)).served() as (_, host):
            host.refused("payload_too_large", tool, arguments)


def test_fields_with_names_beyond_measure_are_counted() -> None:
    data = {LONG + str(number): "v" for number in range(3)} | {"short": "v"}
    body = {"id": "r1", "data": data}
    with Foreign(answer=lambda _: JSONResponse(body)).served() as (_, host):
        metadata = host.good("fetch", {"id": "acc/letters:r1"}).structured["metadata"]
        assert metadata["omitted_count"] >= 3
        assert "fetch" not in metadata
    with Foreign(answer=lambda _: JSONResponse({"data": [body]})).served() as (_, host):
        page = host.good("query_records", {"stream": "letters"})
        [row] = page.structured["data"]["data"]
        assert row["omitted_count"] >= 3
        assert "more, which schema lists" in page.text


def test_hits_that_are_mostly_envelope_lose_it_and_keep_what_matters() -> None:
    excerpt = {"field_path": "body", "preview_text": "\x01" * 400}
    hit = {
        "id": "acc/letters:" + "k" * 400,
        "title": "\x02" * 240,
        "display_name": "\x03" * 240,
        "evidence_excerpts": [excerpt],
        "extra": "x" * 20_000,
    }
    for changed in ({}, {"evidence_excerpts": [], "matched_fields": ["\x04" * 80] * 12}):
        with Foreign(answer=told({"data": [{**hit, **changed}]})).served() as (_, host):
            found = host.good("search", {"query": "heron"})
            [shown] = found.structured["results"]
            assert shown["id"] == hit["id"]
            assert "envelope was too large" in found.text
            assert "envelope was too large" in json_text(found.structured)


def test_a_match_that_grows_when_shown_is_read_from_where_it_stands() -> None:
    with Foreign(window={"text": "\x01" * 5_000, "start_chars": 40}).served() as (_, host):
        asked = {"id": "acc/letters:r1", "field_path": "body", "query": "x", "after_chars": 0}
        found = host.good("read_record_field", {**asked})
        assert found.structured["window"]["start_chars"] == 40


@pytest.mark.parametrize(
    "schema",
    [
        {"streams": [{"name": "letters", "fields": {"a": {"type": "text"}}}, "odd"]},
        {"data": {"connectors": [{"streams": [{"name": "letters", "fields": ["odd"]}]}, 5]}},
    ],
)
def test_a_full_schema_in_another_shape_is_shown_as_far_as_it_goes(schema: Any) -> None:
    answer = Foreign(answer=lambda _: JSONResponse(schema))
    with answer.served() as (_, host):
        found = host.good("schema", {"stream": "letters", "detail": "full"})
        assert "data" in found.structured


def test_resources_of_a_server_that_is_away_are_none() -> None:
    with host_of("http://127.0.0.1:1") as host:
        assert host.wire.request("resources/list", {}) == {"resources": []}


@pytest.mark.parametrize(
    ("status", "code"), [(401, -32603), (429, -32603), (503, -32603), (404, -32002)]
)
def test_a_resource_that_cannot_be_read_now_is_not_told_as_missing(status: int, code: int) -> None:
    error = {"code": "odd", "message": "Wait a little."}
    with Foreign(answer=lambda _: JSONResponse({"error": error}, status)).served() as (_, host):
        asked = {"uri": "pdpp://record/acc%2Fletters%3Ar1"}
        assert isinstance(host.wire, KernelWire)
        assert host.wire.refusal("resources/read", asked) == code


def _wide(depth: int, name: str) -> Any:
    return {f"{number}{name}": _wide(depth - 1, name) for number in range(5)} if depth else "x"


@pytest.mark.parametrize("name", ["n" * 70, "\U000e0041" * 70])
def test_an_error_that_is_wide_and_deep_is_told_as_far_as_it_fits(name: str) -> None:
    members = {f"{number}{name}": _wide(3, name) for number in range(12)}
    told = {"code": "odd", "message": "Odd. " * 900, "total": _wide(4, name), **members}
    with Foreign(answer=lambda _: JSONResponse({"error": told}, 400)).served() as (_, host):
        error = host.refused("odd", "fetch", {"id": "acc/letters:r1"})
        assert error["message"].startswith("Odd. Odd.")


def test_a_media_type_without_end_is_cut() -> None:
    kind = "text/plain; x=" + "y" * 40_000
    with Foreign(answer=lambda _: Response(b"words", media_type=kind)).served() as (_, host):
        assert host.good("fetch", {"id": "pdpp://blob/text"}).structured["text"] == "words"


def test_a_blob_with_a_very_long_name_still_fits() -> None:
    uri = "pdpp://blob/" + "%F3%A0%81%81" * 512
    with Foreign(answer=lambda _: Response(bytes(9), media_type="image/png")).served() as (
        _,
        host,
    ):
        document = host.good("fetch", {"id": uri}).structured
        assert document["metadata"]["size_bytes"] == 9
