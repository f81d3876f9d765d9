"""Rich messages: texts with headings, lists, tables and pictures, which Telegram has since 2026.

Their text stands in blocks inside blocks. Words are found by the names of members and not by the
kinds of blocks, so that a kind that comes later loses none.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_BEFORE = ("title", "author", "text", "formula", "description")
_INSIDE = ("block", "blocks", "items", "articles", "buttons", "channel")
_AFTER = ("caption", "credit", "url")
_TICKS = {"checked": "[x] ", "unchecked": "[ ] "}
_FILES = ("photo", "file")


def rich_text(message: object) -> str:
    """Return the words of a rich message, a line for each block, item and row."""
    return "\n".join(_lines(message) if isinstance(message, Mapping) else ())


def rich_files(message: object) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the files of a rich message: an id, a path that is empty if it was left out, and facts.

    Small pictures that only show what stands elsewhere, such as a page on the web, are not files.
    """
    if isinstance(message, list):
        for value in message:
            yield from rich_files(value)
    if not isinstance(message, Mapping):
        return
    for name in _FILES:
        path, left_out = message.get(name), message.get(f"{name}_skip_reason")
        if isinstance(path, str) or left_out:
            number = message.get("photo_id") or message.get("document_id") or path
            yield str(number), path if isinstance(path, str) else "", message
    for value in message.values():
        yield from rich_files(value)


def _lines(block: Mapping[str, Any]) -> Iterator[str]:
    yield from filter(None, (_words(block.get(name)) for name in _BEFORE))
    for name in _INSIDE:
        inside = block.get(name)
        for number, value in enumerate(inside if isinstance(inside, list) else [inside], 1):
            if isinstance(value, Mapping):
                yield from _item(value, number if block.get("kind") == "ordered" else None)
    for row in block.get("rows") or ():
        cells = row.get("cells") if isinstance(row, Mapping) else None
        yield " | ".join(map(_words, cells or ()))
    place = block.get("geo")
    if isinstance(place, Mapping) and "latitude" in place:
        yield f"Place: {place['latitude']}, {place['longitude']}"
    for name in _AFTER:
        value = block.get(name)
        if isinstance(value, Mapping) and "credit" in value:
            yield from _lines(value)
        elif words := _words(value):
            yield words


def _item(value: Mapping[str, Any], number: int | None) -> Iterator[str]:
    """Yield the lines of a block, of which that of a list has a mark before its first line."""
    mark = ""
    if "task_state" in value:
        counted = value.get("num") or value.get("value") or number
        mark = _TICKS.get(value["task_state"]) or (f"{counted}. " if counted else "- ")
    for line in _lines(value):
        yield f"{mark}{line}"
        mark = ""


def _words(value: object) -> str:
    """Return the words of a text, which is made of pieces inside pieces."""
    if isinstance(value, list):
        return "".join(map(_words, value))
    if not isinstance(value, Mapping):
        return value if isinstance(value, str) else ""
    text, link = _words(value.get("text") or value.get("source")), value.get("href")
    return f"{text} ({link})" if isinstance(link, str) and link not in ("", text) else text
