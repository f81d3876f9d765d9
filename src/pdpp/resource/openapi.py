"""The OpenAPI document, written from the table that serves the routes."""

import re
from typing import Any

from pdpp import __version__
from pdpp.resource.parameter import Parameter, Shape
from pdpp.resource.routes import BASE, ROUTES, Route

_ERRORS = {
    "400": "The request is malformed or asks for what is not offered.",
    "401": "No valid bearer token.",
    "403": "The token does not allow this.",
    "404": "Not there, or not visible to this token.",
    "409": "Several connections fit; name one.",
    "410": "The bookmark is too old.",
    "413": "The body is too large.",
    "416": "The range is outside the blob.",
    "422": "Understood, but not possible.",
    "429": "Too many requests with this token.",
    "500": "Something failed in the server.",
    "503": "Too long or too busy; retry later.",
}

_WARNING = {
    "type": "object",
    "required": ["code", "message"],
    "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
}

SCHEMAS: dict[str, Any] = {
    "Error": {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["type", "code", "message", "request_id"],
                "properties": {
                    "type": {"type": "string"},
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "param": {"type": "string"},
                    "request_id": {"type": "string"},
                },
            }
        },
    },
    "List": {
        "type": "object",
        "required": ["object", "url", "data", "has_more", "meta", "links"],
        "properties": {
            "object": {"const": "list"},
            "url": {"type": "string"},
            "data": {"type": "array", "items": {"type": "object"}},
            "has_more": {"type": "boolean"},
            "next_cursor": {"type": "string"},
            "next_changes_since": {"type": "string"},
            "meta": {
                "type": "object",
                "required": ["count", "warnings"],
                "properties": {
                    "count": {
                        "type": "object",
                        "required": ["kind"],
                        "properties": {
                            "kind": {"enum": ["none", "estimated", "exact"]},
                            "value": {"type": "integer"},
                        },
                    },
                    "warnings": {"type": "array", "items": _WARNING},
                    "recall": {
                        "type": "object",
                        "required": ["complete", "ranked", "note"],
                        "properties": {
                            "complete": {"type": "boolean"},
                            "ranked": {"type": "integer"},
                            "note": {"type": "string"},
                        },
                    },
                },
            },
            "links": {
                "type": "object",
                "required": ["self"],
                "properties": {"self": {"type": "string"}, "next": {"type": "string"}},
            },
        },
    },
    "Record": {
        "type": "object",
        "required": [
            "object",
            "id",
            "stream",
            "connection_id",
            "connector_key",
            "display_name",
            "data",
            "emitted_at",
            "version",
        ],
        "properties": {
            "object": {"const": "record"},
            "id": {"type": "string"},
            "stream": {"type": "string"},
            "connection_id": {"type": "string"},
            "connector_key": {"type": "string"},
            "display_name": {"type": "string"},
            "data": {"type": "object"},
            "emitted_at": {"type": "string", "format": "date-time"},
            "version": {"type": "string"},
            "expanded": {"type": "object"},
        },
    },
    "Schema": {
        "type": "object",
        "required": ["object", "detail", "bearer", "connectors", "connector_count", "stream_count"],
        "properties": {
            "object": {"const": "schema"},
            "detail": {"enum": ["compact", "full"]},
            "bearer": {"type": "object"},
            "connectors": {"type": "array", "items": {"type": "object"}},
            "connector_count": {"type": "integer"},
            "stream_count": {"type": "integer"},
            "field_capability_legend": {"type": "string"},
        },
    },
    "FieldWindow": {
        "type": "object",
        "required": [
            "object",
            "stream",
            "record_id",
            "connection_id",
            "field",
            "version",
            "digest",
            "window",
        ],
        "properties": {
            "object": {"const": "field_window"},
            "digest": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
            "window": {
                "type": "object",
                "required": ["text", "start_chars", "end_chars", "total_chars", "complete"],
            },
        },
    },
    "Aggregation": {
        "type": "object",
        "required": ["object", "stream", "metric", "filtered_record_count", "approximate"],
        "properties": {
            "object": {"const": "aggregation"},
            "groups": {
                "type": "array",
                "items": {"type": "object", "required": ["key", "count"]},
            },
            "other_count": {"type": "integer"},
            "filtered_record_count": {"type": "integer"},
            "approximate": {"type": "boolean"},
        },
    },
    "IngestResult": {
        "type": "object",
        "required": ["records_attempted", "records_accepted", "records_rejected", "rejections"],
        "properties": {
            "rejections": {
                "type": "array",
                "items": {"type": "object", "required": ["input_index", "code", "message"]},
            }
        },
    },
    "Blob": {
        "type": "object",
        "required": ["blob_id", "mime_type", "size_bytes", "sha256"],
        "properties": {"blob_id": {"type": "string"}, "size_bytes": {"type": "integer"}},
    },
}


def openapi_document(origin: str) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the resource server."""
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(BASE + route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "PDPP resource server",
            "version": __version__,
            "description": "One person's records, read under a grant.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": origin}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": SCHEMAS,
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [
            *(_path_parameter(name) for name in re.findall(r"\{(\w+)\}", route.path)),
            *(_query_parameter(parameter) for parameter in route.parameters.values()),
        ],
        "responses": _responses(route),
    }
    if route.takes_body is not None:
        operation["requestBody"] = {"required": True, "content": {route.takes_body: _body(route)}}
    if route.owner_only:
        operation["description"] = "For the owner only."
    return operation


def _body(route: Route) -> dict[str, Any]:
    return {"schema": {"type": "string"}} if route.answer != "Blob" else {}


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query_parameter(parameter: Parameter) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "required": parameter.required,
        "schema": _schema(parameter),
    }
    if parameter.shape is Shape.LIST:
        described |= {"style": "form", "explode": False}
    if parameter.shape in (Shape.FILTER, Shape.LIMITS):
        described |= {"style": "deepObject", "explode": True}
    return described


def _schema(parameter: Parameter) -> dict[str, Any]:
    if parameter.shape is Shape.INTEGER:
        facts = {"minimum": parameter.minimum, "default": parameter.default}
        if not parameter.clamp:
            facts["maximum"] = parameter.maximum
        return {"type": "integer", **{k: v for k, v in facts.items() if v is not None}}
    if parameter.shape is Shape.CHOICE:
        return {"type": "string", "enum": list(parameter.choices)}
    if parameter.shape is Shape.LIST:
        return {"type": "array", "items": {"type": "string"}}
    if parameter.shape is Shape.FILTER:
        return {"type": "object", "additionalProperties": {"type": ["string", "object"]}}
    if parameter.shape is Shape.LIMITS:
        return {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}
    return {"type": "string", "minLength": 1, "maxLength": parameter.longest}


def _responses(route: Route) -> dict[str, Any]:
    responses = {
        status: {
            "description": text,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
        for status, text in _ERRORS.items()
    }
    if route.answer == "Nothing":
        return {"204": {"description": "Done."}, **responses}
    if route.answer == "Bytes":
        content: dict[str, Any] = {"*/*": {}}
        return {
            "200": {"description": "The bytes.", "content": content},
            "206": {"description": "The bytes asked for.", "content": content},
            **responses,
        }
    status = "201" if route.answer == "Blob" else "200"
    schema = {"$ref": f"#/components/schemas/{route.answer}"}
    return {
        status: {"description": "The answer.", "content": {"application/json": {"schema": schema}}},
        **responses,
    }
