"""Encoded words: headers of RFC 2047 as letters, in time that grows with their length alone."""

import binascii
import quopri
import re

from pdpp.sources.formats.mail.charset import guessed

# Programs leave spaces and question marks in the text as they are, though they may not. What begins
# as another word ends the text, so that no letter is looked at more than twice.
_WORD = re.compile(
    r"=\?\"?([A-Za-z0-9_.:+-]{1,60})\"?(?:\*[A-Za-z-]{1,20})?\s?\?"
    r"(?:([bB])\?([^?]*+)|([qQ])\?((?:[^?=]|=(?!\?[^=])|\?(?!=))*+))\?="
)
LONGEST = 256 << 10
"""So much of a header is read; no honest one is longer."""


def decoded(text: str) -> str:
    """Return text in which encoded words are letters again, on one line.

    Space between two encoded words is no part of the text, any other space is.
    """
    text = text[:LONGEST]
    if "=?" not in text:
        return " ".join(text.split())
    pieces: list[str] = []
    charset, content, at = "", b"", 0
    for word in _WORD.finditer(text):
        between = text[at : word.start()]
        adjacent = bool(charset) and not between.strip()
        # A character may be cut in two by the end of an encoded word, so that neighbours of one
        # charset are decoded together.
        if not adjacent or word.group(1).lower() != charset:
            pieces.append(guessed(content, charset) if charset else "")
            content = b""
        if not adjacent:
            pieces.append(between)
        charset = word.group(1).lower()
        content += _bytes(word)
        at = word.end()
    pieces.append(guessed(content, charset) if charset else "")
    pieces.append(text[at:])
    return " ".join("".join(pieces).split())


def _bytes(word: re.Match[str]) -> bytes:
    raw = (word.group(3) or word.group(5) or "").encode("utf-8", "surrogateescape")
    if word.group(4):
        return quopri.decodestring(raw, header=True)
    try:
        # Padding that is left off is common, and too much of it does no harm.
        return binascii.a2b_base64(raw + b"==")
    except binascii.Error:
        return raw
