"""Results: two halves, each complete, each within its bound."""

from enum import StrEnum

from pdpp.evidence.budget import json_length
from pdpp.mcp.kernel.rpc import JsonObject

MOST_CHARS = 30_000
MOST_DEFAULT_CHARS = 10_000
"""For a page whose length nobody asked for: hosts cut what is longer, in the middle."""

MOST_ERROR_CHARS = 4_000
MOST_WINDOW_TEXT = 6_000
MOST_SEARCH_TEXT = 6_000
MOST_SEARCH_STRUCTURED = 10_000


def is_long(half: str) -> bool:
    """Tell whether hosts would cut a half of a result."""
    return len(half) > MOST_DEFAULT_CHARS


class Less(StrEnum):
    """How to ask for less, where a host cut the end of a long answer off."""

    ROWS = "a lower limit"
    FIELDS = "fewer fields"
    FIELDS_OR_PIECES = "fewer fields, or read one with read_record_field"
    CHARS = "fewer characters"
    CONNECTION = "one connection_id, without detail full"


def if_cut(less: Less) -> str:
    """Return what to do about an answer whose end a host cut off."""
    return f"hosts cut long answers; if the end of this one is missing, ask again with {less}"


def fits(text: str, structured: JsonObject, most_text: int, most_structured: int) -> bool:
    """Tell whether both halves keep within their bounds."""
    return len(text) <= most_text and json_length(structured) <= most_structured


def result(
    text: str,
    structured: JsonObject,
    *,
    error: bool = False,
    meta: JsonObject | None = None,
) -> JsonObject:
    """Return a tool result of two halves, which the caller has seen to fit."""
    answer: JsonObject = {
        "content": [{"type": "text", "text": text}],
        "structuredContent": structured,
        "isError": error,
    }
    if meta:
        answer["_meta"] = meta
    return answer


def text_half(answer: JsonObject) -> str:
    """Return the text of a tool result."""
    match answer:
        case {"content": [{"text": str(text)}]}:
            return text
    raise ValueError("a result has a text half")
