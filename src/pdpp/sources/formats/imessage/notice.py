"""Notices: what happened to a chat, told by two numbers in the row of a message."""

from types import MappingProxyType

_JOINED_OR_REMOVED, _RENAMED, _LEFT_OR_PICTURE = 1, 2, 3
_WORDS = MappingProxyType(
    {
        (_LEFT_OR_PICTURE, 0): "[left the chat]",
        (_LEFT_OR_PICTURE, 1): "[changed the picture of the chat]",
        (_LEFT_OR_PICTURE, 2): "[removed the picture of the chat]",
        (5, 0): "[kept a voice message]",
    }
)


def notice_text(kind: int, action: int, title: object, other: str | None) -> str:
    """Return what the sender of a notice did; ``other`` is the person that was meant."""
    if title:
        return f"[the chat is now called {title}]"
    if kind == _RENAMED:
        return "[the chat has no name any more]"
    if kind == _JOINED_OR_REMOVED and other:
        done = "removed" if action else "added"
        return f"[{done} {other}]"
    return _WORDS.get((kind, action), "[a change of the chat]")
