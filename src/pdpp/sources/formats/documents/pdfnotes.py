"""PDF annotations: what a person wrote onto a page, such as the fields of a form and notes.

It stands beside the page and not in its text, so that a form would come in as if it were empty.
"""

from collections.abc import Iterator
from typing import Any

_FORM_FIELD = "/Widget"
_NOTES = frozenset(
    {
        *("/Text", "/FreeText", "/Highlight", "/Underline", "/StrikeOut", "/Squiggly", "/Caret"),
        *("/Line", "/Square", "/Circle", "/Polygon", "/PolyLine", "/Ink", "/Stamp"),
        *("/FileAttachment", "/Redact"),
    }
)
"""What a person puts onto a page; ``/Contents`` of any other only describes what it is."""
_DEEPEST = 20
_UNTICKED = "Off"


def written_lines(page: Any, failures: tuple[type[Exception], ...]) -> Iterator[str | None]:
    """Yield what was filled in and noted on a page, a line each; None for one that is broken."""
    try:
        references = list(page.get("/Annots") or ())
    except failures:
        yield None
        return
    for reference in references:
        try:
            yield _written(reference.get_object())
        except failures:
            yield None


def _written(annotation: Any) -> str:
    # A reference to what is no longer there stands for nothing.
    kind = annotation.get("/Subtype") if annotation is not None else None
    if kind == _FORM_FIELD:
        name, value = _inherited(annotation, "/T"), _filled_in(annotation)
        return f"{name}: {value}" if name and value else value
    return str(annotation.get("/Contents") or "").strip() if kind in _NOTES else ""


def _filled_in(field: Any) -> str:
    """Return the value of a field; a signature has none that is text."""
    kind, value = _inherited(field, "/FT"), _inherited(field, "/V")
    if kind == "/Btn":
        ticked = str(field.get("/AS") or value or "").removeprefix("/")
        return "" if ticked == _UNTICKED else ticked
    if kind not in ("/Tx", "/Ch"):
        return ""
    chosen = [one.get_object() for one in value] if isinstance(value, list) else [value]
    return ", ".join(one.strip() for one in chosen if isinstance(one, str))


def _inherited(field: Any, name: str) -> Any:
    """Return a member of a field, which may stand at one that it is a part of."""
    for _ in range(_DEEPEST):
        if name in field:
            return field[name]
        if "/Parent" not in field:
            break
        field = field["/Parent"]
    return None
