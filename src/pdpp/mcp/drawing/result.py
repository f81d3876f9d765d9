"""Results: two halves, each complete, each within its bound."""

from typing import Any

from pdpp.evidence.budget import json_length

MOST_CHARS = 30_000
MOST_DEFAULT_CHARS = 10_000
"""For a page whose length nobody asked for: hosts cut what is longer, in the middle."""

MOST_ERROR_CHARS = 4_000
MOST_WINDOW_TEXT = 6_000
MOST_SEARCH_TEXT = 6_000
MOST_SEARCH_STRUCTURED = 10_000


def fits(text: str, structured: dict[str, Any], most_text: int, most_structured: int) -> bool:
    """Tell whether both halves keep within their bounds."""
    return len(text) <= most_text and json_length(structured) <= most_structured


def result(
    text: str,
    structured: dict[str, Any],
    *,
    error: bool = False,
    meta: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a tool result of two halves, which the caller has seen to fit."""
    answer: dict[str, Any] = {
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "isError": error,
    }
    if meta:
        answer["_meta"] = meta
    return answer
