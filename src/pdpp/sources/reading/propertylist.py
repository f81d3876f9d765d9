"""Property lists of Apple, read from bytes that may be anything."""

import plistlib
from collections.abc import Mapping
from typing import Any
from xml.parsers.expat import ExpatError

_PROBLEMS = (
    *(ValueError, KeyError, IndexError, OverflowError, RecursionError, TypeError),
    *(AttributeError, ExpatError),
)


def property_list(content: object) -> Mapping[str, Any]:
    """Return a property list that is a dictionary; an empty one where it is something else."""
    try:
        document = plistlib.loads(content) if isinstance(content, bytes) else None
    except _PROBLEMS:
        return {}
    return document if isinstance(document, dict) else {}
