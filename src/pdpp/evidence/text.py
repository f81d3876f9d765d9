"""Field text: the text that a field's value is read, searched and measured as."""

import hashlib
import json

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def json_text(value: object) -> str:
    """Return a value as compact JSON."""
    return _ENCODER.encode(value)


def field_text(value: object) -> str:
    """Return a string itself, and any other value as its compact JSON."""
    return value if isinstance(value, str) else json_text(value)


def digest(text: str) -> str:
    """Return the short name of a whole field's text: equal digests, equal text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
