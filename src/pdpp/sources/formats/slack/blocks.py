"""Blocks of Slack: the pieces that a message is laid out in, as text."""

from collections.abc import Iterator, Mapping
from typing import Any

_MOST_PIECES = 10_000
_LINES = frozenset(
    {"rich_text_section", "rich_text_quote", "rich_text_preformatted", "section", "header"}
    | {"context", "image", "actions", "markdown", "video"}
)
"""Blocks that begin a line of their own."""
_TYPED = "rich_text"
"""The block of what a person typed, which the text of the message repeats."""
_NO_TEXT = "This content can't be displayed."
"""What Slack writes as the text of a message that a program sent as blocks alone."""
_INNER = ("text", "elements", "fields", "title", "label", "accessory", "message", "blocks")


def block_text(blocks: object) -> str:
    """Return the text of blocks; messages of programs often have it nowhere else."""
    pieces: list[str] = []
    waiting = list(blocks) if isinstance(blocks, list) else []
    while waiting and len(pieces) < _MOST_PIECES:
        block = waiting.pop(0)
        if isinstance(block, list):
            waiting[:0] = block
        elif isinstance(block, dict) and isinstance(block.get("rows"), list):
            pieces += _table(block["rows"])
        elif isinstance(block, dict):
            pieces += _piece(block)
            inner = (block.get(name) for name in _INNER)
            waiting[:0] = [part for part in inner if isinstance(part, dict | list)]
    return "".join(pieces).strip()


def _table(rows: list[Any]) -> Iterator[str]:
    """Yield the rows of a table, a line each; its cells are laid out as messages are."""
    for row in rows:
        cells = row if isinstance(row, list) else [row]
        yield "\n" + " | ".join(" ".join(block_text([cell]).split()) for cell in cells)


def message_text(message: Mapping[str, Any]) -> str:
    """Return what a message shows: its text, and what a program laid out beside it."""
    plain, blocks = message.get("text"), message.get("blocks")
    text = plain if isinstance(plain, str) and plain != _NO_TEXT else ""
    if text and not _laid_out(blocks):
        return text
    told = block_text(blocks)
    short, long = " ".join(text.split()), " ".join(told.split())
    if not told or long in short:
        return text or told or str(plain or "")
    return told if short in long else f"{text}\n{told}"


def _laid_out(blocks: object) -> bool:
    """Tell whether blocks hold anything but what a person typed."""
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and block.get("type") != _TYPED:
            return True
    return False


def _piece(block: Mapping[str, Any]) -> list[str]:
    kind = block.get("type")
    if kind == "user":
        return [f"<@{block.get('user_id')}>"]
    if kind == "usergroup":
        return [f"<@{block.get('usergroup_id')}>"]
    if kind == "broadcast":
        return [f"<!{block.get('range')}>"]
    if kind == "channel":
        return [f"<#{block.get('channel_id')}>"]
    if kind == "emoji":
        return [f":{block.get('name')}:"]
    if kind == "link":
        return [str(block.get("text") or block.get("url") or "")]
    if kind == "date":
        return [str(block.get("fallback") or "")]
    if kind in _LINES:
        return ["\n", *_own_words(block)]
    text = block.get("text")
    if not isinstance(text, str):
        return []
    # Texts of a layout stand beside each other; those of a sentence follow one another.
    return [text] if kind == "text" else [text, " "]


def _own_words(block: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a block says itself, and not what is inside it."""
    for name in ("text", "alt_text"):
        if isinstance(words := block.get(name), str) and words:
            yield f"{words} "


def attachment_texts(attachment: Mapping[str, Any]) -> Iterator[object]:
    """Yield what a program or somebody else's message attached, in the order it is shown."""
    yield from (attachment.get(name) for name in ("pretext", "author_name", "title"))
    inner = block_text(attachment.get("blocks")) or block_text(attachment.get("message_blocks"))
    text = attachment.get("text") or inner
    yield text
    fields = attachment.get("fields")
    for field in fields if isinstance(fields, list) else ():
        if isinstance(field, dict):
            words = [str(field[name]) for name in ("title", "value") if field.get(name)]
            yield ": ".join(words)
    if not text and not fields:
        yield attachment.get("fallback")
    yield attachment.get("footer")
