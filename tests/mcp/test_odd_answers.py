"""Answers that only look like the protocol: what is missing is said, and nothing is made up."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from tests.mcp.client import Result
from tests.mcp.host import Host, KernelWire
from tests.mcp.sight import object_calls

from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.transport import HttpReply

CONNECTOR: dict[str, Any] = {
    "connector_key": "mail",
    "granted_connections": [{"connection_id": "c", "display_name": "Mail"}],
    "streams": [{"name": "m", "field_capabilities": {"body": "declared"}}],
}
SCHEMA = {"object": "schema", "detail": "compact", "connectors": [CONNECTOR]}
RECORD = {"stream": "m", "connection_id": "c"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("schema", {}),
    ("query_records", {"stream": "m"}),
    ("aggregate", {"stream": "m", "metric": "count"}),
    ("search", {"query": "a"}),
    ("fetch", {"id": "c/m:1"}),
    ("read_record_field", {"id": "c/m:1", "field_path": "body"}),
]


class OddServer:
    """A server that answers everything but the schema in one way."""

    origin = "https://odd.example"

    def __init__(self, body: Any, schema: Any = SCHEMA, status: int = 200) -> None:
        self.body, self.schema, self.status = body, schema, status

    async def send(self, _method: str, target: str, _headers: Mapping[str, str]) -> HttpReply:
        """Answer one request."""
        body, status = self.body, self.status
        if target.startswith("/v1/schema"):
            body, status = self.schema, 200
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return HttpReply(status, {"content-type": "application/json"}, content)


def ask(server: OddServer, tool: str, arguments: dict[str, Any]) -> Result:
    reader = GrantReader(ResourceClient(server, "t"), {}, "key")
    wire = KernelWire(lambda: reader)
    try:
        return Host(wire).call(tool, arguments)
    finally:
        wire.close()


@pytest.mark.parametrize("body", [{}, {"data": None, "window": None}, [], 7, "x", None, b"", b"{"])
@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_an_answer_without_what_was_asked_for_is_no_empty_success(
    tool: str, arguments: dict[str, Any], body: Any
) -> None:
    found = ask(OddServer(body, schema=body), tool, arguments)
    assert found.code == "unexpected_answer"
    assert "Nothing was read" in found.text


@pytest.mark.parametrize(
    "hit",
    [{}, {"record_key": "1"}, {"stream": "m"}, dict.fromkeys(("id", "stream", "record_key"))],
)
def test_a_hit_that_names_no_record_is_told_and_not_shown(hit: dict[str, Any]) -> None:
    good = {**RECORD, "record_key": 7}
    found = ask(OddServer({"data": [hit, good]}), "search", {"query": "a"})
    assert [one["id"] for one in found.structured["results"]] == ["c/m:7"]
    assert [call.arguments["id"] for call in object_calls(found.structured)] == ["c/m:7"]
    note = "the server sent 1 hits without an id; they are left out"
    assert f"note: {note}" in found.text
    assert note in found.structured["content_ladder"]["notes"]


def test_a_record_without_an_id_is_told_and_not_shown() -> None:
    rows = [{"data": {"body": "lost"}}, {**RECORD, "id": 7, "data": {"body": "kept"}}, None]
    found = ask(OddServer({"data": rows}), "query_records", {"stream": "m"})
    assert found.text.startswith("1. c/m:7")
    assert "the server sent 1 records without an id" in found.text
    assert [row["id"] for row in found.structured["data"]["data"]] == ["7"]


def test_a_record_whose_id_is_null_is_the_one_that_was_asked_for() -> None:
    body = {"id": None, "stream": None, "connection_id": None, "data": {"body": "b"}}
    document = ask(OddServer(body), "fetch", {"id": "c/m:1"}).structured
    assert (document["id"], document["metadata"]["record_id"]) == ("c/m:1", "1")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"value": None, "metric": None, "stream": None}, "count of m: none"),
        ({"value": "12", "filtered_record_count": "12"}, "count of m: 12 · 12 records"),
        ({"groups": [{"key": None}, {"count": 1}, None]}, "count of m by x: (none) · (none) 1"),
    ],
)
def test_numbers_that_are_not_told_are_not_made_up(body: dict[str, Any], text: str) -> None:
    asked = {"stream": "m", "metric": "count", **({"group_by": "x"} if "groups" in body else {})}
    assert ask(OddServer(body), "aggregate", asked).text.split("\n")[0] == text


def test_fields_of_which_nothing_is_told_are_named_alone() -> None:
    fields: dict[str, Any] = {"a": None, "b": 7, "c": [], "d": "declared", "e": {"type": "string"}}
    row = {"name": "m", "field_capabilities": fields}
    schema = {**SCHEMA, "detail": None, "connectors": [{**CONNECTOR, "streams": [row]}]}
    found = ask(OddServer({}, schema), "schema", {"stream": "m", "detail": "full"})
    assert '\n  a\n  b\n  c\n  d  declared\n  e: {"type":"string"}\n' in found.text
    assert "expand" not in found.text


def test_an_error_of_nulls_says_nothing_of_them() -> None:
    choices = [None, {"connection_id": None}, {"connection_id": 5}, {"connection_id": "c"}]
    error = {"code": None, "message": None, "retry_with": None, "available_connections": choices}
    for tool, arguments in CALLS[1:]:
        found = ask(OddServer({"error": error}, status=409), tool, arguments)
        assert found.is_error
        assert not re.search(r"\bNone\b|\bnull\b", found.text)
        assert f"{tool} " in found.text


@pytest.mark.parametrize("count", [1, 300])
def test_a_connector_without_a_short_name_is_told_by_its_id(count: int) -> None:
    rows = [{"name": f"letters_{number}", "field_capabilities": {}} for number in range(count)]
    named = {k: v for k, v in CONNECTOR.items() if k != "connector_key"} | {"streams": rows}
    schema = {**SCHEMA, "connectors": [{**named, "connector_id": "https://mail.example"}]}
    found = ask(OddServer({}, schema), "schema", {})
    assert "https://mail.example: " in found.text
    assert f"letters_{count - 1}" in found.text
    [connector] = found.structured["data"]["connectors"]
    assert connector["connector_id"] == "https://mail.example"
    assert "connector_key" not in connector


def test_a_connector_without_any_name_is_told_by_its_connections() -> None:
    nameless = {k: v for k, v in CONNECTOR.items() if k not in ("connector_key", "connector_id")}
    granted = [{"connection_id": "one"}, {"connection_id": "two"}]
    rows = [{"name": "letters", "field_capabilities": {"subject": "t=text"}}]
    schema = {
        **SCHEMA,
        "connectors": [nameless | {"granted_connections": granted, "streams": rows}],
    }
    index = ask(OddServer({}, schema), "schema", {})
    shared = ask(OddServer({}, schema), "schema", {"stream": "letters", "detail": "full"})
    assert "one" in index.text
    assert "?" not in index.text
    assert shared.structured["error"]["code"] == "ambiguous_schema_detail"
    choices = shared.structured["error"]["available_connections"]
    assert choices == [{"connection_id": "one"}, {"connection_id": "two"}]
