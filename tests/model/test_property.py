from typing import Any

import pytest

from pdpp.model.declaration import Kind
from pdpp.model.node import Node
from pdpp.model.property import kind_of, parse_properties


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, Kind.TEXT),
        ({"type": ["string", "null"]}, Kind.TEXT),
        ({"type": ["null", "string"], "format": "email"}, Kind.TEXT),
        ({"enum": ["a", "b", None]}, Kind.TEXT),
        ({"type": "string", "format": "date-time"}, Kind.DATE_TIME),
        ({"type": "string", "format": "date"}, Kind.DATE),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, Kind.DATE),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, Kind.INTEGER),
        ({"type": "string", "contentEncoding": "base64"}, Kind.BINARY),
        ({"type": "string", "x_pdpp_type": "binary"}, Kind.BINARY),
        ({"x_pdpp_type": "binary"}, Kind.BINARY),
        ({"x_pdpp_type": "blob"}, Kind.BLOB),
        ({"type": "object", "properties": {"blob_id": {}, "sha256": {}}}, Kind.BLOB),
        ({"type": "object", "properties": {"blob_id": {}}}, Kind.JSON),
        ({"type": "integer"}, Kind.INTEGER),
        ({"type": ["number", "null"]}, Kind.NUMBER),
        ({"type": "boolean"}, Kind.BOOLEAN),
        ({"type": "object"}, Kind.JSON),
        ({"type": "array"}, Kind.JSON),
        ({"type": "null"}, Kind.JSON),
        ({"type": ["string", "integer"]}, Kind.JSON),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, Kind.JSON),
        ({"anyOf": [{"type": "string"}]}, Kind.JSON),
        ({"anyOf": [True, {"type": "null"}]}, Kind.JSON),
        ({"enum": ["a", 1]}, Kind.JSON),
        ({"enum": []}, Kind.JSON),
        ({}, Kind.JSON),
    ],
)
def test_a_kind_follows_from_the_schema(schema: dict[str, Any], kind: Kind) -> None:
    assert kind_of("field", schema) is kind


def test_a_property_called_blob_ref_is_a_blob() -> None:
    assert kind_of("blob_ref", {"type": "object"}) is Kind.BLOB


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (Kind.TEXT, {"type": "string"}),
        (Kind.BLOB, {"x_pdpp_type": "blob"}),
        (Kind.JSON, {"type": "array"}),
    ],
)
def test_a_body_is_text_a_blob_or_json(kind: Kind, schema: dict[str, Any]) -> None:
    node = Node({"type": "object", "properties": {"b": {**schema, "x_pdpp_role": "body"}}})
    found = parse_properties(node)
    node.problems.raise_first()
    assert found is not None
    assert found["b"].kind is kind


def test_secondary_may_stand_on_any_kind() -> None:
    schemas: dict[str, Any] = {
        "text": {"type": "string"},
        "flag": {"type": "boolean"},
        "list": {"type": "array"},
    }
    properties = {name: {**each, "x_pdpp_role": "secondary"} for name, each in schemas.items()}
    node = Node({"type": "object", "properties": properties})
    assert parse_properties(node) is not None
    node.problems.raise_first()


def test_only_scalars_can_be_compared() -> None:
    node = Node({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}})
    found = parse_properties(node)
    assert found is not None
    assert [found[name].scalar for name in ("a", "b")] == [True, False]
