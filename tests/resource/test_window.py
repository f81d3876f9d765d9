from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from bench.demo_records import AWKWARD
from tests.engine import damage_blob
from tests.resource.library import COVER, HOME_BOOKS, LEAFLET, book, library_store
from tests.serving import UNLIMITED, World, keep, living, refused

from pdpp.authz.selection import Selection
from pdpp.evidence.text import digest

BOOK = "/v1/streams/books/records/b1"
TEXT = str(HOME_BOOKS[0]["text"])


def window(client: httpx.Client, path: str = BOOK, **params: Any) -> dict[str, Any]:
    answer = client.get(
        f"{path}/field-window", params={"connection_id": "home", "field": "text", **params}
    )
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def refusal(client: httpx.Client, status: int, code: str, path: str = BOOK, **params: Any) -> Any:
    params = {"connection_id": "home", "field": "text", **params}
    return refused(client.get(f"{path}/field-window", params=params), status, code)


def test_a_window_says_what_it_is_and_where_it_stands(reader: httpx.Client) -> None:
    body = window(reader, offset_chars=4, limit_chars=7)
    version = reader.get(BOOK, params={"connection_id": "home"}).json()["version"]
    assert body == {
        "object": "field_window",
        "stream": "books",
        "record_id": "b1",
        "connection_id": "home",
        "field": {"path": "text", "type": "text"},
        "version": version,
        "digest": digest(TEXT),
        "window": {
            "text": "lantern",
            "start_chars": 4,
            "end_chars": 11,
            "total_chars": len(TEXT),
            "limit_chars": 7,
            "complete": False,
            "has_more": True,
            "next_offset_chars": 11,
            "previous_offset_chars": 0,
        },
    }


def test_a_short_field_is_complete_in_one_window(reader: httpx.Client) -> None:
    found = window(reader, field="remark")["window"]
    assert found["text"] == "A gift from Inês"
    assert (found["complete"], found["has_more"]) == (True, False)
    assert found["next_offset_chars"] is None
    assert found["previous_offset_chars"] is None


@pytest.mark.scenario("S014")
def test_a_long_field_is_read_in_bounded_windows_to_its_end(
    demo: World, everything: httpx.Client
) -> None:
    connection_id, stream, key = AWKWARD["long_document"]
    record = f"/v1/streams/{stream}/records/{key}"
    params: dict[str, Any] = {"connection_id": connection_id, "field": "body"}
    first = window(everything, record, **params)
    assert first["window"]["limit_chars"] == 4_096
    assert (first["window"]["complete"], first["window"]["has_more"]) == (False, True)
    assert first["window"]["total_chars"] > 200_000
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        body = window(everything, record, **params, offset_chars=offset, limit_chars=16_384)
        assert body["digest"] == first["digest"]
        assert body["window"]["start_chars"] == offset
        parts.append(body["window"]["text"])
        offset = body["window"]["next_offset_chars"]
    whole = everything.get(record, params={"connection_id": connection_id}).json()["data"]["body"]
    assert "".join(parts) == whole
    assert digest(whole) == first["digest"]


@pytest.mark.parametrize("name", ["emoji", "combining_marks", "zero_width", "chinese", "crlf"])
def test_offsets_count_code_points(everything: httpx.Client, name: str) -> None:
    connection_id, stream, key = AWKWARD[name]
    record = f"/v1/streams/{stream}/records/{key}"
    data = everything.get(record, params={"connection_id": connection_id}).json()["data"]
    field = max(("body", "text"), key=lambda field: len(data.get(field) or ""))
    for offset in range(0, len(data[field]), 5):
        params = {"connection_id": connection_id, "field": field, "offset_chars": offset}
        found = window(everything, record, **params, limit_chars=3)["window"]
        assert found["text"] == data[field][offset : offset + 3]


def test_an_offset_past_the_end_gives_an_empty_window_there(reader: httpx.Client) -> None:
    found = window(reader, offset_chars=10_000)["window"]
    assert (found["text"], found["start_chars"]) == ("", len(TEXT))
    assert found["has_more"] is False


def test_a_query_centres_the_first_match_and_lists_all(reader: httpx.Client) -> None:
    found = window(reader, q="quay", before_chars=5, after_chars=4)["window"]
    start = TEXT.index("quay")
    assert found["text"] == TEXT[start - 5 : start + 8]
    assert (found["match_start_chars"], found["match_end_chars"]) == (start, start + 4)
    assert found["match_count"] == len(found["matches"]) == 12
    for match in found["matches"]:
        assert TEXT[match["start_chars"] : match["end_chars"]] == "quay"


def test_no_more_than_twenty_matches_are_listed(everything: httpx.Client) -> None:
    connection_id, stream, key = AWKWARD["long_document"]
    params = {"connection_id": connection_id, "field": "body", "q": "the"}
    found = window(everything, f"/v1/streams/{stream}/records/{key}", **params)["window"]
    assert len(found["matches"]) == 20 < found["match_count"]


def test_other_forms_of_a_word_are_found_where_the_word_itself_is_not(
    everything: httpx.Client,
) -> None:
    asked = {"connection_id": "cin_home", "field": "body"}
    path = "/v1/streams/messages/records/m-invoice-4471"
    found = window(everything, path, **asked, q="invoices")["window"]
    text = everything.get(path, params={"connection_id": "cin_home"}).json()["data"]["body"]
    assert text[found["match_start_chars"] : found["match_end_chars"]] == "invoice"
    assert found["match_count"] == 1
    refusal(everything, 404, "not_found", path, **asked, q='"invoices"')


def test_words_that_the_field_lacks_are_not_found(reader: httpx.Client) -> None:
    error = refusal(reader, 404, "not_found", q="gift")
    assert error["param"] == "q"
    assert "offset_chars" in error["message"]


@pytest.mark.parametrize(
    ("params", "param"),
    [
        ({"offset_chars": -1}, "offset_chars"),
        ({"limit_chars": 0}, "limit_chars"),
        ({"limit_chars": 16_385}, "limit_chars"),
        ({"limit_chars": "all"}, "limit_chars"),
        ({"q": "quay", "before_chars": 8_193}, "before_chars"),
        ({"q": "quay", "after_chars": -1}, "after_chars"),
        ({"q": "quay", "offset_chars": 0}, "q"),
        ({"q": "quay", "limit_chars": 10}, "q"),
        ({"before_chars": 10}, "q"),
        ({"after_chars": 10}, "q"),
    ],
)
def test_a_window_that_cannot_be_is_refused(
    reader: httpx.Client, params: dict[str, Any], param: str
) -> None:
    assert refusal(reader, 400, "invalid_window", **params)["param"] == param


def test_the_largest_bounds_are_served(reader: httpx.Client) -> None:
    assert window(reader, limit_chars=16_384)["window"]["complete"] is True
    around = window(reader, q="quay", before_chars=8_192, after_chars=8_192)
    assert around["window"]["complete"] is True


@pytest.mark.parametrize(
    ("field", "kind", "value"),
    [
        ("pages", "integer", 300),
        ("price", "number", 12.5),
        ("in_print", "boolean", True),
        ("extra", "json", {"tags": ["sea", "night"], "weight": 1.5}),
    ],
)
def test_a_value_that_is_not_text_is_read_as_its_json(
    reader: httpx.Client, field: str, kind: str, value: object
) -> None:
    body = window(reader, field=field)
    assert body["field"] == {"path": field, "type": kind}
    assert orjson.loads(body["window"]["text"]) == value


def test_json_is_searched_and_sliced_like_text(reader: httpx.Client) -> None:
    found = window(reader, field="extra", q="night", before_chars=0, after_chars=0)["window"]
    assert found["text"] == "night"


@pytest.mark.scenario("S014")
def test_a_text_blob_is_read_decoded(reader: httpx.Client) -> None:
    body = window(reader, "/v1/streams/books/records/b2", field="cover", limit_chars=10)
    assert body["field"] == {
        "path": "cover",
        "type": "blob",
        "media_type": "text/plain; charset=utf-8",
    }
    assert body["window"]["text"] == LEAFLET[:10]
    assert body["window"]["total_chars"] == len(LEAFLET)
    assert body["digest"] == digest(LEAFLET)
    around = window(reader, "/v1/streams/books/records/b2", field="cover", q="lantern")["window"]
    assert LEAFLET[around["match_start_chars"] : around["match_end_chars"]] == "lantern"


@pytest.mark.scenario("S006")
@pytest.mark.scenario("S014")
def test_a_binary_blob_is_told_about_and_not_shown(reader: httpx.Client) -> None:
    error = refusal(reader, 422, "field_not_text", field="cover")
    assert (error["media_type"], error["size_bytes"]) == ("image/png", len(COVER))
    assert error["blob_route"] == f"/v1/blobs/{error['sha256']}"
    assert error["param"] == "field"
    assert reader.get(error["blob_route"]).content == COVER


@pytest.mark.scenario("S006")
def test_base64_in_a_text_field_is_told_about_and_not_shown(everything: httpx.Client) -> None:
    connection_id, stream, key = AWKWARD["base64_whole_field"]
    record = f"/v1/streams/{stream}/records/{key}"
    data = everything.get(record, params={"connection_id": connection_id}).json()["data"]
    field = max(data, key=lambda name: len(str(data[name])))
    error = refusal(
        everything, 422, "field_not_text", record, connection_id=connection_id, field=field
    )
    assert error["size_bytes"] > 0
    assert len(error["sha256"]) == 64
    assert data[field][:40] not in str(error)


def test_a_declared_binary_field_is_never_text(shelf: World) -> None:
    shelf.put("home", "books", book("b7", 7, scan="plain words"))
    error = refusal(
        shelf.client(), 422, "field_not_text", "/v1/streams/books/records/b7", field="scan"
    )
    assert error["size_bytes"] == len("plain words")
    assert "blob_route" not in error


def test_a_blob_that_was_never_stored_is_told_about_as_the_record_does(shelf: World) -> None:
    reference = {"blob_id": "0" * 64, "mime_type": "text/plain", "size_bytes": 5, "sha256": "0"}
    shelf.put("home", "books", book("b7", 7, cover=reference))
    path = "/v1/streams/books/records/b7"
    error = refusal(shelf.client(), 422, "field_not_text", path, field="cover")
    assert (error["media_type"], error["size_bytes"]) == ("text/plain", 5)


def test_a_text_blob_above_the_limit_is_told_about(tmp_path: Path) -> None:
    with living(library_store(tmp_path), replace(UNLIMITED, text_blob_bytes=8)) as world:
        path = "/v1/streams/books/records/b2"
        error = refusal(world.client(), 422, "field_not_text", path, field="cover")
    assert error["media_type"].startswith("text/plain")
    assert error["blob_route"]


def test_a_text_blob_that_is_no_utf8_is_still_text(shelf: World) -> None:
    reference = keep(shelf.store, b"caf\xe9", "text/plain")
    shelf.put("home", "books", book("b7", 7, cover=reference))
    found = window(shelf.client(), "/v1/streams/books/records/b7", field="cover")["window"]
    assert found["text"] == "caf\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(("key", "field"), [("b2", "text"), ("b5", "title")])
def test_a_field_without_a_value_is_not_found(reader: httpx.Client, key: str, field: str) -> None:
    path = f"/v1/streams/books/records/{key}"
    assert refusal(reader, 404, "not_found", path, field=field)["param"] == "field"


def test_a_field_that_does_not_exist_is_refused(reader: httpx.Client) -> None:
    refusal(reader, 400, "unknown_field", field="words")
    answer = reader.get(f"{BOOK}/field-window?connection_id=home")
    assert refused(answer, 400, "invalid_request")["param"] == "field"


def test_a_hidden_field_is_refused_like_one_that_does_not_exist(library: World) -> None:
    client = library.granted(Selection(connections=("home",), fields=("id", "title")))
    hidden = refusal(client, 403, "field_not_granted", field="remark")
    absent = refusal(client, 403, "field_not_granted", field="remerk")
    assert hidden["message"].replace("remark", "remerk") == absent["message"]


def test_a_record_that_is_not_there_has_no_window(library: World, reader: httpx.Client) -> None:
    refusal(reader, 404, "not_found", "/v1/streams/books/records/none")
    limited = library.client(connections=("home",), keys=("b2",))
    refusal(limited, 404, "not_found")


def test_a_window_of_a_key_that_two_connections_hold_is_ambiguous(reader: httpx.Client) -> None:
    refused(reader.get(f"{BOOK}/field-window?field=title"), 409, "ambiguous_connection")


def test_a_text_file_that_is_gone_is_described(shelf: World) -> None:
    [gone] = [blob for blob in shelf.store.blobs() if blob.media_type.startswith("text/")]
    damage_blob(shelf.store, gone, None)
    with shelf.client() as reader:
        answer = reader.get(
            "/v1/streams/books/records/b2/field-window",
            params={"field": "cover", "connection_id": "home"},
        )
    assert refused(answer, 422, "field_not_text")["blob_id"] == gone.blob_id
