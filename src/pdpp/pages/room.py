"""Room: how much text a page holds, counted in the bytes that a browser receives."""

from html import escape

from pdpp.evidence.budget import seam_before
from pdpp.evidence.fence import visible


def sent_bytes(text: str) -> int:
    """Return how many bytes a text takes in a page, escaped and with hidden characters shown."""
    return len(escape(visible(text)).encode("utf-8", "replace"))


def fitting(text: str, most: int) -> str:
    """Return the longest beginning of a text that takes at most so many bytes of a page."""
    low, high = 0, min(len(text), max(most, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if sent_bytes(text[:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    return text[: seam_before(text, low)]


def fitting_end(text: str, most: int) -> str:
    """Return the longest end of a text that takes at most so many bytes of a page."""
    low, high = 0, min(len(text), max(most, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if sent_bytes(text[len(text) - middle :]) <= most:
            low = middle
        else:
            high = middle - 1
    return text[len(text) - low :]
