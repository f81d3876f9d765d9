"""Values in Cursor's databases: JSON inside rows, and times."""

from collections.abc import Mapping

from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.times import epoch_text, moment_text


def parsed_object(content: object) -> Mapping[str, object]:
    """Return the object that a text is; an empty one where it is none."""
    value = parsed(content)
    return value if isinstance(value, dict) else {}


def parsed(content: object) -> object:
    """Return what a text holds as JSON; what is no text stays as it is."""
    raw = content.encode() if isinstance(content, str) else content
    try:
        return read_json(raw) if isinstance(raw, bytes) else content
    except NotJson:
        return {}


def member(value: object, *path: str) -> object:
    """Return what stands inside objects by the names on the way; None where there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def moment(value: object) -> str | None:
    """Return a time that is milliseconds since 1970, or text in newer versions."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return epoch_text(value / 1000)
    return moment_text(value)
