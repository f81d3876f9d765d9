"""Sources and records made to be too much: long, wide, many, and growing when escaped."""

from typing import Any

TEXT: dict[str, Any] = {"type": ["string", "null"]}
GROWING = {
    "words": "word of evidence ",
    "quotes": '"',
    "backslashes": "\\",
    "controls": "\x01\x1b",
    "lines": "\n",
    "breaks": "a\r\n\x0b\x0c\x85\u2028\u2029b",
    "astral": "\U0001f600",
    "joined": "\U0001f469\u200d\U0001f4bb",
    "bidi": "\u202e\u2066",
    "marks": "<mark>x</mark>",
    "json": '{"id":"a/b:c"}',
}
"""Texts whose characters take more room in one half or the other than in the record."""


def stream(name: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a stream of some fields beside its id."""
    properties = {"id": {"type": "string"}, **fields}
    return {
        "name": name,
        "semantics": "mutable_state",
        "schema": {"type": "object", "properties": properties, "required": ["id"]},
        "primary_key": ["id"],
        **more,
    }


NOTES = stream(
    "notes",
    {
        "title": {**TEXT, "x_pdpp_role": "primary-title"},
        "body": {**TEXT, "x_pdpp_role": "body"},
        "kind": TEXT,
        "extra": {"type": ["object", "array", "null"]},
        "parent": TEXT,
    },
    relationships=[
        {"name": "children", "stream": "notes", "foreign_key": "parent", "cardinality": "has_many"}
    ],
    query={
        "search": {"lexical_fields": ["title", "body"]},
        "aggregations": {"count": True, "group_by": ["kind", "title"]},
        "expand": [{"name": "children", "default_limit": 50, "max_limit": 100}],
    },
)
"""Titles, bodies and kinds, and notes below notes."""
