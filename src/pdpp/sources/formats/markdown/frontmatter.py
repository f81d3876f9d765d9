"""Front matter: the YAML at the top of a note, read as plain JSON values."""

import re
from datetime import date, datetime
from functools import cache
from typing import Any, NamedTuple

_FRONT = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LONGEST = 1 << 16
_DEEPEST = 8


class FrontMatter(NamedTuple):
    """What stands above a note, the note itself, and whether the first could be read."""

    values: dict[str, Any]
    rest: str
    readable: bool


def split_front(text: str) -> FrontMatter:
    """Take the front matter off a note; one that is no mapping stays a part of the text."""
    match = _FRONT.match(text)
    if match is None:
        return FrontMatter({}, text, True)
    values = _load(match.group(1)) if len(match.group(1)) <= _LONGEST else None
    if not isinstance(values, dict):
        return FrontMatter({}, text, False)
    return FrontMatter(
        {str(name): plain(value) for name, value in values.items()}, text[match.end() :], True
    )


def _load(text: str) -> Any:
    """Return a YAML document, or None where it is none that is read here."""
    import yaml

    try:
        return yaml.load(text, _loader())  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError):
        return None


@cache
def _loader() -> Any:
    """Return what reads plain values; references are refused, since they multiply without end."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Reads plain values only."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            """Read a node that is no reference to another."""
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("a reference")
            return super().compose_node(parent, index)

    return Loader


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON can write it."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        return {str(name): plain(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(inner, depth + 1) for inner in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
