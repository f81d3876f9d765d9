"""Properties: what the JSON Schema of a stream says about each field on its own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jsonschema_rs

from pdpp.model.declaration import SCALARS, TIMES, Kind, Role
from pdpp.model.node import NAME_LIMIT, Node

PROPERTY_LIMIT = 500
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
NUMBERS = frozenset({Kind.INTEGER, Kind.NUMBER})

_FORBIDDEN = "/:[],"
_REFERENCES = frozenset({"$ref", "$dynamicRef"})
_MARKS = ("blob", "binary")
_TIMESTAMP = "timestamp"
"""What other implementations write on a text that is a time, with no format beside it."""

_TEXT = frozenset({Kind.TEXT})
_ROLE_KINDS: Mapping[Role, frozenset[Kind]] = {
    Role.TITLE: _TEXT,
    Role.BODY: frozenset({Kind.TEXT, Kind.BLOB, Kind.JSON}),
    Role.EVENT_TIME: TIMES,
    Role.ACTOR: _TEXT,
    Role.AMOUNT: NUMBERS,
    Role.LINK: _TEXT,
    Role.THREAD: SCALARS,
}
_ROLE = "x_pdpp_role"
_TYPE_KINDS = {
    "string": Kind.TEXT,
    "integer": Kind.INTEGER,
    "number": Kind.NUMBER,
    "boolean": Kind.BOOLEAN,
}
_FORMAT_KINDS = {"date-time": Kind.DATE_TIME, "date": Kind.DATE}


@dataclass(frozen=True, slots=True)
class Property:
    """A declared property before anything is said about querying it."""

    name: str
    kind: Kind
    role: Role | None
    description: str
    schema: Mapping[str, Any]

    @property
    def scalar(self) -> bool:
        """Tell whether its values can be compared."""
        return self.kind in SCALARS


def parse_properties(schema: Node) -> dict[str, Property] | None:
    """Return the properties of a stream's schema, or None where it cannot be read."""
    properties = schema.member("properties")
    if not _sound(schema):
        return None
    if not isinstance(properties.value, dict):
        properties.refuse("Write the properties of a record as an object here.")
        return None
    if len(properties.value) > PROPERTY_LIMIT:
        properties.refuse(f"Write at most {PROPERTY_LIMIT} properties in one stream.")
        return None
    parsed = {name: _parse_property(name, node) for name, node in properties.members().items()}
    return _with_single_roles(properties, parsed)


def kind_of(name: str, schema: Mapping[str, Any]) -> Kind:
    """Return how the values of a property are read, from its name and its schema."""
    schema = _without_null(schema)
    if _is_blob(name, schema):
        return Kind.BLOB
    type_ = _type_of(schema)
    if schema.get("x_pdpp_type") == "binary":
        return Kind.BINARY
    if type_ == "string":
        return _string_kind(schema)
    return _TYPE_KINDS.get(type_, Kind.JSON)


def _sound(schema: Node) -> bool:
    """Tell whether this is a local JSON Schema of an object that can be compiled."""
    if not isinstance(schema.value, dict):
        schema.refuse("Write the JSON Schema of a record, an object, here.")
        return False
    if schema.member("type").value != "object":
        schema.member("type").refuse('Write "object" as the type of a record.')
        return False
    remote = [node for node in schema.walk() if _refuse_remote(node)]
    return not remote and _compiles(schema, schema.value)


def _refuse_remote(node: Node) -> bool:
    if not isinstance(node.value, str):
        return False
    if node.step in _REFERENCES and not node.value.startswith("#"):
        node.refuse('Write a reference within this schema, which begins with "#".')
        return True
    if node.step == "$schema" and node.value.removesuffix("#") != DIALECT:
        node.refuse(f'Write "{DIALECT}" here, or leave it out.')
        return True
    return False


def _compiles(node: Node, schema: dict[str, Any]) -> bool:
    try:
        jsonschema_rs.meta.validate(schema)
        jsonschema_rs.Draft202012Validator(schema)
    except jsonschema_rs.ValidationError as error:
        wrong = node.at(error.instance_path)
        wrong.refuse(_advice(wrong, error.message))
        return False
    return True


def _advice(wrong: Node, message: str) -> str:
    if wrong.step == "type":
        return f"Write one of {', '.join(TYPES)} here, or a list of them."
    return f"Write valid JSON Schema 2020-12 here: {message[:200]}."


def _parse_property(name: str, node: Node) -> Property:
    _refuse_field_name(name, node)
    schema = _as_object(node.value)
    kind = kind_of(name, schema)
    if "x_pdpp_type" in schema:
        _check_mark(node.member("x_pdpp_type"), schema)
    role = _parse_role(node.member(_ROLE), kind) if _ROLE in schema else None
    description = schema.get("description", "")
    return Property(name, kind, role, description, schema)


def _as_object(schema: object) -> Mapping[str, Any]:
    if isinstance(schema, dict):
        return schema
    return {} if schema else {"not": {}}


def _refuse_field_name(name: str, node: Node) -> None:
    if not 1 <= len(name) <= NAME_LIMIT:
        node.refuse(f"Write a property name of 1 to {NAME_LIMIT} characters.")
    elif name.startswith("-"):
        node.refuse("Write a property name that does not begin with '-', which means descending.")
    else:
        node.refuse_name(name, _FORBIDDEN)


def _check_mark(mark: Node, schema: Mapping[str, Any]) -> None:
    if not isinstance(mark.value, str):
        mark.refuse("This is not one of the values allowed here.", "", _MARKS)
    elif mark.value not in (*_MARKS, _TIMESTAMP):
        mark.warn(f"The type {mark.value[:NAME_LIMIT]!r} means nothing here.", mark.value, _MARKS)
    elif mark.value == "binary" and _type_of(_without_null(schema)) not in {"string", ""}:
        mark.refuse('Write "binary" only on a property whose type is "string".')


def _parse_role(node: Node, kind: Kind) -> Role | None:
    role = node.choice(Role)
    allowed = _ROLE_KINDS.get(role) if role else None
    if allowed is not None and kind not in allowed:
        kinds = ", ".join(sorted(allowed))
        node.refuse(f"Write the role {role} only on a property of kind {kinds}; this is {kind}.")
    return role


def _with_single_roles(properties: Node, parsed: Mapping[str, Property]) -> dict[str, Property]:
    """Return the properties with each role on one of them; a second time of an event is no role.

    Others describe an event by two times, its start and its end; the first one names it.
    """
    holders: dict[Role, str] = {}
    single = dict(parsed)
    for name, property_ in parsed.items():
        role = property_.role
        holder = name if role in (None, Role.SECONDARY) else holders.setdefault(role, name)
        if holder == name:
            continue
        node = properties.member(name).member(_ROLE)
        if role is Role.EVENT_TIME:
            node.warn(f"{holder!r} has the role {role} already and keeps it alone.")
            # Its schema is shown to clients: a role that does not count must not stand there.
            told = {word: value for word, value in property_.schema.items() if word != _ROLE}
            single[name] = replace(property_, role=None, schema=told)
        else:
            node.refuse(f"{holder!r} already has the role {role}; write it once a stream.")
    return single


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema with its only alternative to null written in its place."""
    for word in ("anyOf", "oneOf"):
        branches = [dict(_as_object(branch)) for branch in schema.get(word, ())]
        others = [branch for branch in branches if branch.get("type") != "null"]
        if "type" not in schema and len(others) == 1 and len(branches) > 1:
            return {**schema, **others[0]}
    return schema


def _type_of(schema: Mapping[str, Any]) -> str:
    """Return the one type besides null, "mixed" for several and nothing for none."""
    declared = schema.get("type", ())
    types = {declared} if isinstance(declared, str) else set(declared) - {"null"}
    if types:
        return str(types.pop()) if len(types) == 1 else "mixed"
    values = [value for value in schema.get("enum", ()) if value is not None]
    return "string" if values and all(isinstance(value, str) for value in values) else ""


def _is_blob(name: str, schema: Mapping[str, Any]) -> bool:
    if schema.get("x_pdpp_type") == "blob" or name == "blob_ref":
        return True
    return _type_of(schema) == "object" and {"blob_id", "sha256"} <= set(
        schema.get("properties", ())
    )


def _string_kind(schema: Mapping[str, Any]) -> Kind:
    if str(schema.get("contentEncoding", "")).lower() == "base64":
        return Kind.BINARY
    if "format" not in schema and schema.get("x_pdpp_type") == _TIMESTAMP:
        return Kind.DATE_TIME
    return _FORMAT_KINDS.get(schema.get("format", ""), Kind.TEXT)
