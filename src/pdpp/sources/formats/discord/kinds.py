"""Kinds: what Discord calls its channels, by numbers, in capitals or in words of its own."""

from types import MappingProxyType
from typing import Any

from pdpp.sources.reading.code_words import plain_words

_NUMBERS = MappingProxyType(
    {0: "guild text", 1: "dm", 2: "guild voice", 3: "group dm", 5: "guild announcement"}
)
"""What older packages call a channel by a number; threads are 10 to 12."""
_CHANNELS = MappingProxyType(
    {
        "direct group text chat": "group of people",
        "direct text chat": "direct message",
        "dm": "direct message",
        "group dm": "group of people",
    }
)


def channel_words(value: Any) -> str:
    """Return what kind of channel it is; what Discord calls a guild people call a server."""
    if isinstance(value, int) and not isinstance(value, bool):
        words = _NUMBERS.get(value, "thread" if 10 <= value <= 12 else "")
    else:
        words = plain_words(str(value or "")).lower()
    words = _CHANNELS.get(words, words)
    if not words.startswith("guild "):
        return words
    words = words.removeprefix("guild ").removesuffix(" chat")
    return words if words.endswith("thread") else f"{words} channel"
