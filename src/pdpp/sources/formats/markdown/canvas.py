"""Canvases of Obsidian: cards on a surface, read as the note that they would make one by one."""

from collections.abc import Iterator, Mapping
from typing import Any

from pdpp.sources.reading.jsontext import NotJson, read_json

SUFFIX = ".canvas"


def canvas_text(content: bytes) -> str | None:
    """Return the cards of a canvas as a text, from top to bottom; None where it is none."""
    try:
        value = read_json(content or b"{}")
    except NotJson:
        return None
    nodes = value.get("nodes", []) if isinstance(value, dict) else None
    if not isinstance(nodes, list):
        return None
    cards = [node for node in nodes if isinstance(node, dict)]
    return "\n\n".join(text for card in sorted(cards, key=_place) for text in _words(card))


def _place(card: Mapping[str, Any]) -> tuple[float, float]:
    across, down = card.get("x"), card.get("y")
    if not isinstance(across, int | float) or not isinstance(down, int | float):
        return (0, 0)
    return (down, across)


def _words(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a card says: its text, the name of a group, an address, or the file it shows."""
    yield from (str(card[name]) for name in ("text", "label", "url") if card.get(name))
    if isinstance(file := card.get("file"), str):
        yield f"[[{file}]]" if file.endswith(".md") else f"![[{file}]]"
