"""Blobs as handles: windows of their text, facts about the rest, and nothing else beside the id."""

from typing import Any

import pytest
from tests.mcp.client import TRANSPORTS, Client, Estate
from tests.mcp.post import FIRST, LEAFLET, letter
from tests.mcp.sight import SIGHTS, see
from tests.serving import keep, put

from pdpp.evidence.handle import blob_uri
from pdpp.mcp.drawing.error import error_result
from pdpp.mcp.reading import blob
from pdpp.model.errors import UnknownField


@pytest.fixture(params=TRANSPORTS)
def reader(request: pytest.FixtureRequest, post: Estate, post_token: str) -> Client:
    """A client of each transport."""
    return post.client(request.param, post_token)


def kept(post: Estate, content: bytes, media_type: str) -> str:
    """Keep a blob that a letter shows, and return its address."""
    reference = keep(post.store, content, media_type)
    key = f"with-{reference['blob_id'][:12]}"
    put(post.store, FIRST, "letters", letter(key, "See the file.", 5, leaflet=reference))
    return blob_uri(reference["blob_id"])


def test_a_window_of_a_text_is_exactly_the_slice_of_it(post: Estate, reader: Client) -> None:
    uri = kept(post, LEAFLET.encode(), "text/plain")
    asked = {"id": uri, "offset_chars": 100, "limit_chars": 50}
    found = reader.good("read_record_field", asked)
    assert found.structured["window"]["text"] == LEAFLET[100:150]
    assert "source" not in found.structured
    assert found.text.startswith(f"{see(found, 'content').calls[0].arguments['id']} · content")
    for sight in SIGHTS:
        onward, before = see(found, sight).calls
        assert onward.arguments == {"id": uri, "offset_chars": 150}
        assert before.arguments == {"id": uri, "offset_chars": 0, "limit_chars": 100}


def test_words_are_found_in_a_text(post: Estate, reader: Client) -> None:
    uri = kept(post, LEAFLET.encode(), "text/plain")
    asked = {"id": uri, "query": '"line 77"', "before_chars": 0, "after_chars": 24}
    window = reader.good("read_record_field", asked).structured["window"]
    assert window["text"] == "Line 77 of the leaflet about he"
    refused = reader.refused("not_found", "read_record_field", {"id": uri, "query": "zebra"})
    again = see(refused, "content").shown("read_record_field")
    assert again.arguments == {"id": uri}
    reader.good(again.tool, again.arguments)


def test_a_byte_order_mark_shifts_no_offset(post: Estate, reader: Client) -> None:
    uri = kept(post, b"\xef\xbb\xbf" + LEAFLET.encode(), "text/plain")
    document = reader.good("fetch", {"id": uri}).structured
    onward = document["metadata"]["truncation"]["read_record_field"]
    rest = reader.good("read_record_field", onward).structured["window"]["text"]
    assert (document["text"] + rest).startswith(LEAFLET[:8_000])


def test_what_is_no_text_is_described(post: Estate, reader: Client) -> None:
    uri = kept(post, b"\x89PNG\r\n\x1a\n" + bytes(600), "image/png")
    found = reader.good("read_record_field", {"id": uri})
    assert found.structured["binary"]["media_type"] == "image/png"
    assert found.structured["binary"]["size_bytes"] == 608
    assert "window" not in found.structured
    about = see(found, "content").shown("fetch")
    assert reader.good(about.tool, about.arguments).structured["id"] == uri


def test_an_empty_text_is_empty(post: Estate, reader: Client) -> None:
    uri = kept(post, b"", "text/plain")
    assert reader.good("fetch", {"id": uri}).structured["metadata"]["size_bytes"] == 0


def test_a_text_too_large_for_windows_is_described(
    post: Estate, post_token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdpp.mcp.tools.read_record_field.MOST_BYTES", 1_000)
    uri = kept(post, LEAFLET.encode(), "text/plain")
    found = post.client("http-legacy", post_token).good("read_record_field", {"id": uri})
    assert found.structured["binary"]["size_bytes"] == len(LEAFLET)
    assert blob.MOST_BYTES > 1_000


@pytest.mark.parametrize(
    "beside", [{"field_path": "body"}, {"connection_id": FIRST}, {"stream": "x", "record_id": "y"}]
)
def test_a_blob_is_named_by_its_id_alone(
    post: Estate, reader: Client, beside: dict[str, Any]
) -> None:
    with post.recorder.listening() as sent:
        reader.refused("invalid_request", "read_record_field", {"id": blob_uri("x"), **beside})
    assert sent == []


def test_an_error_about_a_blob_names_no_stream() -> None:
    error = UnknownField("There is none.", param="field")
    found: Any = error_result("read_record_field", {"id": blob_uri("x")}, error)
    assert found["structuredContent"]["next"] == [{"tool": "schema", "arguments": {}}]


@pytest.mark.parametrize("character", ["\U000e0041", "\x01"])
def test_a_text_that_grows_when_it_is_spelled_out_is_cut_to_fit(
    post: Estate, reader: Client, character: str
) -> None:
    uri = kept(post, (character * 6_000).encode(), "text/plain")
    document = reader.good("fetch", {"id": uri}).structured
    shown = len(document["text"])
    assert document["text"] == character * shown
    assert document["metadata"]["truncation"]["served_chars"] == shown > 1_000
    onward = document["metadata"]["truncation"]["read_record_field"]
    assert reader.good("read_record_field", onward).structured["window"]["start_chars"] == shown
