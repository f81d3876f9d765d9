"""Labels and notes: short texts from a server, which may be none or too long."""

from pdpp.evidence.budget import cut

LABEL_CHARS = 240


def label_of(text: str | None) -> str | None:
    """Return a text short enough for a label, or nothing where there is none."""
    if not text or len(text) <= LABEL_CHARS:
        return text or None
    return cut(text, LABEL_CHARS)[0]


def beyond(count: int, what: str) -> list[str]:
    """Say what a server sent although it was not asked for, which has no place here."""
    if not count:
        return []
    return [f"the server sent {count} more {what} than asked; narrow with a filter to see them"]


def nameless(count: int, what: str) -> list[str]:
    """Say what a server sent that nothing more can be asked about."""
    return [f"the server sent {count} {what} without an id; they are left out"] if count else []
