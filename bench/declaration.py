"""Declarations of the measured worlds, put together from fields that say how each may be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pdpp.model.vocabulary import RANGE_OPERATORS

HOME = "https://demo.pdpp.example"


@dataclass(frozen=True, slots=True)
class Property:
    """One field of a stream: its JSON Schema and the reads it supports."""

    schema: dict[str, Any]
    searchable: bool = False
    ranged: bool = False
    total: bool = False
    grouped: bool = False
    time: bool = False


def text(
    description: str, role: str | None = None, *, search: bool = False, group: bool = False
) -> Property:
    """Declare text, searched or grouped where that helps a reader."""
    return Property(_schema("string", description, role), searchable=search, grouped=group)


def moment(description: str, role: str | None = None) -> Property:
    """Declare a date with a time."""
    schema = _schema("string", description, role, format="date-time")
    return Property(schema, ranged=True, time=True)


def integer(description: str, *, total: bool = False) -> Property:
    """Declare a whole number."""
    return Property(_schema("integer", description, None), ranged=True, total=total)


def stream(
    name: str, label: str, detail: str, fields: Mapping[str, Property], *, time: str | None = None
) -> dict[str, Any]:
    """Return one stream of a declaration; ``time`` is the field that a time range limits."""
    document: dict[str, Any] = {
        "name": name,
        "description": detail,
        "display": {"label": label, "detail": detail},
        "semantics": "append_only",
        "schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {name: field.schema for name, field in fields.items()},
            "required": list(fields),
            "additionalProperties": False,
        },
        "primary_key": ["id"],
        "selection": {"fields": True, "resources": True},
        "views": [],
        "relationships": [],
        "query": _query(fields),
    }
    times = {"cursor_field": time, "consent_time_field": time} if time else {}
    return {**document, **times}


def source(key: str, name: str, streams: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a whole source declaration."""
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": f"{HOME}/connectors/{key}"},
        "connector_key": key,
        "declaration_version": "1",
        "publisher": {"id": HOME},
        "display": {"name": name},
        "streams": list(streams),
    }


def _schema(kind: str, description: str, role: str | None, **more: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": kind, "description": description, **more}
    return schema if role is None else {**schema, "x_pdpp_role": role}


def _query(fields: Mapping[str, Property]) -> dict[str, Any]:
    searched = [name for name, field in fields.items() if field.searchable]
    ranged = [name for name, field in fields.items() if field.ranged]
    grouped = [name for name, field in fields.items() if field.grouped]
    return {
        "range_filters": {name: list(RANGE_OPERATORS) for name in ranged},
        "search": {"lexical_fields": searched, "semantic_fields": searched},
        "aggregations": {
            "count": True,
            "sum": [name for name, field in fields.items() if field.total],
            "min": ranged,
            "max": ranged,
            "count_distinct": grouped,
            "group_by": grouped,
            "group_by_time": [name for name, field in fields.items() if field.time],
        },
        "expand": [],
    }
