"""JSON Schema from types: what the OpenAPI document says of an answer, by the type it is built as.

A type that has a name in the document is referred to by it wherever it occurs.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import orjson

from pdpp.model.json_types import Keyword

_WRITTEN_BY_ENCODER = (orjson.Fragment, datetime)
"""Types of values that stand for JSON of another type beside them in a union."""

Json = dict[str, Any]

_PLAIN: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}


def ref(name: str) -> Json:
    """Return a reference to one of the schemas."""
    return {"$ref": f"#/components/schemas/{name}"}


def schemas_of(shapes: Mapping[str, Any]) -> dict[str, Json]:
    """Return the JSON Schema of every named shape."""
    names = {shape: name for name, shape in shapes.items()}
    return {name: _Deriver(names).schema(shape, named=False) for name, shape in shapes.items()}


class _Deriver:
    """Writes the schema of a type; ``names`` are the types that are referred to."""

    def __init__(self, names: Mapping[Any, str]) -> None:
        self._names = names
        self._bound: dict[TypeVar, Any] = {}

    def schema(self, shape: Any, *, named: bool = True) -> Json:
        """Return the schema of a type, or a reference to it where it has a name."""
        shape = self._bound.get(shape, shape)
        if named and shape in self._names:
            return ref(self._names[shape])
        origin, args = get_origin(shape), get_args(shape)
        if shape in _PLAIN:
            return {"type": _PLAIN[shape]}
        if origin is Annotated:
            return self._annotated(args[0], shape.__metadata__)
        if origin is Literal:
            return {"const": args[0]} if len(args) == 1 else {"enum": list(args)}
        if origin in (Union, UnionType):
            return self._union(args)
        if origin in (list, Sequence):
            return {"type": "array", "items": self.schema(args[0])}
        if origin in (dict, Mapping):
            values = {} if args[1] is Any else {"additionalProperties": self.schema(args[1])}
            return {"type": "object", **values}
        return self._object(shape)

    def _annotated(self, shape: Any, notes: Sequence[Any]) -> Json:
        schema = self.schema(shape)
        for note in notes:
            if isinstance(note, str):
                schema = {**schema, "description": note}
            elif isinstance(note, Keyword):
                schema = {**schema, note.name: note.value}
            elif isinstance(note, tuple):
                schema = {"enum": list(note)}
            elif issubclass(note, Enum):
                schema = {"enum": [member.value for member in note]}
        return schema

    def _union(self, shapes: Sequence[Any]) -> Json:
        """Return the schema of several types; what the encoder writes is one of the others."""
        schemas = [self.schema(shape) for shape in shapes if shape not in _WRITTEN_BY_ENCODER]
        if len(schemas) == 1:
            return schemas[0]
        if all(schema.keys() == {"type"} for schema in schemas):
            return {"type": [schema["type"] for schema in schemas]}
        *others, last = schemas
        if len(others) == 1 and last == {"type": "null"}:
            (other,) = others
            if isinstance(other.get("type"), str):
                return {**other, "type": [other["type"], "null"]}
            if "enum" in other:
                return {**other, "enum": [*other["enum"], None]}
        return {"anyOf": schemas}

    def _object(self, shape: Any) -> Json:
        """Return the schema of a ``TypedDict``, also of one with a parameter."""
        kind = get_origin(shape) or shape
        if not is_typeddict(kind):
            raise TypeError(f"{shape} is no type of JSON.")
        # A parameter of the outer type may be an argument of this one: resolve it first.
        outer = self._bound
        given = (outer.get(argument, argument) for argument in get_args(shape))
        self._bound = dict(zip(getattr(kind, "__parameters__", ()), given, strict=True))
        members = {
            name: self.schema(_member_type(member))
            for name, member in get_type_hints(kind, include_extras=True).items()
        }
        self._bound = outer
        required = [name for name in members if name in kind.__required_keys__]
        return {
            "type": "object",
            **({"required": required} if required else {}),
            "properties": members,
        }


def _member_type(member: Any) -> Any:
    return get_args(member)[0] if get_origin(member) is NotRequired else member
