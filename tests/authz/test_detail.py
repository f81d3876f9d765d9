from typing import Any

import pytest
from tests.authz.asking import detail

from pdpp.authz.detail import Necessity, StreamRequest, parse_details
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import AccessMode, Interval

DAY = 86_400_000_000


def refusal(*details: Any) -> tuple[str, str]:
    with pytest.raises(InvalidRequest) as refused:
        parse_details(list(details))
    assert refused.value.code == "invalid_request"
    return refused.value.param or "", refused.value.message


def test_everything_a_client_may_say_is_read() -> None:
    asked = detail(
        {
            "name": "messages",
            "necessity": "optional",
            "fields": ["id", "subject"],
            "time_range": {"since": "1970-01-02", "until": "1970-01-03T00:00:00Z"},
            "resources": ["m1", "m2"],
            "connection_ids": ["home"],
        },
        {"name": "*", "view": "brief"},
        source={"kind": "connector", "id": "https://example.org/mail"},
        purpose_code="assistant",
        purpose_description=" To help. ",
        access_mode="single_use",
        retention="30 days",
        client_claims={"sells": False, "years": 2},
    )
    (found,) = parse_details([asked])
    assert (found.source, found.source_kind) == ("https://example.org/mail", "connector")
    assert (found.purpose_code, found.purpose) == ("assistant", "To help.")
    assert found.access_mode is AccessMode.SINGLE_USE
    assert found.claims == {"retention": "30 days", "client_claims": {"sells": False, "years": 2}}
    assert found.stream_requests == (
        StreamRequest(
            pointer="/0/streams/0",
            name="messages",
            necessity=Necessity.OPTIONAL,
            fields=("id", "subject"),
            time=Interval(DAY, 2 * DAY),
            keys=("m1", "m2"),
            connections=("home",),
        ),
        StreamRequest(pointer="/0/streams/1", name="*", view="brief"),
    )


def test_what_is_not_said_is_the_usual() -> None:
    (found,) = parse_details([detail()])
    assert (found.source, found.source_kind) == ("mail", None)
    assert (found.purpose_code, found.purpose, found.claims) == (None, "", {})
    assert found.access_mode is AccessMode.CONTINUOUS
    assert found.stream_requests == (StreamRequest("/0/streams/0", "messages"),)


def test_a_member_that_is_null_is_not_there() -> None:
    (found,) = parse_details([detail({"name": "messages", "fields": None, "view": None})])
    assert found.stream_requests == (StreamRequest("/0/streams/0", "messages"),)


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"type": "https://pdpp.dev/other"}, "/0/type"),
        ({"x_extra": 1}, "/0/x_extra"),
        ({"locations": []}, "/0/locations"),
        ({"source": 7}, "/0/source"),
        ({"source": ""}, "/0/source"),
        ({"source": {"kind": "connector"}}, "/0/source/id"),
        ({"source": {"id": "mail", "more": 1}}, "/0/source/more"),
        ({"access_mode": "forever"}, "/0/access_mode"),
        ({"purpose_code": "x" * 201}, "/0/purpose_code"),
        ({"purpose_description": "x" * 501}, "/0/purpose_description"),
        ({"purpose_description": ["x"]}, "/0/purpose_description"),
        ({"streams": []}, "/0/streams"),
        ({"streams": {}}, "/0/streams"),
        ({"streams": [{"name": "a"}] * 201}, "/0/streams"),
        ({"retention": ["30 days"]}, "/0/retention"),
        ({"retention": {"a": {"b": 1}}}, "/0/retention/a"),
        ({"client_claims": {"a": "x" * 501}}, "/0/client_claims/a"),
        ({"client_claims": {"a" * 201: 1}}, f"/0/client_claims/{'a' * 201}"),
        ({"client_claims": {f"a{n}": 1 for n in range(21)}}, "/0/client_claims"),
    ],
)
def test_what_a_request_gets_wrong_is_named_by_its_place(
    members: dict[str, Any], pointer: str
) -> None:
    assert refusal(detail(**members))[0] == pointer


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"name": 7}, "/name"),
        ({"name": ""}, "/name"),
        ({"extra": 1}, "/extra"),
        ({"necessity": "maybe"}, "/necessity"),
        ({"fields": []}, "/fields"),
        ({"fields": "id"}, "/fields"),
        ({"fields": ["id", "id"]}, "/fields/1"),
        ({"fields": [f"f{n}" for n in range(501)]}, "/fields"),
        ({"view": ""}, "/view"),
        ({"view": "brief", "fields": ["id"]}, "/view"),
        ({"resources": ["a/b"]}, "/resources/0"),
        ({"resources": [7]}, "/resources/0"),
        ({"connection_ids": ["a:b"]}, "/connection_ids/0"),
        ({"time_range": {}}, "/time_range"),
        ({"time_range": "2026"}, "/time_range"),
        ({"time_range": {"from": "2026-01-01"}}, "/time_range/from"),
        ({"time_range": {"since": "yesterday"}}, "/time_range/since"),
        ({"time_range": {"since": "2026-01-02", "until": "2026-01-01"}}, "/time_range"),
    ],
)
def test_what_a_wish_gets_wrong_is_named_by_its_place(
    members: dict[str, Any], pointer: str
) -> None:
    assert refusal(detail({"name": "messages", **members}))[0] == f"/0/streams/0{pointer}"


@pytest.mark.parametrize("missing", ["type", "source", "streams"])
def test_what_is_needed_must_be_there(missing: str) -> None:
    asked = detail()
    del asked[missing]
    assert refusal(asked)[0] == f"/0/{missing}"


def test_a_wish_needs_a_name() -> None:
    assert refusal(detail({"fields": ["id"]}))[0] == "/0/streams/0/name"


@pytest.mark.parametrize("document", [{}, "text", None, [], [7], ["a"]])
def test_details_are_a_list_of_objects(document: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_details(document)
    assert refused.value.param in ("", "/0")


def test_a_request_is_of_a_bounded_size() -> None:
    assert refusal(*[detail()] * 17) == ("", "Ask with at most 16 objects.")
    large = detail({"name": "messages", "resources": ["k" * 500 + str(n) for n in range(200)]})
    assert refusal(large) == ("", "authorization_details has at most 65536 bytes.")


def test_what_is_no_json_is_refused() -> None:
    assert refusal(object())[0] == ""


@pytest.mark.parametrize(
    "members",
    [
        {"purpose_code": "b"},
        {"purpose_description": "b"},
        {"access_mode": "single_use"},
        {"retention": "a year"},
        {"client_claims": {"sells": True}},
    ],
)
def test_the_objects_of_one_request_have_one_purpose(members: dict[str, Any]) -> None:
    assert len(parse_details([detail(), detail(source="notes")])) == 2
    pointer, message = refusal(detail(), detail(source="notes", **members))
    assert pointer == f"/1/{next(iter(members))}"
    assert "same" in message
