"""Field text: the text that a field's value is read, searched and measured as."""

import hashlib
from collections.abc import Mapping
from json.encoder import encode_basestring

from pdpp.model.decimals import ExactEncoder

_ENCODER = ExactEncoder(ensure_ascii=False, separators=(",", ":"))


def json_text(value: object) -> str:
    """Return a value as compact JSON."""
    return _ENCODER.encode(value)


def flat_json_text(values: Mapping[str, object]) -> str:
    """Return an object as compact JSON; one of texts and whole numbers, as most are, at once."""
    parts = []
    for name, value in values.items():
        # ``type`` and not ``isinstance``: a subclass may have an encoding of its own.
        if type(value) is str:
            parts.append(f"{encode_basestring(name)}:{encode_basestring(value)}")
        elif type(value) is int:
            parts.append(f"{encode_basestring(name)}:{value}")
        else:
            return json_text(values)
    return "{" + ",".join(parts) + "}"


def field_text(value: object) -> str:
    """Return a string itself, and any other value as its compact JSON."""
    return value if isinstance(value, str) else json_text(value)


def digest(text: str) -> str:
    """Return the short name of a whole field's text: equal digests, equal text."""
    # 64 bits are enough to notice that a text has changed; nobody is kept out by it.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
