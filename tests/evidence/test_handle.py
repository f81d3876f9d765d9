import base64
from urllib.parse import quote

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.handle import (
    MAX_KEY_CHARS,
    MAX_PART_CHARS,
    Handle,
    WindowHandle,
    are_plain_keys,
    blob_uri,
    is_plain_key,
    key_problem,
    parse_blob_uri,
    parse_handle,
    parse_stream_uri,
    parse_window_uri,
    part_problem,
    record_uri,
    stream_uri,
    window_uri,
)
from pdpp.model.errors import InvalidRequest

KEYS = st.text(min_size=1, max_size=40).filter(lambda key: key_problem(key) is None)
PARTS = st.text(min_size=1, max_size=20).filter(lambda part: part_problem(part) is None)
HANDLES = st.builds(Handle, st.none() | PARTS, PARTS, KEYS)
WINDOWS = st.builds(
    WindowHandle,
    HANDLES,
    PARTS,
    st.none() | st.integers(0, 10**9),
    st.none() | st.integers(1, 16_384),
    st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)


def _wrapped(data: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(data)).decode()


@given(HANDLES)
def test_every_form_of_a_handle_names_the_same_record(handle: Handle) -> None:
    data = {
        "connection_id": handle.connection_id,
        "stream": handle.stream,
        "record_id": handle.record_id,
    }
    assert parse_handle(handle.id) == handle
    assert parse_handle(record_uri(handle)) == handle
    assert parse_handle("pdpp://record/" + _wrapped(data)) == handle
    assert parse_handle("pdpp://record/" + _wrapped(data).rstrip("=")) == handle


@given(WINDOWS)
def test_a_window_uri_comes_back_as_it_was(window: WindowHandle) -> None:
    assert parse_window_uri(window_uri(window)) == window
    assert "/" not in window_uri(window).removeprefix("pdpp://field-window/")


@given(PARTS)
def test_blob_and_stream_uris_come_back_as_they_were(name: str) -> None:
    assert parse_blob_uri(blob_uri(name)) == name
    assert parse_stream_uri(stream_uri(name)) == name


@given(st.text(max_size=60) | st.text(alphabet="ab/:.%2FeE", max_size=20))
def test_any_text_is_a_handle_or_refused(text: str) -> None:
    for prefix in ("", "pdpp://record/"):
        try:
            handle = parse_handle(prefix + text)
        except InvalidRequest:
            continue
        assert parse_handle(handle.id) == handle


def test_a_record_id_may_hold_what_a_stream_may_not() -> None:
    handle = parse_handle("work/messages:<a:b@x> ?q#%41")
    assert handle == Handle("work", "messages", "<a:b@x> ?q#%41")
    assert parse_handle(record_uri(handle)) == handle


def test_the_legacy_form_names_no_connection() -> None:
    assert parse_handle("messages:m:1") == Handle(None, "messages", "m:1")


def test_a_record_uri_may_hold_the_handle_as_it_is() -> None:
    assert parse_handle("pdpp://record/work/messages:m-1") == Handle("work", "messages", "m-1")


def test_an_encoded_web_address_is_a_good_key() -> None:
    assert key_problem(quote("https://example.org/a?b=c", safe="")) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no ':'"),
        ("messages", "no ':'"),
        ("work/messages", "no ':'"),
        (":m-1", "stream of this handle is empty"),
        ("messages:", "record id of this handle is empty"),
        ("/messages:m-1", "connection id of this handle is empty"),
        ("a/b/c:d", "more than one '/'"),
        ("work/messages:a/b", "more than one '/'"),
        ("work/messages:..", "'..'"),
        ("work/messages:%2e%2e", "'..'"),
        ("work/messages:%252e%252E%252fetc", "'..'"),
        ("../messages:x", "'..'"),
        ("./messages:x", "'.'"),
        ("work/messages:a\nb", "control character"),
        ("work/messages:a\x9fb", "control character"),
        ("work/messages:\ud800", "surrogate"),
        (" work/messages:a", "begins or ends with a space"),
        ("work/messages:" + "x" * 513, "longer than 512"),
        ("w" * 256 + "/messages:x", "longer than 255"),
        ("work/messages:" + "x" * 1024, "longer than 1024"),
        ("pdpp://record/", "no ':'"),
        ("pdpp://record/..%2F..%2Fetc", "more than one '/'"),
        ("pdpp://record/%ff%3Aa", "UTF-8"),
        ("pdpp://record/bm90IGpzb24", "not a JSON object"),
        ("pdpp://record/WzFd", "not a JSON object"),
        ("pdpp://record/A", "not a JSON object"),
        ("pdpp://record/" + _wrapped({"stream": "s", "record_id": 7}), "not a string"),
        ("pdpp://record/" + _wrapped({"stream": "a:b", "record_id": "x"}), "holds ':'"),
        ("pdpp://record/" + "x" * 20_000, "longer than 16384"),
        ("pdpp://blob/b-1", "not a pdpp://record/ URI"),
    ],
)
def test_a_bad_handle_is_refused_with_what_is_wrong_and_an_example(text: str, words: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        parse_handle(text)
    assert words in refusal.value.message
    assert "messages" in refusal.value.message.partition("looks like ")[2]
    assert refusal.value.param == "id"


def test_a_window_may_be_named_by_an_encoded_id_and_a_query() -> None:
    uri = "pdpp://field-window/work%2Fmessages%3Am-1?field=body&offset_chars=5&limit_chars=9&q=a+b"
    handle = Handle("work", "messages", "m-1")
    assert parse_window_uri(uri) == WindowHandle(handle, "body", 5, 9, "a b")
    other = _wrapped({"stream": "s", "record_id": "r", "field_path": "body", "query": "x"})
    window = WindowHandle(Handle(None, "s", "r"), "body", query="x")
    assert parse_window_uri("pdpp://field-window/" + other) == window


@pytest.mark.parametrize(
    ("tail", "words"),
    [
        ("s%3Ar", "names no field"),
        ("s%3Ar?field=", "names no field"),
        ("s%3Ar?field=a%00", "names no field"),
        ("s%3Ar?field=a&field=b", "twice"),
        ("s%3Ar?field=a&colour=b", "unknown 'colour'"),
        ("s%3Ar?field=%ff", "cannot be read"),
        ("s%3Ar?field=a&offset_chars=-1", "offset_chars is not a whole number of at least 0"),
        ("s%3Ar?field=a&limit_chars=0", "limit_chars is not a whole number of at least 1"),
        (_wrapped({"stream": "s", "record_id": "r", "field": "a", "offset_chars": True}), "whole"),
        (_wrapped({"stream": "s", "record_id": "r", "field": "a", "q": 1}), "q is not a string"),
    ],
)
def test_a_bad_window_uri_is_refused_with_what_is_wrong(tail: str, words: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        parse_window_uri("pdpp://field-window/" + tail)
    assert words in refusal.value.message


def test_a_bad_blob_or_stream_uri_is_refused() -> None:
    assert parse_blob_uri("pdpp://blob/sha256%3Aab") == "sha256:ab"
    for text in ("pdpp://blob/", "pdpp://blob/..", "pdpp://blob/a%2Fb"):
        with pytest.raises(InvalidRequest, match="pdpp://blob/b-1"):
            parse_blob_uri(text)
    for text in ("pdpp://stream/", "pdpp://stream/a%3Ab", "pdpp://record/a"):
        with pytest.raises(InvalidRequest, match="pdpp://stream/messages"):
            parse_stream_uri(text)


@pytest.mark.parametrize(
    "key", [None, 7, "", "a/b", ".", "..", "a\x00", "a\x7f", "a\x85", "\udfff", "x" * 513, "%2E."]
)
def test_a_key_that_no_handle_could_carry_is_refused_at_ingestion(key: object) -> None:
    assert key_problem(key)


@given(st.text("aZ9_-./%25e\x00é", max_size=8))
def test_a_key_is_judged_the_same_whatever_stands_beside(key: str) -> None:
    beside = key_problem(f"{key} é") if key not in ("", ".", "..") else "is refused"
    hidden = "hides" in str(key_problem(key)) and beside is None
    assert (key_problem(key) is None) == (beside is None) or hidden


def test_the_longest_parts_make_a_handle_that_parses() -> None:
    part, key = "p" * MAX_PART_CHARS, "k" * MAX_KEY_CHARS
    assert parse_handle(Handle(part, part, key).id) == Handle(part, part, key)
    assert part_problem("a:b") == "holds ':'"
    assert part_problem(None) == "is not a string"


@given(
    st.lists(
        st.text("aZ09_.-~/\n ", max_size=4)
        | st.sampled_from((".", "..", "a\nb", "x" * 512, "x" * 513, 5, None)),
        max_size=4,
    )
)
def test_some_keys_are_plain_where_each_of_them_is(keys: list[object]) -> None:
    assert are_plain_keys(keys) == (bool(keys) and all(map(is_plain_key, keys)))
