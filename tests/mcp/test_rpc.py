import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.mcp.kernel import rpc

FINITE = st.floats(allow_nan=False, allow_infinity=False)
ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(ANY_JSON)
def test_every_json_value_is_parsed_to_itself(value: Any) -> None:
    assert rpc.parse(json.dumps(value).encode()) == json.loads(json.dumps(value))


@given(st.binary())
def test_any_bytes_are_json_or_a_parse_error(text: bytes) -> None:
    try:
        parsed = rpc.parse(text)
    except rpc.RpcError as raised:
        code = raised.code
    else:
        assert json.loads(json.dumps(parsed, allow_nan=False)) == parsed
        code = rpc.PARSE_ERROR
    assert code == rpc.PARSE_ERROR


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"NaN",
        b"-Infinity",
        b'"\xff"',
        b"\xef\xbb\xbf{}",
        "{}".encode("utf-16"),
        b"[" * 200_000,
        b'{"id":' + b"9" * 10_000 + b"}",
    ],
    ids=repr,
)
def test_what_is_no_utf8_json_is_a_parse_error_without_an_id(text: bytes) -> None:
    with pytest.raises(rpc.RpcError) as caught:
        rpc.parse(text)
    answer: Any = caught.value.answer()
    assert (answer["id"], answer["error"]["code"]) == (None, rpc.PARSE_ERROR)


@pytest.mark.parametrize("id", [None, True, False, 1.5, 1.0, [], {}], ids=repr)
def test_an_id_that_is_no_string_or_integer_is_refused_without_an_id(id: object) -> None:
    with pytest.raises(rpc.RpcError) as caught:
        rpc.read({"jsonrpc": "2.0", "id": id, "method": "ping"})
    answer: Any = caught.value.answer()
    assert (answer["id"], answer["error"]["code"]) == (None, rpc.INVALID_REQUEST)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"id": 5, "method": "ping"}, rpc.INVALID_REQUEST),
        ({"jsonrpc": "1.0", "id": 5, "method": "ping"}, rpc.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 5}, rpc.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 5, "method": 7}, rpc.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 5, "method": "ping", "params": [1]}, rpc.INVALID_PARAMS),
    ],
)
def test_a_malformed_request_is_refused_under_its_own_id(message: object, code: int) -> None:
    with pytest.raises(rpc.RpcError) as caught:
        rpc.read(message)
    answer: Any = caught.value.answer()
    assert (answer["id"], answer["error"]["code"]) == (5, code)


@pytest.mark.parametrize("message", [[], [{}], "ping", 1, None, {"jsonrpc": "2.0"}], ids=repr)
def test_what_is_no_request_object_is_refused_without_an_id(message: object) -> None:
    with pytest.raises(rpc.RpcError) as caught:
        rpc.read(message)
    answer: Any = caught.value.answer()
    assert (answer["id"], answer["error"]["code"]) == (None, rpc.INVALID_REQUEST)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {}},
    ],
)
def test_notifications_and_responses_are_owed_no_answer(message: object) -> None:
    assert rpc.read(message) is None


def test_null_params_are_no_params() -> None:
    request = rpc.read({"jsonrpc": "2.0", "id": "a", "method": "ping", "params": None})
    assert request == rpc.RpcRequest("a", "ping", {})


@given(st.text())
def test_an_answer_is_one_line_of_utf8_that_reads_back(text: str) -> None:
    answer: Any = rpc.success(1, {"text": text})
    line = rpc.encode(answer)
    assert b"\n" not in line
    assert json.loads(line.decode("utf-8")) == answer


def test_a_lone_surrogate_in_an_answer_is_escaped() -> None:
    answer: Any = rpc.success("\ud800", {})
    assert json.loads(rpc.encode(answer).decode("utf-8")) == answer


@pytest.mark.parametrize("value", [object(), float("nan")], ids=["object", "nan"])
def test_an_answer_that_is_no_json_becomes_an_internal_error(
    value: object, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "pdpp.mcp"):
        answer = json.loads(rpc.encode(rpc.success(9, {"value": value})))
    assert (answer["id"], answer["error"]["code"]) == (9, rpc.INTERNAL_ERROR)
    assert "request 9" in caplog.text
