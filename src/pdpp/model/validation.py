"""Validation: a source declaration, checked once and turned into typed values."""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import orjson

from pdpp.model.declaration import (
    SCALARS,
    TIMES,
    Cardinality,
    Declaration,
    DeclarationWarning,
    Field,
    Kind,
    Relationship,
    Role,
    Semantics,
    Stream,
    View,
)
from pdpp.model.errors import InvalidDeclaration
from pdpp.model.node import NAME_LIMIT, Node
from pdpp.model.property import Property, parse_properties
from pdpp.model.query import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    QueryCapabilities,
    declared,
    naming,
    parse_query,
)

PROTOCOL_VERSION = "0.1.0"
DOCUMENT_LIMIT = 1_048_576
STREAM_LIMIT = 200
URI_LIMIT = 2_048

_REVISION_CHARS = 32
_FORBIDDEN = "/:,"
_FORBIDDEN_IN_SELECTORS = "/:[],"
_CONNECTOR_KEY = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_ABSOLUTE_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+")
_KEYS = frozenset({Kind.TEXT, Kind.INTEGER})
_DECLARATION_KEYS = (
    "protocol_version",
    "source",
    "connector_key",
    "declaration_version",
    "publisher",
    "display",
    "streams",
)
_WHOLE = frozenset({Kind.INTEGER})
_STREAM_KEYS = ("name", "semantics", "schema", "primary_key")
_OPTIONAL_STREAM_KEYS = (
    "description",
    "display",
    "cursor_field",
    "consent_time_field",
    "thread",
    "thread_order",
    "selection",
    "views",
    "relationships",
    "query",
)


class _SourceKind(StrEnum):
    CONNECTOR = "connector"
    PROVIDER_NATIVE = "provider_native"


@dataclass(frozen=True, slots=True)
class _Outline:
    """What a stream says by itself, before the streams it refers to are known."""

    node: Node
    name: str
    label: str
    detail: str
    description: str
    semantics: Semantics
    properties: Mapping[str, Property]
    query: QueryCapabilities


def parse_declaration(document: object) -> Declaration:
    """Return the typed form of a source declaration, or raise its first problem."""
    plain = _plain(document)
    root = Node(plain)
    declaration = _parse_root(root, plain)
    root.problems.raise_first()
    warnings = sorted(root.problems.warnings, key=lambda problem: problem.place)
    return replace(
        declaration,
        warnings=tuple(DeclarationWarning(one.pointer, one.advice) for one in warnings),
    )


def _plain(document: object) -> Any:
    """Return a copy of the document that holds nothing but JSON data."""
    try:
        encoded = orjson.dumps(document)
    except TypeError as error:
        raise InvalidDeclaration(
            f"Write the declaration as JSON of moderate depth: {error}.", param=""
        ) from None
    if len(encoded) > DOCUMENT_LIMIT:
        raise InvalidDeclaration(
            f"Write a declaration of at most {DOCUMENT_LIMIT} bytes.", param=""
        )
    return orjson.loads(encoded)


def _revision(plain: object) -> str:
    canonical = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()[:_REVISION_CHARS]


def _parse_root(root: Node, plain: Mapping[str, Any]) -> Declaration:
    root.admit(_DECLARATION_KEYS)
    if root.member("protocol_version").value != PROTOCOL_VERSION:
        root.member("protocol_version").refuse(f'Write "{PROTOCOL_VERSION}" here.')
    source_kind, source_id = _parse_source(root.member("source"))
    return Declaration(
        revision=_revision(plain),
        source_kind=source_kind,
        source_id=source_id,
        connector_key=_parse_connector_key(root.member("connector_key")),
        declaration_version=root.member("declaration_version").text(NAME_LIMIT, least=1),
        publisher_id=_parse_only(root.member("publisher"), "id", URI_LIMIT),
        display_name=_parse_only(root.member("display"), "name", NAME_LIMIT),
        streams=_parse_streams(root.member("streams")),
        document=plain,
    )


def _parse_source(node: Node) -> tuple[str, str]:
    if not node.admit(("kind", "id")):
        return "", ""
    kind = node.member("kind").choice(_SourceKind) or ""
    identity = node.member("id").text(URI_LIMIT, least=1)
    if not _ABSOLUTE_URI.fullmatch(identity):
        node.member("id").refuse("Write an absolute URI here, such as https://example.org/mail.")
    return str(kind), identity


def _parse_connector_key(node: Node) -> str:
    key = node.text(least=1)
    if not _CONNECTOR_KEY.fullmatch(key):
        node.refuse(
            "Write 1 to 64 of a-z, 0-9, '_', '.' and '-', the first a letter or a digit, here."
        )
    return key


def _parse_only(node: Node, key: str, limit: int) -> str:
    return node.member(key).text(limit, least=1) if node.admit((key,)) else ""


def _parse_streams(node: Node) -> Mapping[str, Stream]:
    items = node.items(least=1)
    if len(items) > STREAM_LIMIT:
        node.refuse(f"Write at most {STREAM_LIMIT} streams in one declaration.")
        return {}
    names: dict[str, Node] = {}
    outlines = [outline for item in items if (outline := _parse_outline(item, names))]
    by_name = {outline.name: outline for outline in outlines}
    known = tuple(names) if len(names) == len(items) else None
    relationships = {
        outline.name: _parse_relationships(outline, known, by_name) for outline in outlines
    }
    foreign = _foreign_keys(relationships)
    return {
        outline.name: _parse_stream(outline, relationships[outline.name], foreign)
        for outline in outlines
    }


def _parse_outline(node: Node, names: dict[str, Node]) -> _Outline | None:
    if not node.admit(_STREAM_KEYS, _OPTIONAL_STREAM_KEYS):
        return None
    name = _parse_stream_name(node.member("name"))
    if name and names.setdefault(name, node) is not node:
        node.member("name").refuse("Another stream has this name; write one of its own.")
    label, detail = _parse_display(node.member("display"))
    description = node.member("description").text()
    semantics = node.member("semantics").choice(Semantics) or Semantics.APPEND_ONLY
    _check_selection(node.member("selection"))
    properties = parse_properties(node.member("schema"))
    if properties is None:
        return None
    query = parse_query(node.member("query"), properties)
    return _Outline(node, name, label or name, detail, description, semantics, properties, query)


def _parse_stream_name(node: Node) -> str:
    name = node.name(_FORBIDDEN)
    if name == "*":
        node.refuse("Write a name other than '*', which means every stream.")
    return name


def _parse_display(node: Node) -> tuple[str, str]:
    if node.absent or not node.admit((), ("label", "detail")):
        return "", ""
    return node.member("label").text(NAME_LIMIT), node.member("detail").text()


def _check_selection(node: Node) -> None:
    if not node.absent and node.admit((), ("fields", "resources")):
        node.member("fields").boolean(True)
        node.member("resources").boolean(True)


def _parse_relationships(
    outline: _Outline, known: Collection[str] | None, outlines: Mapping[str, _Outline]
) -> Mapping[str, Relationship]:
    """Read the ways to other streams; ``known`` is None while a name of a stream is wrong."""
    relationships: dict[str, Relationship] = {}
    for node in outline.node.member("relationships").items():
        if not node.admit(("name", "stream", "foreign_key", "cardinality")):
            continue
        name = node.member("name").name(_FORBIDDEN_IN_SELECTORS)
        if name in relationships:
            node.member("name").refuse("Another relationship has this name; write one of its own.")
        relationships[name] = _parse_relationship(node, name, outline, known, outlines)
    _check_expansions(outline, relationships)
    return relationships


def _parse_relationship(
    node: Node,
    name: str,
    outline: _Outline,
    known: Collection[str] | None,
    outlines: Mapping[str, _Outline],
) -> Relationship:
    related = node.member("stream").text(least=1)
    if known is not None and related not in known:
        node.member("stream").refuse("No stream has this name.", related, known)
    cardinality = node.member("cardinality").choice(Cardinality)
    holder = outline if cardinality is Cardinality.BELONGS_TO else outlines.get(related)
    foreign_key = node.member("foreign_key")
    if cardinality is not None and holder is not None:
        declared(foreign_key, holder.properties, _KEYS)
    expansion = outline.query.expansions.get(name)
    return Relationship(
        name=name,
        stream=related,
        foreign_key=foreign_key.text(),
        cardinality=cardinality or Cardinality.HAS_MANY,
        default_limit=expansion.default_limit if expansion else DEFAULT_LIMIT,
        max_limit=expansion.max_limit if expansion else MAX_LIMIT,
        expandable=expansion is not None,
    )


def _check_expansions(outline: _Outline, relationships: Mapping[str, Relationship]) -> None:
    for node in outline.node.member("query").member("expand").items():
        name = node.member("name")
        if isinstance(name.value, str) and name.value not in relationships:
            name.refuse("No relationship has this name.", name.value, tuple(relationships))


def _foreign_keys(
    relationships: Mapping[str, Mapping[str, Relationship]],
) -> frozenset[tuple[str, str]]:
    """Return the stream and the field that hold each foreign key."""
    return frozenset(
        (stream if one.cardinality is Cardinality.BELONGS_TO else one.stream, one.foreign_key)
        for stream, by_name in relationships.items()
        for one in by_name.values()
    )


def _parse_stream(
    outline: _Outline,
    relationships: Mapping[str, Relationship],
    foreign: frozenset[tuple[str, str]],
) -> Stream:
    node, name, properties = outline.node, outline.name, outline.properties
    cursor = _parse_optional(node.member("cursor_field"), properties, SCALARS)
    consent_time = _parse_optional(node.member("consent_time_field"), properties, TIMES)
    keys = {field for stream, field in foreign if stream == name} | {cursor, consent_time}
    return Stream(
        name=name,
        description=outline.description,
        label=outline.label,
        detail=outline.detail,
        semantics=outline.semantics,
        schema=node.member("schema").mapping(),
        primary_key=node.member("primary_key").distinct(naming(properties), least=1),
        cursor_field=cursor,
        consent_time_field=consent_time,
        fields={
            name: _field(property_, outline.query, name in keys)
            for name, property_ in properties.items()
        },
        views=_parse_views(node.member("views"), properties),
        relationships=relationships,
        countable=outline.query.countable,
        thread_field=_parse_thread(node.member("thread"), properties, relationships),
        thread_order=_parse_optional(node.member("thread_order"), properties, _WHOLE),
    )


def _parse_thread(
    node: Node,
    properties: Mapping[str, Property],
    relationships: Mapping[str, Relationship],
) -> str | None:
    """Return the field that says which conversation a record belongs to.

    The stream names it, or a relationship that it is the key of; or it has the role itself; or a
    relationship is called so.
    """
    keys = {
        one.name: one.foreign_key
        for one in relationships.values()
        if one.cardinality is Cardinality.BELONGS_TO
    }
    if node.absent:
        roles = (name for name, property_ in properties.items() if property_.role is Role.THREAD)
        return next(roles, keys.get("thread"))
    if isinstance(node.value, str) and node.value in keys.keys() - properties.keys():
        return keys[node.value]
    return declared(node, properties, SCALARS)


def _parse_optional(
    node: Node, properties: Mapping[str, Property], kinds: frozenset[Kind]
) -> str | None:
    return None if node.absent else declared(node, properties, kinds)


def _parse_views(node: Node, properties: Mapping[str, Property]) -> Mapping[str, View]:
    views: dict[str, View] = {}
    for item in node.items():
        if not item.admit(("id", "fields"), ("label",)):
            continue
        identity = item.member("id").name(_FORBIDDEN)
        if identity in views:
            item.member("id").refuse("Another view has this id; write one of its own.")
        fields = item.member("fields").distinct(naming(properties), least=1)
        label = item.member("label").text(NAME_LIMIT) or identity
        views[identity] = View(identity, label, fields)
    return views


def _field(property_: Property, query: QueryCapabilities, key: bool) -> Field:
    ranges = query.ranges.get(property_.name, ())
    aggregations = query.aggregations_of(property_.name)
    return Field(
        name=property_.name,
        kind=property_.kind,
        schema=property_.schema,
        role=property_.role,
        description=property_.description,
        exact=property_.scalar and property_.role is not Role.BODY,
        ranges=ranges,
        lexical=property_.name in query.lexical,
        semantic=property_.name in query.semantic,
        aggregations=aggregations,
        indexed=property_.scalar and (key or bool(ranges or aggregations)),
    )
