"""JSON from careless writers."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.sources.reading.jsontext import NotJson, read_json, scrub

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_json_is_read_as_it_is(value: Any) -> None:
    assert read_json(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'"half \\ud83d of it"', "half \ufffd of it"),
        (b'["bad \xff byte"]', ["bad \ufffd byte"]),
        (b'{"a": NaN, "b": Infinity}', {"a": None, "b": None}),
        (b'{"\\udc00": 1}', {"\ufffd": 1}),
    ],
)
def test_what_strict_readers_refuse_is_mended(text: bytes, value: Any) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [(b'{"a": ', "not JSON"), (b"", "not JSON"), (b"[" * 200_000, "JSON too deep")],
)
def test_what_is_no_json_is_told_without_repeating_it(text: bytes, words: str) -> None:
    with pytest.raises(NotJson, match=rf"\A{words}\Z"):
        read_json(text)


@given(VALUES)
def test_whatever_was_scrubbed_can_be_written(value: Any) -> None:
    json.dumps(scrub([value, "\ud800"])).encode()
    assert scrub(value) == value


def test_a_byte_order_mark_is_no_part_of_a_value() -> None:
    assert read_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
