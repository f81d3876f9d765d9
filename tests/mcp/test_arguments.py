"""Arguments are checked before anything is read, and a refusal shows how it is done."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mcp.host import Host, Inside, inside
from tests.mcp.post import declaration
from tests.mcp.shelf import NOTES
from tests.mcp.sight import object_calls, text_calls
from tests.serving import grant, planted_store

from pdpp.mcp.tools import given as given_types
from pdpp.mcp.tools.argument import ArgumentType
from pdpp.mcp.tools.definition import SIGNATURES, definition
from pdpp.model.errors import InvalidRequest

ID = "cin_n/notes:one"
FIELD = {"id": ID, "field_path": "body"}
VALID: dict[str, dict[str, Any]] = {
    "schema": {},
    "query_records": {"stream": "notes"},
    "aggregate": {"stream": "notes", "metric": "count"},
    "search": {"query": "kiln"},
    "fetch": {"id": ID},
    "read_record_field": FIELD,
}
WRONG: dict[ArgumentType, list[Any]] = {
    ArgumentType.TEXT: [1, True, {}, ["x"], 1.5, "\x00", "x" * 17_000, "\ud800"],
    ArgumentType.INTEGER: ["1", " ", 1.5, True, [], {}, -1, 10**20],
    ArgumentType.LIST: ["a", {}, [1], [""], ["a,b"], ["a[]"], [None], ["x"] * 101, 5],
    ArgumentType.FILTER: [
        "a=b",
        "",
        [],
        {},
        5,
        True,
        {"": 1},
        {"a[gte]": 1},
        {"filter[a]": 1},
        {"a": []},
        {"a": {}},
        {"a": None},
        {"a": {"eq": 1}},
        {"a": {"gte": []}},
        {"a": 1e308 * 10},
        {"a": 10**400},
        {"a": {"lt": -(10**400)}},
        {"a": "x" * 2000},
        {"a": {"gte": "\x00"}},
        {"a": {"gte": {"lt": 1}}},
        {"a": [1, 2]},
    ],
    ArgumentType.LIMITS: [
        "a=1",
        {},
        [],
        5,
        {"": 1},
        {"a[b]": 1},
        {"a": 0},
        {"a": "1"},
        {"a": True},
        {"a": None},
        {"a": 1.5},
        {"expand_limit[a]": 1},
    ],
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    folder: Path = tmp_path_factory.mktemp("arguments")
    rows = [{"id": "one", "title": "One", "body": "kiln"}]
    declared = declaration("shelf", NOTES)
    store = planted_store(folder, declared, {"cin_n": "Notes"}, {("cin_n", "notes"): rows})
    with inside(store) as made:
        yield made


@pytest.fixture(scope="module")
def host(world: Inside) -> Host:
    return world.host(grant(world.store))


def refusal(world: Inside, host: Host, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the error of a call that must be refused before anything is read."""
    world.targets()
    result = host.call(tool, arguments)
    assert result.is_error, result.text
    assert world.targets() == []
    error: dict[str, Any] = result.structured["error"]
    assert error["type"] == "invalid_request_error"
    assert "Nothing was read" in error["message"] or "looks like" in error["message"]
    return error


def test_the_calls_these_tests_spoil_are_good(host: Host) -> None:
    for tool, arguments in VALID.items():
        host.good(tool, arguments)


@pytest.mark.parametrize(
    ("tool", "name"), [(tool, name) for tool, made in SIGNATURES.items() for name in made.arguments]
)
def test_a_value_of_the_wrong_form_is_refused_with_a_correct_call(
    world: Inside, host: Host, tool: str, name: str
) -> None:
    argument = SIGNATURES[tool].arguments[name]
    for value in WRONG[argument.form]:
        error = refusal(world, host, tool, {**VALID[tool], name: value})
        assert error["param"] == name
        assert error["example"] is True


def test_the_call_shown_with_a_refusal_is_good_and_stands_there_once(host: Host) -> None:
    for tool, arguments in VALID.items():
        for name, argument in SIGNATURES[tool].arguments.items():
            result = host.call(tool, {**arguments, name: WRONG[argument.form][0]})
            [call] = object_calls(result.structured["next"])
            SIGNATURES[call.tool].check(call.arguments)
            assert result.text.count(f"{call.tool} {{") == 1
            assert f"{call.tool} {{" not in result.structured["error"]["message"]


EMPTY = [
    *(("connection_id", ""), ("streams", []), ("streams", "")),
    *(("cursor", ""), ("mode", ""), ("limit", "")),
]


@pytest.mark.parametrize(("name", "empty"), EMPTY)
def test_an_empty_value_means_not_given(host: Host, name: str, empty: Any) -> None:
    bare = host.good("search", {"query": "kiln"})
    assert host.good("search", {"query": "kiln", name: empty}).raw == bare.raw


def test_an_empty_value_does_not_do_for_what_is_required(world: Inside, host: Host) -> None:
    assert refusal(world, host, "search", {"query": ""})["param"] == "query"
    assert refusal(world, host, "query_records", {"stream": ""})["param"] == "stream"


def test_a_whole_number_may_be_written_with_a_point(world: Inside, host: Host) -> None:
    host.good("search", {"query": "kiln", "limit": 2.0})
    host.good("query_records", {"stream": "notes", "limit": 2.0})
    asked = [parse_qs(urlsplit(target).query) for target in world.targets()]
    assert [params["limit"] for params in asked if "limit" in params] == [["2"], ["2"]]
    refusal(world, host, "search", {"query": "kiln", "limit": 2.5})


def test_what_a_host_adds_for_itself_is_dropped_and_nothing_else(world: Inside, host: Host) -> None:
    host.good("search", {"query": "kiln", "wait_for_previous": True})
    assert "wait" not in "".join(world.targets())
    refusal(world, host, "search", {"query": "kiln", "wait_for_next": True})


def test_a_misspelt_name_is_put_right_beside_what_a_host_adds(host: Host) -> None:
    asked = {"strem": "notes", "limit": 2, "wait_for_previous": True}
    [shown] = object_calls(host.call("query_records", asked).structured)
    assert shown.arguments == {"stream": "notes", "limit": 2}


@pytest.mark.parametrize(
    ("tool", "asked", "shown"),
    [
        ("aggregate", {"stream": "notes"}, {"stream": "notes", "metric": "count"}),
        (
            "aggregate",
            {"stream": "notes", "metric": "avg", "field": "size"},
            {"stream": "notes", "metric": "count"},
        ),
        ("search", {"query": "kiln", "limit": "3"}, {"query": "kiln", "limit": 3}),
        ("search", {"query": "kiln", "limit": 100_000}, {"query": "kiln", "limit": 100}),
        ("search", {"query": "kiln", "streams": "notes"}, {"query": "kiln", "streams": ["notes"]}),
        (
            "query_records",
            {"stream": "notes", "fields": "title, body"},
            {"stream": "notes", "fields": ["title", "body"]},
        ),
        ("query_records", {"stream": "notes", "order": "up"}, {"stream": "notes"}),
        ("schema", {"stream": 5}, {}),
        ("read_record_field", {**FIELD, "limit_chars": "9"}, {**FIELD, "limit_chars": 9}),
    ],
)
def test_the_call_shown_with_a_refusal_is_the_callers_own_and_works(
    host: Host, tool: str, asked: dict[str, Any], shown: dict[str, Any]
) -> None:
    [call] = object_calls(host.call(tool, asked).structured["next"])
    assert call.arguments == shown
    host.good(tool, shown)


@pytest.mark.parametrize("name", ["id", "stream", "record_id", "field_path"])
def test_the_call_shown_names_a_record_and_a_field(host: Host, name: str) -> None:
    result = host.call("read_record_field", {**FIELD, name: 5})
    [call] = object_calls(result.structured["next"])
    assert call.arguments.keys() >= {"id", "field_path"}


def test_a_correct_call_is_shown_in_both_halves(host: Host) -> None:
    result = host.call("search", {"query": "x", "filter": "a=b"})
    [shown] = object_calls(result.structured.get("next"))
    assert shown.key in {call.key for call in text_calls(result.text)}


@pytest.mark.parametrize("tool", SIGNATURES)
def test_every_example_is_a_call_that_passes(tool: str) -> None:
    assert SIGNATURES[tool].check(SIGNATURES[tool].example) == SIGNATURES[tool].example


@pytest.mark.parametrize(
    ("tool", "wrong", "near"),
    [
        ("query_records", "strem", "stream"),
        ("query_records", "filters", "filter"),
        ("search", "q", "query"),
        ("search", "stream", "streams"),
        ("fetch", "record_id", None),
        ("fetch", "connection", "connection_id"),
        ("read_record_field", "field", "field_path"),
        ("aggregate", "groupby", "group_by"),
        ("schema", "streams", "stream"),
        ("schema", 'fetch {"id":"x:1"}', None),
    ],
)
def test_an_unknown_argument_is_named_with_the_nearest_one(
    world: Inside, host: Host, tool: str, wrong: str, near: str | None
) -> None:
    error = refusal(world, host, tool, {**VALID[tool], wrong: 1})
    assert error["param"] == wrong
    assert f"unknown argument {json.dumps(wrong)}" in error["message"]
    if near is not None:
        assert f"did you mean {near}?" in error["message"]
    assert all(name in error["message"] for name in SIGNATURES[tool].arguments)


@pytest.mark.parametrize("tool", [t for t, s in SIGNATURES.items() if VALID[t]])
def test_a_missing_argument_is_named(world: Inside, host: Host, tool: str) -> None:
    assert refusal(world, host, tool, {})["param"] in ("stream", "query", "id")


def test_null_stands_for_nothing(host: Host) -> None:
    host.good("search", {"query": "kiln", "filter": None, "cursor": None, "limit": None})


@pytest.mark.parametrize(
    "id",
    [
        "one",
        "notes:",
        ":one",
        "/notes:one",
        "cin_n/:one",
        "cin_n/notes:",
        "cin_n/notes",
        "a/b/c:d",
        "../notes:one",
        "cin_n/..:one",
        "cin_n/notes:..",
        "cin_n/notes:.",
        "cin_n/notes:%2e%2e",
        "cin_n/notes:a/b",
        "cin_n/notes:%252e%252e",
        "cin_n/no\ntes:x",
        "cin_n/notes:\x7f",
        "pdpp://record/",
        "pdpp://record/!!",
        "pdpp://record/%ff",
        "pdpp://record/e30",
        "pdpp://record/..%2f..%2fetc",
        "pdpp://other/x",
        "pdpp://",
        "PDPP://record/x",
        "https://data.example/v1/streams",
        "cin_n/ notes:one",
        "x" * 1100 + ":1",
    ],
)
def test_a_malformed_id_is_refused_before_the_server_is_asked(
    world: Inside, host: Host, id: str
) -> None:
    for tool in ("fetch", "read_record_field"):
        refusal(world, host, tool, {**VALID[tool], "id": id})


@pytest.mark.parametrize("uri", ["pdpp://blob/", "pdpp://blob/..", "pdpp://blob/a%2Fb"])
def test_a_malformed_blob_address_is_refused(world: Inside, host: Host, uri: str) -> None:
    refusal(world, host, "fetch", {"id": uri})


@pytest.mark.parametrize(
    "stream", ["../owner", "a/b", "..", ".", "%2e%2e", "a:b", " notes", "a\nb"]
)
def test_a_stream_that_is_a_way_elsewhere_is_refused(
    world: Inside, host: Host, stream: str
) -> None:
    for tool in ("schema", "query_records", "aggregate"):
        refusal(world, host, tool, {**VALID[tool], "stream": stream})
    named = {"stream": stream, "record_id": "one", "field_path": "body"}
    refusal(world, host, "read_record_field", named)


@pytest.mark.parametrize(
    "arguments",
    [
        {"id": ID, "connection_id": "cin_other", "field_path": "body"},
        {"id": ID, "stream": "notes", "field_path": "body"},
        {"id": ID, "record_id": "one", "field_path": "body"},
        {"stream": "notes", "field_path": "body"},
        {"record_id": "one", "field_path": "body"},
        {"field_path": "body"},
        {"stream": "a:b", "record_id": "one", "field_path": "body"},
        {"stream": "notes", "record_id": "a/b", "field_path": "body"},
        {"connection_id": "a/b", "stream": "notes", "record_id": "one", "field_path": "body"},
        {"id": ID},
        {**FIELD, "offset_chars": 0, "query": "kiln"},
        {**FIELD, "offset_chars": 0, "cursor": "5"},
        {**FIELD, "cursor": "5", "query": "kiln"},
        {**FIELD, "cursor": "five"},
        {**FIELD, "cursor": "9" * 13},
        {**FIELD, "query": "kiln", "limit_chars": 5},
        {**FIELD, "before_chars": 5},
        {**FIELD, "limit_chars": 16_385},
        {**FIELD, "query": "kiln", "after_chars": 8_193},
        {"id": "pdpp://field-window/cin_n%2Fnotes%3Aone?field=body", "field_path": "title"},
        {"id": "pdpp://field-window/cin_n%2Fnotes%3Aone?field=body", "connection_id": "cin_x"},
        {"id": "pdpp://field-window/cin_n%2Fnotes%3Aone"},
        {"id": "pdpp://field-window/e30"},
    ],
)
def test_a_field_read_that_contradicts_itself_is_refused(
    world: Inside, host: Host, arguments: dict[str, Any]
) -> None:
    refusal(world, host, "read_record_field", arguments)


def test_an_id_and_the_same_connection_beside_it_agree(host: Host) -> None:
    for id in (ID, "notes:one", "pdpp://record/cin_n%2Fnotes%3Aone", "pdpp://record/notes%3Aone"):
        found = host.good("fetch", {"id": id, "connection_id": "cin_n"})
        assert found.structured["id"] == ID
    error = host.refused("invalid_request", "fetch", {"id": ID, "connection_id": "cin_x"})
    assert "cin_x" in error["message"]


def test_a_cursor_continues_a_field(host: Host) -> None:
    found = host.good("read_record_field", {**FIELD, "cursor": "2"})
    assert found.structured["window"]["text"] == "ln"
    parts = {"connection_id": "cin_n", "stream": "notes", "record_id": "one", "field_path": "body"}
    assert host.good("read_record_field", parts).structured["window"]["text"] == "kiln"


def test_full_detail_needs_a_stream(world: Inside, host: Host) -> None:
    assert refusal(world, host, "schema", {"detail": "full"})["param"] == "stream"


def composed(schema: Any) -> set[str]:
    """Return the words of composition in a schema."""
    if isinstance(schema, list):
        return {word for item in schema for word in composed(item)}
    if not isinstance(schema, dict):
        return set()
    words = {"anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "if", "then", "else"}
    union = {"union"} if isinstance(schema.get("type"), list) else set()
    return (words & schema.keys()) | union | {word for v in schema.values() for word in composed(v)}


@pytest.mark.parametrize("tool", SIGNATURES)
def test_the_schemas_are_flat(tool: str) -> None:
    made: Any = definition(tool)
    assert composed(made["inputSchema"]) == set()
    assert composed(made["outputSchema"]) <= {"union"}
    assert made["inputSchema"]["additionalProperties"] is False
    assert made["annotations"]["readOnlyHint"] is True


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


@given(st.data())
def test_whatever_is_sent_the_check_passes_it_or_refuses_it(data: st.DataObject) -> None:
    signature = SIGNATURES[data.draw(st.sampled_from(sorted(SIGNATURES)))]
    names = st.sampled_from([*signature.arguments, "other"])
    sent = data.draw(st.dictionaries(names, ANY, max_size=4))
    with suppress(InvalidRequest):
        checked = signature.check(sent)
        assert checked == {
            name: value
            for name, value in sent.items()
            if value is not None and value not in ("", [])
        }


def test_the_types_of_checked_arguments_are_those_that_are_declared() -> None:
    types: dict[str, Any] = {
        "schema": given_types.SchemaArguments,
        "query_records": given_types.QueryArguments,
        "aggregate": given_types.AggregateArguments,
        "search": given_types.SearchArguments,
        "fetch": given_types.FetchArguments,
        "read_record_field": given_types.FieldArguments,
    }
    assert types.keys() == SIGNATURES.keys()
    forms: dict[Any, ArgumentType] = {
        str: ArgumentType.TEXT,
        int: ArgumentType.INTEGER,
        list[str]: ArgumentType.LIST,
        given_types.Filter: ArgumentType.FILTER,
        Mapping[str, int]: ArgumentType.LIMITS,
    }
    for tool, signature in SIGNATURES.items():
        hints = get_type_hints(types[tool])
        declared = {name: argument.form for name, argument in signature.arguments.items()}
        assert {name: forms[hint] for name, hint in hints.items()} == declared
        required = {name for name, argument in signature.arguments.items() if argument.required}
        assert types[tool].__required_keys__ == required
