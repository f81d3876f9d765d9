"""The OpenAPI document, written from the table that serves the routes."""

import re
from collections.abc import Mapping
from typing import Any

from pdpp import __version__
from pdpp.model.vocabulary import RANGE_OPERATORS
from pdpp.resource.json_schema import Json, ref
from pdpp.resource.lag import LAG_HEADER, MOST_LAG_SECONDS
from pdpp.resource.parameter import Parameter, Shape
from pdpp.resource.routes import BASE, ROUTES, Route
from pdpp.resource.shapes import SCHEMAS, error_codes
from pdpp.service.service import VERSION

ERRORS: Mapping[int, str] = {
    400: "The request is malformed or asks for what is not offered.",
    401: "No valid bearer token.",
    403: "The token does not allow this.",
    404: "Not there, or not visible to this token.",
    409: "Several connections fit; name one.",
    410: "The bookmark is too old.",
    413: "The body is too large.",
    416: "The range is outside the blob.",
    422: "Understood, but not possible.",
    429: "Too many requests under this grant.",
    500: "Something failed in the server.",
    503: "Too long or too busy; retry later.",
}

_ALWAYS = (400, 401, 403, 429, 500, 503)
_SOMETIMES: Mapping[str, tuple[int, ...]] = {
    "getSchema": (409,),
    "listRecords": (410,),
    "readFieldWindow": (422,),
    "readBlob": (416,),
    "headBlob": (416,),
    "previewMerge": (409,),
    "mergeConnections": (409,),
    "ingest": (413, 422),
    "storeBlob": (413, 422),
}
_BODIES: Mapping[str, Json] = {
    "ingest": {"schema": {"type": "string", "description": "One IngestLine a line."}},
    "storeBlob": {},
}

_BLOB_ID: Json = {"type": "string", "pattern": "^[0-9a-f]{64}$"}

_HEADERS: Mapping[str, Json] = {
    "Request-Id": {"description": "The name of this request in the log of the server."},
    "PDPP-Version": {"description": "The version of the protocol that was spoken."},
    "WWW-Authenticate": {"description": "Where the server says how to get in."},
    "Retry-After": {"description": "How many seconds to wait."},
    "Content-Range": {"description": "Which bytes these are, and of how many."},
    "Accept-Ranges": {"description": "Always bytes."},
    "ETag": {"description": "The blob_id; the bytes behind it never change."},
}
_ON_EVERY = ("Request-Id", "PDPP-Version")
_ON_STATUS: Mapping[int, tuple[str, ...]] = {
    401: ("WWW-Authenticate",),
    416: ("Content-Range",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}


def openapi_document(origin: str) -> Json:
    """Return the OpenAPI 3.1 document of the resource server."""
    paths: Json = {}
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
            "parameters": {
                "PDPP-Version": _version_parameter(),
                "PDPP-Grant": _grant_parameter(),
                LAG_HEADER: _lag_parameter(),
            },
            "headers": {
                name: {**facts, "required": True, "schema": {"type": "string"}}
                for name, facts in _HEADERS.items()
            },
            "responses": {f"Error{status}": _error(status) for status in ERRORS},
            "schemas": SCHEMAS,
        },
    }


def _operation(route: Route) -> Json:
    operation: Json = {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": [
            *(_path_parameter(name) for name in re.findall(r"\{(\w+)\}", route.path)),
            *(_query_parameter(parameter) for parameter in route.parameters.values()),
            *([_range_parameter()] if route.answer == "Bytes" else []),
            {"$ref": "#/components/parameters/PDPP-Version"},
            {"$ref": "#/components/parameters/PDPP-Grant"},
            *([] if route.writes else [{"$ref": f"#/components/parameters/{LAG_HEADER}"}]),
        ],
        "responses": {**_success(route), **_failures(route)},
    }
    if route.takes_body is not None:
        content = {route.takes_body: _BODIES[route.name]}
        operation["requestBody"] = {"required": True, "content": content}
    if route.owner_only:
        operation["description"] = "For the owner only."
    return operation


def _path_parameter(name: str) -> Json:
    schema = _BLOB_ID if name == "blob_id" else {"type": "string", "pattern": "^[^/]+$"}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _version_parameter() -> Json:
    return {
        "name": "PDPP-Version",
        "in": "header",
        "description": "Refuse to be answered in another version of the protocol.",
        "required": False,
        "schema": {"type": "string", "enum": [VERSION]},
    }


def _grant_parameter() -> Json:
    return {
        "name": "PDPP-Grant",
        "in": "header",
        "description": "Read through this grant of a package alone.",
        "required": False,
        "schema": {"type": "string"},
    }


def _lag_parameter() -> Json:
    return {
        "name": LAG_HEADER,
        "in": "header",
        "description": "Be answered by a replica that is behind by at most so many seconds.",
        "required": False,
        "schema": {"type": "integer", "minimum": 0, "maximum": MOST_LAG_SECONDS},
    }


def _range_parameter() -> Json:
    return {
        "name": "Range",
        "in": "header",
        "description": "One stretch: bytes=first-last, bytes=first- or bytes=-length.",
        "required": False,
        "schema": {"type": "string", "pattern": r"^bytes=([0-9]+-[0-9]*|-[0-9]+)$"},
    }


def _query_parameter(parameter: Parameter) -> Json:
    described: Json = {
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


def _schema(parameter: Parameter) -> Json:
    default = {} if parameter.default is None else {"default": parameter.default}
    if parameter.shape is Shape.INTEGER:
        return {"type": "integer", **_bounds(parameter), **default}
    if parameter.shape is Shape.CHOICE:
        return {"type": "string", "enum": list(parameter.choices), **default}
    if parameter.shape is Shape.LIST:
        return {"type": "array", "items": {"type": "string", "minLength": 1}}
    if parameter.shape is Shape.FILTER:
        return {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, _RANGES]}}
    if parameter.shape is Shape.LIMITS:
        return {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}
    return {"type": "string", "minLength": 1, "maxLength": parameter.longest}


_RANGES: Json = {
    "type": "object",
    "properties": {operator: {"type": "string"} for operator in RANGE_OPERATORS},
    "additionalProperties": False,
}


def _bounds(parameter: Parameter) -> dict[str, int]:
    """Return the limits of a number; one that is clamped has no largest value."""
    most = None if parameter.clamp else parameter.maximum
    bounds = {"minimum": parameter.minimum, "maximum": most}
    return {name: bound for name, bound in bounds.items() if bound is not None}


def _success(route: Route) -> Json:
    if route.answer == "Nothing":
        return {"204": {"description": "Done.", "headers": _headers()}}
    if route.answer == "Bytes":
        return {"200": _bytes("All of the bytes."), "206": _bytes("The bytes asked for.", 206)}
    answer = {
        "description": "The answer.",
        "headers": _headers(),
        "content": {"application/json": {"schema": ref(route.answer)}},
    }
    return {"201" if route.answer == "Blob" else "200": answer}


def _bytes(description: str, status: int = 200) -> Json:
    extra = ("Content-Range",) if status == 206 else ()
    return {
        "description": description,
        "headers": _headers("Accept-Ranges", "ETag", *extra),
        "content": {"*/*": {}},
    }


def _failures(route: Route) -> Json:
    absent = (404,) if "{" in route.path else ()
    unclear = (409,) if "{stream}" in route.path else ()
    statuses = sorted({*_ALWAYS, *absent, *unclear, *_SOMETIMES.get(route.name, ())})
    return {str(status): {"$ref": f"#/components/responses/Error{status}"} for status in statuses}


def _error(status: int) -> Json:
    codes = ", ".join(error_codes()[status])
    return {
        "description": f"{ERRORS[status]} Codes: {codes}.",
        "headers": _headers(*_ON_STATUS.get(status, ())),
        "content": {"application/json": {"schema": ref("Error")}},
    }


def _headers(*extra: str) -> dict[str, Any]:
    names = (*_ON_EVERY, *extra)
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
