"""Declarations: source documents assembled from properties that say what may be done with them."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from pdpp.model.vocabulary import RANGE_OPERATORS

HOME = "https://demo.pdpp.example"


@dataclass(frozen=True, slots=True)
class Property:
    """One field of a stream: its JSON Schema and the reads it supports."""

    schema: dict[str, Any]
    optional: bool = False
    searchable: bool = False
    ranged: bool = False
    total: bool = False
    grouped: bool = False
    time: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """A way from one stream to another, and how many related records a read may carry."""

    name: str
    stream: str
    foreign_key: str
    cardinality: str
    default_limit: int = 5
    max_limit: int = 50


def _schema(kind: str, description: str, role: str | None, **more: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": kind, "description": description, **more}
    return schema if role is None else {**schema, "x_pdpp_role": role}


def text(
    description: str, role: str | None = None, *, search: bool = False, group: bool = False
) -> Property:
    """Declare text, searched or grouped where that helps a reader."""
    return Property(_schema("string", description, role), searchable=search, grouped=group)


def moment(description: str, role: str | None = None) -> Property:
    """Declare a date with a time."""
    return Property(
        _schema("string", description, role, format="date-time"), ranged=True, time=True
    )


def day(description: str, role: str | None = None) -> Property:
    """Declare a date without a time."""
    return Property(_schema("string", description, role, format="date"), ranged=True, time=True)


def integer(description: str, *, total: bool = False) -> Property:
    """Declare a whole number."""
    return Property(_schema("integer", description, None), ranged=True, total=total)


def number(description: str, role: str | None = None, *, total: bool = False) -> Property:
    """Declare a number."""
    return Property(_schema("number", description, role), ranged=True, total=total)


def flag(description: str) -> Property:
    """Declare a yes or no."""
    return Property(_schema("boolean", description, None), grouped=True)


def texts(description: str) -> Property:
    """Declare a list of texts."""
    return Property(_schema("array", description, None, items={"type": "string"}))


def objects(description: str) -> Property:
    """Declare a list of small objects."""
    return Property(_schema("array", description, None, items={"type": "object"}))


def blob(description: str) -> Property:
    """Declare binary content kept beside the record."""
    properties = {
        "blob_id": {"type": "string"},
        "mime_type": {"type": "string"},
        "size_bytes": {"type": "integer"},
        "sha256": {"type": "string"},
    }
    return Property(
        _schema(
            "object",
            description,
            None,
            x_pdpp_type="blob",
            properties=properties,
            required=list(properties),
        )
    )


def optional(item: Property) -> Property:
    """Declare that a field may be null or missing."""
    schema = {**item.schema, "type": [item.schema["type"], "null"]}
    return replace(item, schema=schema, optional=True)


def stream(
    name: str,
    label: str,
    detail: str,
    fields: Mapping[str, Property],
    *,
    time: str | None = None,
    mutable: bool = False,
    views: Mapping[str, tuple[str, Sequence[str]]] | None = None,
    relations: Sequence[Relation] = (),
) -> dict[str, Any]:
    """Return one stream of a declaration; ``time`` is the field that a time range limits."""
    document: dict[str, Any] = {
        "name": name,
        "description": detail,
        "display": {"label": label, "detail": detail},
        "semantics": "mutable_state" if mutable else "append_only",
        "schema": _record_schema(fields),
        "primary_key": ["id"],
        "selection": {"fields": True, "resources": True},
        "views": [
            {"id": id_, "label": words, "fields": list(chosen)}
            for id_, (words, chosen) in (views or {}).items()
        ],
        "relationships": [_relationship(relation) for relation in relations],
        "query": _query(fields, relations),
    }
    times = {"cursor_field": time, "consent_time_field": time} if time else {}
    return {**document, **times}


def source(key: str, name: str, streams: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a whole source declaration, the caller's own copy."""
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": f"{HOME}/connectors/{key}"},
        "connector_key": key,
        "declaration_version": "1",
        "publisher": {"id": HOME},
        "display": {"name": name},
        "streams": deepcopy(list(streams)),
    }


def _record_schema(fields: Mapping[str, Property]) -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {name: item.schema for name, item in fields.items()},
        "required": [name for name, item in fields.items() if not item.optional],
        "additionalProperties": False,
    }


def _relationship(relation: Relation) -> dict[str, str]:
    return {
        "name": relation.name,
        "stream": relation.stream,
        "foreign_key": relation.foreign_key,
        "cardinality": relation.cardinality,
    }


def _query(fields: Mapping[str, Property], relations: Sequence[Relation]) -> dict[str, Any]:
    searched = [name for name, item in fields.items() if item.searchable]
    return {
        "range_filters": {
            name: list(RANGE_OPERATORS) for name, item in fields.items() if item.ranged
        },
        "search": {"lexical_fields": searched, "semantic_fields": searched},
        "aggregations": _aggregations(fields),
        "expand": [
            {
                "name": relation.name,
                "default_limit": relation.default_limit,
                "max_limit": relation.max_limit,
            }
            for relation in relations
        ],
    }


def _aggregations(fields: Mapping[str, Property]) -> dict[str, Any]:
    ranged = [name for name, item in fields.items() if item.ranged]
    grouped = [name for name, item in fields.items() if item.grouped]
    return {
        "count": True,
        "sum": [name for name, item in fields.items() if item.total],
        "min": ranged,
        "max": ranged,
        "count_distinct": grouped,
        "group_by": grouped,
        "group_by_time": [name for name, item in fields.items() if item.time],
    }
