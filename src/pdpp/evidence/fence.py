"""Fences: how the text of records stands in text that a model reads, so that it stays data."""

import re
from collections.abc import Mapping
from functools import cache

# Control characters, soft hyphen, fillers of Hangul and Khmer, variation selectors, zero widths,
# bidirectional overrides, tags (U+E0000 on) and halves of characters: what a person does not see
# and a model reads. U+FE0F is left out, since it only makes a sign an emoji.
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Every character at which some reader begins a new line: each line of a fence must begin with the
# prefix for all of them, or stored text could stand outside.
_LINE_BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

_SHORT, _PRINTABLE = 64, bytes(range(0x20, 0x7F))

OPENING = "┌ record text"
CLOSING = "└ end of record text"
PREFIX = "│ "


def _name(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"


def is_plain(text: str) -> bool:
    """Tell whether a text is ASCII that shows as it is; most are, and this is told at once."""
    if len(text) < _SHORT:
        return text.isascii() and text.isprintable()
    # ``isprintable`` looks every character up in the tables of Unicode, which takes five times as
    # long as this for a page of records.
    return text.isascii() and not text.encode().translate(None, _PRINTABLE)


@cache
def _hidden_in_lines() -> re.Pattern[str]:
    return re.compile(HIDDEN.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))


def visible(text: str, *, lines: bool = True) -> str:
    """Return a text with every hidden character spelled out; ``lines`` keeps breaks and tabs."""
    return text if is_plain(text) else (_hidden_in_lines() if lines else HIDDEN).sub(_name, text)


def has_hidden(value: object) -> bool:
    """Tell whether a value holds characters a reader cannot see; line breaks and tabs are seen."""
    if not isinstance(value, str):
        # An answer holds hundreds of texts; written out at once, most are seen to hide nothing.
        # What cannot be seen is written with a backslash; breaks and tabs are too, but may stand.
        written = repr(value).replace("\\n", "").replace("\\t", "")
        if "\\" not in written and is_plain(written):
            return False
    return _holds_hidden(value)


def shows_all(json: bytes) -> bool:
    """Tell at once that every character of a JSON text can be seen; False means: look into it."""
    # What cannot be seen is not ASCII, or DEL, or is escaped; of escapes only these three can be
    # seen, and whatever else has a backslash is looked into.
    rest = json.replace(b"\\n", b"").replace(b"\\t", b"").replace(b'\\"', b"")
    return rest.isascii() and b"\\" not in rest and b"\x7f" not in rest


def _holds_hidden(value: object) -> bool:
    """Look into every text of a value."""
    if isinstance(value, str):
        return (
            not is_plain(value)
            and _hidden_in_lines().search(value.replace("\r\n", "\n")) is not None
        )
    if isinstance(value, Mapping):
        return any(_holds_hidden(name) or _holds_hidden(inner) for name, inner in value.items())
    return isinstance(value, list | tuple) and any(_holds_hidden(inner) for inner in value)


def quote(text: str, *, seen: bool = False) -> str:
    """Return a text as one quoted line that the text itself cannot end.

    ``seen`` says that it is known to be plain.
    """
    if not seen and not is_plain(text):
        text = visible(_LINE_BREAK.sub("⏎", text).replace("\t", " "), lines=False)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def fence(text: str) -> str:
    """Return a text as a block whose every line shows that it is record text."""
    body = (PREFIX + visible(line) for line in _LINE_BREAK.split(text))
    return "\n".join((OPENING, *body, CLOSING))
