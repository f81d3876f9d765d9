import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from tests.resource.library import HOME_BOOKS, book, library_store
from tests.serving import UNLIMITED, World, living, refused

BOOKS = "/v1/streams/books/records"
INGEST = "/v1/ingest/books"
HOME = {"connection_id": "home"}


def line(key: object, data: object = None, **more: Any) -> dict[str, Any]:
    held = book(str(key), 9, title=f"Title {key}") if data is None else data
    return {"key": key, "data": held, "emitted_at": "2026-03-01T00:00:00Z", **more}


def send(client: httpx.Client, *lines: Any, **params: str) -> dict[str, Any]:
    body = b"\n".join(item if isinstance(item, bytes) else orjson.dumps(item) for item in lines)
    answer = client.post(INGEST, params={**HOME, **params}, content=body)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_a_batch_is_written_and_answered_in_numbers(shelf: World) -> None:
    owner = shelf.owner()
    assert send(owner, line("n1"), line("n2")) == {
        "object": "ingest_result",
        "stream": "books",
        "connection_id": "home",
        "records_attempted": 2,
        "records_accepted": 2,
        "records_rejected": 0,
        "records_new": 2,
        "records_changed": 0,
        "records_unchanged": 0,
        "records_deleted": 0,
        "rejections": [],
    }
    record = owner.get(f"{BOOKS}/n1").json()
    assert record["data"]["title"] == "Title n1"
    assert record["emitted_at"] == "2026-03-01T00:00:00Z"
    assert owner.get("/v1/streams/books?connection_id=home").json()["data"][0]["record_count"] == 7


def test_the_same_batch_twice_changes_nothing(shelf: World) -> None:
    owner = shelf.owner()
    batch = [line("n1"), line("n2"), {**line("b2"), "op": "delete"}]
    send(owner, *batch)
    before = owner.get(BOOKS, params=HOME).content
    since = {**HOME, "changes_since": "beginning"}
    bookmark = owner.get(BOOKS, params=since).json()["next_changes_since"]
    again = send(owner, *batch)
    assert (again["records_new"], again["records_changed"], again["records_deleted"]) == (0, 0, 0)
    assert (again["records_accepted"], again["records_unchanged"]) == (3, 3)
    assert owner.get(BOOKS, params=HOME).content == before
    changed = owner.get(BOOKS, params={**HOME, "changes_since": bookmark}).json()["data"]
    assert [row["id"] for row in changed if "deleted" not in row] == []


def test_the_last_line_of_a_key_counts_however_many_lines_come_between(shelf: World) -> None:
    owner = shelf.owner()
    between = [line(f"x{number}") for number in range(150)]
    gone, back = {"key": "gone", "op": "delete"}, {"key": "back", "op": "delete"}
    result = send(owner, line("gone"), back, *between, gone, line("back"), line("last"), b"{")
    assert (result["records_new"], result["records_rejected"]) == (152, 1)
    assert result["rejections"][0]["input_index"] == 155
    kept = {key: owner.get(f"{BOOKS}/{key}").status_code for key in ("gone", "back", "last")}
    assert kept == {"gone": 404, "back": 200, "last": 200}
    result = send(owner, line("brief"), {"key": "brief", "op": "delete"})
    assert (result["records_new"], result["records_deleted"]) == (0, 0)
    assert owner.get(f"{BOOKS}/brief").status_code == 404


BAD_LINES = [
    (b"{not json", "invalid_json"),
    (b"[1, 2]", "invalid_line"),
    (b'"text"', "invalid_line"),
    ({**line("n"), "colour": "red"}, "invalid_line"),
    (line(None, {}), "invalid_key"),
    (line(7), "invalid_key"),
    (line(""), "invalid_key"),
    (line("a/b"), "invalid_key"),
    (line("."), "invalid_key"),
    (line(".."), "invalid_key"),
    (line("a\nb"), "invalid_key"),
    (line("a\x7fb"), "invalid_key"),
    (line("k" * 513), "invalid_key"),
    (line("n", emitted_at="yesterday"), "invalid_time"),
    (line("n", emitted_at=7), "invalid_time"),
    (line("n", op="merge"), "invalid_op"),
    (line("n", [1]), "invalid_data"),
    ({"key": "n", "emitted_at": "2026-03-01T00:00:00Z"}, "invalid_data"),
    (line("n", {"title": "no id"}), "schema_violation"),
    (line("n", book("n", 1, pages="many")), "schema_violation"),
    (line("n", book("n", 1, in_print=1)), "schema_violation"),
]


def test_a_bad_line_is_told_and_loses_no_other(shelf: World) -> None:
    owner = shelf.owner()
    lines = [line("first"), *(bad for bad, _ in BAD_LINES), line("last")]
    result = send(owner, *lines)
    assert result["records_attempted"] == len(lines)
    assert (result["records_accepted"], result["records_rejected"]) == (2, len(BAD_LINES))
    assert [(item["input_index"], item["code"]) for item in result["rejections"]] == [
        (index, code) for index, (_, code) in enumerate(BAD_LINES, 1)
    ]
    assert all(item["message"] for item in result["rejections"])
    assert owner.get(f"{BOOKS}/first").status_code == owner.get(f"{BOOKS}/last").status_code == 200


def test_a_violation_says_where_and_not_what(shelf: World) -> None:
    result = send(shelf.owner(), line("n", book("n", 1, pages="a secret value")))
    (rejection,) = result["rejections"]
    assert "data/pages" in rejection["message"]
    assert "secret" not in rejection["message"]


def test_empty_lines_and_carriage_returns_are_no_records(shelf: World) -> None:
    body = b"\r\n\n" + orjson.dumps(line("n1")) + b"\r\n  \n" + orjson.dumps(line("n2")) + b"\n"
    result = shelf.owner().post(INGEST, params=HOME, content=body).json()
    assert (result["records_attempted"], result["records_new"]) == (2, 2)
    empty = shelf.owner().post(INGEST, params=HOME, content=b"").json()
    assert empty["records_attempted"] == 0


def test_the_last_line_of_a_key_decides(shelf: World) -> None:
    owner = shelf.owner()
    send(owner, line("n", book("n", 1, title="old")), line("n", book("n", 1, title="new")))
    assert owner.get(f"{BOOKS}/n").json()["data"]["title"] == "new"


def test_a_line_without_a_time_is_emitted_now(shelf: World) -> None:
    owner = shelf.owner()
    send(owner, {"key": "n", "data": book("n", 1)})
    assert owner.get(f"{BOOKS}/n").json()["emitted_at"] > "2026"


def test_a_line_deletes_by_its_op(shelf: World) -> None:
    owner = shelf.owner()
    result = send(owner, {"key": "b2", "op": "delete"}, {"key": "never", "op": "delete"})
    assert (result["records_deleted"], result["records_unchanged"]) == (1, 1)
    refused(owner.get(f"{BOOKS}/b2"), 404, "not_found")


def test_an_edit_is_counted_as_a_change(shelf: World) -> None:
    result = send(shelf.owner(), line("b2", {**HOME_BOOKS[1], "pages": 1}))
    assert (result["records_changed"], result["records_new"]) == (1, 0)


def test_what_is_written_is_found_and_what_was_replaced_is_not(shelf: World) -> None:
    owner, client = shelf.owner(), shelf.client()
    send(owner, line("n", book("n", 1, text="a pelican", pages=7)))
    assert [hit["record_key"] for hit in _hits(client, "pelican")] == ["n"]
    send(owner, line("n", book("n", 1, text="a cormorant", pages=8)))
    assert _hits(client, "pelican") == []
    assert [hit["record_key"] for hit in _hits(client, "cormorant")] == ["n"]
    assert client.get(BOOKS, params={"filter[pages]": 7}).json()["data"] == []
    assert owner.delete(f"{BOOKS}/n").status_code == 204
    assert _hits(client, "cormorant") == []
    assert client.get(BOOKS, params={"filter[pages]": 8}).json()["data"] == []


def _hits(client: httpx.Client, q: str) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = client.get("/v1/search", params={"q": q}).json()["data"]
    return hits


def test_a_stream_in_several_connections_needs_one(shelf: World) -> None:
    answer = shelf.owner().post(INGEST, content=orjson.dumps(line("n")))
    error = refused(answer, 409, "ambiguous_connection")
    assert error["retry_with"] == "connection_id"


def test_a_stream_that_does_not_exist_takes_nothing(shelf: World) -> None:
    answer = shelf.owner().post("/v1/ingest/films", content=orjson.dumps(line("n")))
    refused(answer, 403, "grant_stream_not_allowed")


def test_only_the_owner_writes(library: World) -> None:
    client = library.client()
    refused(client.post(INGEST, params=HOME, content=b"{}"), 403, "insufficient_scope")
    refused(client.delete(f"{BOOKS}/b2"), 403, "insufficient_scope")
    assert client.get(f"{BOOKS}/b2").status_code == 200


def test_a_deleted_record_is_gone_and_cannot_be_deleted_again(shelf: World) -> None:
    owner = shelf.owner()
    answer = owner.delete(f"{BOOKS}/b2")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["request-id"]
    refused(owner.get(f"{BOOKS}/b2"), 404, "not_found")
    refused(owner.delete(f"{BOOKS}/b2"), 404, "not_found")
    refused(owner.delete(f"{BOOKS}/b2", params=HOME), 404, "not_found")


def test_a_delete_of_a_key_in_several_connections_needs_one(shelf: World) -> None:
    owner = shelf.owner()
    refused(owner.delete(f"{BOOKS}/b1"), 409, "ambiguous_connection")
    assert owner.delete(f"{BOOKS}/b1", params=HOME).status_code == 204
    assert owner.get(f"{BOOKS}/b1").json()["connection_id"] == "work"


def test_a_body_and_a_line_have_their_limits(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, body_bytes=2_000, line_bytes=500)
    with living(library_store(tmp_path), settings) as world:
        owner = world.owner()
        long = line("long", book("long", 1, text="x" * 500))
        result = send(owner, line("n"), long)
        assert [item["code"] for item in result["rejections"]] == ["line_too_long"]
        assert result["records_accepted"] == 1
        refused(owner.post(INGEST, params=HOME, content=b" " * 2_001), 413, "payload_too_large")
        chunks = owner.post(INGEST, params=HOME, content=iter([b" " * 1_500] * 2))
        refused(chunks, 413, "payload_too_large")


def test_a_compressed_body_is_refused(shelf: World) -> None:
    headers = {"Content-Encoding": "gzip"}
    answer = shelf.owner().post(INGEST, params=HOME, content=b"\x1f\x8b", headers=headers)
    assert refused(answer, 422, "unprocessable")["param"] == "Content-Encoding"


@pytest.mark.parametrize("path", [INGEST, "/v1/blobs"])
def test_a_client_that_goes_away_in_the_middle_of_a_body_writes_nothing(
    shelf: World, path: str
) -> None:
    owner = shelf.owner()

    def broken() -> Any:
        yield orjson.dumps(line("half")) + b"\n"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        owner.post(path, params=HOME if path == INGEST else {}, content=broken())
    refused(owner.get(f"{BOOKS}/half"), 404, "not_found")


@pytest.mark.parametrize(
    "pages", [b"9223372036854775808", b"1234567890123456789012", b'1,"pages":2']
)
def test_a_number_or_member_that_would_be_lost_is_refused_and_loses_nothing_else(
    shelf: World, pages: bytes
) -> None:
    owner = shelf.owner()
    bad = orjson.dumps(line("n1", {**book("n1", 9), "pages": 4711})).replace(b"4711", pages)
    answer = send(owner, bad, line("n2"))
    assert [(r["input_index"], r["code"]) for r in answer["rejections"]] == [(0, "inexact_json")]
    assert answer["records_new"] == 1


def nested(levels: int) -> Any:
    """Return lists inside each other."""
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_what_is_nested_too_deeply_is_refused_and_loses_nothing_else(shelf: World) -> None:
    owner = shelf.owner()
    plain = orjson.dumps(line("n1", {**book("n1", 9), "more": 4711}))
    # The outermost level is that of the data itself.
    levels = (254, 300, 990, 1_000, 1_020)
    deep = [plain.replace(b"4711", b"[" * many + b"]" * many) for many in levels]
    deep.append(plain.replace(b'"n1"', b"[" * 1_000 + b"]" * 1_000))
    kept = line("n3", {**book("n3", 9), "more": nested(253)})
    answer = send(owner, *deep, line("n2"), json.dumps(kept).encode())
    assert [(r["input_index"], r["code"]) for r in answer["rejections"]] == [
        (at, "invalid_data") for at in range(len(deep))
    ]
    assert answer["records_new"] == 2
    assert owner.get(f"{BOOKS}/n3", params=HOME).json()["data"]["more"] == nested(253)


def test_the_largest_whole_number_is_kept_exactly(shelf: World) -> None:
    owner = shelf.owner()
    send(owner, line("n1", {**book("n1", 9), "pages": 2**63 - 1}))
    assert owner.get(f"{BOOKS}/n1", params=HOME).json()["data"]["pages"] == 2**63 - 1
