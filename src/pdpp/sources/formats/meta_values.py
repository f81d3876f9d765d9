"""Meta values: what an entry of Facebook or Instagram says, as its exports write it.

Each text is UTF-8 bytes that were read as Latin-1, and values stand below labels in the language of
the account.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_ADDRESS = re.compile(r"\w+://\S+\Z")


def mended(text: Any) -> str:
    """Return a text that was written as UTF-8 and read as Latin-1 as it was meant."""
    if not isinstance(text, str):
        return ""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def mapped(value: Any, name: str) -> Mapping[str, Any]:
    """Return the member of an object that is an object itself, or an empty one."""
    inner = value.get(name) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def listed(value: Any, name: str) -> list[Any]:
    """Return the member of an object that is a list, or an empty one."""
    inner = value.get(name) if isinstance(value, dict) else None
    return inner if isinstance(inner, list) else []


def cells_of(value: Any) -> dict[str, Mapping[str, Any]]:
    """Return the labelled values of an entry; their labels are in the language of the account.

    Newer files put values inside others, such as the name of an owner; they stand here beside them.
    """
    named = {mended(name): cell for name, cell in mapped(value, "string_map_data").items()}
    cells: dict[str, Mapping[str, Any]] = {
        name: cell for name, cell in named.items() if isinstance(cell, dict)
    }
    for label, cell in _labelled(listed(value, "label_values")):
        cells[f"{label} {len(cells)}" if label in cells else label] = cell
    return cells


def _labelled(values: Iterable[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for cell in values:
        inner = [*listed(cell, "dict"), *listed(cell, "vec")]
        if inner:
            yield from _labelled(inner)
        elif isinstance(cell, dict):
            yield mended(cell.get("label") or cell.get("title")), cell


def owner_in(value: Any) -> str:
    """Return the name of the account that stands inside another value, in any language.

    The last word of it is that name; before it stand its address and what the person is called.
    """
    groups = (cell for cell in listed(value, "label_values") if isinstance(cell, dict))
    inner = [[*listed(cell, "dict"), *listed(cell, "vec")] for cell in groups]
    texts = [mended(cell.get("value")) for values in inner for _, cell in _labelled(values)]
    names = [text for text in texts if text and " " not in text and not _ADDRESS.match(text)]
    return names[-1] if names else ""


def words_of(cells: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the cells that hold words, by their labels."""
    texts = {label: mended(cell.get("value")) for label, cell in cells.items()}
    return {label: text for label, text in texts.items() if text and not _ADDRESS.match(text)}


def address_in(cells: Iterable[Mapping[str, Any]]) -> str:
    """Return the first address that some cells hold."""
    held = [mended(cell.get(name)) for name in ("href", "value") for cell in cells]
    return next((text for text in held if _ADDRESS.match(text)), "")


def written_in(cells: Mapping[str, Mapping[str, Any]]) -> tuple[str, str]:
    """Return what somebody wrote, and what else cells say in words.

    In another language than English nobody knows which of them was written: then all of it.
    """
    words = words_of(cells)
    text = words.pop("Message", "")
    rest = list(words.values())
    return (text, ", ".join(rest)) if text else ("\n".join(rest), "")


def pieces_of(value: Any) -> list[Mapping[str, Any]]:
    """Return what is attached to a post or a comment, such as pictures, places and links."""
    return [
        piece
        for group in listed(value, "attachments")
        for piece in listed(group, "data")
        if isinstance(piece, dict)
    ]
