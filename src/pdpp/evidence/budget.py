"""Budgets: cutting text where a reader would not notice, and measuring what an answer costs."""

import unicodedata

from pdpp.evidence.text import json_text

DEFAULT_LIMIT = 4096
MAX_LIMIT = 16_384
DEFAULT_AROUND = 512
MAX_AROUND = 8192
"""How much of a field one window shows, from an offset and on either side of a match."""

_JOINER = "\u200d"
_LONGEST_CLUSTER = 32


def _extends(char: str) -> bool:
    """Tell whether a character is drawn together with the one before it."""
    return (
        # Joiners, skin tones, tags of flags, later letters of a Hangul syllable, and marks.
        char == _JOINER
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or "\u1161" <= char <= "\u11ff"
        or unicodedata.category(char)[0] == "M"
    )


def is_seam(text: str, index: int) -> bool:
    """Tell whether text may be cut at an index without breaking a visible character."""
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    # Nothing below U+0300 combines with the character before it, but the line feed of a pair; this
    # settles Latin text without a look into the tables.
    if after < "\u0300":
        return before != _JOINER and (after != "\n" or before != "\r")
    return before != _JOINER and not _extends(after)


def seam_before(text: str, index: int, floor: int = 0) -> int:
    """Return the last seam from ``floor`` to ``index``, or ``index`` when none is near."""
    if is_seam(text, index):
        return index
    lowest = max(floor, index - _LONGEST_CLUSTER)
    return next((i for i in range(index, lowest - 1, -1) if is_seam(text, i)), index)


def seam_after(text: str, index: int, ceiling: int) -> int:
    """Return the first seam from ``index`` to ``ceiling``, or ``index`` when none is near."""
    if is_seam(text, index):
        return index
    highest = min(ceiling, index + _LONGEST_CLUSTER)
    return next((i for i in range(index, highest + 1) if is_seam(text, i)), index)


def cut(text: str, limit: int) -> tuple[str, bool]:
    """Return at most ``limit`` characters from the start of a text, and whether it was cut."""
    if len(text) <= limit:
        return text, False
    end = seam_before(text, max(0, limit), floor=1)
    return text[:end], True


def json_length(value: object) -> int:
    """Return how many characters a value takes as compact JSON."""
    return len(json_text(value))


def json_bytes(value: object) -> int:
    """Return how many bytes a value takes as compact JSON."""
    return len(json_text(value).encode("utf-8", "surrogatepass"))
