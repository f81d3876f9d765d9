"""Labels and notes: short texts from a server, which may be none or too long."""

from collections.abc import Mapping
from typing import Any

from pdpp.evidence.budget import cut

LABEL_CHARS = 240


def text_of(value: Any) -> str | None:
    """Return a text, or nothing where the value is none."""
    return value if isinstance(value, str) and value else None


def label_of(value: Any) -> str | None:
    """Return a text short enough for a label, or nothing where the value is none."""
    if not isinstance(value, str) or not value:
        return None
    return value if len(value) <= LABEL_CHARS else cut(value, LABEL_CHARS)[0]


def notes_of(meta: Any) -> list[str]:
    """Return what a server warns of, in its words."""
    warnings = meta.get("warnings") if isinstance(meta, Mapping) else None
    told = warnings if isinstance(warnings, list) else []
    return [cut(str(w.get("message")), 400)[0] for w in told[:12] if isinstance(w, Mapping)]


def beyond(count: int, what: str) -> list[str]:
    """Say what a server sent although it was not asked for, which has no place here."""
    if not count:
        return []
    return [f"the server sent {count} more {what} than asked; narrow with a filter to see them"]
