"""The table of shapes: what the document says of an answer follows from the type it is built as."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, NotRequired, TypedDict, TypeVar, get_type_hints

import orjson
import pytest
from tests.serving import World

from pdpp.model.json_types import Keyword, Scalar, Size
from pdpp.resource.answers import RecordJson
from pdpp.resource.json_schema import schemas_of
from pdpp.resource.routes import ROUTES, Route
from pdpp.resource.shapes import SCHEMAS, SHAPES

Item = TypeVar("Item")


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Point(TypedDict):
    x: Size
    note: NotRequired[str]


class Page(TypedDict, Generic[Item]):
    data: Sequence[Item | orjson.Fragment] | orjson.Fragment


class Book(TypedDict):
    pages: Page[Point]


POINT = {"$ref": "#/components/schemas/Point"}
PAGE = {
    "type": "object",
    "required": ["data"],
    "properties": {"data": {"type": "array", "items": POINT}},
}


@pytest.mark.parametrize(
    ("shape", "schema"),
    [
        (str, {"type": "string"}),
        (Size, {"type": "integer", "minimum": 0}),
        (Size | None, {"type": ["integer", "null"], "minimum": 0}),
        (Scalar, {"type": ["string", "number", "boolean", "null"]}),
        (Literal["GET"], {"const": "GET"}),
        (Literal["a", "b"], {"enum": ["a", "b"]}),
        (Annotated[str, Colour], {"enum": ["red", "blue"]}),
        (Annotated[str, ("a", "b")] | None, {"enum": ["a", "b", None]}),
        (Annotated[str, "Why."], {"type": "string", "description": "Why."}),
        (
            Annotated[list[str], Keyword("maxItems", 2)],
            {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        ),
        (dict[str, Any], {"type": "object"}),
        (Mapping[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Point | None, {"anyOf": [POINT, {"type": "null"}]}),
        (Page[Point], PAGE),
        (Book, {"type": "object", "required": ["pages"], "properties": {"pages": PAGE}}),
        (
            Point,
            {
                "type": "object",
                "required": ["x"],
                "properties": {
                    "x": {"type": "integer", "minimum": 0},
                    "note": {"type": "string"},
                },
            },
        ),
    ],
)
def test_a_type_has_its_schema(shape: Any, schema: object) -> None:
    shapes = {"Point": Point} if shape is Point else {"Point": Point, "Asked": shape}
    assert schemas_of(shapes)["Point" if shape is Point else "Asked"] == schema


def test_a_type_that_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="no type of JSON"):
        schemas_of({"Bytes": bytes})


def answers(route: Route) -> Any:
    return get_type_hints(route.operation, include_extras=True)["return"]


TYPED = [route for route in ROUTES if answers(route) in SHAPES.values()]


@pytest.mark.parametrize("route", TYPED, ids=[route.name for route in TYPED])
def test_a_route_names_the_shape_that_its_operation_builds(route: Route) -> None:
    assert SHAPES[route.answer] == answers(route)


def test_most_operations_are_typed_by_their_shape() -> None:
    loose = {route.name for route in ROUTES if route.answer in SHAPES} - {r.name for r in TYPED}
    assert loose == {
        "getSchema",  # compacted from a schema of any server
        "search",  # lean where the caller wants it
        "searchHybrid",
    }


def test_a_record_has_the_members_of_its_shape(
    demo_world: World,
) -> None:
    rows = demo_world.client().get("/v1/streams/messages/records?limit=2").json()["data"]
    optional = RecordJson.__optional_keys__
    assert [set(row) for row in rows] == [set(SCHEMAS["Record"]["properties"]) - optional] * 2
