import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mcp.launch import META, VERSION

from pdpp.mcp.kernel import protocol, rpc
from pdpp.mcp.kernel.rpc import RpcError, RpcRequest


def request(method: str = "tools/list", meta: object = META, **params: Any) -> RpcRequest:
    return RpcRequest(1, method, {"_meta": meta, **params})


def headers(method: str = "tools/list", version: str = VERSION, **more: str) -> dict[str, str]:
    return {"mcp-protocol-version": version, "mcp-method": method, **more}


def code_of(request: RpcRequest, headers: dict[str, str] | None) -> int:
    with pytest.raises(RpcError) as caught:
        protocol.check_envelope(request, headers)
    return caught.value.code


@pytest.mark.parametrize("version", protocol.LEGACY_VERSIONS)
def test_a_handshake_settles_on_the_client_s_own_revision(version: str) -> None:
    assert protocol.negotiate(version) == version


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", ""])
def test_a_handshake_for_another_revision_settles_on_the_newest_with_a_handshake(
    version: str,
) -> None:
    assert protocol.negotiate(version) == "2025-11-25"


@pytest.mark.parametrize("version", [None, 3, []], ids=repr)
def test_a_handshake_names_its_revision_with_a_string(version: object) -> None:
    with pytest.raises(RpcError) as caught:
        protocol.negotiate(version)
    assert caught.value.code == rpc.INVALID_PARAMS


@pytest.mark.parametrize(
    ("method", "params", "sent", "modern"),
    [
        ("tools/list", {}, None, False),
        ("tools/list", {}, {}, False),
        ("tools/list", {}, {"mcp-protocol-version": "2025-06-18"}, False),
        ("tools/list", {"_meta": {"progressToken": 1}}, None, False),
        ("tools/list", {"_meta": META}, None, True),
        ("tools/list", {"_meta": META}, {"mcp-protocol-version": "2025-06-18"}, True),
        ("tools/list", {}, {"mcp-protocol-version": VERSION}, True),
        ("tools/list", {}, {"mcp-protocol-version": "1999-01-01"}, True),
        ("server/discover", {}, None, True),
        ("tools/list", [], None, False),
        ("tools/list", {"_meta": 3}, None, False),
    ],
)
def test_the_era_is_decided_by_each_message(
    method: str, params: object, sent: dict[str, str] | None, modern: bool
) -> None:
    assert protocol.is_modern(method, params, sent) is modern


def test_an_envelope_yields_the_revision_and_the_capabilities() -> None:
    meta = {**META, protocol.META_CAPABILITIES: {"roots": {}}}
    assert protocol.check_envelope(request(meta=meta), None) == (VERSION, {"roots": {}})
    assert protocol.check_envelope(request(meta=meta), headers()) == (VERSION, {"roots": {}})


@pytest.mark.parametrize(
    "meta",
    [
        None,
        {},
        {protocol.META_VERSION: VERSION},
        {protocol.META_CAPABILITIES: {}},
        {protocol.META_VERSION: 7, protocol.META_CAPABILITIES: {}},
        {protocol.META_VERSION: VERSION, protocol.META_CAPABILITIES: []},
    ],
    ids=repr,
)
def test_an_envelope_without_its_parts_is_invalid_params(meta: object) -> None:
    assert code_of(request(meta=meta), None) == rpc.INVALID_PARAMS
    assert code_of(request(meta=meta), headers()) == rpc.INVALID_PARAMS


@pytest.mark.parametrize("version", ["2025-11-25", "v999"])
def test_an_unsupported_revision_names_those_that_are(version: str) -> None:
    meta = {**META, protocol.META_VERSION: version}
    for sent in (None, headers(version=version)):
        with pytest.raises(RpcError) as caught:
            protocol.check_envelope(request(meta=meta), sent)
        assert caught.value.code == protocol.UNSUPPORTED_VERSION
        assert caught.value.data == {"supported": [VERSION], "requested": version}


def test_an_unknown_revision_header_is_unsupported_even_without_an_envelope() -> None:
    assert code_of(request(meta=None), headers(version="v9")) == protocol.UNSUPPORTED_VERSION


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"mcp-method": "tools/list"},
        {"mcp-protocol-version": VERSION},
        headers(version="2025-11-25"),
        headers("TOOLS/LIST"),
        headers(version=f"{VERSION}, {VERSION}"),
    ],
    ids=repr,
)
def test_headers_that_differ_from_the_message_are_a_mismatch(sent: dict[str, str]) -> None:
    assert code_of(request(), sent) == protocol.HEADER_MISMATCH


@pytest.mark.parametrize(
    ("method", "key"), [("tools/call", "name"), ("resources/read", "uri"), ("prompts/get", "name")]
)
def test_the_name_header_repeats_the_name_in_the_message(method: str, key: str) -> None:
    named = request(method, **{key: "echo"})
    protocol.check_envelope(named, headers(method, **{"mcp-name": "echo"}))
    for more in (
        {},
        {"mcp-name": "Echo"},
        {"mcp-name": "=?base64?!?="},
        {"mcp-name": "=?base64?/w==?="},
    ):
        assert code_of(named, headers(method, **more)) == protocol.HEADER_MISMATCH


@given(st.text())
def test_the_name_header_may_be_base64(name: str) -> None:
    header = f"=?base64?{base64.b64encode(name.encode()).decode()}?="
    named = request("tools/call", name=name)
    protocol.check_envelope(named, headers("tools/call", **{"mcp-name": header}))


def test_a_message_without_a_name_needs_no_name_header() -> None:
    protocol.check_envelope(request("tools/call"), headers("tools/call"))


@pytest.mark.parametrize(
    ("code", "legacy", "modern"),
    [
        (rpc.PARSE_ERROR, 400, 400),
        (rpc.INVALID_REQUEST, 400, 400),
        (rpc.INVALID_PARAMS, 200, 400),
        (rpc.METHOD_NOT_FOUND, 200, 404),
        (rpc.INTERNAL_ERROR, 200, 200),
        (protocol.LEGACY_RESOURCE_NOT_FOUND, 200, 200),
        (protocol.HEADER_MISMATCH, 200, 400),
        (protocol.MISSING_CAPABILITY, 200, 400),
        (protocol.UNSUPPORTED_VERSION, 400, 400),
    ],
)
def test_an_error_travels_with_the_status_of_its_era(code: int, legacy: int, modern: int) -> None:
    answer = rpc.failure(1, code, "")
    assert (protocol.status(answer, False), protocol.status(answer, True)) == (legacy, modern)


def test_a_result_travels_with_200() -> None:
    assert protocol.status(rpc.success(1, {}), True) == 200
