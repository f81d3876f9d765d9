"""The rules of the MCP registry for ``server.json``, as its form of 2025-12-11 has them.

Restated here so that no test needs the internet. Stricter in one thing: a member that the registry
does not know is refused, because it would be dropped there without a word.
"""

from typing import Any

import jsonschema_rs

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
PYPI = "https://pypi.org"
_ADDRESS = r"^(https?://\S+|\{[A-Za-z_]\w*\}\S*)$"
_RANGES = r"^[\^~<>=]|[*]|(^|\.)x(\.|$)| - |\|\|"


def _text(**rules: Any) -> dict[str, Any]:
    return {"type": "string", **rules}


def _record(required: tuple[str, ...] = (), **members: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": members,
        "additionalProperties": False,
    }


def _list(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


_VERSION: dict[str, Any] = {
    **_text(minLength=1, maxLength=255),
    "not": {"anyOf": [{"const": "latest"}, _text(pattern=_RANGES)]},
}
_FLAG = {"type": "boolean"}
_INPUT: dict[str, Any] = {
    **dict.fromkeys(("description", "default", "placeholder", "value"), _text()),
    **dict.fromkeys(("isRequired", "isSecret"), _FLAG),
    "choices": _list(_text()),
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
}
_VARIABLES = {"type": "object", "additionalProperties": _record(**_INPUT)}
_GIVEN = {**_INPUT, "variables": _VARIABLES}
_POSITIONAL = {
    **_record(
        ("type",), type={"const": "positional"}, valueHint=_text(), isRepeated=_FLAG, **_GIVEN
    ),
    "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}],
}
_NAMED = _record(
    ("type", "name"), type={"const": "named"}, name=_text(), isRepeated=_FLAG, **_GIVEN
)
_ARGUMENTS = _list({"anyOf": [_POSITIONAL, _NAMED]})
_PAIRS = _list(_record(("name",), name=_text(), **_GIVEN))
_OVER_HTTP = _record(
    ("type", "url"),
    type={"enum": ["streamable-http", "sse"]},
    url=_text(pattern=_ADDRESS),
    headers=_PAIRS,
)
_REMOTE = {
    **_OVER_HTTP,
    "properties": {**_OVER_HTTP["properties"], "variables": _VARIABLES},
}
_PACKAGE = {
    **_record(
        ("registryType", "identifier", "transport"),
        registryType={"enum": ["npm", "pypi", "cargo", "oci", "nuget", "mcpb"]},
        registryBaseUrl=_text(format="uri"),
        identifier=_text(minLength=1),
        version=_VERSION,
        fileSha256=_text(pattern="^[a-f0-9]{64}$"),
        runtimeHint=_text(),
        transport={"anyOf": [_record(("type",), type={"const": "stdio"}), _OVER_HTTP]},
        runtimeArguments=_ARGUMENTS,
        packageArguments=_ARGUMENTS,
        environmentVariables=_PAIRS,
    ),
    "dependentRequired": {"runtimeArguments": ["runtimeHint"]},
    "allOf": [
        {
            "if": {"properties": {"registryType": {"const": "pypi"}}},
            "then": {"properties": {"registryBaseUrl": {"const": PYPI}}},
        },
        {
            "if": {"properties": {"registryType": {"const": "mcpb"}}},
            "then": {"required": ["fileSha256"]},
        },
    ],
}
_ICON = _record(
    ("src",),
    src=_text(format="uri", maxLength=255, pattern="^https://"),
    mimeType={"enum": [f"image/{kind}" for kind in ("png", "jpeg", "jpg", "svg+xml", "webp")]},
    sizes=_list(_text(pattern=r"^(\d+x\d+|any)$")),
    theme={"enum": ["light", "dark"]},
)
_PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
_META = {"type": "object", "properties": {_PUBLISHER: {"type": "object"}}}
_DOLLAR: dict[str, Any] = {"$schema": {"const": SCHEMA}, "_meta": _META}
_SERVER = _record(
    ("name", "description", "version"),
    **_DOLLAR,
    name=_text(minLength=3, maxLength=200, pattern=r"^[A-Za-z0-9.-]+/[A-Za-z0-9._-]+$"),
    title=_text(minLength=1, maxLength=100),
    description=_text(minLength=1, maxLength=100),
    version=_VERSION,
    websiteUrl=_text(format="uri"),
    repository=_record(
        ("url", "source"), url=_text(format="uri"), source=_text(), id=_text(), subfolder=_text()
    ),
    icons=_list(_ICON),
    packages=_list(_PACKAGE),
    remotes=_list(_REMOTE),
)
_RULES = jsonschema_rs.Draft202012Validator(_SERVER, validate_formats=True)


def complaints(entry: Any) -> list[str]:
    """Return what the registry would refuse in an entry, each with the place where it stands."""
    return [f"{problem.instance_path}: {problem.message}" for problem in _RULES.iter_errors(entry)]
