"""Spelling: how labels, ids and calls stand in a line, so that no record's text passes for one."""

import json
import re
from collections.abc import Iterable, Sequence

from pdpp.evidence.amount import counted
from pdpp.evidence.fence import HIDDEN, is_plain, quote, visible
from pdpp.evidence.text import field_text, json_text
from pdpp.mcp.drawing.view import NextCall
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.tools.argument import call_text

_WORD = re.compile(r"[\w.@:+/-]+\Z")
_LABEL = re.compile(r"[!#-z|}~]+(?: [!#-z|}~]+)*")
"""Words of visible ASCII that neither quote nor open anything: most labels, told at once."""

_NAME = re.compile(r"[A-Za-z0-9_.+@'-]+(?: [A-Za-z0-9_.+@'-]+)*")
"""A name that can pass for nothing else: most of them, told at once."""

_MORE = re.compile(r'[{"·;│┌└]|\S/\S*:')
"""The separators of our lines, and whatever looks like an id."""


def plain(text: str) -> str:
    """Return a label from the server on one line, quoted where it could be taken for a call."""
    if (text.isalnum() and text.isascii()) or _LABEL.fullmatch(text):
        return text
    line = " ".join(text.split())
    return quote(line) if "{" in line or '"' in line else visible(line, lines=False)


def label(text: str) -> str:
    """Return a name that a person or an account gave, quoted where it could pass for more."""
    if (text.isalnum() and text.isascii()) or _NAME.fullmatch(text):
        return text
    line = " ".join(text.split())
    return quote(line) if _MORE.search(line) else visible(line, lines=False)


def labels(*known: str | None) -> str:
    """Return the names of a source that are known, on one line."""
    parts = [part for part in known if part]
    # Words with one space between them are names, each of them and all together.
    if not _NAME.fullmatch(" ".join(parts)):
        parts = [label(part) for part in parts]
    return " · ".join(parts)


def word(text: str) -> str:
    """Return an id or a key exactly as it is, quoted where it is more than one plain word."""
    seen = text.isascii() or not HIDDEN.search(text)
    return text if seen and _WORD.match(text) else escaped(text)


def datum(text: str) -> str:
    """Return what a record holds as one word, quoted where it is more or looks like an id."""
    return escaped(text) if _MORE.search(text) else word(text)


def number(value: object, one: str = "") -> str:
    """Return a number that a server told, with what it counts; what is none is seen to be none."""
    if value is None:
        return "none"
    if one and isinstance(value, int):
        return counted(value, one)
    return f"{datum(field_text(value))}{f' {one}s' if one else ''}"


def escaped(value: object) -> str:
    """Return a value as JSON in which every character can be seen."""
    return spelled(json_text(value))


def spelled(text: str) -> str:
    """Return JSON text with the characters that cannot be seen escaped; it means the same."""
    return text if is_plain(text) else HIDDEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def call_line(call: NextCall, *, seen: bool = False) -> str:
    """Return a call as a model can copy it, after the words for what it does.

    ``seen`` says that its arguments are known to be plain.
    """
    text = call_text(call.tool, call.arguments)
    return f"{call.what}: {text if seen else spelled(text)}"


def call_lines(calls: Iterable[NextCall]) -> list[str]:
    """Return calls, each on its line."""
    return [call_line(call) for call in calls]


MOST_UNAVAILABLE = 40
"""How many sources that gave nothing are named: more of them would leave no room for the others."""


def unavailable_lines(connections: Sequence[ConnectionChoice]) -> list[str]:
    """Return the sources that gave nothing, each on its line with the reason, and how many more."""
    lines = [
        f"unavailable: {word(connection.connection_id)} ({plain(connection.code or 'no reason')})"
        for connection in connections[:MOST_UNAVAILABLE]
    ]
    more = len(connections) - MOST_UNAVAILABLE
    return lines if more <= 0 else [*lines, f"unavailable: {more} more"]
